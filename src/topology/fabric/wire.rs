//! Which port goes where: a plane of a fabric as switches and links. Hosts take ports from the lowest, trunks the last ones.

use std::sync::Arc;

use super::super::Topology;
use super::super::ports::{self, Fit, Mbps, Ports, Slot};
use super::attach::{Attached, AttachedPorts};
use super::size::{Cores, Sizes};
use super::{CableCounts, End, FabricPlan, Fault, LinkPlan, Medium, Switch, Tier, fit};
use crate::design::{Design, Fabric, SwitchModel};

/// Wires one plane.
pub fn plane(
    design: &Design,
    topology: &mut Topology,
    id: usize,
    plan: &mut FabricPlan,
    attached: &AttachedPorts,
    sizes: &Sizes,
    plane: i64,
) -> Result<(), Fault> {
    let fabric = &design.fabrics[id];
    let mut wirer = Wirer { design, fabric, id, topology, plan, plane };
    let leaf = fabric.leaf.clone().ok_or(Fault::NoModel(Tier::Leaf))?;
    let first = wirer.add_switches(Tier::Leaf, &leaf, sizes.leaves.len() as i64);
    let ups = wirer.reserve(first, &leaf, sizes)?;
    wirer.attach(first, &leaf, attached, sizes)?;
    wirer.attach_manager(first, sizes)?;
    if sizes.pods.is_empty() {
        wirer.peer(first, &ups, sizes);
        return Ok(());
    }
    let spine = fabric.spine.clone().ok_or(Fault::NoModel(Tier::Spine))?;
    let first_spine = wirer.add_switches(Tier::Spine, &spine, sizes.count(Tier::Spine));
    let spine_ups = wirer.join(first, ups, first_spine, &spine, sizes)?;
    if let Some(cores) = sizes.cores {
        wirer.cores(first_spine, &spine_ups, cores, sizes)?;
    }
    Ok(())
}

struct Wirer<'a> {
    design: &'a Design,
    fabric: &'a Fabric,
    id: usize,
    topology: &'a mut Topology,
    plan: &'a mut FabricPlan,
    plane: i64,
}

