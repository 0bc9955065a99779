//! The elaborated program to the design: typed values out, derived defaults in.

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

struct Builder<'a, 'l> {
    lang: &'a Lang<'l>,
    ids: RefCell<HashMap<ObjectId, usize>>,
    products: Products,
}

/// What all elements of a declaration have in common.
struct Shared {
    fields: Arc<BTreeMap<String, Span>>,
    docs: Arc<[String]>,
}

/// Reads the typed fields of one node.
struct Reader<'a, 'l> {
    lang: &'a Lang<'l>,
    node: Rc<Node>,
    sound: &'a Cell<bool>,
}

impl Reader<'_, '_> {
    fn value(&self, name: &str) -> Option<Value> {
        let value = self.lang.field(&self.node, name);
        match &value {
            Some(Value::Poison) => {
                self.sound.set(false);
                None
            }
            Some(Value::Unknown) => None,
            _ => value,
        }
    }

    fn int_opt(&self, name: &str) -> Option<i64> {
        if let Some(Value::Int(n)) = self.value(name) { Some(n) } else { None }
    }

    fn int(&self, name: &str) -> i64 {
        self.int_opt(name).unwrap_or_default()
    }

    fn bool_opt(&self, name: &str) -> Option<bool> {
        if let Some(Value::Bool(b)) = self.value(name) { Some(b) } else { None }
    }

    fn bool(&self, name: &str) -> bool {
        self.bool_opt(name).unwrap_or_default()
    }

    fn text_opt(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(s) | Value::Word(s) => Some(s.to_string()),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> String {
        self.text_opt(name).unwrap_or_default()
    }

    fn quantity_opt(&self, name: &str) -> Option<Quantity> {
        if let Some(Value::Quantity(q)) = self.value(name) { Some(q) } else { None }
    }

    fn quantity(&self, name: &str, dimension: Dimension) -> Quantity {
        self.quantity_opt(name).unwrap_or(Quantity::new(Rational::from_integer(0), dimension))
    }

    fn bytes(&self, name: &str) -> Quantity {
        self.quantity(name, Dimension::Bytes)
    }

    fn units(&self, name: &str) -> Option<i64> {
        self.quantity_opt(name).and_then(|q| q.value.ceil().to_integer().to_i64())
    }

    fn cidr(&self, name: &str) -> Option<IpNet> {
        if let Some(Value::Cidr(cidr)) = self.value(name) { Some(cidr) } else { None }
    }

    fn list(&self, name: &str) -> Vec<Value> {
        match self.value(name) {
            Some(Value::List(list)) => list.to_vec(),
            _ => Vec::new(),
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).into_iter().filter_map(|v| if let Value::Text(s) | Value::Word(s) = v { Some(s.to_string()) } else { None }).collect()
    }

    fn map(&self, name: &str) -> Vec<(String, Value)> {
        match self.value(name) {
            Some(Value::Map(map)) => map.iter().map(|(k, v)| (k.to_string(), v.clone())).collect(),
            _ => Vec::new(),
        }
    }

    fn text_map(&self, name: &str) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (key, value) in self.map(name) {
            match value.text() {
                Some(text) => out.push((key, text)),
                None => self.sound.set(false),
            }
        }
        out
    }

    fn entity(&self, name: &str) -> Option<Entity> {
        if let Some(Value::Selection(selection)) = self.value(name) { selection.flat().next() } else { None }
    }

    fn entities(&self, name: &str) -> Vec<Entity> {
        if let Some(Value::Selection(selection)) = self.value(name) { selection.flat().collect() } else { Vec::new() }
    }

    fn product(&self, name: &str) -> Option<Rc<Product>> {
        if let Some(Value::Product(product)) = self.value(name) { Some(product) } else { None }
    }

    fn group(&self, name: &str) -> Option<Reader<'_, '_>> {
        let node = self.node.group(name)?.clone();
        if node.broken {
            self.sound.set(false);
        }
        Some(Reader { lang: self.lang, node, sound: self.sound })
    }

    fn groups(&self, name: &str) -> Vec<Reader<'_, '_>> {
        self.node
            .groups_named(name)
            .map(|node| {
                if node.broken {
                    self.sound.set(false);
                }
                Reader { lang: self.lang, node: node.clone(), sound: self.sound }
            })
            .collect()
    }

    fn label(&self) -> String {
        self.node.label.as_deref().unwrap_or("").to_owned()
    }

    fn model(&self) -> String {
        self.node.model.map_or("", |m| m.name).to_owned()
    }
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

