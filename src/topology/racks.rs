//! What stands where: hosts from below, switches from the top, tier by tier and round robin over a fabric's racks, or as `placement` says; and what
//! a rack then draws, heats and weighs.

use std::collections::{BTreeMap, HashMap, HashSet};

use num_traits::Zero as _;

use super::{Switch, Tier, Topology};
use crate::base::quantity::to_f64;
use crate::base::{Quantity, Rational, Span};
use crate::design::{Design, Supply};

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RackFault {
    /// A rack has fewer units than its hosts need: rack, units used, units it has.
    Full(usize, i64, i64),
    /// Two things at one place: rack, host, the other host.
    Overlap(usize, usize, usize),
    /// A switch finds no place in its racks: fabric, switch, and where the racks are written.
    NoPlace(usize, String, Span),
    /// What was put at a unit does not fit there: rack, unit, what it is, and where that is written.
    Taken(usize, i64, String, Span),
}

/// Places everything.
pub fn place(design: &Design, topology: &mut Topology) {
    let mut free: Vec<Vec<Option<usize>>> = design.racks.iter().map(|r| vec![None; r.height.clamp(0, 100) as usize]).collect();
    topology.host_units = vec![None; design.hosts.len()];
    let mut used: Vec<i64> = vec![0; design.racks.len()];
    for pass in [true, false] {
        for (id, host) in design.hosts.iter().enumerate() {
            let Some(rack) = host.rack.filter(|_| host.position.is_some() == pass) else { continue };
            let height = host.height.unwrap_or(1).max(1);
            used[rack] += height;
            let position = match host.position {
                Some(position) => Some(position - 1),
                None => lowest(&free[rack], height),
            };
            let Some(position) = position.filter(|p| *p >= 0 && p + height <= free[rack].len() as i64) else {
                if let Some(position) = host.position.filter(|_| host.sound) {
                    topology.rack_faults.push(RackFault::Taken(rack, position, format!("host {}", host.name), host.at.field("position")));
                }
                continue;
            };
            if let Some(other) = (position..position + height).find_map(|u| free[rack][u as usize]) {
                topology.rack_faults.push(RackFault::Overlap(rack, id, other));
                continue;
            }
            (position..position + height).for_each(|u| free[rack][u as usize] = Some(id));
            topology.host_units[id] = Some(position + 1);
        }
    }
    for switch in &design.rack_switches {
        let height = switch.model.height.unwrap_or(1).max(1);
        let Some(rack) = switch.rack else { continue };
        used[rack] += height;
        let fixed = switch.position.map(|p| p - 1).filter(|p| *p >= 0 && p + height <= free[rack].len() as i64 && fits(&free[rack], *p, height));
        if let Some(position) = switch.position.filter(|_| fixed.is_none()) {
            topology.rack_faults.push(RackFault::Taken(rack, position, format!("switch {}", switch.name), switch.at.field("position")));
        }
        if let Some(position) = fixed.or_else(|| lowest(&free[rack], height)) {
            (position..position + height).for_each(|u| free[rack][u as usize] = Some(usize::MAX));
        }
    }
    for (rack, units) in used.iter().enumerate() {
        if *units > design.racks[rack].height {
            topology.rack_faults.push(RackFault::Full(rack, *units, design.racks[rack].height));
        }
    }
    place_switches(design, topology, &mut free);
}

fn place_switches(design: &Design, topology: &mut Topology, free: &mut [Vec<Option<usize>>]) {
    // The round goes on across fabrics that share their racks, so that no rack gets all the first ones.
    let mut turn: HashMap<&[usize], usize> = HashMap::new();
    let mut nth: HashMap<(usize, Tier), usize> = HashMap::new();
    let mut started: HashSet<(usize, Tier, usize)> = HashSet::new();
    let mut misplaced: HashSet<(usize, Tier)> = HashSet::new();
    let order: Vec<usize> = {
        let mut order: Vec<usize> = (0..topology.switches.len()).collect();
        let rank = |s: &Switch| (s.fabric, s.tier, s.plane);
        order.sort_by_key(|i| rank(&topology.switches[*i]));
        order
    };
    for id in order {
        let (fabric, height) = (topology.switches[id].fabric, topology.switches[id].model.height.unwrap_or(1).max(1));
        let tier = topology.switches[id].tier;
        let planned = &design.fabrics[fabric];
        let placement = planned.placement[tier as usize].as_ref();
        let top = placement.and_then(|p| p.position);
        let racks = placement.and_then(|p| p.racks.as_ref()).unwrap_or(&planned.racks);
        if racks.is_empty() {
            continue;
        }
        let nth = *nth.entry((fabric, tier)).and_modify(|n| *n += 1).or_insert(0);
        let in_order = placement.is_some_and(|p| p.racks.is_some());
        let turn = turn.entry(racks).or_default();
        let start = if in_order { nth * racks.len() / topology.fabrics[fabric].count(tier).max(1) as usize } else { *turn };
        let found = (0..if in_order { 1 } else { racks.len() }).find_map(|step| {
            let rack = racks[(start + step) % racks.len()];
            let below = top.map_or(free[rack].len() as i64, |top| top - 1 + height).clamp(0, free[rack].len() as i64);
            highest(&free[rack][..below as usize], height).map(|position| (step, rack, position))
        });
        // The first of a tier in a rack stands where it was put.
        let rack = found.map_or(racks[start % racks.len()], |(_, rack, _)| rack);
        let off = top.filter(|top| started.insert((fabric, tier, rack)) && found.is_none_or(|(.., position)| position + 1 != *top));
        if let Some(top) = off {
            misplaced.insert((fabric, tier));
            let written = planned.at.field(&format!("placement.{}.position", tier.word()));
            topology.rack_faults.push(RackFault::Taken(rack, top, format!("switch {}", topology.switches[id].name), written));
        }
        let Some((step, rack, position)) = found else {
            // Of a tier whose place is wrong, that is enough to say.
            if misplaced.insert((fabric, tier)) && off.is_none() {
                let own = planned.at.set(&format!("placement.{}.racks", tier.word()));
                let written = own.unwrap_or_else(|| planned.at.field("racks"));
                topology.rack_faults.push(RackFault::NoPlace(fabric, topology.switches[id].name.clone(), written));
            }
            continue;
        };
        *turn += step + 1;
        (position..position + height).for_each(|u| free[rack][u as usize] = Some(usize::MAX));
        let switch = &mut topology.switches[id];
        switch.rack = Some(rack);
        switch.unit = Some(position + 1);
    }
}

