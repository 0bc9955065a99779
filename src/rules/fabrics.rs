//! Fabrics: what the planner could not do, the ratio, kinds.

use super::Context;
use crate::base::{Diagnostic, Quantity, Report};
use crate::design::{Fabric, FabricWord, ShapeWord, SwitchedLink};
use crate::topology::fabric::alternatives::alternatives;
use crate::topology::ports::quantity;
use crate::topology::{Fault, Tier};

fn model_name(fabric: &Fabric, tier: Tier) -> String {
    tier.model(fabric).map_or_else(|| tier.word().to_owned(), |m| m.name.clone())
}

/// AIC0501, 0502, 0504, 0505, 0506, 0507: what the planner says.
pub fn faults(cx: &Context, report: &mut Report) {
    for (id, fabric) in cx.fabrics() {
        let Some(fault) = &cx.topology.fabrics[id].fault else { continue };
        if let Some(diagnostic) = describe(cx, id, fabric, fault) {
            report.push(diagnostic);
        }
    }
}

/// The nearest designs that can be built, as help; without one, what to do in general.
fn instead(cx: &Context, id: usize, general: &str) -> String {
    let found = alternatives(cx.design, id, &cx.topology.switches, cx.switch_models);
    if found.is_empty() { general.to_owned() } else { found.join(", or ") }
}

fn describe(cx: &Context, id: usize, fabric: &Fabric, fault: &Fault) -> Option<Diagnostic> {
    let name = &fabric.name;
    Some(match fault {
        Fault::NoModel(tier) => Diagnostic::error("AIC0502", format!("fabric {name} has no {} switch", tier.word()))
            .at(fabric.at.field("topology"), format!("this shape has a {} tier", tier.word()))
            .at(fabric.at.head, format!("without `{}`", tier.word()))
            .help(format!("`{} = …` with a switch of std or of your own", tier.word())),
        Fault::TierType(leaf, tier, model, link_type) => {
            Diagnostic::error("AIC0501", format!("leaf and {} of fabric {name} do not speak alike: {leaf} and {link_type}", tier.word()))
                .at(fabric.at.field(tier.word()), format!("{model} is {link_type}"))
                .at(fabric.at.field("leaf"), leaf.word())
                .help("one link type a fabric")
        }
        Fault::LinkType(port, types, switch, link_type) => {
            let spoken = types.iter().map(|t| t.word()).collect::<Vec<_>>().join(" or ");
            let host = cx.host(port.host as usize);
            let device = &host.system.devices[port.device as usize];
            Diagnostic::error("AIC0501", format!("{} of {} speaks {}, leaf {switch} of fabric {name} is {link_type}", device.label(), host.system.name, spoken))
                .at(fabric.at.field("attach"), format!("ports that speak {}", spoken))
                .at(fabric.at.field("leaf"), format!("{switch}: {link_type}"))
                .why("the link stays down: an InfiniBand switch does not bring up an Ethernet port, nor the other way round")
                .help(format!("a NIC with link type {link_type}, or a leaf that speaks {}", spoken))
        }
        Fault::LeafPorts { down, up, radix, rate } => {
            let leaf = model_name(fabric, Tier::Leaf);
            let rate = quantity(*rate);
            Diagnostic::error("AIC0504", format!("leaf {leaf} has {radix} ports of {rate}; fabric {name} needs {down} down and {up} up on it"))
                .at(fabric.at.field("topology"), format!("{down} links to hosts on each leaf"))
                .at(fabric.at.field("oversubscription"), format!("{up} links up at {}", fabric.oversubscription))
                .help(instead(cx, id, &format!("more leaves, more oversubscription, or a leaf of {} ports or more", down + up)))
        }
        Fault::UpperPorts(tier, needed, have) => Diagnostic::error(
            "AIC0504",
            format!("{} {} of fabric {name} lacks ports: it takes {needed} links and has {have}", tier.word(), model_name(fabric, *tier)),
        )
        .at(fabric.at.field(tier.word()), format!("{have} ports"))
        .help(instead(cx, id, "a switch with more ports, or another tier")),
        Fault::TooManyLeaves(leaves, radix) => {
            Diagnostic::error("AIC0504", format!("fabric {name} has {leaves} leaves, a spine {} has {radix} ports", model_name(fabric, Tier::Spine)))
                .at(fabric.at.field("topology"), "two tiers end here")
                .at(fabric.at.field("spine"), format!("{radix} ports"))
                .why("each leaf needs a link to every spine, and as many to each")
                .help(instead(cx, id, "`topology : fat_tree { tiers = 3, … }`, or switches with more ports"))
        }
        Fault::Pod(leaves, most, unit) => {
            let help = if *unit > 1 {
                format!("pod = {}: whole units of {unit} leaves, at most {most}", most / unit * unit)
            } else {
                format!("pod = {most} or less, or leave it out")
            };
            Diagnostic::error("AIC0504", format!("a pod of {leaves} leaves does not fit the spines of fabric {name}: each takes {most} links from below"))
                .at(fabric.at.field("topology.pod"), format!("{leaves} leaves under the same spines"))
                .at(fabric.at.field("spine"), format!("{most} ports down"))
                .help(help)
        }
        Fault::NoRate(rate, switch) => {
            let rate = quantity(*rate);
            Diagnostic::error("AIC0507", format!("{switch} cannot run a link of {rate}"))
                .at(fabric.at.field("attach"), format!("{rate} ports"))
                .at(fabric.at.field("leaf"), format!("{switch} has no cage of that rate"))
                .help("set `link_rate` to a rate of the switch, or choose another leaf")
        }
        Fault::Count(tier, declared, needed) => Diagnostic::error("AIC0505", format!("fabric {name} declares {declared} {}, it needs {needed}", tier.plural()))
            .at(fabric.at.field("topology"), format!("{declared} {}", tier.plural()))
            .help(format!("{} = {needed}, or leave it out to have it planned", tier.plural())),
        Fault::Islands(leaves) => {
            let diagnostic = Diagnostic::error("AIC0506", format!("the {leaves} leaves of fabric {name} are islands: nothing joins them"))
                .at(fabric.at.field("topology"), format!("{leaves} leaves, one tier"));
            if fabric.topology.word() == ShapeWord::RailOnly {
                diagnostic.help("`spine = …` makes a tree of each rail; or `topology : rail_optimized { … }`; or one unit of all hosts")
            } else {
                diagnostic.help("`inter_leaf`, `uplink { links = 2 }`, or `topology : leaf_spine`")
            }
        }
        Fault::Uplink(target) => Diagnostic::error("AIC0504", format!("the uplinks of fabric {name} find no free ports on {target}"))
            .at(fabric.at.field("uplink"), "no port for them")
            .help("fewer links, or switches with more ports"),
        Fault::NotPlanned(_) => return None,
    })
}