    fn cluster(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Cluster {
        let distribution = r.text("distribution");
        let pods = r.group("pods").and_then(|p| {
            let cidr = p.cidr("cidr")?;
            Some(Pods {
                cni: p.text("cni"),
                network: self.index_of(p.entity("network")),
                cidr,
                host_prefix: p.int("host_prefix").clamp(0, 128) as u8,
                mtu: p.int_opt("mtu"),
                encapsulation: p.text("encapsulation"),
            })
        });
        let observability = r.group("observability");
        let security = r.group("security");
        Cluster {
            name: o.name.to_string(),
            kubernetes: r.text("kubernetes"),
            gitops: r.text("gitops"),
            scheduler: r.text("scheduler"),
            region: r.text_opt("region"),
            domain: r.text("domain"),
            os: r.text_opt("os").unwrap_or_else(|| if distribution == "talos" { "talos" } else { "ubuntu_24_04" }.into()),
            distribution,
            dns: r.list("dns").into_iter().filter_map(|v| if let Value::Ip(ip) = v { Some(ip) } else { None }).collect(),
            ntp: r.texts("ntp"),
            label_domain: r.text("label_domain"),
            topology_labels: r.text("topology_labels"),
            pods,
            services: r.group("services").and_then(|s| s.cidr("cidr")),
            autoscaler: r.group("autoscaling").map_or("hpa".into(), |a| a.text("controller")),
            mirror: r.group("images").and_then(|i| i.text_opt("mirror")),
            pod_security: security.as_ref().map_or("baseline".into(), |s| s.text("pod_security")),
            audit: security.as_ref().is_none_or(|s| s.bool("audit")),
            encryption: security.as_ref().is_none_or(|s| s.bool("encryption")),
            observability: observability.as_ref().is_none_or(|o| o.bool("enabled")),
            retention: observability.as_ref().and_then(|o| o.quantity_opt("retention")),
            sound: r.sound.get(),
            at,
        }
    }

    fn rack(&self, o: &Object, r: &Reader<'_, '_>, at: At, before: &[Rack]) -> Rack {
        let row = r.int("row");
        let power = r.quantity_opt("power");
        Rack {
            name: o.hyphenated.clone(),
            height: r.units("height").unwrap_or(0),
            cooling: r.quantity_opt("cooling").or(power),
            power,
            weight: r.quantity_opt("weight"),
            pdus: r.int("pdus"),
            feeds: r.int("feeds"),
            supply: r.group("supply").map(|s| Supply {
                volts: s.int("volts"),
                amps: s.int("amps"),
                phases: s.int("phases"),
                derating: s.quantity("derating", Dimension::Ratio),
            }),
            zone: r.text_opt("zone"),
            column: r.int_opt("column").unwrap_or_else(|| before.iter().filter(|b| b.row == row).count() as i64),
            row,
            declaration: o.name.to_string(),
            system: o.product.as_ref().map(|p| self.system(p)),
            sound: r.sound.get(),
            at,
        }
    }

    fn host(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Host {
        let system = o.product.as_ref().map(|p| self.system(p)).unwrap_or_default();
        let firmware = r.group("firmware");
        Host {
            name: r.text_opt("hostname").unwrap_or_else(|| o.hyphenated.clone()),
            rack: self.index_of(o.parent.map(Entity::Object)),
            position: r.units("position"),
            height: r.units("height").or(system.height),
            power: r.quantity_opt("power").or(system.power),
            zone: r.text_opt("zone"),
            capacity: r.text("capacity"),
            labels: r.text_map("labels").into_iter().collect(),
            sriov: firmware.as_ref().is_none_or(|f| f.bool("sriov")),
            iommu: firmware.as_ref().map_or("passthrough".into(), |f| f.text("iommu")),
            sound: r.sound.get() && o.product.is_some(),
            system,
            at,
        }
    }

    /// The ports of a list, and whether all management ports are among them.
    fn ports(&self, value: Option<Value>) -> (Vec<PortRef>, bool) {
        let (selection, management) = match value {
            Some(Value::Selection(selection)) => (selection, false),
            Some(Value::List(list)) => {
                let named = list.iter().find_map(|v| if let Value::Selection(s) = v { Some(s.clone()) } else { None });
                (named.unwrap_or_else(|| Rc::new(Selection::list(Vec::new()))), true)
            }
            _ => return (Vec::new(), false),
        };
        let ids = self.ids.borrow();
        let port_of = |entity| {
            let (host, device, port) = match entity {
                Entity::Port(host, device, port) => (host, device, port),
                Entity::Device(host, device) => (host, device, 0),
                _ => return None,
            };
            Some(PortRef { host: *ids.get(&host)? as u32, device, port })
        };
        let mut ports = Vec::with_capacity(selection.flat().len());
        ports.extend(selection.flat().filter_map(port_of));
        (ports, management)
    }

    fn fabric(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Fabric {
        let kind = o.model.map_or("", |m| m.name).to_owned();
        self.require_of_fabric(r, &at, &kind);
        let (attach, management) = self.ports(r.value("attach"));
        let (manager, _) = self.ports(r.group("manager").and_then(|m| m.value("attach")));
        let topology = r.group("topology").map_or_else(Topology::default, |t| Topology {
            shape: t.model(),
            leaves: t.int_opt("leaves"),
            spines: t.int_opt("spines"),
            cores: t.int_opt("cores"),
            unit: t.int_opt("unit"),
            tiers: t.int_opt("tiers").unwrap_or(2),
            rails: t.bool("rails") || matches!(t.model().as_str(), "rail_optimized" | "rail_only"),
            pod: t.int_opt("pod"),
            taper: t.quantity_opt("taper"),
            groups: t.int_opt("groups"),
        });
        let (cables, placement) = (r.group("cables"), r.group("placement"));
        let metres = |n| Quantity::new(Rational::from_integer(n), Dimension::Length);
        Fabric {
            name: o.hyphenated.clone(),
            attach,
            management,
            topology,
            leaf: r.product("leaf").map(|p| self.switch(&p)),
            spine: r.product("spine").map(|p| self.switch(&p)),
            core: r.product("core").map(|p| self.switch(&p)),
            oversubscription: r.quantity_opt("oversubscription").unwrap_or(Quantity::new(Rational::from_integer(1), Dimension::Ratio)),
            racks: self.indices(r.entities("racks")),
            placement: ["leaf", "spine", "core"].map(|tier| {
                placement
                    .as_ref()?
                    .group(tier)
                    .map(|p| Placement { racks: p.node.fields.contains_key("racks").then(|| self.indices(p.entities("racks"))), position: p.units("position") })
            }),
            inter_leaf: r.int_opt("inter_leaf"),
            planes: r.int_opt("planes").unwrap_or(1).max(1),
            link_rate: r.quantity_opt("link_rate"),
            mtu: r.int_opt("mtu").unwrap_or(if kind == "infiniband" { 4096 } else { 9000 }),
            uplink: r.group("uplink").map(|u| Uplink { fabric: self.index_of(u.entity("fabric")), links: u.int("links") }),
            slack: cables.as_ref().and_then(|c| c.quantity_opt("slack")).unwrap_or(metres(1)),
            prefer: cables.as_ref().map_or_else(|| vec!["dac".into(), "fibre".into()], |c| c.texts("prefer")),
            subnet_manager: r.text_opt("subnet_manager").unwrap_or_else(|| if manager.is_empty() { "switch" } else { "ufm" }.into()),
            adaptive_routing: r.bool_opt("adaptive_routing").unwrap_or(false),
            sharp: r.bool_opt("sharp").unwrap_or(false),
            pkey: r.int_opt("pkey"),
            congestion: r.group("congestion").map(|c| Congestion {
                pfc_priority: c.int("pfc_priority"),
                dscp: c.int("dscp"),
                ecn: c.bool("ecn"),
                adaptive_routing: c.bool("adaptive_routing"),
            }),
            routed: r.group("routed").and_then(|c| Some(Routed { loopbacks: c.cidr("loopbacks")?, links: c.cidr("links")?, asn: c.int_opt("asn") })),
            redundancy: r.text_opt("redundancy").unwrap_or_else(|| "none".into()),
            domain: r.text_opt("domain").unwrap_or_else(|| "host".into()),
            provider: r.text_opt("provider"),
            bandwidth: r.quantity_opt("bandwidth"),
            placement_group: r.bool_opt("placement_group").unwrap_or(false),
            sound: r.sound.get(),
            manager,
            kind,
            at,
        }
    }

    /// A fabric that is planned says its shape, its leaves and where its switches stand.
    fn require_of_fabric(&self, r: &Reader<'_, '_>, at: &At, kind: &str) {
        if r.node.broken || matches!(kind, "nvlink" | "managed" | "") {
            return;
        }
        let mut missing: Vec<&str> = Vec::new();
        if r.node.group("topology").is_none() {
            missing.push("topology : leaf_spine");
        }
        missing.extend(["leaf", "racks"].into_iter().filter(|f| !r.node.fields.contains_key(f)));
        if missing.is_empty() {
            return;
        }
        r.sound.set(false);
        let names: Vec<String> = missing.iter().map(|m| format!("`{}`", m.split(' ').next().unwrap_or(m))).collect();
        let all = crate::base::names::list_of(&names, "and");
        let forms: Vec<String> = missing.iter().map(|m| if m.contains(':') { (*m).to_owned() } else { format!("{m} = …") }).collect();
        self.lang.error(
            Diagnostic::error("AIC0108", format!("fabric {} needs {all}", at.source.trim_start_matches("fabric.")))
                .at(at.head, format!("without {all}"))
                .help(format!("add `{}`", forms.join("`, `"))),
        );
    }

    fn network(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Network {
        let fabric = self.index_of(r.entity("fabric"));
        if fabric.is_none() {
            r.sound.set(false);
        }
        let cidr = r.cidr("cidr").unwrap_or_else(|| IpNet::new(IpAddr::from([0, 0, 0, 0]), 32).expect("a /32"));
        let reserved = if let Some(Value::IpRange(a, b)) = r.value("reserved") { Some((a, b)) } else { None };
        let gateway = if let Some(Value::Ip(ip)) = r.value("gateway") { Some(ip) } else { None };
        Network {
            name: o.hyphenated.clone(),
            fabric: fabric.unwrap_or(0),
            cidr,
            vlan: r.int_opt("vlan"),
            pkey: r.int_opt("pkey"),
            rail: r.int_opt("rail"),
            plane: r.int_opt("plane"),
            gateway,
            reserved,
            host_prefix: r.int_opt("host_prefix"),
            mtu: r.int_opt("mtu").unwrap_or(0),
            ipam: r.text("ipam"),
            sound: r.sound.get(),
            at,
        }
    }

    fn control_plane(&self, r: &Reader<'_, '_>, at: At) -> ControlPlane {
        let managed = r.model() == "managed";
        let hosts = self.indices(r.entities("hosts"));
        if !managed && r.value("hosts").is_none() && r.sound.get() {
            self.lang.error(
                Diagnostic::error("AIC0108", "the control plane needs `hosts`")
                    .at(at.head, "without `hosts`")
                    .help("`hosts = …`, or `control_plane : managed` on a cloud"),
            );
            r.sound.set(false);
        }
        let etcd = r.group("etcd");
        let external = etcd.as_ref().map_or_else(Vec::new, |e| self.indices(e.entities("hosts")));
        ControlPlane {
            managed,
            etcd_hosts: if external.is_empty() { hosts.clone() } else { external },
            hosts,
            endpoint: r.text_opt("endpoint"),
            vip: r.text("vip"),
            etcd_disk: etcd.as_ref().and_then(|e| e.text_opt("disk")),
            etcd_quota: etcd.as_ref().and_then(|e| e.quantity_opt("quota")).unwrap_or(Quantity::bytes(8_i128 << 30)),
            burst: r.group("api").and_then(|a| a.int_opt("burst")),
            sound: r.sound.get(),
            at,
        }
    }

    fn pool(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Pool {
        let cpu = r.group("cpu");
        let memory = r.group("memory");
        let numa = r.group("numa");
        let gpu = r.group("gpu").map(|g| PoolGpu {
            driver: g.text("driver"),
            allocation: g.text("allocation"),
            imex: g.bool("imex"),
            mig: g.group("mig").map(|m| (m.text("strategy"), m.texts("layout"))),
            sharing: g.group("sharing").map(|s| Sharing { mode: s.model(), replicas: s.int("replicas"), rename: s.bool("rename") }),
            partition: g.group("partition").map(|p| (p.text("compute"), p.text("memory"))),
        });
        let rdma = r.group("rdma").map(|g| PoolRdma {
            mode: g.model(),
            fabrics: self.indices(g.entities("fabric")),
            vfs: g.int_opt("vfs").unwrap_or(1),
            per_host: g.int_opt("per_host").unwrap_or(63),
        });
        let hosts = self.indices(r.entities("hosts"));
        let nodes = r.group("nodes").map(|n| NodeGroup {
            group: n.text("group"),
            min: n.int_opt("min").unwrap_or(hosts.len() as i64),
            max: n.int_opt("max").unwrap_or(hosts.len() as i64),
            root_volume: n.bytes("root_volume"),
        });
        Pool {
            name: o.hyphenated.clone(),
            taint: r.bool_opt("taint").unwrap_or(gpu.is_some()),
            taints: r.groups("taints").iter().map(|t| Taint { key: t.text("key"), value: t.text_opt("value"), effect: t.text("effect") }).collect(),
            labels: r.text_map("labels").into_iter().collect(),
            max_pods: r.int("max_pods"),
            cpu_manager: cpu.as_ref().map_or("none".into(), |c| c.text("manager")),
            reserved_cores: cpu.as_ref().map_or(2, |c| c.int("reserved_cores")),
            full_cores: cpu.as_ref().is_none_or(|c| c.bool("full_cores")),
            memory_manager: memory.as_ref().map_or("none".into(), |m| m.text("manager")),
            reserved: memory.as_ref().map_or(Quantity::bytes(4_i128 << 30), |m| m.bytes("reserved")),
            eviction: memory.as_ref().map_or(Quantity::bytes(100_i128 << 20), |m| m.bytes("eviction")),
            numa_policy: numa.as_ref().map_or("none".into(), |n| n.text("policy")),
            numa_scope: numa.as_ref().map_or("container".into(), |n| n.text("scope")),
            hugepages: r.groups("hugepages").iter().map(|h| HugePages { size: h.bytes("size"), count: h.int("count") }).collect(),
            gpu,
            rdma,
            nodes,
            runtime: r.text("runtime"),
            role: PoolRole::Declared,
            sound: r.sound.get() && !hosts.is_empty(),
            hosts,
            at,
        }
    }

    fn storage(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Storage {
        let network = self.index_of(r.entity("network"));
        let throughput = r.group("throughput");
        let mut parts = Vec::new();
        for (kind, node) in &r.node.groups {
            if !matches!(*kind, "filesystem" | "block" | "object") {
                continue;
            }
            let p = Reader { lang: self.lang, node: node.clone(), sound: r.sound };
            let erasure = p.group("erasure").map(|e| (e.int("data"), e.int("parity")));
            parts.push(StoragePart {
                kind: (*kind).to_owned(),
                name: p.label(),
                replicas: p.int_opt("replicas").unwrap_or(if erasure.is_some() { 0 } else { 3 }),
                erasure,
                failure_domain: p.text("failure_domain"),
                key: format!("{kind}.{}", p.label()),
            });
        }
        Storage {
            name: o.hyphenated.clone(),
            kind: o.model.map_or("", |m| m.name).to_owned(),
            hosts: self.indices(r.entities("hosts")),
            disks: r.text_opt("disks"),
            cluster_network: self.index_of(r.entity("cluster_network")).or(network),
            network,
            monitors: r.int_opt("monitors").unwrap_or(3),
            fill: r.quantity_opt("fill").unwrap_or(Quantity::new(Rational::new(85, 100), Dimension::Ratio)),
            parts,
            raid: r.text_opt("raid").unwrap_or_else(|| "none".into()),
            provisioner: r.text_opt("provisioner").unwrap_or_default(),
            server: r.text_opt("server"),
            capacity: r.quantity_opt("capacity"),
            read: throughput.as_ref().and_then(|t| t.quantity_opt("read")),
            write: throughput.as_ref().and_then(|t| t.quantity_opt("write")),
            options: r.texts("options"),
            bucket: r.text_opt("bucket"),
            region: r.text_opt("region"),
            endpoint: r.text_opt("endpoint"),
            class: r.text_opt("class"),
            access: r.texts("access"),
            gds: r.bool("gds"),
            sound: r.sound.get(),
            at,
        }
    }

    fn volume(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Volume {
        let entity = r.entity("storage");
        let storage = self.index_of(entity);
        let part = match entity {
            // Parts are counted among the storage's named groups; a storage has no other groups before them.
            Some(Entity::Part(id, part)) => {
                let node = self.lang.node_of(id);
                Some(node.groups[..part as usize].iter().filter(|(k, _)| matches!(*k, "filesystem" | "block" | "object")).count())
            }
            _ => None,
        };
        if storage.is_none() {
            r.sound.set(false);
        }
        Volume {
            name: o.hyphenated.clone(),
            storage: storage.unwrap_or(0),
            part,
            size: r.bytes("size"),
            access: r.text("access"),
            per_host: r.bool("per_host"),
            holds: r.text_opt("holds"),
            snapshots: r.group("snapshots").map(|s| (s.quantity("every", Dimension::Time), s.int("keep"))),
            sound: r.sound.get(),
            at,
        }
    }

    fn queue(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Queue {
        let gpus = r.int_opt("gpus");
        let resources = r
            .map("resources")
            .into_iter()
            .filter_map(|(key, value)| match value {
                Value::Int(n) => Some((key, Amount::Count(n))),
                Value::Quantity(q) => Some((key, Amount::Bytes(q))),
                _ => None,
            })
            .collect();
        Queue {
            name: o.hyphenated.clone(),
            pools: self.indices(r.entities("pool")),
            gpus,
            resources,
            cohort: r.text_opt("cohort"),
            borrow: r.int("borrow"),
            lend: r.int_opt("lend").or(gpus).unwrap_or(0),
            namespace: r.text_opt("namespace").unwrap_or_else(|| o.hyphenated.clone()),
            priority: r.int("priority"),
            preemption: r.text("preemption"),
            reclaim: r.text("reclaim"),
            sound: r.sound.get(),
            at,
        }
    }

    fn workload(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Workload {
        let kind = o.model.map_or("", |m| m.name).to_owned();
        let (queue, pool) = (self.index_of(r.entity("queue")), self.index_of(r.entity("pool")));
        let parallel = r.group("parallel").map(|p| Parallel {
            tensor: p.int("tensor"),
            pipeline: p.int("pipeline"),
            data: p.int("data"),
            context: p.int("context"),
            expert: p.int("expert"),
        });
        let checkpoint = r.group("checkpoint").and_then(|c| {
            Some(Checkpoint {
                volume: self.index_of(c.entity("volume"))?,
                size: c.bytes("size"),
                every: c.quantity("every", Dimension::Time),
                keep: c.int("keep"),
                readers: c.int_opt("readers").unwrap_or_else(|| parallel.as_ref().map_or(1, |p| p.data)),
                restore_within: c.quantity_opt("restore_within"),
            })
        });
        let place = r.group("place").map_or_else(Place::default, |p| Place {
            within: p.text_opt("within"),
            prefer: p.text_opt("prefer"),
            spread: p.text_opt("spread"),
            slice: p.int_opt("slice"),
        });
        let roles: Vec<Role> = r
            .groups("role")
            .iter()
            .map(|g| Role {
                name: g.label().replace('_', "-"),
                replicas: g.int("replicas"),
                nodes: g.int("nodes"),
                gpus: g.int("gpus"),
                cpu: g.int("cpu"),
                memory: g.bytes("memory"),
                command: g.texts("command"),
            })
            .collect();
        let slice = r.group("gpu").and_then(|g| g.text_opt("mig").map(|mig| (mig, g.int("count"))));
        self.require_of_workload(r, &at, &kind, queue.is_some() || pool.is_some(), !roles.is_empty());
        Workload {
            name: o.hyphenated.clone(),
            queue,
            pool,
            namespace: r.text_opt("namespace").unwrap_or_default(),
            image: r.text_opt("image").unwrap_or_default(),
            command: r.texts("command"),
            args: r.texts("args"),
            env: r.text_map("env"),
            nodes: r.int_opt("nodes").unwrap_or(1),
            replicas: r.int("replicas"),
            gpus: r.int_opt("gpus").unwrap_or(-1),
            slice,
            cpu: r.int_opt("cpu").unwrap_or(0),
            memory: r.bytes("memory"),
            hugepages: r.bytes("hugepages"),
            shm: r.quantity_opt("shm"),
            ephemeral: r.bytes("ephemeral"),
            rdma: r.bool_opt("rdma").unwrap_or(kind == "training" || r.group("kv_transfer").is_some_and(|k| k.text("network") == "rdma")),
            place,
            mounts: r
                .groups("mount")
                .iter()
                .filter_map(|m| Some(Mount { volume: self.index_of(m.entity("volume"))?, path: m.text("path"), read_only: m.bool("read_only") }))
                .collect(),
            priority: r.int("priority"),
            grace: r.quantity_opt("grace"),
            restarts: r.int("restarts"),
            heterogeneous: r.text_opt("heterogeneous"),
            form: r.text_opt("form").unwrap_or_default(),
            parallel,
            checkpoint,
            ports: r
                .groups("port")
                .iter()
                .map(|p| ServedPort { name: p.label().replace('_', "-"), number: p.int("number"), health: p.text_opt("health") })
                .collect(),
            autoscale: r
                .groups("autoscale")
                .iter()
                .map(|a| Autoscale { role: a.text_opt("role"), min: a.int("min"), max: a.int("max"), metric: a.text("metric"), target: a.int("target") })
                .collect(),
            roles,
            kv_transfer: r.group("kv_transfer").map(|k| (k.text("from"), k.text("to"), k.text("network"))),
            max_unavailable: r.group("disruption").and_then(|d| d.int_opt("max_unavailable")).unwrap_or(1),
            completions: r.int_opt("completions").unwrap_or(1),
            parallelism: r.int_opt("parallelism").unwrap_or(1),
            deadline: r.quantity_opt("deadline"),
            file: r.text_opt("file"),
            sound: r.sound.get(),
            kind,
            at,
        }
    }

    /// What a workload must say depends on its kind.
    fn require_of_workload(&self, r: &Reader<'_, '_>, at: &At, kind: &str, placed: bool, roles: bool) {
        if r.node.broken || !r.sound.get() || kind.is_empty() {
            return;
        }
        let mut missing = Vec::new();
        if !placed {
            missing.push("queue");
        }
        if kind != "manifest" {
            let mut need = |name: &'static str| {
                if !r.node.fields.contains_key(name) {
                    missing.push(name);
                }
            };
            need("image");
            if !roles {
                need("cpu");
                need("memory");
            }
            if kind == "training" {
                need("nodes");
            }
        }
        if missing.is_empty() {
            return;
        }
        r.sound.set(false);
        let names: Vec<String> = missing.iter().map(|m| if *m == "queue" { "`queue` or `pool`".into() } else { format!("`{m}`") }).collect();
        let forms: Vec<String> = missing.iter().map(|m| format!("{m} = …")).collect();
        let all = crate::base::names::list_of(&names, "and");
        self.lang.error(
            Diagnostic::error("AIC0108", format!("workload {} needs {all}", at.source.trim_start_matches("workload.")))
                .at(at.head, format!("without {all}"))
                .help(format!("add `{}`", forms.join("`, `"))),
        );
    }

    fn cables(&self) -> Vec<CableModel> {
        let mut out = Vec::new();
        for product in self.lang.products("cable") {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            out.push(CableModel {
                name: product.name.to_string(),
                medium: r.text("medium"),
                connector: r.text("connector"),
                links: r.int("links"),
                rate: r.quantity("rate", Dimension::Rate),
                reach: r.quantity_opt("reach"),
                lengths: r.list("lengths").into_iter().filter_map(|v| if let Value::Quantity(q) = v { Some(q) } else { None }).collect(),
                part: r.text_opt("part"),
            });
        }
        out
    }

    fn transceivers(&self) -> Vec<TransceiverModel> {
        let mut out = Vec::new();
        for product in self.lang.products("transceiver") {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            out.push(TransceiverModel {
                name: product.name.to_string(),
                cage: r.text("cage"),
                top: r.text_opt("top"),
                links: r.int("links"),
                rate: r.quantity("rate", Dimension::Rate),
                reach: r.quantity_opt("reach"),
                part: r.text_opt("part"),
            });
        }
        out
    }

    fn cached<T>(cache: &RefCell<HashMap<usize, Arc<T>>>, product: &Rc<Product>, make: impl FnOnce() -> T) -> Arc<T> {
        let key = Rc::as_ptr(product) as usize;
        if let Some(found) = cache.borrow().get(&key) {
            return found.clone();
        }
        let made = Arc::new(make());
        cache.borrow_mut().insert(key, made.clone());
        made
    }

    fn switch(&self, product: &Rc<Product>) -> Arc<SwitchModel> {
        Self::cached(&self.products.switches, product, || {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            SwitchModel {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                link_type: r.text("link_type"),
                managed: r.bool("managed"),
                height: r.units("height"),
                power: r.quantity_opt("power"),
                power_typical: r.quantity_opt("power_typical"),
                weight: r.quantity_opt("weight"),
                cages: r
                    .groups("cage")
                    .iter()
                    .map(|c| CageGroup {
                        name: c.node.label.as_deref().map(str::to_owned),
                        count: c.node.count.unwrap_or(1),
                        connector: c.text_opt("connector"),
                        links: c.int("links"),
                        rate: c.quantity_opt("rate"),
                        breakout: breakouts(c),
                    })
                    .collect(),
                management_port: r.groups("port").iter().any(|p| p.label() == "mgmt"),
                part: r.text_opt("part"),
                os: r.text_opt("os"),
                chips: r.groups("chip").iter().flat_map(|c| vec![c.int("links"); c.node.count.unwrap_or(1).max(0) as usize]).collect(),
                span: product.span,
            }
        })
    }

    fn system(&self, product: &Rc<Product>) -> Arc<System> {
        Self::cached(&self.products.systems, product, || {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            let memory = r.quantity_opt("memory");
            let mut system = System {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                height: r.units("height"),
                power: r.quantity_opt("power"),
                weight: r.quantity_opt("weight"),
                airflow: r.quantity_opt("airflow"),
                psu: r.group("psu").map(|p| Psu { count: p.int("count"), redundant: p.int("redundant"), rating: p.quantity_opt("rating") }),
                part: r.text_opt("part"),
                usable_memory: r.quantity_opt("usable_memory").or_else(|| memory.map(|m| Quantity { value: m.value * Rational::new(98, 100), ..m })),
                memory,
                instance_type: r.text_opt("instance_type"),
                vcpus: r.int_opt("vcpus"),
                span: product.span,
                ..System::default()
            };
            let Some(parts) = &product.parts else { return system };
            for device in &parts.borrow().devices {
                let kind = self.device(device);
                if device.kind == "cage" {
                    let c = Reader { lang: self.lang, node: device.node.clone(), sound: &sound };
                    let nics = c.entities("nics").into_iter().filter_map(|e| if let Entity::Own(d) = e { Some(d) } else { None }).collect();
                    system.cages.push(Cage { name: device.name.to_string(), connector: c.text_opt("connector"), links: c.int("links"), nics });
                }
                system.devices.push(Device { name: device.name.to_string(), index: device.index, kind });
            }
            for link in self.lang.links_of(product) {
                let l = Reader { lang: self.lang, node: link.node.clone(), sound: &sound };
                system.rack_nvlink |= link.a.is_empty() && link.medium == "nvlink";
                system.links.push(Link {
                    a: link.a,
                    b: link.b,
                    medium: link.medium.to_owned(),
                    generation: l.int_opt("generation"),
                    lanes: l.int_opt("lanes"),
                    links: l.int("links"),
                    numa: l.int_opt("numa").unwrap_or(0),
                    span: link.span,
                });
            }
            self.check_numa(&system);
            system
        })
    }

    /// A NUMA node behind a link is one of the CPU at its end.
    fn check_numa(&self, system: &System) {
        let nodes = |device: &u16| match system.devices.get(*device as usize).map(|d| &d.kind) {
            Some(DeviceKind::Cpu(cpu)) => Some(cpu.numa_nodes),
            _ => None,
        };
        for link in system.links.iter().filter(|l| l.numa > 0) {
            let fault = match link.a.iter().chain(&link.b).find_map(nodes) {
                None => "no end of the link is a CPU".to_owned(),
                Some(count) if link.numa >= count => format!("the CPU has {count}, counted from 0"),
                Some(_) => continue,
            };
            self.lang.error(
                Diagnostic::error("AIC0210", format!("link of system {} names NUMA node {}; {fault}", system.name, link.numa))
                    .at(link.span, "here")
                    .help("`numa` stands at the link between a CPU and what hangs below it"),
            );
        }
    }

    fn device(&self, device: &crate::lang::node::DeviceEntry) -> DeviceKind {
        let Some(product) = &device.product else {
            return match device.kind {
                "nvswitch" => DeviceKind::NvSwitch,
                "cage" => DeviceKind::Cage,
                _ => DeviceKind::Bridge,
            };
        };
        let sound = Cell::new(true);
        let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
        match device.kind {
            "cpu" => DeviceKind::Cpu(Self::cached(&self.products.cpus, product, || Cpu {
                vendor: r.text_opt("vendor"),
                name: product.name.to_string(),
                cores: r.int("cores"),
                threads_per_core: r.int("threads_per_core"),
                numa_nodes: r.int("numa_nodes"),
                architecture: r.text("architecture"),
            })),
            "gpu" => DeviceKind::Gpu(Self::cached(&self.products.gpus, product, || Gpu {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                form_factor: r.text_opt("form_factor"),
                memory: r.bytes("memory"),
                memory_bandwidth: r.quantity("memory_bandwidth", Dimension::Rate),
                nvlink: r.group("nvlink").map(|n| (n.int("links"), n.quantity("rate", Dimension::Rate))),
                compute_capability: r.text_opt("compute_capability"),
                product_label: r.texts("product_label"),
                mig: r
                    .groups("mig")
                    .iter()
                    .map(|m| MigProfile {
                        name: m.label(),
                        compute: m.int("compute"),
                        memory: m.int("memory"),
                        starts: m.list("starts").into_iter().filter_map(|v| if let Value::Int(n) = v { Some(n) } else { None }).collect(),
                        max: m.int("max"),
                    })
                    .collect(),
                mig_driver: r.text_opt("mig_driver"),
                pci_id: r.texts("pci_id"),
            })),
            "nic" => DeviceKind::Nic(Self::cached(&self.products.nics, product, || Nic {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                driver: r.text_opt("driver"),
                part_number: r.int_opt("part_number"),
                management: r.text("role") == "management",
                devices: r.texts("devices"),
                interfaces: r.texts("interfaces"),
                address: r.texts("address"),
                pci_id: r.texts("pci_id"),
                ports: r
                    .groups("port")
                    .iter()
                    .flat_map(|p| {
                        let port = NicPort {
                            rate: p.quantity("rate", Dimension::Rate),
                            link_types: p.texts("link_types"),
                            connectors: p.texts("connectors"),
                            breakout: breakouts(p),
                        };
                        vec![port; p.node.count.unwrap_or(1).clamp(0, 64) as usize]
                    })
                    .collect(),
            })),
            _ => DeviceKind::Disk(Self::cached(&self.products.disks, product, || Disk {
                name: product.name.to_string(),
                interface: r.text("interface"),
                capacity: r.bytes("capacity"),
                read: r.quantity_opt("read"),
                write: r.quantity_opt("write"),
            })),
        }
    }
}

fn breakouts(r: &Reader<'_, '_>) -> Vec<(i64, Quantity)> {
    r.list("breakout")
        .into_iter()
        .filter_map(|value| {
            let Value::Map(map) = value else { return None };
            let find = |name: &str| map.iter().find(|(k, _)| &**k == name).map(|(_, v)| v.clone());
            match (find("links"), find("rate")) {
                (Some(Value::Int(links)), Some(Value::Quantity(rate))) => Some((links, rate)),
                _ => None,
            }
        })
        .collect()
}

/// Fills in what follows from other declarations, adds the implicit pools, and carries unsoundness along references.
fn derive(design: &mut Design) {
    derive_networks(design);
    derive_pools(design);
    derive_soundness(design);
    derive_workloads(design);
}

fn derive_networks(design: &mut Design) {
    for i in 0..design.networks.len() {
        let fabric_mtu = design.fabrics.get(design.networks[i].fabric).map_or(9000, |f| f.mtu);
        if design.networks[i].mtu == 0 {
            design.networks[i].mtu = fabric_mtu;
        }
    }
    let only = (design.networks.len() == 1).then_some(0);
    if let Some(pods) = &mut design.cluster.pods {
        pods.network = pods.network.or(only);
        if let Some(network) = pods.network.and_then(|n| design.networks.get_mut(n)) {
            let gateway = match network.cidr {
                IpNet::V4(net) => net.hosts().next().map(IpAddr::V4),
                IpNet::V6(net) => net.hosts().next().map(IpAddr::V6),
            };
            network.gateway = network.gateway.or(gateway);
            let overhead = pods.overhead(&network.cidr);
            pods.mtu = pods.mtu.or(Some(network.mtu - overhead));
        }
    } else if let Some(network) = only {
        let network = &mut design.networks[network];
        if let IpNet::V4(net) = network.cidr {
            network.gateway = network.gateway.or(net.hosts().next().map(IpAddr::V4));
        }
    }
}

fn derive_pools(design: &mut Design) {
    let mut taken: Vec<bool> = vec![false; design.hosts.len()];
    design.pools.iter().flat_map(|p| &p.hosts).for_each(|h| taken[*h] = true);
    let mut implicit = |name: &str, hosts: &[usize], role, at: &At, sound| {
        let free: Vec<usize> = hosts.iter().copied().filter(|h| !std::mem::replace(&mut taken[*h], true)).collect();
        (!free.is_empty()).then(|| Pool {
            name: name.to_owned(),
            hosts: free,
            taint: true,
            taints: Vec::new(),
            labels: BTreeMap::new(),
            max_pods: 110,
            cpu_manager: "none".into(),
            reserved_cores: 2,
            full_cores: true,
            memory_manager: "none".into(),
            reserved: Quantity::bytes(4_i128 << 30),
            eviction: Quantity::bytes(100_i128 << 20),
            numa_policy: "none".into(),
            numa_scope: "container".into(),
            hugepages: Vec::new(),
            gpu: None,
            rdma: None,
            nodes: None,
            runtime: "default".into(),
            role,
            sound,
            at: at.clone(),
        })
    };
    let mut new = Vec::new();
    if let Some(control_plane) = &design.control_plane {
        let mut hosts = control_plane.hosts.clone();
        hosts.extend(control_plane.etcd_hosts.iter().filter(|h| !control_plane.hosts.contains(h)));
        new.extend(implicit("control-plane", &hosts, PoolRole::ControlPlane, &control_plane.at, control_plane.sound));
    }
    for storage in &design.storages {
        new.extend(implicit(&storage.name, &storage.hosts, PoolRole::Storage, &storage.at, storage.sound));
    }
    design.pools.extend(new);
}

fn derive_soundness(design: &mut Design) {
    let racks: Vec<bool> = design.racks.iter().map(|r| r.sound).collect();
    for host in &mut design.hosts {
        host.sound &= host.rack.is_none_or(|r| racks[r]);
    }
    let hosts: Vec<bool> = design.hosts.iter().map(|h| h.sound).collect();
    for fabric in &mut design.fabrics {
        let placed = fabric.placement.iter().flatten().flat_map(|p| p.racks.iter().flatten());
        fabric.sound &= fabric.attach.iter().chain(&fabric.manager).all(|p| hosts[p.host as usize]) && fabric.racks.iter().chain(placed).all(|r| racks[*r]);
    }
    let fabrics: Vec<bool> = design.fabrics.iter().map(|f| f.sound).collect();
    for network in &mut design.networks {
        network.sound &= fabrics.get(network.fabric).copied().unwrap_or(false);
    }
    for pool in &mut design.pools {
        pool.sound &= pool.hosts.iter().all(|h| hosts[*h]) && pool.rdma.as_ref().is_none_or(|r| r.fabrics.iter().all(|f| fabrics[*f]));
    }
    for storage in &mut design.storages {
        storage.sound &= storage.hosts.iter().all(|h| hosts[*h]);
    }
    let storages: Vec<bool> = design.storages.iter().map(|s| s.sound).collect();
    for volume in &mut design.volumes {
        volume.sound &= storages.get(volume.storage).copied().unwrap_or(false);
    }
    let pools: Vec<bool> = design.pools.iter().map(|p| p.sound).collect();
    for queue in &mut design.queues {
        queue.sound &= !queue.pools.is_empty() && queue.pools.iter().all(|p| pools[*p]);
    }
    if let Some(control_plane) = &mut design.control_plane {
        control_plane.sound &= control_plane.hosts.iter().all(|h| hosts[*h]);
    }
    let queues: Vec<bool> = design.queues.iter().map(|q| q.sound).collect();
    let volumes: Vec<bool> = design.volumes.iter().map(|v| v.sound).collect();
    for workload in &mut design.workloads {
        workload.sound &= workload.queue.is_none_or(|q| queues[q]) && workload.pool.is_none_or(|p| pools[p]);
        workload.sound &= workload.mounts.iter().all(|m| volumes[m.volume]) && workload.checkpoint.as_ref().is_none_or(|c| volumes[c.volume]);
    }
}

fn derive_workloads(design: &mut Design) {
    let defaults: Vec<(i64, bool, String)> = design
        .workloads
        .iter()
        .map(|workload| {
            let pool = design.pool_of(workload).map(|p| &design.pools[p]);
            let gpus = pool.and_then(|p| p.hosts.first()).map_or(0, |h| design.hosts[*h].system.gpus().count() as i64);
            let namespace = workload.queue.map_or_else(|| workload.name.clone(), |q| design.queues[q].namespace.clone());
            (gpus, pool.is_some_and(|p| p.rdma.is_some()), namespace)
        })
        .collect();
    for (workload, (gpus, has_rdma, namespace)) in design.workloads.iter_mut().zip(defaults) {
        if workload.gpus < 0 {
            workload.gpus = if workload.kind == "training" && workload.slice.is_none() { gpus } else { 0 };
        }
        let asked = workload.at.set("rdma").is_some();
        if !asked {
            workload.rdma &= has_rdma;
        }
        if workload.rdma && workload.shm.is_none() {
            workload.shm = Some(Quantity::bytes(16_i128 << 30));
        }
        if workload.namespace.is_empty() {
            workload.namespace = namespace;
        }
    }
}
