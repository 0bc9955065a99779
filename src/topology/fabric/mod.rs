//! Fabrics expanded to switches, ports and links: what is attached (`attach`), how many switches it takes (`size`), which port goes where
//! (`wire`), and what would do if that cannot be built (`alternatives`).

pub mod alternatives;
mod attach;
pub mod size;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Topology;
use super::ports::{self, Fit, Mbps, Ports, Slot};
use crate::base::{Rational, parallel};
use crate::design::{Design, Fabric, FabricWord, LinkType, PortRef, ShapeWord, SwitchModel, SwitchedLink};

/// A tier of switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// `leaves`.
    pub fn plural(self) -> &'static str {
        match self {
            Tier::Leaf => "leaves",
            Tier::Spine => "spines",
            Tier::Core => "cores",
        }
    }

    /// The word for so many of its switches.
    pub fn noun(self, count: i64) -> &'static str {
        if count == 1 { self.word() } else { self.plural() }
    }

    /// The model that a fabric declares for the tier.
    pub fn model(self, fabric: &Fabric) -> Option<&Arc<SwitchModel>> {
        match self {
            Tier::Leaf => fabric.leaf.as_ref(),
            Tier::Spine => fabric.spine.as_ref(),
            Tier::Core => fabric.core.as_ref(),
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

impl End {
    /// The switch at the end, if its data port is.
    pub fn switch(self) -> Option<u32> {
        if let End::Switch(id, _) = self { Some(id) } else { None }
    }
}

/// What carries a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Medium {
    /// Passive copper with both plugs on.
    Dac,
    /// Active copper with both plugs on.
    Acc,
    /// Optics with both plugs on.
    Aoc,
    /// A fibre between transceivers.
    #[default]
    Fibre,
    /// Twisted pair.
    Copper,
}

impl Medium {
    /// All, the shortest reach first.
    pub const ALL: [Medium; 5] = [Medium::Copper, Medium::Dac, Medium::Acc, Medium::Aoc, Medium::Fibre];

    /// As cables.csv and the language call it.
    pub fn word(self) -> &'static str {
        match self {
            Medium::Dac => "dac",
            Medium::Acc => "acc",
            Medium::Aoc => "aoc",
            Medium::Fibre => "fibre",
            Medium::Copper => "copper",
        }
    }
}

/// A link: a row of cables.csv.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// The lower end.
    pub a: End,
    /// The upper end.
    pub b: End,
    /// Its rate.
    pub rate: Mbps,
    /// Its length in centimetres.
    pub centimetres: u32,
    /// The number of the physical cable within the fabric.
    pub cable: u32,
    /// Its fabric.
    pub fabric: u16,
    /// Its plane.
    pub plane: u8,
    /// What carries it.
    pub medium: Medium,
}

/// Why a fabric cannot be planned.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A tier has no switch model.
    NoModel(Tier),
    /// A port speaks another link type than the switch: port, its types, switch, its type.
    LinkType(PortRef, Vec<LinkType>, String, SwitchedLink),
    /// Two tiers speak another link type: the leaf's type, the upper tier, its model and type.
    TierType(SwitchedLink, Tier, String, SwitchedLink),
    /// A leaf lacks ports for the links down and up that it needs.
    LeafPorts {
        /// Links to hosts.
        down: i64,
        /// Links upward, to the peer or to the site.
        up: i64,
        /// Ports of the leaf at that rate.
        radix: i64,
        /// The rate.
        rate: Mbps,
    },
    /// A spine or core lacks ports: tier, links it must take, ports it has.
    UpperPorts(Tier, i64, i64),
    /// A rate that a switch cannot run.
    NoRate(Mbps, String),
    /// Two tiers do not suffice: leaves, ports of a spine.
    TooManyLeaves(i64, i64),
    /// Declared counts do not fit: tier, declared, needed.
    Count(Tier, i64, i64),
    /// A pod does not fit: leaves declared, leaves that a spine can take, leaves of a unit.
    Pod(i64, i64, i64),
    /// Leaves that nothing joins.
    Islands(i64),
    /// The uplink finds no port on the other fabric.
    Uplink(String),
    /// This version does not plan the shape; nothing about it is judged.
    NotPlanned(ShapeWord),
}

/// Links by ends and whole gigabits a second, and how many.
pub type CableCounts = BTreeMap<(&'static str, &'static str, u64), i64>;

/// What a fabric comes to.
#[derive(Debug, Default)]
pub struct FabricPlan {
    /// Why it is not planned.
    pub fault: Option<Fault>,
    /// Model and count of each tier, planes together.
    pub tiers: Vec<(Tier, Arc<SwitchModel>, i64)>,
    /// Links by ends and rate: from, to, gigabits a second, how many.
    pub cables: CableCounts,
    /// Down : up at the leaf, in bandwidth; nothing without an upper tier.
    pub ratio: Option<Rational>,
    /// Down : up at the spine, in bandwidth; nothing without cores.
    pub taper: Option<Rational>,
    /// Bandwidth of all attached ports, bytes a second.
    pub injection: Rational,
    /// Bandwidth across the narrowest halving, both directions.
    pub bisection: Option<Rational>,
    /// Links from host to host.
    pub max_hops: i64,
    /// Free ports of all switches.
    pub ports_free: i64,
    /// The unit of each host that has one, where the shape has units; [`FabricPlan::unit`] reads it.
    unit_of_host: Vec<u32>,
    /// NVLink domains: GPUs of each.
    pub domains: Vec<i64>,
    /// Rails: ports a host.
    pub rails: i64,
    /// Its switches among those of all fabrics.
    pub switches: std::ops::Range<usize>,
    /// Its links among those of all fabrics, without those of its uplink to another fabric.
    pub links: std::ops::Range<usize>,
}

