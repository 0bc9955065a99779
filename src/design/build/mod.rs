//! The elaborated program to the design: typed values out, derived defaults in.

mod cluster;
mod derive;
mod fabric;
mod hardware;
mod pool;
mod racks;
mod reader;
mod storage;
mod workload;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use ipnet::IpNet;
use num_traits::ToPrimitive as _;

use super::*;
use crate::base::{Diagnostic, Dimension, Rational, Span};
use crate::lang::{Entity, Lang, Node, Object, ObjectId, Product, Selection, Value};
use derive::derive;
use reader::Reader;

/// Builds the design of an elaborated program. What is missing in it has been reported; its owner is then not `sound`.
pub fn build(lang: &Lang<'_>) -> Design {
    let builder = Builder { lang, ids: RefCell::default(), products: Products::default() };
    builder.design()
}

/// All switches that can be bought: the standard library's and the user's. Reading them all costs more than a small design: who needs them asks.
pub fn switch_models(lang: &Lang<'_>) -> Vec<Arc<SwitchModel>> {
    let builder = Builder { lang, ids: RefCell::default(), products: Products::default() };
    lang.products("switch").iter().map(|p| builder.switch(p)).collect()
}

#[derive(Default)]
struct Products {
    systems: RefCell<HashMap<usize, Arc<System>>>,
    switches: RefCell<HashMap<usize, Arc<SwitchModel>>>,
    cpus: RefCell<HashMap<usize, Arc<Cpu>>>,
    gpus: RefCell<HashMap<usize, Arc<Gpu>>>,
    nics: RefCell<HashMap<usize, Arc<Nic>>>,
    disks: RefCell<HashMap<usize, Arc<Disk>>>,
}

/// What all elements of a declaration have in common.
struct Shared {
    fields: Arc<BTreeMap<String, Span>>,
    docs: Arc<[String]>,
}

fn collect_spans(node: &Node, prefix: &str, out: &mut BTreeMap<String, Span>) {
    for (name, slot) in &node.fields {
        out.insert(format!("{prefix}{name}"), slot.span);
        out.insert(format!("{prefix}{name}="), slot.value_span);
        out.extend(slot.elements().into_iter().enumerate().map(|(i, element)| (format!("{prefix}{name}=[{i}]"), element)));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, group) in &node.groups {
        let n = counts.entry(name).or_default();
        let key = match &group.label {
            Some(label) => format!("{prefix}{name}.{label}"),
            None if *n == 0 => format!("{prefix}{name}"),
            None => format!("{prefix}{name}[{n}]"),
        };
        *n += 1;
        out.insert(key.clone(), group.head);
        if let Some(span) = group.model_span {
            out.insert(format!("{key}:"), span);
        }
        collect_spans(group, &format!("{key}."), out);
    }
}

struct Builder<'a, 'l> {
    lang: &'a Lang<'l>,
    ids: RefCell<HashMap<ObjectId, usize>>,
    products: Products,
}

impl<'l> Builder<'_, 'l> {
    fn index_of(&self, entity: Option<Entity>) -> Option<usize> {
        match entity? {
            Entity::Object(id) | Entity::Part(id, _) => self.ids.borrow().get(&id).copied(),
            _ => None,
        }
    }

    fn indices(&self, entities: Vec<Entity>) -> Vec<usize> {
        entities.into_iter().filter_map(|e| self.index_of(Some(e))).collect()
    }

    fn objects(&self, kind: &str) -> Vec<Rc<Object>> {
        let objects = self.lang.objects_of(kind);
        let mut ids = self.ids.borrow_mut();
        objects.iter().enumerate().for_each(|(i, o)| {
            ids.insert(o.id, i);
        });
        objects
    }

    fn at(&self, object: &Object, node: &Node, shared: &mut HashMap<Span, Shared>) -> At {
        let Shared { fields, docs } = shared.entry(object.whole).or_insert_with(|| {
            let mut fields = BTreeMap::new();
            collect_spans(node, "", &mut fields);
            Shared { fields: Arc::new(fields), docs: object.docs.iter().cloned().collect() }
        });
        At { source: object.source(), head: object.head, whole: object.whole, fields: fields.clone(), docs: docs.clone() }
    }

    fn design(&self) -> Design {
        let kinds = ["cluster", "rack", "host", "switch", "fabric", "network", "control_plane", "pool", "storage", "volume", "queue", "workload"];
        let objects: HashMap<&str, Vec<Rc<Object>>> = kinds.into_iter().map(|kind| (kind, self.objects(kind))).collect();
        let mut shared = HashMap::new();
        let mut each = |kind: &str, build: &mut dyn FnMut(&Object, Reader<'_, 'l>, At) -> bool| {
            for object in &objects[kind] {
                let node = self.lang.node_of(object.id);
                let at = self.at(object, &node, &mut shared);
                let sound = Cell::new(!node.broken && !object.broken);
                build(object, Reader { lang: self.lang, node, sound: &sound }, at);
            }
        };
        let mut design = Design::default();
        design.racks.reserve_exact(objects["rack"].len());
        design.hosts.reserve_exact(objects["host"].len());
        each("cluster", &mut |o, r, at| {
            design.cluster = self.cluster(o, &r, at);
            true
        });
        each("rack", &mut |o, r, at| {
            let rack = self.rack(o, &r, at, &design.racks);
            design.racks.push(rack);
            true
        });
        each("host", &mut |o, r, at| {
            design.hosts.push(self.host(o, &r, at));
            true
        });
        each("switch", &mut |o, r, at| {
            if let Some(product) = &o.product {
                let rack = self.index_of(o.parent.map(Entity::Object));
                design.rack_switches.push(RackSwitch {
                    name: r.text_opt("hostname").unwrap_or_else(|| o.hyphenated.clone()),
                    rack,
                    model: self.switch(product),
                    position: r.units("position"),
                    at,
                });
            }
            true
        });
        each("fabric", &mut |o, r, at| {
            design.fabrics.push(self.fabric(o, &r, at));
            true
        });
        each("network", &mut |o, r, at| {
            design.networks.push(self.network(o, &r, at));
            true
        });
        each("control_plane", &mut |_, r, at| {
            design.control_plane = Some(self.control_plane(&r, at));
            true
        });
        each("pool", &mut |o, r, at| {
            design.pools.push(self.pool(o, &r, at));
            true
        });
        each("storage", &mut |o, r, at| {
            design.storages.push(self.storage(o, &r, at));
            true
        });
        each("volume", &mut |o, r, at| {
            design.volumes.push(self.volume(o, &r, at));
            true
        });
        each("queue", &mut |o, r, at| {
            design.queues.push(self.queue(o, &r, at));
            true
        });
        each("workload", &mut |o, r, at| {
            design.workloads.push(self.workload(o, &r, at));
            true
        });
        design.cables = self.cables();
        design.transceivers = self.transceivers();
        derive(&mut design);
        design
    }
}
