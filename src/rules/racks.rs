//! Racks: power, space, missing figures.

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use crate::base::{Diagnostic, Dimension, Quantity, Rational, Report};
use crate::design::Rack;
use crate::topology::racks::{Load, RackFault, Sum};

fn kilowatts(value: Rational) -> Quantity {
    Quantity { value, dimension: Dimension::Power, unit: crate::base::quantity::find_unit("kW") }
}

/// AIC0401.
pub fn power(cx: &Context, report: &mut Report) {
    let mut alike = Alike::default();
    for (rack, load) in loaded(cx) {
        let Some(budget) = rack.power.filter(|budget| load.power.value > budget.value) else { continue };
        let total = kilowatts(load.power.value);
        alike.push(
            rack,
            load.power,
            Diagnostic::error(
                "AIC0401",
                format!("rack {} draws {}{total}, its budget is {budget}", rack.at.source.trim_start_matches("rack."), at_least(load.power)),
            )
            .at(rack.at.field("power"), "budget")
            .at(rack.at.head, parts(load))
            .help(format!(
                "power = {}kW or more, or fewer hosts a rack",
                crate::base::quantity::decimal((load.power.value / Rational::from_integer(1000)).ceil(), 0)
            )),
        );
    }
    alike.report(report);
}

/// AIC0402.
pub fn space(cx: &Context, report: &mut Report) {
    // A place that is written for an array is said once.
    let mut said = BTreeSet::new();
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
            RackFault::Taken(.., written) if !said.insert(*written) => {}
            RackFault::Taken(rack, unit, what, written) => {
                let hosts = cx.design.hosts.iter().zip(&cx.topology.host_units).filter(|(h, _)| h.rack == Some(*rack));
                let highest = hosts.filter_map(|(h, unit)| Some((*unit)? + h.height.unwrap_or(1) - 1)).max().unwrap_or(0);
                let rack = &cx.design.racks[*rack];
                report.push(
                    Diagnostic::error("AIC0402", format!("{what} does not fit at {unit}U of rack {}", rack.name))
                        .at(*written, "its place")
                        .at(rack.at.head, if highest > 0 { format!("{}U, hosts up to {highest}U", rack.height) } else { format!("{}U", rack.height) })
                        .help("another unit, or no `position`: hosts then stand from below, switches from the top"),
                );
            }
            RackFault::NoPlace(fabric, switch, written) => {
                let fabric = &cx.design.fabrics[*fabric];
                report.push(
                    Diagnostic::error("AIC0402", format!("switch {switch} of fabric {} finds no place in its racks", fabric.name))
                        .at(*written, "racks that take its switches")
                        .help("name more racks, or higher ones"),
                );
            }
        }
    }
}

/// Racks of one declaration that break a bound with the same sum are said once.
#[derive(Default)]
struct Alike {
    found: BTreeMap<(crate::base::Span, &'static str, Rational), (Diagnostic, usize)>,
}

impl Alike {
    fn push(&mut self, rack: &Rack, sum: Sum, diagnostic: Diagnostic) {
        self.found.entry((rack.at.head, diagnostic.code, sum.value)).or_insert((diagnostic, 0)).1 += 1;
    }

    fn report(self, report: &mut Report) {
        for (diagnostic, n) in self.found.into_values() {
            let more = crate::base::names::count_of(n - 1, "more rack");
            report.push(if n > 1 { diagnostic.note(format!("the same in {more}")) } else { diagnostic });
        }
    }
}

/// Sound racks with what stands in them.
fn loaded<'a>(cx: &Context<'a>) -> impl Iterator<Item = (&'a Rack, &'a Load)> {
    cx.design.racks.iter().zip(cx.topology.loads(cx.design)).filter(|(rack, _)| rack.sound)
}

fn at_least(sum: Sum) -> &'static str {
    if sum.at_least { "at least " } else { "" }
}

fn parts(load: &Load) -> String {
    let parts: Vec<String> =
        load.hosts.iter().chain(&load.switches).map(|(name, (n, power))| format!("{n} × {} {name}", power.map_or("?".into(), |p| p.to_string()))).collect();
    parts.join(" + ")
}

