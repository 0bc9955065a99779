//! `scheduling/`: Kueue's topology, flavors, quotas and queues; priorities.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::object::tolerations;
use super::Input;
use crate::design::{Amount, At, Queue};
use crate::nodes::{format_amount, pool_label};

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    artifacts.objects("kubernetes/scheduling/priorities.yaml", priorities(input));
    if d.queues.is_empty() {
        return;
    }
    let nodes = &input.compilation.nodes;
    let pools: BTreeSet<usize> = d.queues.iter().flat_map(|q| q.pools.iter().copied()).collect();
    let mut topology = Vec::new();
    for id in &pools {
        let pool = &d.pools[*id];
        let levels: Vec<Value> = nodes.levels[*id].iter().map(|(_, key)| json!({ "nodeLabel": key })).collect();
        topology.push(input.maker.object(KUEUE, "Topology", None, &pool.name, &pool.at, "", json!({ "spec": { "levels": levels } })));
        // Tolerations, not nodeTaints: Kueue reads the pod template before the RuntimeClass adds its toleration.
        let spec = json!({ "topologyName": pool.name, "nodeLabels": { pool_label(d, pool): pool.name }, "tolerations": tolerations(&nodes.taints[*id]) });
        topology.push(input.maker.object(KUEUE, "ResourceFlavor", None, &pool.name, &pool.at, "", json!({ "spec": spec })));
    }
    artifacts.objects("kubernetes/scheduling/topology.yaml", topology);
    let mut objects = Vec::new();
    let mut cohorts: BTreeMap<&str, &At> = BTreeMap::new();
    for queue in &d.queues {
        if let Some(cohort) = &queue.cohort {
            cohorts.entry(cohort).or_insert(&queue.at);
        }
    }
    for (name, at) in cohorts {
        objects.push(input.maker.object(KUEUE, "Cohort", None, name, at, "", json!({ "spec": {} })));
    }
    objects.extend(d.queues.iter().map(|queue| cluster_queue(input, queue)));
    objects.extend(d.queues.iter().map(|queue| {
        input.maker.object(KUEUE, "LocalQueue", Some(&queue.namespace), &queue.name, &queue.at, "", json!({ "spec": { "clusterQueue": queue.name } }))
    }));
    artifacts.objects("kubernetes/scheduling/queues.yaml", objects);
}

/// Every resource that a pod of the queue may ask for has a quota, else the job is inadmissible.
fn cluster_queue(input: &Input, queue: &Queue) -> super::Document {
    let d = input.design();
    let pool = &d.pools[queue.pools[0]];
    let allocatable = input.compilation.nodes.pool_allocatable(pool).cloned().unwrap_or_default();
    let gpus = crate::nodes::gpu_resource(d, pool);
    let per_host = allocatable.iter().filter(|(n, _)| n.starts_with(gpus) || n.starts_with("nvidia.com/mig-")).map(|(_, a)| *a).sum::<i128>().max(1);
    let hosts = pool.hosts.len() as i128;
    // GPUs are the currency: a quota of n GPUs is that share of everything that a host has.
    let share = |amount: i128, of: i64| amount * i128::from(of) / per_host;
    let quota = queue.gpus.unwrap_or(0);
    let names: Vec<&String> = allocatable.keys().filter(|n| *n != "pods").collect();
    let resources: Vec<Value> = names
        .iter()
        .map(|name| {
            let amount = allocatable[*name];
            let short = name.as_str();
            let own = match queue.resources.get(short) {
                Some(Amount::Count(n)) => i128::from(*n),
                Some(Amount::Bytes(q)) => q.whole(),
                None if queue.gpus.is_some() => share(amount, quota),
                None => amount * hosts,
            };
            let mut entry = json!({ "name": name, "nominalQuota": format_amount(name, own) });
            if queue.cohort.is_some() {
                entry["borrowingLimit"] = format_amount(name, share(amount, queue.borrow)).into();
                entry["lendingLimit"] = format_amount(name, share(amount, queue.lend).min(own)).into();
            }
            entry
        })
        .collect();
    let mut spec = json!({});
    if let Some(cohort) = &queue.cohort {
        spec["cohortName"] = cohort.as_str().into();
    }
    spec["namespaceSelector"] = json!({ "matchLabels": { "kubernetes.io/metadata.name": queue.namespace } });
    spec["queueingStrategy"] = "BestEffortFIFO".into();
    spec["preemption"] = json!({
        "withinClusterQueue": match queue.preemption.as_str() { "never" => "Never", "lower_or_newer_equal" => "LowerOrNewerEqualPriority", _ => "LowerPriority" },
        "reclaimWithinCohort": match queue.reclaim.as_str() { "never" => "Never", "lower_priority" => "LowerPriority", _ => "Any" },
    });
    spec["resourceGroups"] = json!([{ "coveredResources": names, "flavors": [{ "name": pool.name, "resources": resources }] }]);
    input.maker.object(KUEUE, "ClusterQueue", None, &queue.name, &queue.at, "", json!({ "spec": spec })).from("/spec/resourceGroups/0", queue.at.set("gpus"))
}

/// The priority of a workload in its queue.
pub fn priority_of(design: &crate::design::Design, workload: &crate::design::Workload) -> i64 {
    workload.priority + workload.queue.map_or(0, |q| design.queues[q].priority)
}

/// The name of a priority.
pub fn priority_name(priority: i64) -> String {
    if priority < 0 { format!("aic-m{}", -priority) } else { format!("aic-p{priority}") }
}

fn priorities(input: &Input) -> Vec<super::Document> {
    let d = input.design();
    let mut out = Vec::new();
    let mut values: BTreeMap<i64, &At> = BTreeMap::new();
    for workload in d.workloads.iter().filter(|w| w.queue.is_some()) {
        values.entry(priority_of(d, workload)).or_insert(&workload.at);
    }
    for (value, at) in values {
        out.push(input.maker.object(
            KUEUE,
            "WorkloadPriorityClass",
            None,
            &priority_name(value),
            at,
            "",
            json!({ "value": value, "description": format!("Priority {value}.") }),
        ));
    }
    // kube-scheduler would take single pods out of a gang: these never preempt, Kueue preempts whole workloads.
    let class = |name: &str, value: i64, default: bool, description: &str, at: &At| {
        input.maker.object(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            None,
            name,
            at,
            "",
            json!({ "value": value, "globalDefault": default, "preemptionPolicy": "Never", "description": description }),
        )
    };
    out.push(class("aic-default", 0, true, "Pods that name no class.", &d.cluster.at));
    for (kind, value) in [("training", 1000), ("batch", 500), ("service", 2000)] {
        let user = d.workloads.iter().find(|w| w.kind == kind || kind == "service" && w.kind == "inference");
        if let Some(workload) = user {
            out.push(class(&format!("aic-{kind}"), value, false, &format!("Pods of {kind} workloads."), &workload.at));
        }
    }
    out
}
