//! Pools: kubelet reservations, NUMA, HugePages, membership.

use std::collections::BTreeMap;

use super::Context;
use crate::base::{Diagnostic, Quantity, Report};
use crate::design::{Manager, NumaPolicy};
use crate::nodes::resources::hugepage_resource;

/// AIC0701.
pub fn cpu_reservation(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        if pool.cpu_manager == Manager::Static && pool.reserved_cores <= 0 {
            report.push(
                Diagnostic::error("AIC0701", format!("pool {} pins CPUs and reserves none for the system", pool.name))
                    .at(pool.at.field("cpu.reserved_cores"), "nothing reserved")
                    .at(pool.at.field("cpu.manager"), "pins whole cores")
                    .why("the kubelet does not start: the static policy requires a CPU reservation greater than zero")
                    .help("reserved_cores = 8"),
            );
        }
        let Some(host) = cx.first_host(pool) else { continue };
        let cores = host.system.threads() / host.system.threads_per_core();
        if host.system.threads() > 0 && pool.reserved_cores >= cores {
            report.push(
                Diagnostic::error("AIC0701", format!("pool {} reserves {} cores of {cores}", pool.name, pool.reserved_cores))
                    .at(pool.at.field("cpu.reserved_cores"), format!("a {} has {cores} cores", host.system.name))
                    .help(super::at_most("reserved_cores", cores / 4)),
            );
        }
    }
}

/// AIC0702.
pub fn memory_reservation(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some(host) = cx.first_host(pool) else { continue };
        let Some(memory) = host.system.usable_memory else { continue };
        let reserved = pool.reserved.whole() + pool.eviction.whole();
        if reserved >= memory.whole() {
            report.push(
                Diagnostic::error(
                    "AIC0702",
                    format!(
                        "pool {} reserves {} of the {} that a {} has",
                        pool.name,
                        Quantity::gibibytes(reserved),
                        Quantity::gibibytes(memory.whole()),
                        host.system.name
                    ),
                )
                .at(pool.at.field("memory.reserved"), format!("{} and {} eviction", pool.reserved, pool.eviction))
                .help(format!(
                    "reserved = {}, a sixteenth of it, is ample for the kernel, the kubelet and agents",
                    Quantity::gibibytes(memory.whole() >> 34 << 30)
                )),
            );
        }
        if pool.memory_manager == Manager::Static {
            let nodes = i128::from(host.system.numa_nodes());
            // reservedMemory is given per NUMA node in whole bytes; the sum must be exact or the kubelet does not start.
            if pool.reserved.whole() + pool.eviction.whole() <= 0 {
                report.push(
                    Diagnostic::error("AIC0702", format!("pool {} pins memory and reserves none for the system", pool.name))
                        .at(pool.at.field("memory.reserved"), "nothing reserved")
                        .at(pool.at.field("memory.manager"), "pins memory")
                        .why("the kubelet does not start: reservedMemory must add up to the reservations and the eviction threshold")
                        .help(format!("reserved = {}GiB", 16 * nodes)),
                );
            }
            if pool.cpu_manager != Manager::Static {
                report.push(
                    Diagnostic::error("AIC0702", format!("pool {} pins memory but not CPUs", pool.name))
                        .at(pool.at.field("memory.manager"), "static")
                        .at(pool.at.field("cpu"), format!("manager = {}", pool.cpu_manager))
                        .why("memory of one NUMA node helps only a pod whose CPUs stay there")
                        .help("cpu { manager = static, reserved_cores = 8 }"),
                );
            }
        }
    }
}

