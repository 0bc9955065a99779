//! What the plan knows, for asserts: `compute.bisection`, `ceph.usable`.

use std::sync::Arc;

use crate::base::{Dimension, Quantity, Rational};
use crate::design::Design;
use crate::lang::{Attribute, Attributes, Planned, Value};
use crate::topology::{Tier, Topology, storage};

/// Answers from the design and its plan.
pub struct PlanAttributes {
    /// The design.
    pub design: Arc<Design>,
    /// Its plan.
    pub topology: Arc<Topology>,
}

fn quantity(value: Rational, dimension: Dimension) -> Option<Attribute> {
    Some(Attribute::Value(Value::Quantity(Quantity::new(value, dimension))))
}

fn int(n: i64) -> Option<Attribute> {
    Some(Attribute::Value(Value::Int(n)))
}

impl Attributes for PlanAttributes {
    fn attribute(&self, kind: &str, index: usize, thing: Option<(Planned, u32)>, name: &str) -> Option<Attribute> {
        match kind {
            "fabric" => self.fabric(index, thing, name),
            "storage" => self.storage(index, name),
            "pool" if name == "allocatable" => {
                let pool = self.design.pools.get(index)?;
                let total: i128 =
                    pool.hosts.iter().map(|h| crate::nodes::resources::shape(&self.design, pool, *h).allocatable.get("memory").copied().unwrap_or(0)).sum();
                quantity(Rational::from_integer(total), Dimension::Bytes)
            }
            _ => None,
        }
    }
}

impl PlanAttributes {
    fn fabric(&self, index: usize, thing: Option<(Planned, u32)>, name: &str) -> Option<Attribute> {
        let plan = self.topology.fabrics.get(index)?;
        if plan.fault.is_some() {
            return None;
        }
        if let Some((what, n)) = thing {
            return self.thing(index, what, n as usize, name);
        }
        let count = |tier: Tier| plan.tiers.iter().find(|(t, ..)| *t == tier).map_or(0, |(.., n)| *n as u32);
        let links = |from: &str, to: &str| plan.cables.iter().filter(|((f, t, _), _)| *f == from && *t == to).map(|(_, n)| n).sum();
        match name {
            "switches" => Some(Attribute::Things(Planned::Switch, plan.tiers.iter().map(|(.., n)| *n as u32).sum())),
            "leaves" => Some(Attribute::Things(Planned::Leaf, count(Tier::Leaf))),
            "spines" => Some(Attribute::Things(Planned::Spine, count(Tier::Spine))),
            "cores" => Some(Attribute::Things(Planned::Core, count(Tier::Core))),
            "domains" => Some(Attribute::Things(Planned::Domain, plan.domains.len() as u32)),
            "bisection" => quantity(plan.bisection?, Dimension::Rate),
            "injection" => quantity(plan.injection, Dimension::Rate),
            "ratio" => quantity(plan.ratio.unwrap_or(Rational::from_integer(1)), Dimension::Ratio),
            "max_hops" => int(plan.max_hops),
            "host_cables" => int(links("host", "leaf")),
            "leaf_spine_cables" => int(links("leaf", "spine")),
            "spine_core_cables" => int(links("spine", "core")),
            "ports_free" => int(plan.ports_free),
            "taper" => quantity(plan.taper.unwrap_or(Rational::from_integer(1)), Dimension::Ratio),
            "disjoint_paths" => int(self.topology.analysis(&self.design, index).disjoint_paths),
            "lost_hosts" => int(self.losses(index).map(|l| l.hosts_cut).max().unwrap_or(0)),
            "lost_gpus" => int(self.losses(index).map(|l| l.gpus_cut).max().unwrap_or(0)),
            "single_points" => int(self.losses(index).map(|l| l.single_points).sum()),
            "surviving_bisection" => quantity(self.losses(index).filter_map(|l| l.bisection).min()?, Dimension::Rate),
            "surviving_injection" => quantity(self.losses(index).map(|l| l.injection).min()?, Dimension::Rate),
            _ => None,
        }
    }

    fn losses(&self, fabric: usize) -> impl Iterator<Item = &crate::topology::analysis::Loss> {
        self.topology.analysis(&self.design, fabric).losses.iter()
    }

    fn thing(&self, fabric: usize, what: Planned, n: usize, name: &str) -> Option<Attribute> {
        if what == Planned::Domain {
            return int(*self.topology.fabrics[fabric].domains.get(n)?);
        }
        let tier = match what {
            Planned::Leaf => Some(Tier::Leaf),
            Planned::Spine => Some(Tier::Spine),
            Planned::Core => Some(Tier::Core),
            _ => None,
        };
        let switch = self.topology.switches.iter().filter(|s| s.fabric == fabric && tier.is_none_or(|t| s.tier == t)).nth(n)?;
        match name {
            "name" => Some(Attribute::Value(Value::Text(switch.name.as_str().into()))),
            "power" => Some(Attribute::Value(Value::Quantity(switch.model.power?))),
            "height" => quantity(Rational::from_integer(switch.model.height?.into()), Dimension::RackUnits),
            _ => None,
        }
    }

    fn storage(&self, index: usize, name: &str) -> Option<Attribute> {
        let s = self.design.storages.get(index)?;
        let figures = storage::figures(&self.design, s);
        if let Some((part, attribute)) = name.split_once('.') {
            let i = s.parts().iter().position(|p| p.name == part)?;
            return if attribute == "usable" { quantity(*figures.parts.get(i)?, Dimension::Bytes) } else { None };
        }
        match name {
            "raw" => quantity(figures.raw?, Dimension::Bytes),
            "usable" => quantity(figures.usable?, Dimension::Bytes),
            "read" => quantity(figures.read?, Dimension::Rate),
            "write" => quantity(figures.write?, Dimension::Rate),
            _ => None,
        }
    }
}
