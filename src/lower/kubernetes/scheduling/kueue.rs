//! Kueue's topology, flavors, quotas and queues.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::super::super::kinds::kueue::{
    ClusterQueue, ClusterQueueSpec, Cohort, FlavorQuotas, Level, LocalQueue, LocalQueueSpec, Preemption, ResourceFlavor, ResourceFlavorSpec, ResourceGroup,
    ResourceQuota, Topology, TopologySpec,
};
use super::super::super::kinds::{labelled, texts, tolerations};
use super::super::super::{Artifacts, object::Document};
use super::super::Input;
use crate::design::{Amount, At, Queue, Reclaim};
use crate::nodes::{format_amount, pool_label};

/// Writes the queues.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let pools: BTreeSet<usize> = d.queues.iter().flat_map(|q| q.pools.iter().copied()).collect();
    artifacts.objects("kubernetes/scheduling/topology.yaml", pools.iter().flat_map(|id| flavor(input, *id)).collect());
    let mut cohorts: BTreeMap<&str, &At> = BTreeMap::new();
    for queue in &d.queues {
        if let Some(cohort) = &queue.cohort {
            cohorts.entry(cohort).or_insert(&queue.at);
        }
    }
    let mut objects: Vec<Document> = cohorts.into_iter().map(|(name, at)| input.maker.cluster(at, name, Cohort::default())).collect();
    objects.extend(d.queues.iter().map(|queue| cluster_queue(input, queue)));
    objects.extend(d.queues.iter().map(|queue| {
        let spec = LocalQueueSpec { cluster_queue: queue.name.clone() };
        input.maker.namespaced(&queue.at, &queue.namespace, &queue.name, LocalQueue { spec, ..Default::default() })
    }));
    artifacts.objects("kubernetes/scheduling/queues.yaml", objects);
}

/// The topology of a pool and the flavor that stands for its hosts.
fn flavor(input: &Input, id: usize) -> [Document; 2] {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let pool = &d.pools[id];
    let levels = nodes.levels[id].iter().map(|(_, key)| Level { node_label: key.clone() }).collect();
    let flavor = ResourceFlavorSpec {
        topology_name: pool.name.clone(),
        node_labels: texts([(pool_label(d, pool), &pool.name)]),
        tolerations: tolerations(&nodes.taints[id]),
    };
    [
        input
            .maker
            .cluster(&pool.at, &pool.name, Topology { spec: TopologySpec { levels }, ..Default::default() })
            .because("/spec/levels", "Widest first. Immutable: a change means another Topology and another flavor."),
        input
            .maker
            .cluster(&pool.at, &pool.name, ResourceFlavor { spec: flavor, ..Default::default() })
            .because("/spec/tolerations", "Not nodeTaints: Kueue reads the pod template before the RuntimeClass adds its toleration."),
    ]
}

/// Every resource that a pod of the queue may ask for has a quota, else the job is inadmissible.
fn cluster_queue(input: &Input, queue: &Queue) -> Document {
    let d = input.design();
    let pool = &d.pools[queue.pools[0]];
    let allocatable = input.compilation.nodes.pool_allocatable(pool).cloned().unwrap_or_default();
    let gpus = crate::nodes::gpu_resource(d, pool);
    let per_host = allocatable.iter().filter(|(n, _)| n.starts_with(gpus) || n.starts_with("nvidia.com/mig-")).map(|(_, a)| *a).sum::<i128>().max(1);
    let hosts = pool.hosts.len() as i128;
    // GPUs are the currency: a quota of n GPUs is that share of everything that a host has.
    let share = |amount: i128, of: i64| amount * i128::from(of) / per_host;
    let quota = queue.gpus.unwrap_or(0);
    let names: Vec<String> = allocatable.keys().filter(|n| *n != "pods").cloned().collect();
    let resources = names
        .iter()
        .map(|name| {
            let amount = allocatable[name];
            let own = match queue.resources.get(name) {
                Some(Amount::Count(n)) => i128::from(*n),
                Some(Amount::Bytes(q)) => q.whole(),
                None if queue.gpus.is_some() => share(amount, quota),
                None => amount * hosts,
            };
            let limit = |value: i128| queue.cohort.is_some().then(|| Quantity(format_amount(name, value)));
            ResourceQuota {
                name: name.clone(),
                nominal_quota: Quantity(format_amount(name, own)),
                borrowing_limit: limit(share(amount, queue.borrow)),
                lending_limit: limit(share(amount, queue.lend).min(own)),
            }
        })
        .collect();
    let spec = ClusterQueueSpec {
        cohort_name: queue.cohort.clone(),
        namespace_selector: labelled("kubernetes.io/metadata.name", &queue.namespace),
        queueing_strategy: "BestEffortFIFO",
        preemption: Preemption {
            within_cluster_queue: match queue.preemption {
                crate::design::Preemption::Never => "Never",
                crate::design::Preemption::LowerOrNewerEqual => "LowerOrNewerEqualPriority",
                crate::design::Preemption::LowerPriority => "LowerPriority",
            },
            reclaim_within_cohort: match queue.reclaim {
                Reclaim::Never => "Never",
                Reclaim::LowerPriority => "LowerPriority",
                Reclaim::Any => "Any",
            },
        },
        resource_groups: vec![ResourceGroup { covered_resources: names, flavors: vec![FlavorQuotas { name: pool.name.clone(), resources }] }],
    };
    let object = input
        .maker
        .cluster(&queue.at, &queue.name, ClusterQueue { spec, ..Default::default() })
        .from("/spec/resourceGroups/0", queue.at.set("gpus"))
        .because("/spec/resourceGroups/0/coveredResources", "Everything that a pod of the queue may ask for: what is not covered makes a job inadmissible.");
    if queue.gpus.is_none() {
        return object;
    }
    object.because(
        &format!("/spec/resourceGroups/0/flavors/{}/resources", pool.name),
        format!("{quota} GPUs of {per_host} a host: that share of all else that a host has, so that GPUs run out first."),
    )
}