/// AIC0703 and AIC0706.
pub fn hugepages(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some(host) = cx.first_host(pool) else { continue };
        let nodes = host.system.numa_nodes();
        let mut total = 0;
        for (i, pages) in pool.hugepages.iter().enumerate() {
            let key = if i == 0 { "hugepages".to_owned() } else { format!("hugepages[{i}]") };
            total += pages.size.whole() * i128::from(pages.count);
            if !matches!(pages.size.whole(), 0x20_0000 | 0x4000_0000) {
                report.push(
                    Diagnostic::error("AIC0703", format!("the kernel has no HugePages of {}", pages.size))
                        .at(pool.at.field(&format!("{key}.size")), "here")
                        .help("2MiB or 1GiB"),
                );
            }
            if nodes > 0 && pages.count % nodes != 0 {
                report.push(
                    Diagnostic::error(
                        "AIC0706",
                        format!("pool {} reserves {} pages of {}, which do not split evenly over {nodes} NUMA nodes", pool.name, pages.count, pages.size),
                    )
                    .at(pool.at.field(&format!("{key}.count")), format!("{nodes} nodes in a {}", host.system.name))
                    .why("one socket would have fewer: pods on it wait for pages that the other has")
                    .help(format!("count = {}", (pages.count + nodes - 1) / nodes * nodes)),
                );
            }
        }
        let Some(memory) = host.system.usable_memory else { continue };
        let left = memory.whole() - pool.reserved.whole() - pool.eviction.whole();
        if total > left && total > 0 {
            report.push(
                Diagnostic::error(
                    "AIC0703",
                    format!(
                        "pool {} reserves {} of HugePages, a {} has {} beside what the system keeps",
                        pool.name,
                        Quantity::gibibytes(total),
                        host.system.name,
                        Quantity::gibibytes(left)
                    ),
                )
                .at(pool.at.field("hugepages"), Quantity::gibibytes(total).to_string())
                .at(pool.at.field("memory.reserved"), format!("{} kept for the system", pool.reserved))
                .why("the kernel takes HugePages at boot: the host comes up without ordinary memory, or does not come up")
                .help(super::at_most("count", left / pool.hugepages[0].size.whole().max(1) / 2)),
            );
        }
    }
}

/// AIC0704.
pub fn single_numa(cx: &Context, report: &mut Report) {
    for (id, workload, pool) in cx.workloads() {
        if pool.numa_policy != NumaPolicy::SingleNumaNode {
            continue;
        }
        let Some(host) = cx.first_host(pool) else { continue };
        let Some(graph) = cx.topology.graph(&host.system) else { continue };
        let by_numa = graph.gpus_by_numa();
        let most = by_numa.values().max().copied().unwrap_or(0) as i64;
        let per_node_cpus = host.system.threads() / host.system.numa_nodes();
        let gpus = cx.nodes.pods[id]
            .shapes
            .iter()
            .map(|s| s.requests.iter().filter(|(n, _)| n.ends_with("/gpu")).map(|(_, a)| *a as i64).sum::<i64>())
            .max()
            .unwrap_or(0);
        if gpus > most {
            report.push(
                Diagnostic::error(
                    "AIC0704",
                    format!("pool {} cannot give {gpus} GPUs on one NUMA node: a {} has {most} on each of {}", pool.name, host.system.name, by_numa.len()),
                )
                .at(pool.at.field("numa.policy"), "asked here")
                .at(workload.at.set("gpus").unwrap_or(workload.at.head), format!("workload {} needs {gpus}", workload.name))
                .why("the kubelet would refuse every pod with TopologyAffinityError")
                .help("`policy = best_effort` (the GPUs of one host are joined by NVSwitch, not by PCIe)"),
            );
        } else if workload.cpu > per_node_cpus && per_node_cpus > 0 {
            report.push(
                Diagnostic::error(
                    "AIC0704",
                    format!("pool {} cannot give {} CPUs on one NUMA node: a {} has {per_node_cpus} on each", pool.name, workload.cpu, host.system.name),
                )
                .at(pool.at.field("numa.policy"), "asked here")
                .at(workload.at.field("cpu"), format!("workload {} needs {}", workload.name, workload.cpu))
                .why("the kubelet would refuse every pod with TopologyAffinityError")
                .help("`policy = best_effort`, or a smaller pod"),
            );
        }
    }
}