impl Wirer<'_> {
    fn add_switches(&mut self, tier: Tier, model: &Arc<SwitchModel>, count: i64) -> u32 {
        let first = self.topology.switches.len() as u32;
        let before = self.plan.count(tier);
        let ports = Ports::new(model);
        self.topology.switches.extend((0..count).map(|i| Switch {
            name: format!("{}-{}-{}", self.fabric.name, tier.word(), before + i),
            fabric: self.id,
            tier,
            plane: self.plane,
            model: model.clone(),
            rack: None,
            unit: None,
            ports: ports.clone(),
        }));
        match self.plan.tiers.iter_mut().find(|(t, ..)| *t == tier) {
            Some((.., n)) => *n += count,
            None => self.plan.tiers.push((tier, model.clone(), count)),
        }
        first
    }

    fn ports(&mut self, switch: u32) -> &mut Ports {
        &mut self.topology.switches[switch as usize].ports
    }

    fn link(&mut self, a: End, b: End, rate: Mbps) {
        self.topology.links.push(link(self.id, self.plane, a, b, rate));
    }

    /// Keeps the last ports of each leaf: first those to the site, whose other side is not in the design, then the trunks.
    fn reserve(&mut self, first: u32, leaf: &SwitchModel, sizes: &Sizes) -> Result<Vec<Vec<Slot>>, Fault> {
        let trunk = fit(leaf, sizes.trunk)?;
        let trunks = if sizes.pods.is_empty() { sizes.inter } else { sizes.up };
        let fault = |list: &[u32]| Fault::LeafPorts { down: list.len() as i64, up: trunks + sizes.site, radix: trunk.radix(), rate: sizes.trunk };
        let mut out = Vec::with_capacity(sizes.leaves.len());
        for (i, list) in sizes.leaves.iter().enumerate() {
            let ports = self.ports(first + i as u32);
            ports.take_last(trunk, sizes.site).ok_or_else(|| fault(list))?;
            out.push(ports.take_last(trunk, trunks).ok_or_else(|| fault(list))?);
        }
        Ok(out)
    }

    fn attach(&mut self, first: u32, leaf: &SwitchModel, attached: &AttachedPorts, sizes: &Sizes) -> Result<(), Fault> {
        let mut known: Option<Fit> = None;
        for (i, list) in sizes.leaves.iter().enumerate() {
            for port in list {
                let a = attached.ports[*port as usize];
                let fit = match known {
                    Some(fit) if fit.mode.rate == a.rate => fit,
                    _ => *known.insert(fit(leaf, a.rate)?),
                };
                self.attach_to(first + i as u32, fit, a)?;
            }
        }
        count(&mut self.plan.cables, "host", "leaf", attached.ports.iter().map(|a| a.rate));
        Ok(())
    }

    fn attach_to(&mut self, leaf: u32, fit: Fit, a: Attached) -> Result<(), Fault> {
        let slot = self.ports(leaf).take_low(fit).ok_or(Fault::LeafPorts { down: fit.radix() + 1, up: 0, radix: fit.radix(), rate: a.rate })?;
        self.link(a.end, End::Switch(leaf, slot), a.rate);
        Ok(())
    }

    /// The fabric manager's ports, on spare ports of the leaves, those with room in their unit first.
    fn attach_manager(&mut self, first: u32, sizes: &Sizes) -> Result<(), Fault> {
        if self.plane > 0 || self.fabric.manager.is_empty() {
            return Ok(());
        }
        let unit = self.fabric.topology.unit().unwrap_or(i64::MAX);
        let mut order: Vec<u32> = (0..sizes.leaves.len() as u32).collect();
        order.sort_by_key(|leaf| sizes.leaves[*leaf as usize].len() as i64 >= unit);
        for (i, port) in self.fabric.manager.iter().enumerate() {
            let Some(nic_port) = self.design.nic_port(*port) else { continue };
            let leaf = first + order[i % order.len()];
            let model = self.topology.switches[leaf as usize].model.clone();
            let native = ports::native_rate(&model).unwrap_or(Mbps::MAX);
            let rate = ports::mbps(nic_port.rate).min(native);
            self.attach_to(leaf, fit(&model, rate)?, Attached { end: End::Host(*port), rate, owner: port.host, ordinal: 0, index: 0 })?;
            count(&mut self.plan.cables, "host", "leaf", [rate]);
        }
        Ok(())
    }

    /// Links between the two leaves of a pair.
    fn peer(&mut self, first: u32, ups: &[Vec<Slot>], sizes: &Sizes) {
        if let [a, b] = ups {
            for (a, b) in a.iter().zip(b) {
                self.link(End::Switch(first, *a), End::Switch(first + 1, *b), sizes.trunk);
            }
            count(&mut self.plan.cables, "leaf", "leaf", a.iter().zip(b).map(|_| sizes.trunk));
        }
    }

    /// Joins the leaves of each pod to its spines, each leaf with as many links to every spine; gives what the spines keep for the cores.
    fn join(&mut self, first: u32, ups: Vec<Vec<Slot>>, first_spine: u32, model: &SwitchModel, sizes: &Sizes) -> Result<Vec<Vec<Slot>>, Fault> {
        let trunk = fit(model, sizes.trunk)?;
        let mut kept = Vec::new();
        let mut next = first_spine;
        let mut made = 0;
        for pod in &sizes.pods {
            for spine in next..next + pod.spines as u32 {
                kept.push(self.ports(spine).take_last(trunk, pod.spine_up).ok_or(Fault::UpperPorts(Tier::Spine, pod.spine_up, trunk.radix()))?);
            }
            let each = (sizes.up / pod.spines.max(1)).max(1);
            for leaf in &pod.leaves {
                for (k, slot) in ups[*leaf as usize].iter().enumerate() {
                    let spine = next + (k as i64 / each) as u32;
                    let needed = pod.leaves.len() as i64 * each + pod.spine_up;
                    let other = self.ports(spine).take_low(trunk).ok_or(Fault::UpperPorts(Tier::Spine, needed, trunk.radix()))?;
                    self.link(End::Switch(first + leaf, *slot), End::Switch(spine, other), sizes.trunk);
                    made += 1;
                }
            }
            next += pod.spines as u32;
        }
        count(&mut self.plan.cables, "leaf", "spine", std::iter::repeat_n(sizes.trunk, made));
        Ok(kept)
    }

    /// Joins spines to cores: evenly within blocks, or round robin over all.
    fn cores(&mut self, first_spine: u32, ups: &[Vec<Slot>], cores: Cores, sizes: &Sizes) -> Result<(), Fault> {
        let core = self.fabric.core.clone().ok_or(Fault::NoModel(Tier::Core))?;
        let core_fit = fit(&core, sizes.trunk)?;
        let first = self.add_switches(Tier::Core, &core, cores.count);
        let block = if cores.blocks > 0 { cores.count / cores.blocks } else { cores.count };
        let mut next = 0;
        let mut pods = sizes.pods.iter().flat_map(|p| (0..p.spines).map(move |n| n * cores.blocks.max(1) / p.spines));
        for (s, slots) in ups.iter().enumerate() {
            // The same share of every pod's spines goes to a block.
            let own = pods.next().unwrap_or(0) * block;
            let each = (slots.len() as i64 / block.max(1)).max(1);
            for (k, slot) in slots.iter().enumerate() {
                let target = if cores.blocks > 0 { own + k as i64 / each } else { next % cores.count };
                next += 1;
                // Round robin, the last cores may be full: the next that has a port takes the link.
                let found = (0..cores.count).find_map(|step| {
                    let id = first + ((target + step) % cores.count) as u32;
                    self.ports(id).take_low(core_fit).map(|slot| (id, slot))
                });
                let (id, other) = found.ok_or(Fault::UpperPorts(Tier::Core, next, cores.count * core_fit.radix()))?;
                self.link(End::Switch(first_spine + s as u32, *slot), End::Switch(id, other), sizes.trunk);
            }
        }
        count(&mut self.plan.cables, "spine", "core", std::iter::repeat_n(sizes.trunk, next as usize));
        Ok(())
    }
}

