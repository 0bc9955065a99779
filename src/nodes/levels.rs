//! Topology levels and labels of nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::{Allocation, Design, Level, Pool, PoolRole, TopologyLabels, Word as _};
use crate::topology::Topology;

/// The label key of a level.
pub fn key(design: &Design, level: Level) -> String {
    let named = |topograph: &str| match design.cluster.topology_labels {
        TopologyLabels::Topograph => format!("network.topology.nvidia.com/{topograph}"),
        TopologyLabels::Own => format!("topology.{}/{}", design.cluster.label_domain, level.word().replace('_', "-")),
    };
    match level {
        Level::Host => "kubernetes.io/hostname".into(),
        Level::Zone => "topology.kubernetes.io/zone".into(),
        Level::Unit => named("leaf"),
        Level::Rack => named("spine"),
        Level::NvlinkDomain => named("accelerator"),
    }
}

/// The value of a level at a host.
pub fn value(design: &Design, topology: &Topology, pool: &Pool, host: usize, level: Level) -> Option<String> {
    let h = &design.hosts[host];
    match level {
        Level::Zone => h.zone.clone().or_else(|| h.rack.and_then(|r| design.racks[r].zone.clone())),
        Level::Unit => pool
            .rdma
            .as_ref()
            .and_then(|rdma| rdma.fabrics.iter().find_map(|f| topology.unit_of(*f, host).map(|unit| format!("{}-{unit}", design.fabrics[*f].name)))),
        Level::Rack => h.rack.map(|r| design.racks[r].name.clone()),
        Level::NvlinkDomain => {
            let fabric = design.fabrics.iter().find(|f| f.joins_racks() && f.attach.iter().any(|p| p.host as usize == host))?;
            h.rack.map(|r| format!("{}-{}", fabric.name, design.racks[r].name))
        }
        Level::Host => Some(h.name.clone()),
    }
}

/// The levels that all hosts of a pool have and that nest, widest first.
pub fn of_pool(design: &Design, topology: &Topology, pool: &Pool) -> Vec<(Level, String)> {
    let mut out: Vec<(Level, Vec<String>)> = Vec::new();
    for level in Level::ALL.iter().copied() {
        let values: Option<Vec<String>> = pool.hosts.iter().map(|h| value(design, topology, pool, *h, level)).collect();
        let Some(values) = values else { continue };
        // A rack that straddles two units is no level under them.
        let nests = out.last().is_none_or(|(_, wider)| {
            let mut owner: BTreeMap<&str, &str> = BTreeMap::new();
            values.iter().zip(wider).all(|(narrow, wide)| *owner.entry(narrow).or_insert(wide) == wide)
        });
        if nests {
            out.push((level, values));
        }
    }
    out.into_iter().map(|(level, _)| (level, key(design, level))).collect()
}

/// The labels that the bundle sets on a node.
pub fn labels(design: &Design, topology: &Topology, levels: &[(Level, String)], pool_id: usize, host: usize) -> BTreeMap<String, String> {
    let pool = &design.pools[pool_id];
    let mut out = BTreeMap::new();
    out.insert(super::pool_label(design, pool), pool.name.clone());
    for (level, key) in levels.iter().filter(|(level, _)| *level != Level::Host) {
        if let Some(value) = value(design, topology, pool, host, *level) {
            out.insert(key.clone(), value);
        }
    }
    // The rack is where the host stands, whether or not it nests as a level.
    if let Some(rack) = value(design, topology, pool, host, Level::Rack) {
        out.insert(key(design, Level::Rack), rack);
    }
    let ceph = design.storages.iter().any(|s| s.ceph().is_some() && s.hosts().contains(&host));
    if ceph && let Some(rack) = value(design, topology, pool, host, Level::Rack) {
        out.insert("topology.rook.io/rack".into(), rack);
    }
    if let Some(gpu) = &pool.gpu {
        if gpu.own_plugin_config() {
            out.insert("nvidia.com/device-plugin.config".into(), pool.name.clone());
        }
        if gpu.mig.is_some() {
            out.insert("nvidia.com/mig.config".into(), pool.name.clone());
        }
        if gpu.allocation == Allocation::Dra {
            // The operator's own switch: no second allocator of the same GPUs on this host.
            out.insert("nvidia.com/gpu.deploy.device-plugin".into(), "false".into());
        }
        if gpu.partition.is_some() {
            out.insert("dcm.amd.com/gpu-config-profile".into(), pool.name.clone());
        }
    }
    out.extend(pool.labels.clone());
    out.extend(design.hosts[host].labels.clone());
    out
}

/// Labels that the kubelet and kubeadm set.
pub fn kubelet_labels(design: &Design, pool: &Pool, host: usize) -> BTreeMap<String, String> {
    let h = &design.hosts[host];
    let mut out = BTreeMap::from([
        ("kubernetes.io/hostname".to_owned(), h.name.clone()),
        ("kubernetes.io/os".to_owned(), "linux".to_owned()),
        ("kubernetes.io/arch".to_owned(), h.system.architecture().word().to_owned()),
    ]);
    if pool.role == PoolRole::ControlPlane {
        out.insert("node-role.kubernetes.io/control-plane".into(), String::new());
    }
    out
}

/// The distinct values of a level over a pool.
pub fn values(design: &Design, topology: &Topology, pool: &Pool, level: Level) -> BTreeSet<String> {
    pool.hosts.iter().filter_map(|h| value(design, topology, pool, *h, level)).collect()
}
