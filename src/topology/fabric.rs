//! Fabrics expanded to switches, ports and links.
//!
//! The counts follow facts/superpod.md section 1: one leaf a rail and unit; the smallest number of spines that carries all uplinks and
//! divides the uplinks of a leaf, so that they spread evenly; three tiers as a full fat tree.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use num_traits::ToPrimitive as _;

use super::Topology;
use super::ports::{self, Ports, Slot};
use crate::base::{Quantity, Rational};
use crate::design::{Design, DeviceKind, Fabric, PortRef, SwitchModel};

/// A tier of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Hosts are attached here.
    Leaf,
    /// Joins leaves.
    Spine,
    /// Joins spines.
    Core,
}

impl Tier {
    /// `leaf`.
    pub fn word(self) -> &'static str {
        match self {
            Tier::Leaf => "leaf",
            Tier::Spine => "spine",
            Tier::Core => "core",
        }
    }
}

/// A switch that the plan made.
#[derive(Debug)]
pub struct Switch {
    /// `compute-leaf-0`.
    pub name: String,
    /// Its fabric.
    pub fabric: usize,
    /// Its tier.
    pub tier: Tier,
    /// Its plane.
    pub plane: i64,
    /// What it is.
    pub model: Arc<SwitchModel>,
    /// Its rack.
    pub rack: Option<usize>,
    /// Its lowest unit.
    pub unit: Option<i64>,
    /// Its ports.
    pub ports: Ports,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A port of a host.
    Host(PortRef),
    /// A port of a switch.
    Switch(u32, Slot),
    /// The management port of a switch.
    SwitchManagement(u32),
    /// A PDU of a rack.
    Pdu(u32, u8),
}

/// A link: a row of cables.csv.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its fabric.
    pub fabric: u16,
    /// Its plane.
    pub plane: u8,
    /// The lower end.
    pub a: End,
    /// The upper end.
    pub b: End,
    /// Its rate.
    pub rate: Rational,
    /// The rate as whole gigabits a second.
    pub gbps: u32,
    /// What carries it.
    pub medium: &'static str,
    /// Its length in centimetres.
    pub centimetres: u32,
    /// The number of the physical cable within the fabric.
    pub cable: u32,
}

impl FabricPlan {
    /// Gigabits a second of the links to hosts.
    pub fn host_gbps(&self) -> Option<u64> {
        self.cables.keys().find(|(from, ..)| *from == "host").map(|(.., gbps)| *gbps)
    }
}

/// Why a fabric cannot be planned.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A tier has no switch model.
    NoModel(Tier),
    /// A port speaks another link type than the switch: port, its types, switch, its type.
    LinkType(PortRef, Vec<String>, String, String),
    /// A leaf lacks ports: hosts of a unit or links down, links up, ports it has, at which rate.
    LeafPorts {
        /// Links to hosts.
        down: i64,
        /// Links upward or to the peer.
        up: i64,
        /// Ports of the leaf at that rate.
        radix: i64,
        /// The rate.
        rate: Quantity,
    },
    /// A spine or core lacks ports.
    UpperPorts(Tier, i64, i64),
    /// A rate that a switch cannot run.
    NoRate(Quantity, String),
    /// Two tiers do not suffice: leaves, ports of a spine.
    TooManyLeaves(i64, i64),
    /// Declared counts do not fit: tier, declared, needed.
    Count(Tier, i64, i64),
    /// Leaves that nothing joins.
    Islands(i64),
    /// The uplink finds no port on the other fabric.
    Uplink(String),
    /// This version does not plan the shape; nothing about it is judged.
    NotPlanned(String),
}

/// What a fabric comes to.
#[derive(Debug, Default)]
pub struct FabricPlan {
    /// Why it is not planned.
    pub fault: Option<Fault>,
    /// Model and count of each tier, planes together.
    pub tiers: Vec<(Tier, Arc<SwitchModel>, i64)>,
    /// Links by ends and rate: from, to, gigabits a second, how many.
    pub cables: BTreeMap<(&'static str, &'static str, u64), i64>,
    /// Down : up at the leaf, in bandwidth; nothing without an upper tier.
    pub ratio: Option<Rational>,
    /// Bandwidth of all attached ports, bytes a second.
    pub injection: Rational,
    /// Bandwidth across the narrowest halving, both directions.
    pub bisection: Option<Rational>,
    /// Links from host to host.
    pub max_hops: i64,
    /// Free ports of all switches.
    pub ports_free: i64,
    /// The unit of each host, where the shape has units.
    pub unit_of_host: HashMap<u32, u32>,
    /// NVLink domains: GPUs of each.
    pub domains: Vec<i64>,
    /// Rails: ports a host.
    pub rails: i64,
}

