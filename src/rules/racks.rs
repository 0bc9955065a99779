//! Racks: power, space, missing figures.

use std::collections::BTreeMap;

use num_traits::Zero as _;

use super::Context;
use crate::base::{Diagnostic, Dimension, Quantity, Rational, Report};
use crate::topology::racks::RackFault;

fn kilowatts(value: Rational) -> Quantity {
    Quantity { value, dimension: Dimension::Power, unit: crate::base::quantity::find_unit("kW") }
}

#[derive(Default)]
struct Load {
    total: Rational,
    hosts: BTreeMap<String, (usize, Option<Quantity>)>,
    switches: BTreeMap<String, (usize, Option<Quantity>)>,
    unknown: bool,
}

/// What the equipment of each rack draws.
fn loads(cx: &Context) -> Vec<Load> {
    let mut loads: Vec<Load> = cx.design.racks.iter().map(|_| Load::default()).collect();
    for host in &cx.design.hosts {
        let Some(load) = host.rack.map(|r| &mut loads[r]) else { continue };
        let entry = load.hosts.entry(host.system.name.clone()).or_insert((0, host.power));
        entry.0 += 1;
        match host.power {
            Some(power) => load.total += power.value,
            None => load.unknown = true,
        }
    }
    for switch in &cx.topology.switches {
        let Some(load) = switch.rack.map(|r| &mut loads[r]) else { continue };
        // The maximum where it is published, else the typical draw, which makes the sum a lower bound.
        let power = switch.model.power.or(switch.model.power_typical);
        load.switches.entry(switch.model.name.clone()).or_insert((0, power)).0 += 1;
        load.unknown |= switch.model.power.is_none();
        if let Some(power) = power {
            load.total += power.value;
        }
    }
    loads
}

/// AIC0401.
pub fn power(cx: &Context, report: &mut Report) {
    let mut by_declaration: BTreeMap<(crate::base::Span, String), Vec<usize>> = BTreeMap::new();
    let loads = loads(cx);
    for (id, rack) in cx.design.racks.iter().enumerate().filter(|(_, r)| r.sound) {
        let load = &loads[id];
        if let Some(budget) = rack.power
            && load.total > budget.value
        {
            by_declaration.entry((rack.at.head, kilowatts(load.total).to_string())).or_default().push(id);
        }
    }
    for ((head, total), racks) in by_declaration {
        let rack = &cx.design.racks[racks[0]];
        let load = &loads[racks[0]];
        let budget = rack.power.unwrap_or(kilowatts(Rational::zero()));
        let at_least = if load.unknown { "at least " } else { "" };
        let parts: Vec<String> =
            load.hosts.iter().chain(&load.switches).map(|(name, (n, power))| format!("{n} × {} {name}", power.map_or("?".into(), |p| p.to_string()))).collect();
        let mut diagnostic =
            Diagnostic::error("AIC0401", format!("rack {} draws {at_least}{total}, its budget is {budget}", rack.at.source.trim_start_matches("rack.")))
                .at(rack.at.field("power"), "budget")
                .at(head, parts.join(" + "))
                .help(format!(
                    "power = {}kW or more, or fewer hosts a rack",
                    crate::base::quantity::decimal((load.total / Rational::from_integer(1000)).ceil(), 0)
                ));
        if racks.len() > 1 {
            diagnostic = diagnostic.note(format!("the same in {}", crate::base::names::count_of(racks.len() - 1, "more rack")));
        }
        report.push(diagnostic);
    }
}

/// AIC0402.
pub fn space(cx: &Context, report: &mut Report) {
    for fault in &cx.topology.rack_faults {
        match fault {
            RackFault::Full(rack, used, height) => {
                let rack = &cx.design.racks[*rack];
                if rack.sound {
                    report.push(
                        Diagnostic::error("AIC0402", format!("rack {} has {height}U, its hosts need {used}U", rack.at.source.trim_start_matches("rack.")))
                            .at(rack.at.field("height"), "usable units")
                            .at(rack.at.head, format!("{used}U of hosts"))
                            .help(format!("height = {used}U or more, or fewer hosts a rack")),
                    );
                }
            }
            RackFault::Overlap(rack, host, other) => {
                let (host, other) = (&cx.design.hosts[*host], &cx.design.hosts[*other.min(&(cx.design.hosts.len() - 1))]);
                report.push(
                    Diagnostic::error(
                        "AIC0402",
                        format!("hosts {} and {} stand at the same place in rack {}", host.name, other.name, cx.design.racks[*rack].name),
                    )
                    .at(host.at.field("position"), "here")
                    .at(other.at.field("position"), "and here")
                    .help("leave out `position` to pack from below"),
                );
            }
            RackFault::NoPlace(fabric, switch) => {
                let fabric = &cx.design.fabrics[*fabric];
                report.push(
                    Diagnostic::error("AIC0402", format!("switch {switch} of fabric {} finds no place in its racks", fabric.name))
                        .at(fabric.at.field("racks"), "racks that take its switches")
                        .help("name more racks, or higher ones"),
                );
            }
        }
    }
}

/// AIC0404.
pub fn unknown_figures(cx: &Context, report: &mut Report) {
    let mut told = Vec::new();
    for host in cx.design.hosts.iter().filter(|h| h.sound && h.power.is_none() && h.rack.is_some()) {
        if !told.contains(&host.system.name) {
            told.push(host.system.name.clone());
            report.push(
                Diagnostic::advice("AIC0404", format!("the power of {} is unknown: sums over it are lower bounds", host.system.name))
                    .at(host.at.head, "no figure here or in its system")
                    .help(format!("give it where the host is declared: `host … : {} {{ power = 1kW }}`", host.system.name)),
            );
        }
    }
}
