//! `fabric` and `network`.

use super::reader::model_of;
use super::*;

impl Builder<'_, '_> {
    /// The ports of a list, and whether all management ports are among them.
    pub(super) fn ports(&self, value: Option<Value>) -> (Vec<PortRef>, bool) {
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

    pub(super) fn fabric(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Fabric {
        let word: FabricWord = model_of(o.model);
        if o.model.is_some() {
            self.require_of_fabric(r, &at, word);
        }
        let (attach, management) = self.ports(r.value("attach"));
        let (manager, _) = self.ports(r.group("manager").and_then(|m| m.value("attach")));
        let topology = r.group("topology").map_or_else(Shape::default, |t| shape(&t));
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
            mtu: r.int_opt("mtu").unwrap_or(if word == FabricWord::Infiniband { 4096 } else { 9000 }),
            uplink: r.group("uplink").map(|u| Uplink { fabric: self.index_of(u.entity("fabric")), links: u.int("links") }),
            slack: cables.as_ref().and_then(|c| c.quantity_opt("slack")).unwrap_or(metres(1)),
            prefer: cables.as_ref().map_or_else(|| vec![CableMedium::Dac, CableMedium::Fibre], |c| c.words("prefer")),
            sound: r.sound.get(),
            kind: kind(r, word, !manager.is_empty()),
            manager,
            at,
        }
    }

    /// A fabric that is planned says its shape, its leaves and where its switches stand.
    pub(super) fn require_of_fabric(&self, r: &Reader<'_, '_>, at: &At, word: FabricWord) {
        if r.node.broken || matches!(word, FabricWord::Nvlink | FabricWord::Managed) {
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

    pub(super) fn network(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Network {
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
            ipam: r.word("ipam"),
            sound: r.sound.get(),
            at,
        }
    }
}

fn kind(r: &Reader<'_, '_>, word: FabricWord, has_manager: bool) -> FabricKind {
    let routed = || r.group("routed").and_then(|c| Some(Routed { loopbacks: c.cidr("loopbacks")?, links: c.cidr("links")?, asn: c.int_opt("asn") }));
    match word {
        FabricWord::Infiniband => FabricKind::Infiniband {
            subnet_manager: r.word_opt("subnet_manager").unwrap_or(if has_manager { SubnetManager::Ufm } else { SubnetManager::Switch }),
            adaptive_routing: r.bool("adaptive_routing"),
            sharp: r.bool("sharp"),
            pkey: r.int_opt("pkey"),
        },
        FabricWord::Roce => FabricKind::Roce {
            congestion: r.group("congestion").map(|c| Congestion {
                pfc_priority: c.int("pfc_priority"),
                dscp: c.int("dscp"),
                ecn: c.bool("ecn"),
                adaptive_routing: c.bool("adaptive_routing"),
            }),
            routed: routed(),
        },
        FabricWord::Ethernet => FabricKind::Ethernet { redundancy: r.word("redundancy"), routed: routed() },
        FabricWord::Nvlink => FabricKind::Nvlink { domain: r.word("domain") },
        FabricWord::Managed => FabricKind::Managed {
            provider: r.word("provider"),
            bandwidth: r.quantity("bandwidth", Dimension::Rate),
            placement_group: r.bool("placement_group"),
        },
    }
}

fn shape(t: &Reader<'_, '_>) -> Shape {
    let (leaves, spines) = (t.int_opt("leaves"), t.int_opt("spines"));
    match t.model() {
        ShapeWord::LeafOnly => Shape::LeafOnly { leaves },
        ShapeWord::LeafSpine => Shape::LeafSpine { leaves, spines },
        ShapeWord::RailOptimized => Shape::RailOptimized { unit: t.int("unit").max(1), leaves, spines },
        ShapeWord::RailOnly => Shape::RailOnly { unit: t.int("unit").max(1), spines },
        ShapeWord::FatTree => Shape::FatTree(FatTree {
            tiers: t.int("tiers"),
            unit: t.int_opt("unit"),
            rails: t.bool("rails"),
            pod: t.int_opt("pod"),
            taper: t.quantity_opt("taper").unwrap_or(Quantity::new(Rational::from_integer(1), Dimension::Ratio)),
            leaves,
            spines,
            cores: t.int_opt("cores"),
        }),
        ShapeWord::DragonflyPlus => Shape::DragonflyPlus { groups: t.int("groups") },
    }
}