/// Plans all fabrics: management last, since it is attached to the switches of the others.
pub fn plan_all(design: &Design, topology: &mut Topology) {
    topology.fabrics = design.fabrics.iter().map(|_| FabricPlan::default()).collect();
    for pass in [false, true] {
        for (id, fabric) in design.fabrics.iter().enumerate() {
            if fabric.management == pass && fabric.sound {
                let mut planner = Planner { design, fabric, id, topology: &mut *topology, plan: FabricPlan::default() };
                if let Err(fault) = planner.plan() {
                    planner.plan.fault = Some(fault);
                }
                let plan = planner.plan;
                topology.fabrics[id] = plan;
            }
        }
    }
    for (id, fabric) in design.fabrics.iter().enumerate() {
        if topology.fabrics[id].fault.is_none()
            && let Some(target) = fabric.uplink.as_ref().and_then(|u| u.fabric)
            && let Err(fault) = uplink(design, topology, id, target)
        {
            topology.fabrics[id].fault = Some(fault);
        }
        let free = topology.switches.iter().filter(|s| s.fabric == id).map(free_ports).sum();
        topology.fabrics[id].ports_free = free;
    }
}

fn free_ports(switch: &Switch) -> i64 {
    switch.ports.cages.iter().map(|(group, mode, taken)| mode.map_or(switch.model.cages[*group].links, |m| m.links) - taken).sum()
}

/// One attached thing with its rate.
#[derive(Clone, Copy)]
struct Attached {
    end: End,
    rate: Rational,
    /// The thing it belongs to: single ports of one thing alternate over a pair.
    owner: u32,
    /// Its position among the owner's ports.
    ordinal: u32,
}

struct Planner<'a> {
    design: &'a Design,
    fabric: &'a Fabric,
    id: usize,
    topology: &'a mut Topology,
    plan: FabricPlan,
}

/// The smallest number of spines that carries all uplinks and divides the uplinks of a leaf.
pub fn spines_needed(leaves: i64, up: i64, radix: i64) -> i64 {
    if radix <= 0 || up <= 0 {
        return 0;
    }
    let mut spines = (leaves * up + radix - 1) / radix;
    while spines < up && up % spines.max(1) != 0 {
        spines += 1;
    }
    spines.max(1)
}

