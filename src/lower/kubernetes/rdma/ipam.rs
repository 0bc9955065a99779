//! Addresses of pods on the rails: the plugin's part of a network's configuration, and the pools that nv-ipam draws from.

use std::collections::HashSet;
use std::net::IpAddr;

use ipnet::{IpNet, IpSubnets, Ipv4Subnets, Ipv6Subnets};
use serde_json::json;

use super::super::super::kinds::network_operator::{CIDRPool, CIDRPoolSpec, Exclusion, IPPool, IPPoolSpec, PoolRoute, StaticAllocation};
use super::super::super::kinds::nodes_with;
use super::super::super::object::Document;
use super::{NAMESPACE, Rail, fabrics_name};
use crate::Compilation;
use crate::design::{Design, Ipam, Network, Pool};
use crate::nodes::pool_label;
use crate::nodes::resources::{RailPort, rail_ports};
use crate::topology::addresses::{Owner, capacity, free_addresses};

/// What stands under `ipam` in the network's configuration.
pub(super) fn configuration(rail: &Rail, network: &Network) -> String {
    match network.ipam {
        Ipam::NvIpam => {
            let kind = if network.is_pairs() { "cidrpool" } else { "ippool" };
            format!("{{\"type\": \"nv-ipam\", \"poolName\": \"{}\", \"poolType\": \"{kind}\"}}", pool_name(rail))
        }
        Ipam::Whereabouts => {
            let kept = network.reserved.map_or_else(Vec::new, |(from, to)| subnets(from, to));
            let mut configuration = json!({ "type": "whereabouts", "range": network.cidr });
            if !kept.is_empty() {
                configuration["exclude"] = json!(kept);
            }
            configuration.to_string()
        }
        Ipam::Static => json!({ "type": "static" }).to_string(),
        Ipam::Dhcp => json!({ "type": "dhcp" }).to_string(),
    }
}

/// The address of a workload's one pod on a network of static addresses: one that no host, switch or workload before it has.
pub fn of_workload(c: &Compilation, workload: usize, network: usize) -> Option<IpAddr> {
    let d = &c.design;
    let before = d.workloads[..workload].iter().filter(|w| w.rdma).count();
    let taken: HashSet<IpAddr> = c.topology.addresses.iter().filter(|a| a.network == network).map(|a| a.address).collect();
    free_addresses(&d.networks[network]).filter(|address| !taken.contains(address)).nth(before)
}

/// The ranges that exactly hold the addresses from one to another.
fn subnets(from: IpAddr, to: IpAddr) -> Vec<IpNet> {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => IpSubnets::V4(Ipv4Subnets::new(from, to, 0)).collect(),
        (IpAddr::V6(from), IpAddr::V6(to)) => IpSubnets::V6(Ipv6Subnets::new(from, to, 0)).collect(),
        _ => Vec::new(),
    }
}

/// The pool of addresses: one a network, however many ways pods attach to it.
fn pool_name(rail: &Rail) -> String {
    fabrics_name(rail.input.design(), rail.pool, &rail.port)
}

/// The pool that nv-ipam draws from; the other plugins need none.
pub(super) fn addresses(rail: &Rail, network: &Network) -> Option<Document> {
    match network.ipam {
        Ipam::NvIpam if network.is_pairs() => Some(pairs(rail, network)),
        Ipam::NvIpam => Some(blocks(rail, network)),
        Ipam::Whereabouts | Ipam::Static | Ipam::Dhcp => None,
    }
}

/// The pools whose pods attach to the network.
fn sharing<'a>(design: &'a Design, network: &'a Network, port: &'a RailPort) -> impl Iterator<Item = &'a Pool> {
    let on = move |pool: &&Pool| {
        let host = pool.hosts.first().copied();
        let ports = host.map_or_else(Vec::new, |host| rail_ports(design, pool, host));
        ports.iter().any(|p| p.name() == port.name() && p.network(design).is_some_and(|n| std::ptr::eq(&design.networks[n], network)))
    };
    design.pools.iter().filter(on)
}

