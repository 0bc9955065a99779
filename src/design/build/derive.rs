//! What follows from other declarations, the implicit pools, and unsoundness along references.

use super::*;

/// Fills in what follows from other declarations, adds the implicit pools, and carries unsoundness along references.
pub(super) fn derive(design: &mut Design) {
    derive_networks(design);
    derive_pools(design);
    derive_soundness(design);
    derive_workloads(design);
}

fn derive_networks(design: &mut Design) {
    for i in 0..design.networks.len() {
        let fabric_mtu = design.fabrics.get(design.networks[i].fabric).map_or(9000, |f| f.mtu);
        if design.networks[i].mtu == 0 {
            design.networks[i].mtu = fabric_mtu;
        }
    }
    let only = (design.networks.len() == 1).then_some(0);
    if let Some(pods) = &mut design.cluster.pods {
        pods.network = pods.network.or(only);
        if let Some(network) = pods.network.and_then(|n| design.networks.get_mut(n)) {
            let gateway = match network.cidr {
                IpNet::V4(net) => net.hosts().next().map(IpAddr::V4),
                IpNet::V6(net) => net.hosts().next().map(IpAddr::V6),
            };
            network.gateway = network.gateway.or(gateway);
            let overhead = pods.overhead(&network.cidr);
            pods.mtu = pods.mtu.or(Some(network.mtu - overhead));
        }
    } else if let Some(network) = only {
        let network = &mut design.networks[network];
        if let IpNet::V4(net) = network.cidr {
            network.gateway = network.gateway.or(net.hosts().next().map(IpAddr::V4));
        }
    }
}

fn derive_pools(design: &mut Design) {
    let mut taken: Vec<bool> = vec![false; design.hosts.len()];
    design.pools.iter().flat_map(|p| &p.hosts).for_each(|h| taken[*h] = true);
    let mut implicit = |name: &str, hosts: &[usize], role, at: &At, sound| {
        let free: Vec<usize> = hosts.iter().copied().filter(|h| !std::mem::replace(&mut taken[*h], true)).collect();
        (!free.is_empty()).then(|| Pool {
            name: name.to_owned(),
            hosts: free,
            taint: true,
            taints: Vec::new(),
            labels: BTreeMap::new(),
            max_pods: 110,
            cpu_manager: Manager::None,
            reserved_cores: 2,
            full_cores: true,
            memory_manager: Manager::None,
            reserved: Quantity::bytes(4_i128 << 30),
            eviction: Quantity::bytes(100_i128 << 20),
            numa_policy: NumaPolicy::None,
            numa_scope: NumaScope::Container,
            hugepages: Vec::new(),
            gpu: None,
            rdma: None,
            nodes: None,
            runtime: Runtime::Default,
            role,
            sound,
            at: at.clone(),
        })
    };
    let mut new = Vec::new();
    if let Some(control_plane) = &design.control_plane {
        let mut hosts = control_plane.hosts.clone();
        hosts.extend(control_plane.etcd_hosts.iter().filter(|h| !control_plane.hosts.contains(h)));
        new.extend(implicit("control-plane", &hosts, PoolRole::ControlPlane, &control_plane.at, control_plane.sound));
    }
    for storage in &design.storages {
        new.extend(implicit(&storage.name, storage.hosts(), PoolRole::Storage, &storage.at, storage.sound));
    }
    design.pools.extend(new);
}

fn derive_soundness(design: &mut Design) {
    let racks: Vec<bool> = design.racks.iter().map(|r| r.sound).collect();
    for host in &mut design.hosts {
        host.sound &= host.rack.is_none_or(|r| racks[r]);
    }
    let hosts: Vec<bool> = design.hosts.iter().map(|h| h.sound).collect();
    for fabric in &mut design.fabrics {
        let placed = fabric.placement.iter().flatten().flat_map(|p| p.racks.iter().flatten());
        fabric.sound &= fabric.attach.iter().chain(&fabric.manager).all(|p| hosts[p.host as usize]) && fabric.racks.iter().chain(placed).all(|r| racks[*r]);
    }
    let fabrics: Vec<bool> = design.fabrics.iter().map(|f| f.sound).collect();
    for network in &mut design.networks {
        network.sound &= fabrics.get(network.fabric).copied().unwrap_or(false);
    }
    for pool in &mut design.pools {
        pool.sound &= pool.hosts.iter().all(|h| hosts[*h]) && pool.rdma.as_ref().is_none_or(|r| r.fabrics.iter().all(|f| fabrics[*f]));
    }
    for storage in &mut design.storages {
        storage.sound &= storage.hosts().iter().all(|h| hosts[*h]);
    }
    let storages: Vec<bool> = design.storages.iter().map(|s| s.sound).collect();
    for volume in &mut design.volumes {
        volume.sound &= storages.get(volume.storage).copied().unwrap_or(false);
    }
    let pools: Vec<bool> = design.pools.iter().map(|p| p.sound).collect();
    for queue in &mut design.queues {
        queue.sound &= !queue.pools.is_empty() && queue.pools.iter().all(|p| pools[*p]);
    }
    if let Some(control_plane) = &mut design.control_plane {
        control_plane.sound &= control_plane.hosts.iter().all(|h| hosts[*h]);
    }
    let queues: Vec<bool> = design.queues.iter().map(|q| q.sound).collect();
    let volumes: Vec<bool> = design.volumes.iter().map(|v| v.sound).collect();
    for workload in &mut design.workloads {
        workload.sound &= workload.queue.is_none_or(|q| queues[q]) && workload.pool.is_none_or(|p| pools[p]);
        workload.sound &= workload.mounts.iter().all(|m| volumes[m.volume]) && workload.checkpoint().is_none_or(|c| volumes[c.volume]);
    }
}

fn derive_workloads(design: &mut Design) {
    let defaults: Vec<(i64, bool, String)> = design
        .workloads
        .iter()
        .map(|workload| {
            let pool = design.pool_of(workload).map(|p| &design.pools[p]);
            let gpus = pool.and_then(|p| p.hosts.first()).map_or(0, |h| design.hosts[*h].system.gpus().count() as i64);
            let namespace = workload.queue.map_or_else(|| workload.name.clone(), |q| design.queues[q].namespace.clone());
            (gpus, pool.is_some_and(|p| p.rdma.is_some()), namespace)
        })
        .collect();
    for (workload, (gpus, has_rdma, namespace)) in design.workloads.iter_mut().zip(defaults) {
        if workload.gpus < 0 {
            workload.gpus = if workload.is_training() && workload.slice.is_none() { gpus } else { 0 };
        }
        let asked = workload.at.set("rdma").is_some();
        if !asked {
            workload.rdma &= has_rdma;
        }
        if workload.rdma && workload.shm.is_none() {
            workload.shm = Some(Quantity::bytes(16_i128 << 30));
        }
        if workload.namespace.is_empty() {
            workload.namespace = namespace;
        }
    }
}