/// A host without a unit.
const NO_UNIT: u32 = u32::MAX;

impl FabricPlan {
    /// Gigabits a second of the links to hosts.
    pub fn host_gbps(&self) -> Option<u64> {
        self.cables.keys().find(|(from, ..)| *from == "host").map(|(.., gbps)| *gbps)
    }

    /// The unit of a host, where the shape has units.
    pub fn unit(&self, host: usize) -> Option<usize> {
        self.unit_of_host.get(host).filter(|u| **u != NO_UNIT).map(|u| *u as usize)
    }

    /// Switches of a tier, planes together.
    pub fn count(&self, tier: Tier) -> i64 {
        self.tiers.iter().find(|(t, ..)| *t == tier).map_or(0, |(.., n)| *n)
    }
}

/// Plans all fabrics: management last, since it is attached to the switches of the others.
pub fn plan_all(design: &Design, topology: &mut Topology) {
    topology.fabrics = design.fabrics.iter().map(|_| FabricPlan::default()).collect();
    for management in [false, true] {
        let ids: Vec<usize> = (0..design.fabrics.len()).filter(|id| design.fabrics[*id].management == management && design.fabrics[*id].sound).collect();
        // Fabrics are sized apart; switches and links are numbered one fabric after the other.
        let many = if design.hosts.len() < MANY { usize::MAX } else { 2 };
        let sized: Vec<Sized> = parallel::parts(&ids, many, |part| part.iter().map(|id| size_one(design, *id, &topology.switches)).collect::<Vec<_>>())
            .into_iter()
            .flatten()
            .collect();
        let links = |(id, sized): (&usize, &Sized)| match sized {
            Some(Ok((attached, sizes))) => sizes.links(attached) * design.fabrics[*id].planes as usize + design.fabrics[*id].manager.len(),
            _ => 0,
        };
        topology.links.reserve_exact(ids.iter().zip(&sized).map(links).sum());
        for (id, sized) in ids.into_iter().zip(sized) {
            let (switches, links) = (topology.switches.len(), topology.links.len());
            let mut plan = FabricPlan::default();
            if let Err(fault) = plan_one(design, topology, id, sized, &mut plan) {
                plan.fault = Some(fault);
            }
            plan.switches = switches..topology.switches.len();
            plan.links = links..topology.links.len();
            topology.fabrics[id] = plan;
        }
    }
    for (id, fabric) in design.fabrics.iter().enumerate() {
        if topology.fabrics[id].fault.is_none()
            && let Some(target) = fabric.uplink.as_ref().and_then(|u| u.fabric)
            && let Err(fault) = wire::uplink(design, topology, id, target)
        {
            topology.fabrics[id].fault = Some(fault);
        }
    }
    for plan in &mut topology.fabrics {
        plan.ports_free = topology.switches[plan.switches.clone()].iter().map(|s| s.ports.free(&s.model)).sum();
    }
}

/// Hosts from which on fabrics are worth a thread each.
const MANY: usize = 1000;

/// What is attached to a fabric and what that takes; nothing for fabrics without switches of their own.
type Sized = Option<Result<(attach::AttachedPorts, size::Sizes), Fault>>;

fn size_one(design: &Design, id: usize, switches: &[Switch]) -> Sized {
    let fabric = &design.fabrics[id];
    if !fabric.is_planned() {
        return None;
    }
    Some(attach::attached(design, id, switches).and_then(|attached| {
        let sizes = size::sizes(fabric, &attached)?;
        Ok((attached, sizes))
    }))
}

fn plan_one(design: &Design, topology: &mut Topology, id: usize, sized: Sized, plan: &mut FabricPlan) -> Result<(), Fault> {
    let fabric = &design.fabrics[id];
    let Some(sized) = sized else {
        if fabric.word() == FabricWord::Nvlink {
            attach::nvlink(design, fabric, plan)
        } else {
            attach::managed(fabric, plan)
        }
        return Ok(());
    };
    let (attached, sizes) = sized?;
    plan.rails = attached.rails;
    plan.injection = ports::bytes(attached.ports.iter().map(|a| u64::from(a.rate)).sum::<u64>() * fabric.planes as u64);
    plan.ratio = sizes.ratio();
    plan.taper = sizes.taper();
    plan.max_hops = sizes.max_hops();
    plan.bisection = Some(ports::bytes(sizes.bisection(&attached) * fabric.planes as u64).min(plan.injection));
    if fabric.topology.rails() {
        plan.unit_of_host = vec![NO_UNIT; design.hosts.len()];
        for a in &attached.ports {
            if let Some(unit) = plan.unit_of_host.get_mut(a.owner as usize) {
                *unit = a.index / size::unit(fabric);
            }
        }
    }
    for plane in 0..fabric.planes {
        wire::plane(design, topology, id, plan, &attached, &sizes, plane)?;
    }
    Ok(())
}

fn fit(model: &SwitchModel, rate: Mbps) -> Result<Fit, Fault> {
    Fit::new(model, rate).ok_or_else(|| Fault::NoRate(rate, model.name.clone()))
}
