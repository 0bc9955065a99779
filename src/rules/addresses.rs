//! Address ranges and packet sizes.

use ipnet::IpNet;

use super::Context;
use crate::base::names::grouped;
use crate::base::{Diagnostic, Report, Span};
use crate::design::{Cni, Vip};
use crate::topology::addresses::capacity;

fn overlap(a: &IpNet, b: &IpNet) -> bool {
    a.contains(&b.network()) || b.contains(&a.network())
}

/// AIC0601.
pub fn overlaps(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    let mut ranges: Vec<(String, IpNet, Span)> = cx.networks().map(|(_, n)| (format!("network {}", n.name), n.cidr, n.at.field("cidr"))).collect();
    // On a cloud, pods take addresses of the site's own network.
    if let Some(pods) = cluster.pods.as_ref().filter(|p| p.cni != Cni::AwsVpc && p.cni != Cni::Gke) {
        ranges.push(("the pod range".into(), pods.cidr, cluster.at.field("pods.cidr")));
    }
    if let Some(services) = cluster.services {
        ranges.push(("the service range".into(), services, cluster.at.field("services.cidr")));
    }
    for fabric in cx.design.fabrics.iter().filter(|f| f.sound) {
        if let Some(routed) = &fabric.routed() {
            ranges.push((format!("loopbacks of fabric {}", fabric.name), routed.loopbacks, fabric.at.field("routed.loopbacks")));
            ranges.push((format!("links of fabric {}", fabric.name), routed.links, fabric.at.field("routed.links")));
        }
    }
    for (i, (name, range, span)) in ranges.iter().enumerate() {
        for (other, other_range, other_span) in &ranges[..i] {
            if overlap(range, other_range) {
                report.push(
                    Diagnostic::error("AIC0601", format!("{name} {range} overlaps {other} {other_range}"))
                        .at(*span, range.to_string())
                        .at(*other_span, other_range.to_string())
                        .why("packets for one go out of the interface of the other; pods lose hosts at random")
                        .help("give each a range of its own"),
                );
            }
        }
    }
}

/// AIC0602.
pub fn pod_range(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    let Some(pods) = cluster.pods.as_ref().filter(|p| p.cni != Cni::AwsVpc && cluster.sound) else { return };
    let hosts = cx.nodes.pool_of_host.iter().filter(|p| p.is_some()).count();
    let prefix = pods.cidr.prefix_len();
    if pods.host_prefix < prefix || pods.host_prefix > pods.cidr.max_prefix_len() {
        report.push(
            Diagnostic::error("AIC0602", format!("a host's block of /{} does not fit into the pod range {}", pods.host_prefix, pods.cidr))
                .at(cluster.at.field("pods.host_prefix"), format!("a /{} for each host", pods.host_prefix))
                .at(cluster.at.field("pods.cidr"), "the whole range")
                .help(format!("host_prefix between {prefix} and {}", pods.cidr.max_prefix_len())),
        );
        return;
    }
    let bits = pods.host_prefix - prefix;
    let blocks = 1_u128 << bits.min(100);
    if blocks < hosts as u128 {
        let needed = (hosts as f64).log2().ceil() as u8;
        report.push(
            Diagnostic::error("AIC0602", format!("the pod range holds {} hosts, the design has {}", grouped(blocks as i128), grouped(hosts as i128)))
                .at(cluster.at.field("pods.cidr="), format!("2^({}-{prefix}) = {} blocks", pods.host_prefix, grouped(blocks as i128)))
                .at(cluster.at.field("pods.host_prefix"), format!("a /{} for each host", pods.host_prefix))
                .why(format!("host {} stays NotReady (\"CIDR allocation failed\"), and the range cannot be changed later", blocks + 1))
                .help(format!("use a /{} or wider ({} hosts)", pods.host_prefix.saturating_sub(needed), grouped(1_i128 << needed))),
        );
    }
}

