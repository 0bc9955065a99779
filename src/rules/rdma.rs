//! RDMA: the silent fall to TCP, ports that are not there.

use std::collections::HashSet;

use super::Context;
use crate::base::{Diagnostic, Report};
use crate::design::{FabricWord, Rdma};

/// AIC0901.
pub fn silent_tcp(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        if !workload.is_training() || workload.nodes < 2 || workload.rdma {
            continue;
        }
        let attached =
            cx.fabrics().find(|(_, f)| f.is_training() && pool.hosts.first().is_some_and(|h| f.attach.iter().filter(|p| p.host as usize == *h).count() >= 2));
        let Some((_, fabric)) = attached else { continue };
        let mut diagnostic = Diagnostic::error(
            "AIC0901",
            format!("workload {} trains over {} hosts without RDMA, fabric {} joins them", workload.name, workload.nodes, fabric.name),
        );
        diagnostic = match workload.at.set("rdma") {
            Some(span) => diagnostic.at(span, "switched off here"),
            None => diagnostic.at(pool.at.head, format!("pool {} hands out no RDMA ports", pool.name)).at(workload.at.head, "trains here"),
        };
        report.push(
            diagnostic
                .at(fabric.at.head, "this fabric would stay idle")
                .why("NCCL falls back to TCP over the pod network in silence: a tenth of the bandwidth, or less")
                .help(format!("rdma : sriov {{ fabric = {} }} in pool {}", fabric.at.source.trim_start_matches("fabric."), pool.name)),
        );
    }
}

/// AIC0902.
pub fn unattached(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some(rdma) = &pool.rdma else { continue };
        for fabric_id in &rdma.fabrics {
            let fabric = &cx.design.fabrics[*fabric_id];
            let attached: HashSet<u32> = fabric.attach.iter().map(|p| p.host).collect();
            let missing: Vec<&str> = pool.hosts.iter().filter(|h| !attached.contains(&(**h as u32))).map(|h| cx.host(*h).name.as_str()).collect();
            if let Some(first) = missing.first() {
                let more = if missing.len() > 1 { format!(" (and {} more)", missing.len() - 1) } else { String::new() };
                report.push(
                    Diagnostic::error("AIC0902", format!("pool {} hands out ports of fabric {}, host {first}{more} is not on it", pool.name, fabric.name))
                        .at(pool.at.field("rdma.fabric"), "asked here")
                        .at(fabric.at.field("attach"), "attached here")
                        .help("attach the hosts' NICs to the fabric, or name the fabric that they are on"),
                );
            }
            if !matches!(fabric.word(), FabricWord::Infiniband | FabricWord::Roce | FabricWord::Managed) {
                report.push(
                    Diagnostic::error("AIC0902", format!("fabric {} is {}: it carries no RDMA", fabric.name, fabric.word()))
                        .at(pool.at.field("rdma.fabric"), "asked here")
                        .at(fabric.at.head, format!("{} fabric", fabric.word()))
                        .help("an infiniband or roce fabric"),
                );
            }
            let sriov_off = pool.hosts.iter().map(|h| cx.host(*h)).find(|h| !h.sriov);
            if let Some(host) = sriov_off.filter(|_| matches!(rdma.mode, Rdma::Sriov { .. })) {
                report.push(
                    Diagnostic::error("AIC0902", format!("pool {} asks for virtual functions, host {} has SR-IOV off", pool.name, host.name))
                        .at(pool.at.field("rdma:"), "sriov")
                        .at(host.at.field("firmware.sriov"), "off in its firmware")
                        .help("firmware { sriov = true }"),
                );
            }
        }
    }
}

/// AIC0903.
pub fn unnumbered(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let (Some(host), Some(rdma)) = (pool.hosts.first(), &pool.rdma) else { continue };
        // Verbs on InfiniBand need no address where the port stays the host's.
        let by_lid = matches!(rdma.mode, Rdma::Shared { .. }) && rdma.fabrics.iter().all(|f| cx.design.fabrics[*f].is_infiniband());
        if by_lid || !rdma.mode.by_network_operator() {
            continue;
        }
        for port in crate::nodes::resources::rail_ports(cx.design, pool, *host) {
            let (rail, fabric) = (port.rail, &cx.design.fabrics[port.fabric]);
            if port.network(cx.design).is_some() {
                continue;
            }
            let plane = port.plane.map_or(String::new(), |plane| format!(" on plane {plane}"));
            let own = port.plane.map_or(String::new(), |plane| format!(", plane = {plane}"));
            report.push(
                Diagnostic::error("AIC0903", format!("no network numbers rail {rail}{plane} of pool {} on fabric {}", pool.name, fabric.name))
                    .at(pool.at.field("rdma.fabric"), "its pods get a port of each rail")
                    .at(fabric.at.head, "this fabric")
                    .why("a pod attaches to a network a rail; one that is not there keeps it in ContainerCreating")
                    .help(format!("network rail[…] {{ fabric = {}{own}, rail = index, cidr = … }} up to rail {rail}", fabric.name)),
            );
            break;
        }
    }
}