/// AIC0403, 0405, 0406: what a feed carries, what can be cooled, what the floor bears.
pub fn bounds(cx: &Context, report: &mut Report) {
    let mut alike = Alike::default();
    for (rack, load) in loaded(cx) {
        let watts = crate::base::quantity::to_f64(load.power.value);
        if let Some(supply) = &rack.supply {
            let capacity = supply.feed_capacity();
            let left = capacity * (rack.feeds - 1).max(1) as f64;
            if watts > left {
                let how = if supply.phases == 3 {
                    format!("{} V × {} A × √3 × {}", supply.volts, supply.amps, supply.derating)
                } else {
                    format!("{} V × {} A × {}", supply.volts, supply.amps, supply.derating)
                };
                let with = if rack.feeds > 1 {
                    format!("with one of {} feeds lost the rest carries {:.1}kW", rack.feeds, left / 1000.0)
                } else {
                    format!("its only feed carries {:.1}kW", left / 1000.0)
                };
                alike.push(
                    rack,
                    load.power,
                    Diagnostic::error("AIC0403", format!("rack {} draws {}{}; {with}", rack.name, at_least(load.power), kilowatts(load.power.value)))
                        .at(rack.at.field("supply"), format!("a feed: {how} = {:.1}kW", capacity / 1000.0))
                        .at(rack.at.head, parts(load))
                        .why("the feed that is left takes the whole load: its breaker opens and the rack goes dark")
                        .help(format!("amps = {:.0} or more, more feeds, or fewer hosts a rack", (supply.amps as f64 * watts / left).ceil())),
                );
            }
        }
        // Without a figure of its own, cooling is the power budget, and that is judged already.
        if let Some(cooling) = rack.cooling.filter(|_| rack.at.set("cooling").is_some())
            && load.power.value > cooling.value
        {
            alike.push(
                rack,
                load.power,
                Diagnostic::error(
                    "AIC0405",
                    format!(
                        "rack {} gives off {}{} of heat ({:.0} BTU/h), {cooling} can be removed",
                        rack.name,
                        at_least(load.power),
                        kilowatts(load.power.value),
                        load.heat()
                    ),
                )
                .at(rack.at.field("cooling"), "what can be removed")
                .at(rack.at.head, parts(load))
                .help("fewer hosts a rack, or rear-door or liquid cooling"),
            );
        }
        if let Some(limit) = rack.weight
            && load.weight.value > limit.value
        {
            let kilograms = Quantity { value: load.weight.value, dimension: Dimension::Mass, unit: crate::base::quantity::find_unit("kg") };
            alike.push(
                rack,
                load.weight,
                Diagnostic::error("AIC0406", format!("rack {} carries {}{kilograms} of equipment, its limit is {limit}", rack.name, at_least(load.weight)))
                    .at(rack.at.field("weight"), "limit")
                    .at(rack.at.head, format!("{} of equipment, without the rack itself and its cables", count_of(load)))
                    .help("fewer hosts a rack, or a floor and frame that bear more"),
            );
        }
    }
    alike.report(report);
}

fn count_of(load: &Load) -> String {
    crate::base::names::count_of(load.hosts.values().chain(load.switches.values()).map(|(n, _)| n).sum(), "piece")
}

/// AIC0407.
pub fn reach(cx: &Context, report: &mut Report) {
    let mut told: Vec<u16> = Vec::new();
    for fault in &cx.topology.too_long {
        let link = &cx.topology.links[fault.link as usize];
        let fabric = &cx.design.fabrics[link.fabric as usize];
        if told.contains(&link.fabric) || !fabric.sound {
            continue;
        }
        told.push(link.fabric);
        let more = cx.topology.too_long.iter().filter(|f| cx.topology.links[f.link as usize].fabric == link.fabric).count();
        let metres = |cm: u32| format!("{}m", f64::from(cm) / 100.0);
        let rack = |end| crate::topology::cables::place(cx.design, cx.topology, end).0.map(|r| &cx.design.racks[r]);
        let (a, b) = (rack(link.a), rack(link.b));
        let name = |r: Option<&Rack>| r.map_or_else(String::new, |r| r.name.clone());
        let mut diagnostic = Diagnostic::error(
            "AIC0407",
            format!(
                "a link of fabric {} from rack {} to rack {} is {} long; {} reaches {}",
                fabric.name,
                name(a),
                name(b),
                metres(fault.centimetres),
                fault.medium.word(),
                metres(fault.reach)
            ),
        )
        .at(fabric.at.field("cables.prefer"), format!("{} at most", fault.medium.word()));
        for rack in [a, b].into_iter().flatten() {
            diagnostic = diagnostic.at(rack.at.field("column"), format!("row {}, column {}", rack.row, rack.column));
        }
        if more > 1 {
            diagnostic = diagnostic.note(format!("{} in all", crate::base::names::count_of(more, "link")));
        }
        report.push(diagnostic.help("racks that stand closer, or `cables { prefer = [dac, fibre] }`"));
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