impl Planner<'_> {
    fn plan(&mut self) -> Result<(), Fault> {
        match self.fabric.kind.as_str() {
            "nvlink" => {
                self.nvlink();
                return Ok(());
            }
            "managed" => {
                let hosts = self.fabric.attach.iter().map(|p| p.host).collect::<std::collections::BTreeSet<_>>().len();
                self.plan.injection = self.fabric.bandwidth.map_or(Rational::from_integer(0), |b| b.value * Rational::from_integer(hosts as i128));
                self.plan.rails = (self.fabric.attach.len() / hosts.max(1)) as i64;
                return Ok(());
            }
            _ => {}
        }
        let attached = self.attached()?;
        let planes = self.fabric.planes;
        self.plan.injection = attached.iter().map(|a| a.rate * Rational::from_integer(planes.into())).fold(Rational::from_integer(0), |a, b| a + b);
        let mut bisection = Rational::from_integer(0);
        for plane in 0..planes {
            bisection += self.plane(&attached, plane)?;
        }
        self.plan.bisection = Some(bisection.min(self.plan.injection));
        Ok(())
    }

    fn nvlink(&mut self) {
        let mut domains: BTreeMap<u64, i64> = BTreeMap::new();
        for port in &self.fabric.attach {
            let host = &self.design.hosts[port.host as usize];
            let key = if self.fabric.domain == "rack" { host.rack.map_or(u64::from(port.host) << 32, |r| r as u64) } else { u64::from(port.host) };
            *domains.entry(key).or_default() += 1;
            if let DeviceKind::Gpu(gpu) = &host.system.devices[port.device as usize].kind
                && let Some((links, rate)) = &gpu.nvlink
            {
                self.plan.injection += rate.value * Rational::from_integer((*links).into());
            }
        }
        self.plan.domains = domains.into_values().collect();
        self.plan.max_hops = 2;
    }

    fn attached(&mut self) -> Result<Vec<Attached>, Fault> {
        let leaf = self.fabric.leaf.clone().ok_or(Fault::NoModel(Tier::Leaf))?;
        let mut out = Vec::new();
        let mut ordinals: HashMap<u32, u32> = HashMap::new();
        let management = if self.fabric.management { self.management_ports() } else { Vec::new() };
        for port in self.fabric.attach.iter().chain(&management) {
            let host = &self.design.hosts[port.host as usize];
            let DeviceKind::Nic(nic) = &host.system.devices[port.device as usize].kind else { continue };
            let Some(nic_port) = nic.ports.get(port.port as usize) else { continue };
            // RoCE runs on Ethernet switches.
            if !nic_port.link_types.contains(&leaf.link_type) {
                return Err(Fault::LinkType(*port, nic_port.link_types.clone(), leaf.name.clone(), leaf.link_type.clone()));
            }
            let full = nic_port.rate.value;
            let rate = match self.fabric.link_rate {
                Some(rate) => rate.value.min(full),
                None if self.fabric.planes > 1 => full / Rational::from_integer(self.fabric.planes.into()),
                None => full,
            };
            let ordinal = ordinals.entry(port.host).or_default();
            out.push(Attached { end: End::Host(*port), rate, owner: port.host, ordinal: *ordinal });
            *ordinal += 1;
        }
        self.plan.rails = ordinals.values().copied().max().unwrap_or(0).into();
        if self.fabric.management {
            self.attach_switches(&mut out);
        }
        Ok(out)
    }

    /// The management ports of all hosts that no other fabric names.
    fn management_ports(&self) -> Vec<PortRef> {
        let named: std::collections::HashSet<PortRef> = self.design.fabrics.iter().flat_map(|f| f.attach.iter().copied()).collect();
        let mut out = Vec::new();
        for (host, h) in self.design.hosts.iter().enumerate() {
            for (device, _, nic) in h.system.nics().filter(|(_, _, nic)| nic.management) {
                out.extend((0..nic.ports.len() as u8).map(|port| PortRef { host: host as u32, device, port }).filter(|p| !named.contains(p)));
            }
        }
        out
    }

    fn attach_switches(&self, out: &mut Vec<Attached>) {
        let gigabit = Rational::from_integer(125_000_000);
        let first = self.design.hosts.len() as u32;
        let mut next = first;
        for (i, switch) in self.topology.switches.iter().enumerate() {
            if switch.fabric != self.id && switch.model.management_port {
                out.push(Attached { end: End::SwitchManagement(i as u32), rate: gigabit, owner: next, ordinal: 0 });
                next += 1;
            }
        }
        for (rack, r) in self.design.racks.iter().enumerate() {
            for pdu in 0..r.pdus.clamp(0, 64) {
                out.push(Attached { end: End::Pdu(rack as u32, pdu as u8), rate: gigabit, owner: next, ordinal: 0 });
                next += 1;
            }
        }
    }

    /// The rate of links between switches.
    fn trunk_rate(&self, leaf: &SwitchModel) -> Rational {
        let native = ports::native_rate(leaf).unwrap_or(Rational::from_integer(0));
        match (self.fabric.link_rate, &self.fabric.spine) {
            (Some(rate), _) => rate.value.min(native),
            (None, Some(spine)) => native.min(ports::native_rate(spine).unwrap_or(native)),
            (None, None) => native,
        }
    }

    /// Plans one plane; gives its bisection.
    fn plane(&mut self, attached: &[Attached], plane: i64) -> Result<Rational, Fault> {
        match self.fabric.topology.shape.as_str() {
            "leaf_only" => self.leaf_only(attached, plane),
            "leaf_spine" | "rail_optimized" | "rail_only" => self.tiers(attached, plane, false),
            "fat_tree" => self.tiers(attached, plane, self.fabric.topology.tiers >= 3),
            other => Err(Fault::NotPlanned(other.to_owned())),
        }
    }

    fn add_switches(&mut self, tier: Tier, model: &Arc<SwitchModel>, count: i64, plane: i64) -> u32 {
        let first = self.topology.switches.len() as u32;
        let before = self.plan.tiers.iter().find(|(t, ..)| *t == tier).map_or(0, |(.., n)| *n);
        for i in 0..count {
            self.topology.switches.push(Switch {
                name: format!("{}-{}-{}", self.fabric.name, tier.word(), before + i),
                fabric: self.id,
                tier,
                plane,
                model: model.clone(),
                rack: None,
                unit: None,
                ports: Ports::new(model),
            });
        }
        match self.plan.tiers.iter_mut().find(|(t, ..)| *t == tier) {
            Some((.., n)) => *n += count,
            None => self.plan.tiers.push((tier, model.clone(), count)),
        }
        first
    }

    fn link(&mut self, plane: i64, a: End, b: End, rate: Rational, from: &'static str, to: &'static str) {
        // Links come in long runs of one rate.
        let gbps = match self.topology.links.last() {
            Some(last) if last.rate == rate => last.gbps,
            _ => ports::gbps(rate),
        };
        *self.plan.cables.entry((from, to, gbps.into())).or_default() += 1;
        self.topology.links.push(LinkPlan { fabric: self.id as u16, plane: plane as u8, a, b, rate, gbps, medium: "fibre", centimetres: 0, cable: 0 });
    }

    fn attach_to(&mut self, leaf: u32, attached: &Attached, plane: i64) -> Result<(), Fault> {
        let model = self.topology.switches[leaf as usize].model.clone();
        let slot = self.topology.switches[leaf as usize].ports.take_low(&model, attached.rate).ok_or_else(|| {
            let rate = Quantity::new(attached.rate, crate::base::Dimension::Rate);
            match ports::best_group(&model, attached.rate) {
                None => Fault::NoRate(gigabits(rate), model.name.clone()),
                Some(_) => Fault::LeafPorts { down: 0, up: 0, radix: ports::radix(&model, attached.rate), rate: gigabits(rate) },
            }
        })?;
        self.link(plane, attached.end, End::Switch(leaf, slot), attached.rate, "host", "leaf");
        Ok(())
    }

    /// One leaf, or two with links between them.
    fn leaf_only(&mut self, attached: &[Attached], plane: i64) -> Result<Rational, Fault> {
        let model = self.fabric.leaf.clone().ok_or(Fault::NoModel(Tier::Leaf))?;
        let trunk = self.trunk_rate(&model);
        let leaves = self.fabric.topology.leaves.unwrap_or_else(|| leaves_for(attached, &model)).max(1);
        let mut per_leaf: Vec<Vec<&Attached>> = vec![Vec::new(); leaves as usize];
        let single = self.single_ported(attached);
        let mut alternate = 0_usize;
        let mut both = false;
        for (i, a) in attached.iter().enumerate() {
            let leaf = if leaves > 2 {
                // More than a pair: hosts fill leaves in order, so that a rack's hosts share one.
                i * leaves as usize / attached.len()
            } else if single.contains_key(&a.owner) {
                alternate += 1;
                (alternate - 1) % leaves as usize
            } else {
                both = true;
                a.ordinal as usize % leaves as usize
            };
            per_leaf[leaf].push(a);
        }
        let ethernet = self.fabric.kind != "infiniband";
        let down = per_leaf.iter().map(Vec::len).max().unwrap_or(0) as i64;
        let inter = match self.fabric.inter_leaf {
            Some(n) => n,
            None if leaves < 2 => 0,
            None if ethernet => {
                if both {
                    4
                } else {
                    0
                }
            }
            None => (Rational::from_integer(down.into()) / self.fabric.oversubscription.value).ceil().to_integer().to_i64().unwrap_or(0),
        };
        let first = self.add_switches(Tier::Leaf, &model, leaves, plane);
        let uplinks = self.fabric.uplink.as_ref().map_or(0, |u| u.links);
        let site = self.fabric.uplink.as_ref().is_some_and(|u| u.fabric.is_none());
        if leaves > 1 && inter == 0 && uplinks == 0 {
            return Err(Fault::Islands(leaves));
        }
        if leaves > 2 && uplinks == 0 {
            return Err(Fault::Islands(leaves));
        }
        let mut trunks: Vec<Vec<Slot>> = Vec::new();
        for leaf in first..first + leaves as u32 {
            let switch = &mut self.topology.switches[leaf as usize];
            let reserve = |switch: &mut Switch, n| {
                switch.ports.take_last(&model, trunk, n).ok_or(Fault::LeafPorts {
                    down,
                    up: inter + uplinks,
                    radix: ports::radix(&model, trunk),
                    rate: gigabits(Quantity::new(trunk, crate::base::Dimension::Rate)),
                })
            };
            if site {
                // The site's own side is not in the design: ports are kept, no cable is planned.
                reserve(switch, uplinks)?;
            }
            trunks.push(if leaves == 2 { reserve(switch, inter)? } else { Vec::new() });
        }
        for (leaf, list) in per_leaf.iter().enumerate() {
            for a in list {
                self.attach_to(first + leaf as u32, a, plane).map_err(|fault| match fault {
                    Fault::LeafPorts { radix, rate, .. } => Fault::LeafPorts { down, up: inter + uplinks, radix, rate },
                    other => other,
                })?;
            }
        }
        self.attach_manager(first, leaves, plane)?;
        if leaves == 2 {
            let pairs: Vec<(Slot, Slot)> = trunks[0].iter().copied().zip(trunks[1].iter().copied()).collect();
            for (a, b) in pairs {
                self.link(plane, End::Switch(first, a), End::Switch(first + 1, b), trunk, "leaf", "leaf");
            }
        }
        if leaves == 2 && inter > 0 && !(ethernet && both) {
            // Traffic between the leaves has these links alone.
            let widest = per_leaf.iter().map(|l| l.iter().map(|a| a.rate).fold(Rational::from_integer(0), |a, b| a + b)).max();
            self.plan.ratio = widest.map(|w| w / (trunk * Rational::from_integer(inter.into())));
        }
        self.plan.max_hops = if leaves > 1 && !(ethernet && both) { 3 } else { 2 };
        let injection: Rational = attached.iter().map(|a| a.rate).fold(Rational::from_integer(0), |a, b| a + b);
        // Hosts on both leaves reach each other without the links between them.
        Ok(if leaves == 1 || both && ethernet { injection } else { trunk * Rational::from_integer((2 * inter).into()) })
    }

    /// Owners with a single port, which alternate over a pair.
    fn single_ported(&self, attached: &[Attached]) -> HashMap<u32, ()> {
        let mut count: HashMap<u32, u32> = HashMap::new();
        attached.iter().for_each(|a| *count.entry(a.owner).or_default() += 1);
        count.into_iter().filter(|(_, n)| *n == 1).map(|(owner, _)| (owner, ())).collect()
    }

    /// Two or three tiers.
    fn tiers(&mut self, attached: &[Attached], plane: i64, three: bool) -> Result<Rational, Fault> {
        let shape = self.fabric.topology.shape.clone();
        let leaf = self.fabric.leaf.clone().ok_or(Fault::NoModel(Tier::Leaf))?;
        let spine = if shape == "rail_only" { leaf.clone() } else { self.fabric.spine.clone().ok_or(Fault::NoModel(Tier::Spine))? };
        if spine.link_type != leaf.link_type {
            return Err(Fault::LinkType(
                PortRef { host: u32::MAX, device: 0, port: 0 },
                vec![leaf.link_type.clone()],
                spine.name.clone(),
                spine.link_type.clone(),
            ));
        }
        let trunk = self.trunk_rate(&leaf);
        let assigned = if self.fabric.topology.rails { self.assign_rails(attached) } else { self.assign_in_order(attached, &leaf, trunk)? };
        let leaves = assigned.len() as i64;
        if let Some(declared) = self.fabric.topology.leaves
            && declared != leaves * self.fabric.planes
            && declared != leaves
        {
            return Err(Fault::Count(Tier::Leaf, declared, leaves));
        }
        let first = self.add_switches(Tier::Leaf, &leaf, leaves, plane);
        // A full unit decides: a missing host leaves its ports empty and changes nothing else.
        let widest: Rational =
            assigned.iter().map(|l| l.iter().map(|a| a.rate).fold(Rational::from_integer(0), |a, b| a + b)).max().unwrap_or(Rational::from_integer(0));
        let unit_rate = attached.first().map_or(trunk, |a| a.rate);
        let down_width = match self.fabric.topology.unit.filter(|_| self.fabric.topology.rails) {
            Some(unit) => unit_rate * Rational::from_integer(unit.into()),
            None => widest,
        };
        let down = self.fabric.topology.unit.filter(|_| self.fabric.topology.rails).unwrap_or_else(|| assigned.iter().map(Vec::len).max().unwrap_or(0) as i64);
        let mut up =
            if shape == "rail_only" { 0 } else { (down_width / self.fabric.oversubscription.value / trunk).ceil().to_integer().to_i64().unwrap_or(0).max(1) };
        let spine_radix = ports::radix(&spine, trunk);
        let leaf_radix = ports::radix(&leaf, trunk);
        let leaf_fault = |down, up| Fault::LeafPorts { down, up, radix: leaf_radix, rate: gigabits(Quantity::new(trunk, crate::base::Dimension::Rate)) };
        if up > 0 && self.fabric.kind != "infiniband" && up < 2 {
            up = 2;
        }
        if self.fabric.topology.rails && down * i64::from(unit_rate == trunk) + up > leaf_radix {
            return Err(leaf_fault(down, up));
        }
        let spines = if up == 0 {
            0
        } else if three {
            let down_ports = spine_radix / 2;
            (leaves * up + down_ports - 1) / down_ports.max(1)
        } else {
            match self.fabric.topology.spines {
                Some(declared) => {
                    let own = declared / self.fabric.planes.max(1);
                    let needed = (leaves * up + spine_radix - 1) / spine_radix.max(1);
                    if own < needed {
                        return Err(Fault::Count(Tier::Spine, declared, needed));
                    }
                    up = (up + own - 1) / own * own;
                    own
                }
                None => spines_needed(leaves, up, spine_radix),
            }
        };
        if up > 0 && !three {
            // Where the uplinks do not divide, each leaf gets as many to every spine.
            up = (up + spines - 1) / spines * spines;
            if leaves * (up / spines) > spine_radix {
                return Err(Fault::TooManyLeaves(leaves, spine_radix));
            }
        }
        let mut ups: Vec<Vec<Slot>> = Vec::new();
        for leaf_id in first..first + leaves as u32 {
            let switch = &mut self.topology.switches[leaf_id as usize];
            if let Some(u) = self.fabric.uplink.as_ref().filter(|u| u.fabric.is_none()) {
                switch.ports.take_last(&leaf, trunk, u.links).ok_or_else(|| leaf_fault(down, up + u.links))?;
            }
            ups.push(switch.ports.take_last(&leaf, trunk, up).ok_or_else(|| leaf_fault(down, up))?);
        }
        for (i, list) in assigned.iter().enumerate() {
            for a in list {
                self.attach_to(first + i as u32, a, plane).map_err(|fault| match fault {
                    Fault::LeafPorts { .. } => leaf_fault(down, up),
                    other => other,
                })?;
            }
        }
        self.attach_manager(first, leaves, plane)?;
        self.plan.ratio = (up > 0).then(|| down_width / (trunk * Rational::from_integer(up.into())));
        if up == 0 {
            self.plan.max_hops = 2;
            return Ok(Rational::from_integer(0));
        }
        let first_spine = self.add_switches(Tier::Spine, &spine, spines, plane);
        self.join(first, &ups, first_spine, spines, &spine, trunk, plane, three.then_some(spine_radix / 2))?;
        let width = trunk * Rational::from_integer((leaves * up).into());
        if !three {
            self.plan.max_hops = 4;
            return Ok(width);
        }
        self.plan.max_hops = 6;
        self.cores(first_spine, spines, &spine, spine_radix, trunk, plane).map(|core_width| width.min(core_width))
    }

    /// Joins leaves to spines: evenly over all of them, or with three tiers within pods of `pod` leaves.
    #[allow(clippy::too_many_arguments, reason = "the two sides of one wiring")]
    fn join(
        &mut self,
        first: u32,
        ups: &[Vec<Slot>],
        first_spine: u32,
        spines: i64,
        model: &Arc<SwitchModel>,
        rate: Rational,
        plane: i64,
        pod: Option<i64>,
    ) -> Result<(), Fault> {
        let leaves = ups.len() as i64;
        let pod = pod.unwrap_or(leaves).max(1);
        let mut spine_from = 0;
        let mut leaf_from = 0;
        while leaf_from < leaves {
            let leaf_to = (leaf_from + pod).min(leaves);
            let links: i64 = ups[leaf_from as usize..leaf_to as usize].iter().map(|u| u.len() as i64).sum();
            let left = spines - spine_from;
            let pod_spines = if leaf_to == leaves { left } else { ((links + pod - 1) / pod).min(left) }.max(1);
            let mut global = 0;
            for leaf in leaf_from..leaf_to {
                let slots = &ups[leaf as usize];
                let each = (slots.len() as i64 / pod_spines).max(1);
                let even = slots.len() as i64 % pod_spines == 0;
                for (k, slot) in slots.iter().enumerate() {
                    let spine = if even { k as i64 / each } else { global % pod_spines };
                    global += 1;
                    let id = first_spine + (spine_from + spine) as u32;
                    let other = self.topology.switches[id as usize].ports.take_low(model, rate).ok_or(Fault::UpperPorts(Tier::Spine, links, spines))?;
                    self.link(plane, End::Switch(first + leaf as u32, *slot), End::Switch(id, other), rate, "leaf", "spine");
                }
            }
            spine_from += pod_spines;
            leaf_from = leaf_to;
        }
        Ok(())
    }

    fn cores(&mut self, first_spine: u32, spines: i64, spine: &Arc<SwitchModel>, radix: i64, rate: Rational, plane: i64) -> Result<Rational, Fault> {
        let core = self.fabric.core.clone().ok_or(Fault::NoModel(Tier::Core))?;
        let core_radix = ports::radix(&core, rate);
        let up = radix - radix / 2;
        let links = spines * up;
        let needed = (links + core_radix - 1) / core_radix.max(1);
        let count = match self.fabric.topology.cores {
            Some(declared) if declared < needed => return Err(Fault::Count(Tier::Core, declared, needed)),
            Some(declared) => declared,
            None => needed,
        };
        let first_core = self.add_switches(Tier::Core, &core, count, plane);
        let mut k = 0;
        for s in 0..spines {
            let id = first_spine + s as u32;
            let slots = self.topology.switches[id as usize].ports.take_last(spine, rate, up).ok_or(Fault::UpperPorts(Tier::Spine, up, radix))?;
            for slot in slots {
                let mut target = first_core + (k % count) as u32;
                k += 1;
                // The last cores may be full where the links do not divide: the next that has a port takes it.
                let mut tries = 0;
                let other = loop {
                    if let Some(other) = self.topology.switches[target as usize].ports.take_low(&core, rate) {
                        break other;
                    }
                    tries += 1;
                    if tries > count {
                        return Err(Fault::UpperPorts(Tier::Core, links, count));
                    }
                    target = first_core + (target - first_core + 1) % count as u32;
                };
                self.link(plane, End::Switch(id, slot), End::Switch(target, other), rate, "spine", "core");
            }
        }
        Ok(rate * Rational::from_integer(links.into()))
    }

    /// Rail i of the hosts of a unit on leaf i of that unit.
    fn assign_rails<'b>(&mut self, attached: &'b [Attached]) -> Vec<Vec<&'b Attached>> {
        let unit = self.fabric.topology.unit.unwrap_or(1).max(1) as usize;
        let rails = self.plan.rails.max(1) as usize;
        let mut order: HashMap<u32, usize> = HashMap::new();
        let mut leaves: Vec<Vec<&Attached>> = Vec::new();
        for a in attached {
            let next = order.len();
            let position = *order.entry(a.owner).or_insert(next);
            self.plan.unit_of_host.insert(a.owner, (position / unit) as u32);
            let leaf = position / unit * rails + a.ordinal as usize;
            while leaves.len() <= leaf {
                leaves.push(Vec::new());
            }
            leaves[leaf].push(a);
        }
        let whole = leaves.len().div_ceil(rails) * rails;
        leaves.resize_with(whole, Vec::new);
        leaves
    }

    /// Hosts fill leaves in order; on Ethernet a host is attached to both leaves of a pair.
    fn assign_in_order<'b>(&mut self, attached: &'b [Attached], leaf: &SwitchModel, trunk: Rational) -> Result<Vec<Vec<&'b Attached>>, Fault> {
        let mut owners: Vec<(u32, Vec<&Attached>)> = Vec::new();
        let mut index: HashMap<u32, usize> = HashMap::new();
        for a in attached {
            let i = *index.entry(a.owner).or_insert_with(|| {
                owners.push((a.owner, Vec::new()));
                owners.len() - 1
            });
            owners[i].1.push(a);
        }
        let group: i64 = if self.fabric.kind == "ethernet" && attached.len() > 1 { 2 } else { 1 };
        let declared = self.fabric.topology.leaves.map(|l| l / self.fabric.planes.max(1));
        let extra = self.fabric.uplink.as_ref().filter(|u| u.fabric.is_none()).map_or(0, |u| u.links);
        // A bound from bandwidth alone saves most of the tries.
        let total: Rational = attached.iter().map(|a| a.rate).fold(Rational::from_integer(0), |a, b| a + b);
        let most: Rational = leaf
            .cages
            .iter()
            .filter_map(|c| Some(c.rate?.value * Rational::from_integer((c.count * c.links).into())))
            .fold(Rational::from_integer(0), |a, b| a + b);
        let share = self.fabric.oversubscription.value / (self.fabric.oversubscription.value + Rational::from_integer(1));
        let low = if most > Rational::from_integer(0) { (total / (most * share)).ceil().to_integer().to_i64().unwrap_or(1).max(1) } else { 1 };
        let mut leaves = declared.unwrap_or((low + group - 1) / group * group).max(group.min(declared.unwrap_or(group))).max(1);
        loop {
            let assigned = spread(&owners, leaves, group);
            let worst = assigned.iter().map(|list| cages_used(list, leaf, trunk, self.fabric.oversubscription.value, extra)).max();
            match worst {
                Some(Ok(used)) if used <= cage_count(leaf, trunk) => return Ok(assigned),
                Some(Err(rate)) => return Err(Fault::NoRate(gigabits(Quantity::new(rate, crate::base::Dimension::Rate)), leaf.name.clone())),
                None => return Ok(assigned),
                _ if declared.is_some() || leaves > attached.len() as i64 + group => {
                    let down = assigned.iter().map(Vec::len).max().unwrap_or(0) as i64;
                    let width: Rational =
                        assigned.iter().map(|l| l.iter().map(|a| a.rate).fold(Rational::from_integer(0), |a, b| a + b)).max().unwrap_or(trunk);
                    let up = (width / self.fabric.oversubscription.value / trunk).ceil().to_integer().to_i64().unwrap_or(0);
                    return Err(Fault::LeafPorts {
                        down,
                        up: up + extra,
                        radix: ports::radix(leaf, trunk),
                        rate: gigabits(Quantity::new(trunk, crate::base::Dimension::Rate)),
                    });
                }
                _ => leaves += group,
            }
        }
    }

    /// The fabric manager's ports, on spare ports of the leaves, those with room in their unit first.
    fn attach_manager(&mut self, first: u32, leaves: i64, plane: i64) -> Result<(), Fault> {
        if plane > 0 {
            return Ok(());
        }
        let unit = self.fabric.topology.unit.unwrap_or(i64::MAX);
        let mut order: Vec<u32> = (first..first + leaves as u32).collect();
        let used = |topology: &Topology, leaf: u32| {
            topology.links.iter().rev().filter(|l| matches!(l.b, End::Switch(s, _) if s == leaf) && matches!(l.a, End::Host(_))).count() as i64
        };
        if !self.fabric.manager.is_empty() {
            let counts: HashMap<u32, i64> = order.iter().map(|leaf| (*leaf, used(self.topology, *leaf))).collect();
            order.sort_by_key(|leaf| counts[leaf] >= unit);
        }
        for (i, port) in self.fabric.manager.clone().iter().enumerate() {
            let DeviceKind::Nic(nic) = &self.design.hosts[port.host as usize].system.devices[port.device as usize].kind else { continue };
            let Some(nic_port) = nic.ports.get(port.port as usize) else { continue };
            let leaf = order[i % order.len()];
            let model = self.topology.switches[leaf as usize].model.clone();
            let native = ports::native_rate(&model).unwrap_or(nic_port.rate.value);
            let rate = nic_port.rate.value.min(native);
            self.attach_to(leaf, &Attached { end: End::Host(*port), rate, owner: port.host, ordinal: 0 }, plane)?;
        }
        Ok(())
    }
}

