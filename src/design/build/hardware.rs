//! Products: switches, systems and their devices, cables, transceivers.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn cables(&self) -> Vec<CableModel> {
        let mut out = Vec::new();
        for product in self.lang.products("cable") {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            out.push(CableModel {
                name: product.name.to_string(),
                medium: r.word("medium"),
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

    pub(super) fn transceivers(&self) -> Vec<TransceiverModel> {
        let mut out = Vec::new();
        for product in self.lang.products("transceiver") {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            out.push(TransceiverModel {
                name: product.name.to_string(),
                cage: r.text("cage"),
                top: r.word_opt("top"),
                links: r.int("links"),
                rate: r.quantity("rate", Dimension::Rate),
                reach: r.quantity_opt("reach"),
                part: r.text_opt("part"),
            });
        }
        out
    }

    pub(super) fn cached<T>(cache: &RefCell<HashMap<usize, Arc<T>>>, product: &Rc<Product>, make: impl FnOnce() -> T) -> Arc<T> {
        let key = Rc::as_ptr(product) as usize;
        if let Some(found) = cache.borrow().get(&key) {
            return found.clone();
        }
        let made = Arc::new(make());
        cache.borrow_mut().insert(key, made.clone());
        made
    }

    pub(super) fn switch(&self, product: &Rc<Product>) -> Arc<SwitchModel> {
        Self::cached(&self.products.switches, product, || {
            let sound = Cell::new(true);
            let r = Reader { lang: self.lang, node: product.node.clone(), sound: &sound };
            SwitchModel {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                link_type: r.word("link_type"),
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
                os: r.word_opt("os"),
                chips: r.groups("chip").iter().flat_map(|c| vec![c.int("links"); c.node.count.unwrap_or(1).max(0) as usize]).collect(),
                span: product.span,
            }
        })
    }

    pub(super) fn system(&self, product: &Rc<Product>) -> Arc<System> {
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
                    medium: LinkMedium::parse(link.medium).unwrap_or_default(),
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
    pub(super) fn check_numa(&self, system: &System) {
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

    pub(super) fn device(&self, device: &crate::lang::value::DeviceEntry) -> DeviceKind {
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
                architecture: r.word("architecture"),
            })),
            "gpu" => DeviceKind::Gpu(Self::cached(&self.products.gpus, product, || Gpu {
                name: product.name.to_string(),
                vendor: r.text_opt("vendor"),
                form_factor: r.word_opt("form_factor"),
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
                management: r.word::<NicRole>("role") == NicRole::Management,
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
                            link_types: p.words("link_types"),
                            connectors: p.texts("connectors"),
                            breakout: breakouts(p),
                        };
                        vec![port; p.node.count.unwrap_or(1).clamp(0, 64) as usize]
                    })
                    .collect(),
            })),
            _ => DeviceKind::Disk(Self::cached(&self.products.disks, product, || Disk {
                name: product.name.to_string(),
                interface: r.word("interface"),
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