/// AIC0603.
pub fn network_size(cx: &Context, report: &mut Report) {
    for (network, needed, _) in &cx.topology.address_faults {
        let n = &cx.design.networks[*network];
        let bits = f64::from(u32::try_from(*needed + 3).unwrap_or(u32::MAX)).log2().ceil() as u8;
        report.push(
            Diagnostic::error("AIC0603", format!("network {} has {} addresses for {} devices", n.name, grouped(capacity(n) as i128), grouped(*needed as i128)))
                .at(n.at.field("cidr"), format!("{} after what is reserved", grouped(capacity(n) as i128)))
                .help(format!("a /{} or wider", n.cidr.max_prefix_len().saturating_sub(bits))),
        );
    }
    // A /31 joins one port with its leaf: the other address is the one pod's.
    for (_, pool) in cx.pools() {
        let Some((rdma, functions)) = pool.rdma.as_ref().and_then(|r| Some((r, r.mode.functions().filter(|n| *n > 1)?))) else { continue };
        let pair = cx.networks().find(|(_, n)| n.rail.is_some() && n.is_pairs() && rdma.fabrics.contains(&n.fabric));
        let Some((_, n)) = pair else { continue };
        report.push(
            Diagnostic::error("AIC0603", format!("pool {} has {} virtual functions a port, network {} has one address for them", pool.name, functions, n.name))
                .at(pool.at.field("rdma.vfs"), format!("{functions} pods on a port"))
                .at(n.at.field("host_prefix"), "two addresses: the leaf's and one more")
                .help("vfs = 1: one pod a host and rail"),
        );
    }
    // Pods that attach to a rail take addresses too: a block a host.
    for (_, n) in cx.networks().filter(|(_, n)| n.rail.is_some() && n.host_prefix.is_none()) {
        let fabric = &cx.design.fabrics[n.fabric];
        let attached: std::collections::HashSet<u32> = fabric.attach.iter().map(|p| p.host).collect();
        for (_, pool) in cx.pools() {
            let functions = pool.rdma.as_ref().filter(|r| r.fabrics.contains(&n.fabric)).and_then(|r| r.mode.functions());
            let Some(functions) = functions else { continue };
            let hosts = pool.hosts.iter().filter(|h| attached.contains(&(**h as u32))).count() as u128;
            let needed = hosts * functions.max(1) as u128;
            if capacity(n) < needed {
                report.push(
                    Diagnostic::error(
                        "AIC0603",
                        format!(
                            "network {} has {} addresses, pool {} has {} virtual functions on it",
                            n.name,
                            grouped(capacity(n) as i128),
                            pool.name,
                            grouped(needed as i128)
                        ),
                    )
                    .at(n.at.field("cidr"), format!("{} addresses", grouped(capacity(n) as i128)))
                    .at(pool.at.field("rdma"), format!("{hosts} hosts × {functions} a port"))
                    .help("a wider range"),
                );
            }
        }
    }
}

/// AIC0604.
pub fn mtu(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    for (_, n) in cx.networks() {
        let fabric = &cx.design.fabrics[n.fabric];
        if n.mtu > fabric.mtu {
            report.push(
                Diagnostic::error("AIC0604", format!("network {} has an MTU of {}, fabric {} carries {}", n.name, n.mtu, fabric.name, fabric.mtu))
                    .at(n.at.field("mtu"), format!("{} bytes", n.mtu))
                    .at(fabric.at.field("mtu"), format!("{} bytes", fabric.mtu))
                    .help(format!("mtu = {} or less", fabric.mtu)),
            );
        }
    }
    let Some(pods) = &cluster.pods else { return };
    let (Some(network), Some(mtu)) = (pods.network.map(|n| &cx.design.networks[n]).filter(|n| n.sound), pods.mtu) else { return };
    let overhead = pods.overhead(&network.cidr);
    if mtu + overhead > network.mtu {
        report.push(
            Diagnostic::error(
                "AIC0604",
                format!("a pod packet of {mtu} bytes and {overhead} of {} do not fit into the {} of network {}", pods.encapsulation, network.mtu, network.name),
            )
            .at(cluster.at.field("pods.mtu"), format!("{mtu} + {overhead} = {}", mtu + overhead))
            .at(cx.design.fabrics[network.fabric].at.field("mtu"), format!("{} bytes", network.mtu))
            .why("small packets pass and large ones vanish: a job connects, then hangs")
            .help(format!("mtu = {}", network.mtu - overhead)),
        );
    }
}