/// Leaves that the attached ports fill.
fn leaves_for(attached: &[Attached], model: &SwitchModel) -> i64 {
    let mut by_rate: BTreeMap<Rational, i64> = BTreeMap::new();
    attached.iter().for_each(|a| *by_rate.entry(a.rate).or_default() += 1);
    by_rate
        .into_iter()
        .map(|(rate, n)| Rational::new(n.into(), ports::radix(model, rate).max(1).into()))
        .fold(Rational::from_integer(0), |a, b| a + b)
        .ceil()
        .to_integer()
        .to_i64()
        .unwrap_or(1)
}

fn spread<'b>(owners: &[(u32, Vec<&'b Attached>)], leaves: i64, group: i64) -> Vec<Vec<&'b Attached>> {
    let group = group.min(leaves).max(1);
    let groups = (leaves / group).max(1) as usize;
    let mut out: Vec<Vec<&Attached>> = vec![Vec::new(); leaves as usize];
    let mut alternate = vec![0_usize; groups];
    for (i, (_, list)) in owners.iter().enumerate() {
        let g = i * groups / owners.len().max(1);
        for a in list {
            let side = if list.len() == 1 {
                alternate[g] += 1;
                (alternate[g] - 1) % group as usize
            } else {
                a.ordinal as usize % group as usize
            };
            out[g * group as usize + side].push(a);
        }
    }
    out
}

