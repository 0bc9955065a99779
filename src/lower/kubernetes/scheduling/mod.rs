//! `scheduling/`: priorities, and the queues in the way of the cluster's scheduler.

mod kueue;
mod volcano;

use std::collections::BTreeMap;

use k8s_openapi::api::scheduling::v1::PriorityClass;

use super::super::kinds::int;
use super::super::kinds::kueue::WorkloadPriorityClass;
use super::super::{Artifacts, object::Document};
use super::Input;
use crate::design::{At, Scheduler, Workload, WorkloadWord};
use crate::nodes::PodShape;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    artifacts.objects("kubernetes/scheduling/priorities.yaml", priorities(input));
    if d.queues.is_empty() {
        return;
    }
    match d.cluster.scheduler {
        Scheduler::Kueue => kueue::lower(input, artifacts),
        Scheduler::Volcano => volcano::lower(input, artifacts),
        // Said by unsupported.rs.
        Scheduler::Kai | Scheduler::Kube => {}
    }
}

/// The object that holds a gang together, where the scheduler keeps one.
pub fn gang(input: &Input, workload: &Workload, shape: &PodShape) -> Option<Document> {
    match input.design().cluster.scheduler {
        Scheduler::Volcano => workload.queue.map(|queue| volcano::pod_group(input, workload, queue, shape)),
        // Kueue makes its Workload itself.
        Scheduler::Kueue | Scheduler::Kai | Scheduler::Kube => None,
    }
}

/// The priority of a workload in its queue.
pub fn priority_of(design: &crate::design::Design, workload: &crate::design::Workload) -> i64 {
    workload.priority + workload.queue.map_or(0, |q| design.queues[q].priority)
}

/// The name of a priority.
pub fn priority_name(priority: i64) -> String {
    if priority < 0 { format!("aic-m{}", -priority) } else { format!("aic-p{priority}") }
}

fn priorities(input: &Input) -> Vec<Document> {
    let d = input.design();
    let mut values: BTreeMap<i64, &At> = BTreeMap::new();
    for workload in d.workloads.iter().filter(|w| w.queue.is_some()) {
        values.entry(priority_of(d, workload)).or_insert(&workload.at);
    }
    let kueue = d.cluster.scheduler == Scheduler::Kueue;
    let mut out: Vec<Document> = values
        .into_iter()
        .filter(|_| kueue)
        .map(|(value, at)| {
            let class = WorkloadPriorityClass { value, description: format!("Priority {value}."), ..Default::default() };
            input.maker.cluster(at, &priority_name(value), class)
        })
        .collect();
    let class = |name: &str, value: i64, default: bool, description: &str| {
        let class = PriorityClass {
            value: Some(int(value)),
            global_default: Some(default),
            preemption_policy: Some("Never".into()),
            description: Some(description.to_owned()),
            ..Default::default()
        };
        input.maker.cluster(&d.cluster.at, name, class).because(
            "/preemptionPolicy",
            if kueue {
                "kube-scheduler would take single pods out of a gang; Kueue preempts whole workloads."
            } else {
                "kube-scheduler would take single pods out of a gang; queues give back whole ones."
            },
        )
    };
    out.push(class("aic-default", 0, true, "Pods that name no class."));
    for (kind, value) in [("training", 1000), ("batch", 500), ("service", 2000)] {
        if d.workloads.iter().any(|w| priority_kind(w) == Some(kind)) {
            out.push(class(&format!("aic-{kind}"), value, false, &format!("Pods of {kind} workloads.")));
        }
    }
    out
}

/// The class of a workload's pods: services and models that are served share one.
fn priority_kind(workload: &crate::design::Workload) -> Option<&'static str> {
    match workload.word() {
        WorkloadWord::Training => Some("training"),
        WorkloadWord::Batch => Some("batch"),
        WorkloadWord::Inference | WorkloadWord::Service => Some("service"),
        WorkloadWord::Manifest => None,
    }
}