/// AIC0605.
pub fn host_block(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    let Some(pods) = cluster.pods.as_ref().filter(|p| p.cni != Cni::AwsVpc) else { return };
    let addresses = pods.addresses_per_host();
    for (_, pool) in cx.pools() {
        if pool.max_pods as u128 > addresses {
            report.push(
                Diagnostic::error(
                    "AIC0605",
                    format!(
                        "pool {} runs up to {} pods a host, a /{} has {} addresses",
                        pool.name,
                        pool.max_pods,
                        pods.host_prefix,
                        grouped(addresses as i128)
                    ),
                )
                .at(pool.at.field("max_pods"), format!("{} pods", pool.max_pods))
                .at(cluster.at.field("pods.host_prefix"), format!("{} addresses", grouped(addresses as i128)))
                .why("the last pods stay in ContainerCreating")
                .help(format!("max_pods = {addresses} or less, or a wider host_prefix")),
            );
        }
    }
}

/// AIC0606.
pub fn outside(cx: &Context, report: &mut Report) {
    for (_, n) in cx.networks() {
        let reserved = n.reserved.map(|(a, b)| if n.cidr.contains(&a) { b } else { a });
        for (field, ip) in [("gateway", n.gateway), ("reserved", reserved)] {
            if let Some(ip) = ip.filter(|ip| !n.cidr.contains(ip)) {
                report.push(
                    Diagnostic::error("AIC0606", format!("{ip} is outside network {} {}", n.name, n.cidr))
                        .at(n.at.field(field), format!("{field}: {ip}"))
                        .at(n.at.field("cidr"), n.cidr.to_string())
                        .help(format!("an address of {}", n.cidr)),
                );
            }
        }
    }
    let Some(control_plane) = cx.design.control_plane.as_ref().filter(|c| c.sound && c.hosts.len() > 1) else { return };
    let Some(network) = cx.design.node_network().map(|n| &cx.design.networks[n]).filter(|n| n.sound) else { return };
    if let Some(ip) = control_plane.endpoint.as_ref().and_then(|e| e.parse::<std::net::IpAddr>().ok())
        && !network.cidr.contains(&ip)
        && control_plane.vip == Vip::KubeVip
    {
        report.push(
            Diagnostic::error("AIC0606", format!("the endpoint {ip} is outside network {} {}, where the API servers are", network.name, network.cidr))
                .at(control_plane.at.field("endpoint"), "a virtual address moves by ARP: it must be of the hosts' network")
                .at(network.at.field("cidr"), network.cidr.to_string())
                .help("an address of that network that is reserved, or `vip = external`"),
        );
    }
}

/// AIC0607.
pub fn routed(cx: &Context, report: &mut Report) {
    for short in &cx.topology.routing_faults {
        let fabric = &cx.design.fabrics[short.fabric];
        if !fabric.sound {
            continue;
        }
        let what = if short.field == "routed.links" { "links between switches take two addresses each" } else { "each switch takes a loopback" };
        report.push(
            Diagnostic::error(
                "AIC0607",
                format!("fabric {} needs {} addresses of {}, the range has {}", fabric.name, short.needed, short.field, short.available),
            )
            .at(fabric.at.field(short.field), format!("{} addresses", short.available))
            .at(fabric.at.field("topology"), what)
            .help(format!("a range of {} addresses or more", short.needed.next_power_of_two())),
        );
    }
}

/// AIC0608: a routed leaf is the end of its hosts' network.
pub fn routed_rails(cx: &Context, report: &mut Report) {
    for (_, network) in cx.networks().filter(|(_, n)| !n.is_pairs()) {
        let fabric = &cx.design.fabrics[network.fabric];
        let plan = &cx.topology.fabrics[network.fabric];
        if fabric.routed().is_none() || plan.fault.is_some() {
            continue;
        }
        let leaves = plan.count(crate::topology::Tier::Leaf);
        let units = leaves / (plan.rails.max(1) * fabric.planes.max(1));
        let spread = if network.rail.is_some() && fabric.topology.rails() { units } else { leaves };
        if spread > 1 {
            report.push(
                Diagnostic::error(
                    "AIC0608",
                    format!("network {} spans {spread} leaves of the routed fabric {}: each leaf ends the network at its own ports", network.name, fabric.name),
                )
                .at(network.at.field("cidr"), "one range over several leaves")
                .at(fabric.at.field("routed"), "layer 3 down to the leaf")
                .why("a leaf has no route to a part of its own subnet on another leaf: hosts reach those of their leaf alone")
                .help("host_prefix = 31: each host is a neighbour of its leaf, and the leaf announces the link"),
            );
        }
    }
}