/// Cages that a leaf needs for what is attached and the uplinks it then takes; the rate that it cannot run otherwise.
fn cages_used(list: &[&Attached], leaf: &SwitchModel, trunk: Rational, ratio: Rational, extra: i64) -> Result<i64, Rational> {
    let trunk_group = ports::best_group(leaf, trunk);
    // Counted before anything is added up: a leaf has a few rates and many ports, and this runs for every number of leaves that is tried.
    let mut by_rate: Vec<(Rational, i64)> = Vec::new();
    for a in list {
        match by_rate.iter_mut().find(|(rate, _)| *rate == a.rate) {
            Some((_, n)) => *n += 1,
            None => by_rate.push((a.rate, 1)),
        }
    }
    by_rate.sort_unstable();
    let mut cages = 0;
    let width: Rational = by_rate.iter().map(|(rate, n)| *rate * Rational::from_integer((*n).into())).fold(Rational::from_integer(0), |a, b| a + b);
    for (rate, n) in by_rate {
        let group = ports::best_group(leaf, rate).ok_or(rate)?;
        let mode = ports::mode(leaf, group, rate).ok_or(rate)?;
        let needed = (n + mode.links - 1) / mode.links;
        if Some(group) == trunk_group {
            cages += needed;
        } else if needed > leaf.cages[group].count {
            // Another group of cages overflows: as if all were needed.
            return Ok(i64::MAX);
        }
    }
    let up = (width / ratio / trunk).ceil().to_integer().to_i64().unwrap_or(0).max(if leaf.link_type == "ethernet" { 2 } else { 1 });
    let links = trunk_group.and_then(|g| ports::mode(leaf, g, trunk)).map_or(1, |m| m.links);
    Ok(cages + (up + links - 1) / links + extra)
}

