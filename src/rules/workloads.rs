//! Workloads: fit, gangs, placement, parallelism.

use std::collections::BTreeMap;

use super::Context;
use crate::base::names::grouped;
use crate::base::{Diagnostic, Quantity, Report};
use crate::design::{FabricWord, Level};
use crate::nodes::{format_amount, levels};

/// AIC1001.
pub fn mixed_gang(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let pools: Vec<usize> = workload.queue.map_or_else(|| workload.pool.into_iter().collect(), |q| cx.design.queues[q].pools.clone());
        let mut models: BTreeMap<String, usize> = BTreeMap::new();
        for pool in &pools {
            for host in &cx.design.pools[*pool].hosts {
                if let Some(gpu) = cx.host(*host).system.gpu_model() {
                    models.entry(gpu.name.clone()).or_insert(*pool);
                }
            }
        }
        if workload.nodes > 1 && models.len() > 1 && workload.heterogeneous.is_none() && workload.gpus > 0 {
            let names: Vec<String> = models.keys().cloned().collect();
            report.push(
                Diagnostic::error("AIC1001", format!("workload {} may span {}", workload.name, crate::base::names::list_of(&names, "and")))
                    .at(workload.at.field("queue"), "its queue covers both")
                    .at(workload.queue.map_or(workload.at.head, |q| cx.design.queues[q].at.field("pool")), names.join(", "))
                    .why("a collective runs at the pace of the slowest GPU, and kernels are built for one architecture")
                    .help("a queue over one pool, or `heterogeneous = \"why this job can\"`"),
            );
        }
    }
}

/// AIC1002.
pub fn gang_size(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        if workload.nodes > pool.hosts.len() as i64 {
            report.push(
                Diagnostic::error(
                    "AIC1002",
                    format!(
                        "workload {} needs {} hosts at once, pool {} has {}",
                        workload.name,
                        grouped(workload.nodes.into()),
                        pool.name,
                        grouped(pool.hosts.len() as i128)
                    ),
                )
                .at(workload.at.field("nodes"), "asked here")
                .at(pool.at.field("hosts"), format!("{} hosts", grouped(pool.hosts.len() as i128)))
                .why("a gang that cannot fit waits forever")
                .help(super::at_most("nodes", pool.hosts.len())),
            );
        }
    }
}

/// AIC1003.
pub fn gang_level(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let Some(level) = workload.place.within else { continue };
        // Units come from the plan: of a fabric that has none, its own fault is enough to say.
        let unplanned = pool.rdma.iter().flat_map(|r| &r.fabrics).any(|f| cx.topology.fabrics[*f].fault.is_some());
        if level == Level::Unit && unplanned {
            continue;
        }
        let span = workload.at.field("place.within");
        let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
        for host in &pool.hosts {
            if let Some(value) = levels::value(cx.design, cx.topology, pool, *host, level) {
                *sizes.entry(value).or_default() += 1;
            }
        }
        let id = cx.design.pool_of(workload).unwrap_or(0);
        if !cx.nodes.levels[id].iter().any(|(l, _)| *l == level) {
            let known: Vec<&str> = cx.nodes.levels[id].iter().map(|(l, _)| l.word()).collect();
            report.push(
                Diagnostic::error(
                    "AIC1003",
                    format!(
                        "workload {} must stay within a {}, which pool {} does not have as a level",
                        workload.name,
                        level.word().replace('_', " "),
                        pool.name
                    ),
                )
                .at(span, "asked here")
                .at(pool.at.head, format!("its levels: {}", known.join(", ")))
                .help(if sizes.is_empty() {
                    format!("within = {}", known.first().unwrap_or(&"host"))
                } else {
                    format!("the values of {level} do not nest with the wider level; choose another")
                }),
            );
            continue;
        }
        let needed = workload.place.slice.unwrap_or(workload.nodes).min(workload.nodes);
        let largest = sizes.iter().max_by_key(|(_, n)| **n);
        if let Some((name, largest)) = largest
            && needed > *largest as i64
        {
            report.push(
                Diagnostic::error(
                    "AIC1003",
                    format!(
                        "workload {} needs {needed} hosts within one {}, the largest ({name}) has {largest}",
                        workload.name,
                        level.word().replace('_', " ")
                    ),
                )
                .at(workload.at.field(if workload.place.slice.is_some() { "place.slice" } else { "nodes" }), format!("{needed} hosts"))
                .at(span, format!("within one {}", level.word().replace('_', " ")))
                .why("the scheduler never finds such a place: the job waits forever")
                .help(format!("at most {largest} hosts, or a wider level, or `prefer = {level}`")),
            );
        }
        if let Some(slice) = workload.place.slice
            && (slice <= 0 || workload.nodes % slice != 0)
        {
            report.push(
                Diagnostic::error("AIC1003", format!("{} nodes of workload {} do not divide into slices of {slice}", workload.nodes, workload.name))
                    .at(workload.at.field("place.slice"), "here")
                    .at(workload.at.field("nodes"), format!("{} nodes", workload.nodes))
                    .help("a slice that divides the nodes"),
            );
        }
    }
}

