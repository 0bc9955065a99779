//! What stands where: hosts from below, switches from the top, tier by tier and round robin over a fabric's racks.

use std::collections::HashMap;

use super::{Switch, Topology};
use crate::design::Design;

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RackFault {
    /// A rack has fewer units than its hosts need: rack, units used, units it has.
    Full(usize, i64, i64),
    /// Two things at one place: rack, host, the other host.
    Overlap(usize, usize, usize),
    /// A switch finds no place in the racks of its fabric.
    NoPlace(usize, String),
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
            let Some(position) = position.filter(|p| *p >= 0 && p + height <= free[rack].len() as i64) else { continue };
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
        if let Some(position) = lowest(&free[rack], height) {
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
    let mut turn: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut missing: Vec<(usize, String)> = Vec::new();
    let order: Vec<usize> = {
        let mut order: Vec<usize> = (0..topology.switches.len()).collect();
        let rank = |s: &Switch| (s.fabric, s.tier, s.plane);
        order.sort_by_key(|i| rank(&topology.switches[*i]));
        order
    };
    for id in order {
        let (fabric, height) = (topology.switches[id].fabric, topology.switches[id].model.height.unwrap_or(1).max(1));
        let racks = &design.fabrics[fabric].racks;
        if racks.is_empty() {
            continue;
        }
        let turn = turn.entry(racks.clone()).or_default();
        let found = (0..racks.len()).find_map(|step| {
            let rack = racks[(*turn + step) % racks.len()];
            highest(&free[rack], height).map(|position| (step, rack, position))
        });
        match found {
            Some((step, rack, position)) => {
                *turn += step + 1;
                (position..position + height).for_each(|u| free[rack][u as usize] = Some(usize::MAX));
                let switch = &mut topology.switches[id];
                switch.rack = Some(rack);
                switch.unit = Some(position + 1);
            }
            None => missing.push((fabric, topology.switches[id].name.clone())),
        }
    }
    let mut told: Vec<usize> = Vec::new();
    for (fabric, name) in missing {
        if !told.contains(&fabric) {
            told.push(fabric);
            topology.rack_faults.push(RackFault::NoPlace(fabric, name));
        }
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