fn cage_count(leaf: &SwitchModel, trunk: Rational) -> i64 {
    ports::best_group(leaf, trunk).map_or(0, |g| leaf.cages[g].count)
}

/// Printed in Gb/s, as link rates are written.
pub fn gigabits(rate: Quantity) -> Quantity {
    Quantity { unit: crate::base::quantity::find_unit("Gb/s"), ..rate }
}

/// Links of each leaf to the leaves of another fabric.
fn uplink(design: &Design, topology: &mut Topology, id: usize, target: usize) -> Result<(), Fault> {
    let links = design.fabrics[id].uplink.as_ref().map_or(0, |u| u.links);
    let own: Vec<u32> = leaves_of(topology, id);
    let other: Vec<u32> = leaves_of(topology, target);
    let name = design.fabrics[target].name.clone();
    if other.is_empty() {
        return if topology.fabrics[target].fault.is_some() { Ok(()) } else { Err(Fault::Uplink(name)) };
    }
    let mut next = 0;
    for leaf in own {
        let model = topology.switches[leaf as usize].model.clone();
        let peer_model = topology.switches[other[0] as usize].model.clone();
        let rate = ports::native_rate(&model).zip(ports::native_rate(&peer_model)).map_or(Rational::from_integer(0), |(a, b)| a.min(b));
        let slots = topology.switches[leaf as usize].ports.take_last(&model, rate, links).ok_or_else(|| Fault::Uplink(name.clone()))?;
        for slot in slots {
            let peer = other[next % other.len()];
            next += 1;
            let other_slot = topology.switches[peer as usize].ports.take_low(&peer_model, rate).ok_or_else(|| Fault::Uplink(name.clone()))?;
            let gbps = ports::gbps(rate);
            *topology.fabrics[id].cables.entry(("leaf", "uplink", gbps.into())).or_default() += 1;
            topology.links.push(LinkPlan {
                fabric: id as u16,
                plane: 0,
                a: End::Switch(leaf, slot),
                b: End::Switch(peer, other_slot),
                rate,
                gbps,
                medium: "fibre",
                centimetres: 0,
                cable: 0,
            });
        }
    }
    Ok(())
}

fn leaves_of(topology: &Topology, fabric: usize) -> Vec<u32> {
    topology.switches.iter().enumerate().filter(|(_, s)| s.fabric == fabric && s.tier == Tier::Leaf).map(|(i, _)| i as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::spines_needed;

    #[test]
    fn spines_of_the_published_tables() {
        // RA-11333-001 table 4 (H100): 1 to 4 units of 8 leaves with 32 uplinks on 64 ports.
        assert_eq!([8, 16, 24, 32].map(|l| spines_needed(l, 32, 64)), [4, 8, 16, 16]);
        // RA-11339-001 (B300 XDR): 1, 2, 4, 8, 18 units, 72 uplinks on 144 ports.
        assert_eq!([8, 16, 32, 64, 144].map(|l| spines_needed(l, 72, 144)), [4, 8, 18, 36, 72]);
        // One unit of GB200: 32 leaves with 18 uplinks.
        assert_eq!(spines_needed(32, 18, 64), 9);
    }
}
