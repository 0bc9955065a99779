//! Queues: quotas, borrowing, and what utilisation may not do.

use super::Context;
use crate::base::names::grouped;
use crate::base::{Diagnostic, Report};
use crate::design::Metric;

/// AIC1101.
pub fn quota(cx: &Context, report: &mut Report) {
    for (id, pool) in cx.pools() {
        let queues: Vec<_> = cx.queues().filter(|(_, q)| q.pools.first() == Some(&id)).map(|(_, q)| q).collect();
        let promised: i64 = queues.iter().filter_map(|q| q.gpus).sum();
        let have: i64 = pool.hosts.iter().map(|h| crate::nodes::resources::gpus(cx.design, pool, *h).values().sum::<i128>() as i64).sum();
        if promised > have && !queues.is_empty() {
            let mut diagnostic = Diagnostic::error(
                "AIC1101",
                format!("queues promise {} GPUs of pool {}, it has {}", grouped(promised.into()), pool.name, grouped(have.into())),
            );
            for queue in &queues {
                diagnostic = diagnostic.at(queue.at.field("gpus"), format!("{}", queue.gpus.unwrap_or(0)));
            }
            report.push(
                diagnostic
                    .at(pool.at.field("hosts"), format!("{} GPUs", grouped(have.into())))
                    .why("jobs are admitted that no host can take; they hold their quota and wait")
                    .help(format!("at most {} in all", grouped(have.into()))),
            );
        }
    }
}

/// AIC1102.
pub fn borrowing(cx: &Context, report: &mut Report) {
    for (id, queue) in cx.queues().filter(|(_, q)| q.borrow > 0) {
        let lenders: Vec<_> = cx
            .queues()
            .filter(|(i, q)| *i != id && q.cohort.is_some() && q.cohort == queue.cohort && q.pools.iter().any(|p| queue.pools.contains(p)))
            .map(|(_, q)| q)
            .collect();
        let lent: i64 = lenders.iter().map(|q| q.lend).sum();
        if queue.cohort.is_none() || lent < queue.borrow {
            let mut diagnostic = Diagnostic::error(
                "AIC1102",
                format!(
                    "queue {} borrows up to {} GPUs, {}",
                    queue.name,
                    queue.borrow,
                    if queue.cohort.is_none() { "it is in no cohort".to_owned() } else { format!("its cohort lends {lent}") }
                ),
            )
            .at(queue.at.field("borrow"), "borrowed here");
            for lender in &lenders {
                diagnostic = diagnostic.at(lender.at.field("lend"), format!("lends {}", lender.lend));
            }
            report.push(diagnostic.help(if queue.cohort.is_none() {
                "cohort = \"…\", the same in the queue that lends".to_owned()
            } else {
                format!("borrow = {lent}, or a larger `lend`")
            }));
        }
    }
    for (_, queue) in cx.queues() {
        let own = queue.gpus.unwrap_or(0);
        if queue.lend > own {
            report.push(
                Diagnostic::error("AIC1102", format!("queue {} lends {} GPUs of {own}", queue.name, queue.lend))
                    .at(queue.at.field("lend"), "lent here")
                    .at(queue.at.field("gpus"), format!("{own} of its own"))
                    .help(super::at_most("lend", own)),
            );
        }
    }
}

/// AIC1103.
pub fn missing_gpus(cx: &Context, report: &mut Report) {
    for (_, queue) in cx.queues().filter(|(_, q)| q.gpus.is_none()) {
        let pool = &cx.design.pools[queue.pools[0]];
        if pool.gpu.is_some() {
            report.push(
                Diagnostic::error("AIC1103", format!("queue {} is over the GPUs of pool {} and has no quota of them", queue.name, pool.name))
                    .at(queue.at.head, "without `gpus`")
                    .at(pool.at.field("gpu"), "GPUs here")
                    .help("gpus = …"),
            );
        }
    }
}

/// AIC1106.
pub fn utilisation(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        for (i, _) in workload.autoscale().iter().enumerate().filter(|(_, a)| a.metric == Metric::GpuUtilisation) {
            let key = if i == 0 { "autoscale.metric".to_owned() } else { format!("autoscale[{i}].metric") };
            report.push(
                Diagnostic::error("AIC1106", format!("workload {} would be moved because its GPUs look idle", workload.name))
                    .at(workload.at.field(&key), "low utilisation is a symptom")
                    .why("GPUs wait for data loading, communication and checkpoints; a replica that is killed for it loses its cache and the requests in it")
                    .help("metric = queue_depth or requests; training moves by queues and checkpoints"),
            );
        }
    }
}