/// AIC0503.
pub fn oversubscription(cx: &Context, report: &mut Report) {
    for (id, fabric) in cx.fabrics() {
        let Some(ratio) = cx.topology.fabrics[id].ratio else { continue };
        if ratio > fabric.oversubscription.value {
            let real = Quantity::new(ratio, crate::base::Dimension::Ratio);
            report.push(
                Diagnostic::error(
                    "AIC0503",
                    format!("leaves of fabric {} are {real} oversubscribed, at most {} is declared", fabric.name, fabric.oversubscription),
                )
                .at(fabric.at.field("oversubscription"), "declared")
                .at(fabric.at.field("topology"), "counts given here")
                .why("collectives run at the rate of the narrowest step")
                .help("more spines, or leave the counts out to have them planned"),
            );
        }
    }
}

/// AIC0508.
pub fn kinds(cx: &Context, report: &mut Report) {
    for (_, fabric) in cx.fabrics() {
        let Some(leaf) = &fabric.leaf else { continue };
        let expected = match fabric.word() {
            FabricWord::Infiniband => SwitchedLink::Infiniband,
            FabricWord::Roce | FabricWord::Ethernet => SwitchedLink::Ethernet,
            FabricWord::Nvlink | FabricWord::Managed => continue,
        };
        if leaf.link_type != expected {
            report.push(
                Diagnostic::error("AIC0508", format!("fabric {} is {}, its leaf {} is a switch for {}", fabric.name, fabric.word(), leaf.name, leaf.link_type))
                    .at(fabric.at.field("leaf"), format!("{}: {}", leaf.name, leaf.link_type))
                    .at(fabric.at.head, format!("{} fabric", fabric.word()))
                    .help(format!("a switch with link_type = {expected}")),
            );
        }
    }
}