/// AIC1004.
pub fn host_fit(cx: &Context, report: &mut Report) {
    for (id, workload, pool) in cx.workloads() {
        let (Some(allocatable), Some(host)) = (cx.nodes.pool_allocatable(pool), cx.first_host(pool)) else { continue };
        for shape in &cx.nodes.pods[id].shapes {
            for (name, amount) in &shape.requests {
                let have = allocatable.get(name).copied().unwrap_or(0);
                if *amount <= have || name.starts_with("hugepages") {
                    continue;
                }
                let role = if cx.design.workloads[id].roles().is_empty() { String::new() } else { format!("role.{}.", shape.template) };
                report.push(match name.as_str() {
                    "memory" => memory_fault(cx, workload, pool, &role, *amount, have),
                    "cpu" => Diagnostic::error(
                        "AIC1004",
                        format!("workload {} asks {amount} CPUs a node, a host of pool {} has {have} for pods", workload.name, pool.name),
                    )
                    .at(workload.at.field(&format!("{role}cpu")), "asked here")
                    .at(pool.at.field("cpu.reserved_cores"), format!("{} cores kept for the system", pool.reserved_cores))
                    .note(format!("{} threads in a {} = {have} for pods + {}", host.system.threads(), host.system.name, host.system.threads() - have as i64))
                    .help(super::at_most("cpu", have)),
                    "ephemeral-storage" => Diagnostic::error(
                        "AIC1004",
                        format!(
                            "workload {} asks {} of local disk, a host of pool {} has {}",
                            workload.name,
                            format_amount(name, *amount),
                            pool.name,
                            Quantity::gibibytes(have)
                        ),
                    )
                    .at(workload.at.field("ephemeral"), "asked here")
                    .at(pool.at.head, "boot disk less eviction")
                    .help("less, or a volume for the data"),
                    _ => {
                        let place = if name.contains("mig") {
                            "gpu.mig"
                        } else if name.ends_with("gpu") || name.ends_with("gpu.shared") {
                            "gpus"
                        } else {
                            "rdma"
                        };
                        Diagnostic::error(
                            "AIC1004",
                            format!("workload {} asks {amount} × {name} a node, a host of pool {} has {have}", workload.name, pool.name),
                        )
                        .at(workload.at.field(&format!("{role}{place}")), "asked here")
                        .at(pool.at.field(if place == "rdma" { "rdma" } else { "gpu" }), format!("{have} a host ({})", host.system.name))
                        .help(if have == 0 { "a pool that has them".to_owned() } else { format!("at most {have}") })
                    }
                });
            }
        }
    }
}

fn memory_fault(cx: &Context, workload: &crate::design::Workload, pool: &crate::design::Pool, role: &str, amount: i128, have: i128) -> Diagnostic {
    let pages: i128 = pool.hugepages.iter().map(|h| h.size.whole() * i128::from(h.count)).sum();
    let mut diagnostic = Diagnostic::error(
        "AIC1004",
        format!(
            "workload {} asks {} of memory a node, a host of pool {} has {} for pods",
            workload.name,
            Quantity::gibibytes(amount),
            pool.name,
            Quantity::gibibytes(have)
        ),
    )
    .at(workload.at.field(&format!("{role}memory")), "asked here")
    .at(pool.at.field("memory.reserved"), format!("{} kept for the system", pool.reserved));
    if pages > 0 {
        diagnostic = diagnostic.at(pool.at.field("hugepages"), format!("{} taken out of ordinary memory", Quantity::gibibytes(pages)));
    }
    if let Some(system) = cx.first_host(pool).map(|h| &h.system)
        && let (Some(memory), Some(usable)) = (system.memory, system.usable_memory)
    {
        diagnostic = diagnostic.note(format!(
            "{} installed = {} usable = {} for pods + {} + {} + {} eviction",
            Quantity::gibibytes(memory.whole()),
            Quantity::gibibytes(usable.whole()),
            Quantity::gibibytes(have),
            Quantity::gibibytes(pool.reserved.whole()),
            Quantity::gibibytes(pages),
            Quantity::gibibytes(pool.eviction.whole())
        ));
    }
    diagnostic.help(format!("at most {}GiB", have >> 30))
}

/// AIC1005.
pub fn gang_queue(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let Some(queue) = workload.queue.map(|q| &cx.design.queues[q]) else { continue };
        let Some(quota) = queue.gpus else { continue };
        let needed = workload.nodes.saturating_mul(workload.gpus);
        if needed > quota + queue.borrow {
            report.push(
                Diagnostic::error(
                    "AIC1005",
                    format!(
                        "workload {} needs {} GPUs at once, queue {} gets at most {}",
                        workload.name,
                        grouped(needed.into()),
                        queue.name,
                        grouped((quota + queue.borrow).into())
                    ),
                )
                .at(workload.at.field("nodes"), format!("{} nodes × {} GPUs", workload.nodes, workload.gpus))
                .at(queue.at.field("gpus"), format!("{quota} of its own, {} to borrow", queue.borrow))
                .why("the job is never admitted")
                .help(format!("nodes = {} or less, or a larger quota", (quota + queue.borrow) / workload.gpus.max(1))),
            );
        }
    }
}