/// AIC0705.
pub fn missing_hugepages(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let asked = workload.hugepages.whole();
        if asked == 0 {
            continue;
        }
        let reserved: i128 = pool.hugepages.first().map_or(0, |h| h.size.whole() * i128::from(h.count));
        let size = pool.hugepages.first().map(|h| h.size);
        if asked > reserved {
            let what = size.map_or("none".to_owned(), |s| format!("{} × {s}", pool.hugepages[0].count));
            report.push(
                Diagnostic::error(
                    "AIC0705",
                    format!(
                        "workload {} asks for {} of HugePages a node, pool {} reserves {}",
                        workload.name,
                        workload.hugepages,
                        pool.name,
                        if reserved == 0 { "none".into() } else { Quantity::gibibytes(reserved).to_string() }
                    ),
                )
                .at(workload.at.field("hugepages"), "asked here")
                .at(pool.at.field("hugepages"), format!("reserved: {what}"))
                .why(format!(
                    "{} is a resource that no host would advertise enough of: the pods stay Pending",
                    size.map_or("hugepages-1Gi".into(), |s| hugepage_resource(s.whole()))
                ))
                .help(format!("hugepages {{ size = 1GiB, count = {} }} in pool {}", (asked + (1 << 30) - 1) >> 30, pool.name)),
            );
        } else if let Some(size) = size
            && asked % size.whole().max(1) != 0
        {
            report.push(
                Diagnostic::error(
                    "AIC0705",
                    format!("workload {} asks for {} of HugePages, which is no multiple of {size}", workload.name, workload.hugepages),
                )
                .at(workload.at.field("hugepages"), "asked here")
                .at(pool.at.field("hugepages"), format!("pages of {size}"))
                .help(format!("a multiple of {size}")),
            );
        }
    }
}

/// AIC0707.
pub fn host_twice(cx: &Context, report: &mut Report) {
    let mut owner: BTreeMap<usize, usize> = BTreeMap::new();
    let mut clashes: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (id, pool) in cx.pools() {
        for host in &pool.hosts {
            if let Some(first) = owner.insert(*host, id)
                && first != id
            {
                clashes.entry((first, id)).or_default().push(*host);
            }
        }
    }
    for ((a, b), hosts) in clashes {
        let (a, b) = (&cx.design.pools[a], &cx.design.pools[b]);
        let mut diagnostic = Diagnostic::error("AIC0707", format!("host {} is in pool {} and in pool {}", cx.host(hosts[0]).name, a.name, b.name))
            .at(b.at.field("hosts"), "again here")
            .at(a.at.field("hosts"), "first here")
            .why("a host has one kubelet configuration, one pool label and one set of taints")
            .help("select disjoint hosts: `rack[0..4].host`, `rack[4..8].host`");
        if hosts.len() > 1 {
            diagnostic = diagnostic.note(format!("the same for {}", crate::base::names::count_of(hosts.len() - 1, "more host")));
        }
        report.push(diagnostic);
    }
}

/// AIC0708.
pub fn mixed(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some(first) = cx.first_host(pool) else { continue };
        let shape = |h: &crate::design::Host| (h.system.gpu_model().map(|g| g.name.clone()), h.system.gpus().count(), h.system.architecture().to_owned());
        if let Some(other) = pool.hosts.iter().map(|h| cx.host(*h)).find(|h| shape(h) != shape(first)) {
            let what = |h: &crate::design::Host| h.system.gpu_model().map_or("no GPU".to_owned(), |g| format!("{} × {}", h.system.gpus().count(), g.name));
            report.push(
                Diagnostic::error("AIC0708", format!("pool {} mixes hosts: {} has {}, {} has {}", pool.name, first.name, what(first), other.name, what(other)))
                    .at(pool.at.field("hosts"), "all of them")
                    .at(other.at.head, what(other))
                    .at(first.at.head, what(first))
                    .why("one label, one MIG layout and one quota would stand for two kinds of GPU")
                    .help("a pool for each system"),
            );
        }
    }
}