/// AIC0509.
pub fn single_points(cx: &Context, report: &mut Report) {
    for (id, fabric) in cx.fabrics() {
        // What a cluster stands on: its nodes' and its storage's network. A training fabric without a switch stops the job, not the cluster.
        let carries = |network: Option<usize>| network.is_some_and(|n| cx.design.networks[n].fabric == id);
        let storage = cx.storages().any(|(_, s)| carries(s.network()) || carries(s.ceph().map(|c| c.cluster_network)));
        let nodes = carries(cx.design.node_network());
        if !(nodes || storage) || cx.topology.fabrics[id].fault.is_some() {
            continue;
        }
        let hosts = fabric.attach.iter().map(|p| p.host).collect::<std::collections::HashSet<_>>().len() as i64;
        let Some(loss) = cx.topology.analysis(cx.design, id).losses.iter().filter(|l| l.hosts_cut > 0).max_by_key(|l| l.hosts_cut) else { continue };
        let switch = &cx.topology.switches[loss.switch].name;
        let gpus = if loss.gpus_cut > 0 { format!(" with {} GPUs", crate::base::names::grouped(loss.gpus_cut.into())) } else { String::new() };
        let what = match (nodes, storage) {
            (true, true) => "nodes and storage",
            (true, false) => "nodes",
            _ => "storage",
        };
        report.push(
            Diagnostic::advice("AIC0509", format!("the loss of {switch} cuts {} of {hosts} hosts{gpus} off fabric {}", loss.hosts_cut, fabric.name))
                .at(
                    fabric.at.field("topology"),
                    if loss.single_points == 1 { "one such switch".to_owned() } else { format!("{} such switches", loss.single_points) },
                )
                .at(fabric.at.head, format!("carries the network of {what}"))
                .why("a switch is rebooted for every upgrade: its hosts are NotReady for that long, and their pods are evicted after five minutes")
                .help("attach two ports a host to a pair of leaves: `topology : leaf_only { leaves = 2 }`, or `leaf_spine` with two spines or more"),
        );
    }
}

/// AIC0301.
pub fn narrow_uplinks(cx: &Context, report: &mut Report) {
    let mut told: Vec<(&str, crate::base::Span)> = Vec::new();
    for (_, fabric) in cx.fabrics().filter(|(_, f)| f.is_planned()) {
        let mut systems: Vec<u32> = Vec::new();
        for port in &fabric.attach {
            let system = &cx.host(port.host as usize).system;
            if !systems.iter().any(|h| std::sync::Arc::ptr_eq(&cx.host(*h as usize).system, system)) {
                systems.push(port.host);
            }
        }
        for host in systems {
            let system = &cx.host(host as usize).system;
            let Some(graph) = cx.topology.graph(system) else { continue };
            let own: Vec<u16> = fabric.attach.iter().filter(|p| p.host == host).map(|p| p.device).collect();
            for narrow in crate::topology::host::matrix::narrow_uplinks(system, graph, |nic| own.contains(&nic)) {
                if told.contains(&(system.name.as_str(), narrow.span)) {
                    continue;
                }
                told.push((&system.name, narrow.span));
                let names: Vec<String> = narrow.nics.iter().map(|n| system.devices[*n as usize].label()).collect();
                report.push(
                    Diagnostic::advice(
                        "AIC0301",
                        format!(
                            "{} of {} share one PCIe {}.0 x{} uplink: {:.0} of {:.0} Gb/s",
                            crate::base::names::list_of(&names, "and"),
                            system.name,
                            narrow.generation,
                            narrow.lanes,
                            narrow.capacity,
                            narrow.demand
                        ),
                    )
                    .at(fabric.at.field("attach"), "both at full rate only between devices below the bridge")
                    .at(narrow.span, "the uplink")
                    .why("transfers between a NIC and its GPU turn round below the uplink; what goes to the CPU's memory shares it")
                    .help("GPUDirect RDMA for the data, or a system with an uplink a NIC"),
                );
            }
        }
    }
}