/// AIC1006.
pub fn parallel_product(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let Some(parallel) = &workload.parallel() else { continue };
        let gpus = workload.nodes.saturating_mul(workload.gpus);
        let product = parallel.dense().saturating_mul(parallel.expert);
        if gpus > 0 && !parallel.fits(gpus) {
            report.push(
                Diagnostic::error(
                    "AIC1006",
                    format!("the parallelism of workload {} makes {} ranks, it has {} GPUs", workload.name, grouped(product.into()), grouped(gpus.into())),
                )
                .at(
                    workload.at.field("parallel"),
                    format!(
                        "{} × {} × {}{} = {product}",
                        parallel.tensor,
                        parallel.pipeline,
                        parallel.data,
                        [parallel.context, parallel.expert].into_iter().filter(|n| *n > 1).map(|n| format!(" × {n}")).collect::<String>()
                    ),
                )
                .at(workload.at.field("nodes"), format!("{} nodes × {} GPUs = {gpus}", workload.nodes, workload.gpus))
                .why("the ranks wait for each other at start-up, or GPUs stay idle")
                .help(format!("data = {}", (gpus / (parallel.tensor * parallel.pipeline * parallel.context).max(1)).max(1))),
            );
        }
    }
}

/// AIC1008.
pub fn tensor_width(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let Some(parallel) = &workload.parallel() else { continue };
        let Some(host) = cx.first_host(pool) else { continue };
        let Some(graph) = cx.topology.graph(&host.system) else { continue };
        let rack_domain = cx.fabrics().find(|(_, f)| f.word() == FabricWord::Nvlink && f.attach.iter().any(|p| pool.hosts.first() == Some(&(p.host as usize))));
        let domain = rack_domain.and_then(|(id, _)| cx.topology.fabrics[id].domains.first().copied()).unwrap_or(graph.nvlink_domain as i64);
        if parallel.tensor <= domain || parallel.tensor <= 1 || workload.gpus == 0 {
            continue;
        }
        let per_host = host.system.gpus().count() as i64;
        let hosts = (parallel.tensor + per_host - 1) / per_host.max(1);
        let mut diagnostic = Diagnostic::error(
            "AIC1008",
            format!("tensor = {} spans {hosts} hosts: the NVLink domain of a {} is {domain} GPUs", parallel.tensor, host.system.name),
        )
        .at(workload.at.field("parallel.tensor"), format!("{} GPUs in step at every layer", parallel.tensor))
        .at(pool.at.field("hosts"), format!("{domain} GPUs joined by NVLink"));
        if domain <= 1 {
            diagnostic.message = format!("tensor = {} on a {}, whose GPUs have no NVLink", parallel.tensor, host.system.name);
        }
        let gpu = host.system.gpu_model();
        let nvlink = gpu.and_then(|g| g.nvlink.as_ref()).map(|(links, rate)| rate.value * crate::base::Rational::from_integer((*links).into()));
        if let (Some(nvlink), Some(rail)) = (nvlink, crate::nodes::resources::rail_rate(cx.design, pool)) {
            let rate = |r| Quantity { unit: crate::base::quantity::find_unit("GB/s"), ..Quantity::new(r, crate::base::Dimension::Rate) };
            diagnostic =
                diagnostic.why(format!("each layer's all-reduce would cross the fabric at {} a GPU instead of {} over NVLink", rate(rail), rate(nvlink)));
        } else {
            diagnostic = diagnostic.why("each layer's all-reduce would cross PCIe or the fabric instead of NVLink");
        }
        let total = parallel.tensor * parallel.pipeline;
        report.push(diagnostic.help(format!(
            "tensor = {}, pipeline = {} ({} GPUs as before); on GB200 NVL72 a domain is 72",
            domain.max(1),
            total / domain.max(1),
            parallel.dense()
        )));
    }
}

/// AIC1012.
pub fn crowded(cx: &Context, report: &mut Report) {
    for (id, workload, pool) in cx.workloads() {
        for shape in &cx.nodes.pods[id].shapes {
            // What cannot fit alone has an error of its own.
            if shape.candidates.len() < shape.gang || shape.placed.len() == shape.count || shape.candidates.is_empty() {
                continue;
            }
            report.push(
                Diagnostic::warning(
                    "AIC1012",
                    format!("{} of {} pods of workload {} find a host while all other workloads run", shape.placed.len(), shape.count, workload.name),
                )
                .at(workload.at.head, format!("{} pods", shape.count))
                .at(pool.at.head, format!("{} hosts for all workloads of the pool", pool.hosts.len()))
                .help("the rest is queued, or Pending without a queue; more hosts, or fewer pods"),
            );
        }
    }
}
