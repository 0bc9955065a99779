//! A placement of all declared workloads at once: gangs first, within their topology level, then what spreads.
//!
//! It is a witness that the design can hold its workloads, not a prediction of what the scheduler will choose.

use std::collections::BTreeMap;

use super::resources::Resources;
use super::{Nodes, PodShape};
use crate::design::{Design, NumaPolicy, Pool, Workload};

/// Places every pod that fits.
pub fn place(design: &Design, nodes: &mut Nodes) {
    let mut free: Vec<Resources> = vec![Resources::default(); design.hosts.len()];
    let mut used: Vec<usize> = design.workloads.iter().filter_map(|w| design.pool_of(w)).collect();
    used.sort_unstable();
    used.dedup();
    for host in used.into_iter().flat_map(|pool| &design.pools[pool].hosts) {
        free[*host] = nodes.allocatable(*host).cloned().unwrap_or_default();
    }
    let mut order: Vec<usize> = (0..design.workloads.len()).filter(|w| design.workloads[*w].sound).collect();
    // Large gangs have the fewest choices.
    order.sort_by_key(|w| std::cmp::Reverse(nodes.pods[*w].shapes.iter().map(|s| s.gang).max().unwrap_or(0)));
    for id in order {
        let workload = &design.workloads[id];
        let Some(pool_id) = design.pool_of(workload) else { continue };
        let pool = &design.pools[pool_id];
        let mut shapes = std::mem::take(&mut nodes.pods[id].shapes);
        for shape in &mut shapes {
            shape.candidates =
                pool.hosts.iter().copied().filter(|h| nodes.allocatable(*h).is_some_and(|a| admits(design, pool, *h, a, &shape.requests))).collect();
            place_shape(design, nodes, workload, pool_id, shape, &mut free);
        }
        nodes.pods[id].shapes = shapes;
    }
}

/// Whether a host with so much free takes one more pod.
fn admits(design: &Design, pool: &Pool, host: usize, free: &Resources, requests: &Resources) -> bool {
    let fits = requests.iter().all(|(name, amount)| free.get(name).is_some_and(|f| f >= amount));
    if !fits || pool.numa_policy != NumaPolicy::SingleNumaNode {
        return fits;
    }
    // All of it must fit on one NUMA node.
    let nodes = i128::from(design.hosts[host].system.numa_nodes());
    requests.iter().filter(|(name, _)| *name == "cpu" || *name == "memory" || name.starts_with("hugepages-") || name.ends_with("/gpu")).all(|(name, amount)| {
        let all = free.get(name).copied().unwrap_or(0);
        *amount <= (all + nodes - 1) / nodes
    })
}

fn take(free: &mut Resources, requests: &Resources) {
    for (name, amount) in requests {
        if let Some(f) = free.get_mut(name) {
            *f -= amount;
        }
    }
}

fn place_shape(design: &Design, nodes: &Nodes, workload: &Workload, pool_id: usize, shape: &mut PodShape, free: &mut [Resources]) {
    let pool = &design.pools[pool_id];
    let gangs = shape.count / shape.gang.max(1);
    let level = workload.place.within.or(workload.place.prefer);
    if shape.gang <= 1 && level.is_none() {
        spread(design, pool, shape, free);
        return;
    }
    let key = level.map(|l| super::levels::key(design, l));
    let domain = |host: usize| match &key {
        Some(key) if key == "kubernetes.io/hostname" => design.hosts[host].name.clone(),
        Some(key) => nodes.labels[host].get(key).cloned().unwrap_or_default(),
        None => String::new(),
    };
    let slice = workload.place.slice.map_or(shape.gang, |s| (s.max(1) as usize).min(shape.gang));
    for _ in 0..gangs {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for host in &shape.candidates {
            if admits(design, pool, *host, &free[*host], &shape.requests) {
                groups.entry(domain(*host)).or_default().push(*host);
            }
        }
        let mut chosen = Vec::new();
        let mut left = shape.gang;
        while left > 0 {
            let need = slice.min(left);
            // The tightest domain that holds the slice, so that wide ones stay whole.
            let best =
                groups.iter().filter(|(_, hosts)| hosts.len() >= need).min_by_key(|(name, hosts)| (hosts.len(), (*name).clone())).map(|(name, _)| name.clone());
            let Some(best) = best else { break };
            let hosts = groups.get_mut(&best).expect("it was found there");
            chosen.extend(hosts.drain(..need));
            left -= need;
        }
        if left > 0 {
            // A preference gives way; a requirement does not.
            let all: Vec<usize> = shape.candidates.iter().copied().filter(|h| admits(design, pool, *h, &free[*h], &shape.requests)).collect();
            if workload.place.within.is_some() || all.len() < shape.gang {
                return;
            }
            chosen = all.into_iter().take(shape.gang).collect();
        }
        for host in chosen {
            take(&mut free[host], &shape.requests);
            shape.placed.push(host);
        }
    }
}

/// Pods that stand alone: over racks first, then over hosts.
fn spread(design: &Design, pool: &Pool, shape: &mut PodShape, free: &mut [Resources]) {
    let mut on_rack: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut on_host: BTreeMap<usize, usize> = BTreeMap::new();
    for _ in 0..shape.count {
        let best = shape
            .candidates
            .iter()
            .copied()
            .filter(|h| admits(design, pool, *h, &free[*h], &shape.requests))
            .min_by_key(|h| (on_host.get(h).copied().unwrap_or(0), on_rack.get(&design.hosts[*h].rack).copied().unwrap_or(0), *h));
        let Some(host) = best else { return };
        take(&mut free[host], &shape.requests);
        *on_rack.entry(design.hosts[host].rack).or_default() += 1;
        *on_host.entry(host).or_default() += 1;
        shape.placed.push(host);
    }
}