fn link(fabric: usize, plane: i64, a: End, b: End, rate: Mbps) -> LinkPlan {
    LinkPlan { a, b, rate, centimetres: 0, cable: 0, fabric: fabric as u16, plane: plane as u8, medium: Medium::default() }
}

fn count(cables: &mut CableCounts, from: &'static str, to: &'static str, rates: impl IntoIterator<Item = Mbps>) {
    let mut run: Option<(Mbps, i64)> = None;
    let mut add = |(rate, n): (Mbps, i64)| *cables.entry((from, to, ports::gbps(rate).into())).or_default() += n;
    for rate in rates {
        match &mut run {
            Some((known, n)) if *known == rate => *n += 1,
            _ => run.replace((rate, 1)).into_iter().for_each(&mut add),
        }
    }
    run.into_iter().for_each(add);
}

/// Links of each leaf to the leaves of another fabric.
pub fn uplink(design: &Design, topology: &mut Topology, id: usize, target: usize) -> Result<(), Fault> {
    let links = design.fabrics[id].uplink.as_ref().map_or(0, |u| u.links);
    let leaves = |topology: &Topology, fabric: usize| -> Vec<u32> {
        topology.fabrics[fabric].switches.clone().filter(|i| topology.switches[*i].tier == Tier::Leaf).map(|i| i as u32).collect()
    };
    let (own, other) = (leaves(topology, id), leaves(topology, target));
    let fault = || Fault::Uplink(design.fabrics[target].name.clone());
    if other.is_empty() {
        return if topology.fabrics[target].fault.is_some() { Ok(()) } else { Err(fault()) };
    }
    let mut next = 0;
    for leaf in own {
        let model = topology.switches[leaf as usize].model.clone();
        let peer_model = topology.switches[other[0] as usize].model.clone();
        let rate = ports::native_rate(&model).zip(ports::native_rate(&peer_model)).map_or(0, |(a, b)| a.min(b));
        let (fit, peer_fit) = (Fit::new(&model, rate).ok_or_else(fault)?, Fit::new(&peer_model, rate).ok_or_else(fault)?);
        for slot in topology.switches[leaf as usize].ports.take_last(fit, links).ok_or_else(fault)? {
            let peer = other[next % other.len()];
            next += 1;
            let other_slot = topology.switches[peer as usize].ports.take_low(peer_fit).ok_or_else(fault)?;
            topology.links.push(link(id, 0, End::Switch(leaf, slot), End::Switch(peer, other_slot), rate));
            count(&mut topology.fabrics[id].cables, "leaf", "uplink", [rate]);
        }
    }
    Ok(())
}
