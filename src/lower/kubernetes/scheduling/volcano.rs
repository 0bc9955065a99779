//! Volcano's queues, gangs and the tree of the network. Source: volcano.sh (Queue, PodGroup, HyperNode; capacity plugin), v1.15.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::super::super::kinds::volcano::{
    Exact, Guarantee, HyperNode, HyperNodeSpec, Member, MemberSelector, NetworkTopology, PodGroup, PodGroupSpec, Queue, QueueSpec,
};
use super::super::super::kinds::{quantities, texts};
use super::super::super::{Artifacts, object::Document};
use super::super::Input;
use crate::design::{Level, Reclaim, Workload};
use crate::nodes::{PodShape, Resources, format_amount, pool_label};

/// Writes the queues and the tree.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    artifacts.objects("kubernetes/scheduling/queues.yaml", d.queues.iter().map(|q| queue(input, q)).collect());
    let pools: BTreeSet<usize> = d.queues.iter().flat_map(|q| q.pools.iter().copied()).collect();
    artifacts.objects("kubernetes/scheduling/hypernodes.yaml", pools.iter().flat_map(|id| tree(input, *id)).collect());
}

/// What a queue deserves, may take at most, and never lends.
fn queue(input: &Input, queue: &crate::design::Queue) -> Document {
    let d = input.design();
    let pool = &d.pools[queue.pools[0]];
    let allocatable = input.compilation.nodes.pool_allocatable(pool).cloned().unwrap_or_default();
    let gpus = crate::nodes::gpu_resource(d, pool);
    let per_host = allocatable.get(gpus).copied().unwrap_or(1).max(1);
    let quota = queue.gpus.map_or(per_host * pool.hosts.len() as i128, i128::from);
    // GPUs are the currency: a quota of n GPUs is that share of everything that a host has.
    let share = |gpus: i128| -> BTreeMap<String, Quantity> {
        let amounts = allocatable.iter().filter(|(name, _)| *name != "pods");
        amounts.map(|(name, amount)| (name.clone(), Quantity(format_amount(name, amount * gpus / per_host)))).collect()
    };
    let lends = i128::from(queue.lend);
    let spec = QueueSpec {
        reclaimable: queue.reclaim != Reclaim::Never || lends > 0,
        capability: Some(share(quota + i128::from(queue.borrow))),
        deserved: share(quota),
        guarantee: (lends < quota && lends > 0).then(|| Guarantee { resource: share(quota - lends) }),
    };
    input
        .maker
        .cluster(&queue.at, &queue.name, Queue { spec, ..Default::default() })
        .from("/spec/deserved", queue.at.set("gpus"))
        .because("/spec/deserved", format!("{quota} GPUs of {per_host} a host, and that share of all else: what others have borrowed comes back."))
        .because("/spec/capability", "With what the queue borrows.")
        .because_if_set("/spec/guarantee", "What it does not lend.")
}

/// A hypernode a value of each level, the narrowest on tier 1.
fn tree(input: &Input, id: usize) -> Vec<Document> {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let pool = &d.pools[id];
    let levels: Vec<&(Level, String)> = nodes.levels[id].iter().filter(|(level, _)| *level != Level::Host).rev().collect();
    let name = |level: Level, value: &str| format!("{}-{}-{}", pool.name, level.word().replace('_', "-"), value.to_lowercase().replace(['_', '.'], "-"));
    let mut out = Vec::new();
    for (tier, (level, key)) in levels.iter().copied().enumerate() {
        let values: BTreeSet<&String> = pool.hosts.iter().filter_map(|h| nodes.labels[*h].get(key)).collect();
        for value in values {
            let members = match tier.checked_sub(1).map(|below| levels[below]) {
                None => {
                    let labels = texts([(pool_label(d, pool), pool.name.clone()), (key.clone(), value.clone())]);
                    let selector = LabelSelector { match_labels: Some(labels), ..Default::default() };
                    vec![Member { kind: "Node", selector: MemberSelector { label_match: Some(selector), exact_match: None } }]
                }
                Some((below, below_key)) => {
                    let within = pool.hosts.iter().filter(|h| nodes.labels[**h].get(key) == Some(value)).filter_map(|h| nodes.labels[*h].get(below_key));
                    let names: BTreeSet<String> = within.map(|value| name(*below, value)).collect();
                    let exact = |name| Member { kind: "HyperNode", selector: MemberSelector { label_match: None, exact_match: Some(Exact { name }) } };
                    names.into_iter().map(exact).collect()
                }
            };
            let spec = HyperNodeSpec { tier: tier as i64 + 1, tier_name: level.word().replace('_', "-"), members };
            out.push(input.maker.cluster(&pool.at, &name(*level, value), HyperNode { spec, ..Default::default() }));
        }
    }
    out
}

/// All pods of a workload or none, in its queue, and as near to each other as the design says.
pub(super) fn pod_group(input: &Input, workload: &Workload, queue: usize, shape: &PodShape) -> Document {
    let d = input.design();
    let id = d.queues[queue].pools[0];
    let levels: Vec<Level> = input.compilation.nodes.levels[id].iter().map(|(level, _)| *level).filter(|level| *level != Level::Host).rev().collect();
    let tier = |level: Level| levels.iter().position(|l| *l == level).map(|tier| tier as i64 + 1);
    let place = &workload.place;
    let network_topology = match (place.within.and_then(tier), place.prefer) {
        (Some(tier), _) => Some(NetworkTopology { mode: "hard", highest_tier_allowed: Some(tier) }),
        (None, Some(_)) => Some(NetworkTopology { mode: "soft", highest_tier_allowed: None }),
        (None, None) => None,
    };
    let own: Resources = shape.requests.iter().map(|(name, amount)| (name.clone(), amount * shape.gang as i128)).collect();
    let spec = PodGroupSpec {
        min_member: shape.gang as i64,
        min_resources: quantities(&own),
        queue: d.queues[queue].name.clone(),
        priority_class_name: format!("aic-{}", if workload.is_training() { "training" } else { "batch" }),
        network_topology,
    };
    input
        .maker
        .namespaced(&workload.at, &workload.namespace, &workload.name, PodGroup { spec, ..Default::default() })
        .because("/spec/minMember", "All pods or none: fewer would hold GPUs and wait for the rest.")
        .because_if_set("/spec/networkTopology", "place: hypernodes.yaml has the tiers, the narrowest is 1.")
}