fn fits(free: &[Option<usize>], position: i64, height: i64) -> bool {
    free[position as usize..(position + height) as usize].iter().all(Option::is_none)
}

fn lowest(free: &[Option<usize>], height: i64) -> Option<i64> {
    (0..=free.len() as i64 - height).find(|p| fits(free, *p, height))
}

fn highest(free: &[Option<usize>], height: i64) -> Option<i64> {
    (0..=free.len() as i64 - height).rev().find(|p| fits(free, *p, height))
}

/// British thermal units an hour of a watt (1 W = 3.412142 BTU/h, the International Table BTU).
const BTU_PER_HOUR: f64 = 3.412_142;

/// A sum of figures; `at_least` if one of them is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The sum of what is known, in base units.
    pub value: Rational,
    /// Whether a figure is missing, so that the real sum is larger.
    pub at_least: bool,
}

impl Sum {
    fn add(&mut self, figure: Option<Quantity>) {
        match figure {
            Some(figure) => self.value += figure.value,
            None => self.at_least = true,
        }
    }
}

/// Things of one model in a rack: how many, and the power of one.
pub type Parts = BTreeMap<String, (usize, Option<Quantity>)>;

/// What the equipment of a rack comes to.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Watts, all at their maximum.
    pub power: Sum,
    /// Kilograms of the equipment, without rack and cables.
    pub weight: Sum,
    /// Cubic feet of air a minute.
    pub airflow: Sum,
    /// Rack units.
    pub units: i64,
    /// Hosts by system.
    pub hosts: Parts,
    /// Switches by model.
    pub switches: Parts,
}

impl Load {
    /// Heat: all power becomes heat, BTU/h.
    pub fn heat(&self) -> f64 {
        to_f64(self.power.value) * BTU_PER_HOUR
    }
}

impl Supply {
    /// Watts that one feed carries continuously: volts × amperes × derating, times √3 between the phases of a three-phase feed.
    pub fn feed_capacity(&self) -> f64 {
        self.volts as f64 * self.amps as f64 * to_f64(self.derating.value) * self.phase_factor()
    }

    /// Amperes of each phase at so many watts.
    pub fn amperes(&self, watts: f64) -> f64 {
        watts / (self.volts as f64 * self.phase_factor())
    }

    fn phase_factor(&self) -> f64 {
        if self.phases == 3 { 3_f64.sqrt() } else { 1.0 }
    }
}

/// What the equipment of each rack draws, weighs and blows.
pub(super) fn loads(design: &Design, topology: &Topology) -> Vec<Load> {
    let mut loads: Vec<Load> = design.racks.iter().map(|_| Load::default()).collect();
    for host in &design.hosts {
        let Some(load) = host.rack.map(|r| &mut loads[r]) else { continue };
        match load.hosts.get_mut(&host.system.name) {
            Some(entry) => entry.0 += 1,
            None => {
                load.hosts.insert(host.system.name.clone(), (1, host.power));
            }
        }
        load.power.add(host.power);
        load.weight.add(host.system.weight);
        load.airflow.add(host.system.airflow);
        load.units += host.height.unwrap_or(1).max(1);
    }
    let planned = topology.switches.iter().map(|s| (s.rack, &s.model));
    let standing = design.rack_switches.iter().map(|s| (s.rack, &s.model));
    for (rack, model) in planned.chain(standing) {
        let Some(load) = rack.map(|r| &mut loads[r]) else { continue };
        // The maximum where it is published, else the typical draw, which makes the sum a lower bound.
        let power = model.power.or(model.power_typical);
        match load.switches.get_mut(&model.name) {
            Some(entry) => entry.0 += 1,
            None => {
                load.switches.insert(model.name.clone(), (1, power));
            }
        }
        load.power.value += power.map_or_else(Rational::zero, |p| p.value);
        load.power.at_least |= model.power.is_none();
        load.weight.add(model.weight);
        load.airflow.at_least = true;
        load.units += model.height.unwrap_or(1).max(1);
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Dimension;

    #[test]
    fn three_phases_carry_the_root_of_three() {
        let supply = |volts, phases| Supply { volts, amps: 60, phases, derating: Quantity::new(Rational::new(4, 5), Dimension::Ratio) };
        // 415 V x 60 A x 80 % x 1.732 = 34.5 kW, the usual figure of a 60 A, 415 V feed.
        assert_eq!(supply(415, 3).feed_capacity().round(), 34502.0);
        assert_eq!(supply(230, 1).feed_capacity().round(), 11040.0);
        assert_eq!(supply(415, 3).amperes(34502.3).round(), 48.0);
    }
}