/// Addresses that nv-ipam gives each host: four times what its pods can hold at once, or an equal share of the range.
pub(super) fn per_host(design: &Design, port: &RailPort, network: &Network) -> i128 {
    let hosts = sharing(design, network, port).map(|p| p.hosts.len()).sum::<usize>().max(1) as i128;
    let pods = sharing(design, network, port).flat_map(|p| &p.rdma).map(|r| r.mode.pods_per_port()).max().unwrap_or(1);
    (4 * i128::from(pods)).min(capacity(network) as i128 / hosts)
}

/// A pair a host, the one that its leaf has on that port.
fn pairs(rail: &Rail, network: &Network) -> Document {
    let d = rail.input.design();
    let topology = &rail.input.compilation.topology;
    let pools: Vec<&str> = sharing(d, network, &rail.port).map(|p| p.name.as_str()).collect();
    let own = topology.addresses.iter().filter(|a| a.of_pods && std::ptr::eq(&d.networks[a.network], network));
    let allocations = own.filter_map(|a| {
        let Owner::Host(host) = a.owner else { return None };
        let prefix = IpNet::new(a.address, a.prefix).ok()?.trunc();
        Some(StaticAllocation { node_name: d.hosts[host].name.clone(), prefix: prefix.to_string(), gateway: prefix.addr().to_string() })
    });
    let beside = d.networks.iter().filter(|n| n.fabric == network.fabric && n.plane == network.plane && n.rail.is_some());
    let all = beside.fold(network.cidr, |all, n| cover(all, n.cidr));
    let mut routes = vec![network.cidr];
    routes.extend((all != network.cidr).then_some(all));
    let spec = CIDRPoolSpec {
        cidr: network.cidr.to_string(),
        per_node_network_prefix: 31,
        gateway_index: 0,
        routes: routes.into_iter().map(|dst| PoolRoute { dst: dst.to_string() }).collect(),
        static_allocations: allocations.collect(),
        node_selector: nodes_with(&pool_label(d, rail.pool), &pools),
    };
    rail.input
        .maker
        .namespaced(&network.at, NAMESPACE, &pool_name(rail), CIDRPool { spec, ..Default::default() })
        .from("/spec/cidr", network.at.set("cidr"))
        .because("/spec/gatewayIndex", "The leaf has the even address of each pair (network/switches).")
        .because("/spec/routes", "The rail by its own port, and the other rails of the fabric: they meet above the leaves.")
        .because("/spec/staticAllocations", "As the leaves are configured; without this nv-ipam would give prefixes in the order of nodes.")
}

/// A block of the range a host.
fn blocks(rail: &Rail, network: &Network) -> Document {
    let d = rail.input.design();
    let pools: Vec<&str> = sharing(d, network, &rail.port).map(|p| p.name.as_str()).collect();
    let hosts = sharing(d, network, &rail.port).map(|p| p.hosts.len()).sum::<usize>().max(1) as i128;
    let block = per_host(d, &rail.port, network).max(1);
    let spec = IPPoolSpec {
        subnet: network.cidr.to_string(),
        per_node_block_size: block as i64,
        exclusions: network.reserved.map(|(from, to)| vec![Exclusion { start: from.to_string(), end: to.to_string() }]),
        node_selector: nodes_with(&pool_label(d, rail.pool), &pools),
    };
    let pool = rail
        .input
        .maker
        .namespaced(&network.at, NAMESPACE, &pool_name(rail), IPPool { spec, ..Default::default() })
        .from("/spec/subnet", network.at.set("cidr"))
        .because("/spec/perNodeBlockSize", format!("{hosts} hosts take {} of the {} usable addresses.", block * hosts, capacity(network)));
    if network.reserved.is_some() { pool.because("/spec/exclusions", "What the design reserves for switches and hosts.") } else { pool }
}

/// The smallest range that holds both.
fn cover(a: IpNet, b: IpNet) -> IpNet {
    let wider = std::iter::successors(Some(a), IpNet::supernet);
    wider.into_iter().find(|range| range.contains(&b)).unwrap_or(a)
}
