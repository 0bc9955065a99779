//! Topology levels and labels of nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::{Design, Pool, PoolRole};
use crate::topology::Topology;

/// All levels, widest first.
pub const LEVELS: [&str; 5] = ["zone", "unit", "rack", "nvlink_domain", "host"];

/// The label key of a level.
pub fn key(design: &Design, level: &str) -> String {
    match level {
        "host" => return "kubernetes.io/hostname".into(),
        "zone" => return "topology.kubernetes.io/zone".into(),
        _ => {}
    }
    if design.cluster.topology_labels == "topograph" {
        let word = match level {
            "unit" => "leaf",
            "nvlink_domain" => "accelerator",
            _ => "spine",
        };
        return format!("network.topology.nvidia.com/{word}");
    }
    format!("topology.{}/{}", design.cluster.label_domain, level.replace('_', "-"))
}

/// The value of a level at a host.
pub fn value(design: &Design, topology: &Topology, pool: &Pool, host: usize, level: &str) -> Option<String> {
    let h = &design.hosts[host];
    match level {
        "zone" => h.zone.clone().or_else(|| h.rack.and_then(|r| design.racks[r].zone.clone())),
        "unit" => pool
            .rdma
            .as_ref()
            .and_then(|rdma| rdma.fabrics.iter().find_map(|f| topology.unit_of(*f, host).map(|unit| format!("{}-{unit}", design.fabrics[*f].name)))),
        "rack" => h.rack.map(|r| design.racks[r].name.clone()),
        "nvlink_domain" => {
            let fabric = design.fabrics.iter().find(|f| f.kind == "nvlink" && f.domain == "rack" && f.attach.iter().any(|p| p.host as usize == host))?;
            h.rack.map(|r| format!("{}-{}", fabric.name, design.racks[r].name))
        }
        _ => Some(h.name.clone()),
    }
}

/// The levels that all hosts of a pool have and that nest, widest first.
pub fn of_pool(design: &Design, topology: &Topology, pool: &Pool) -> Vec<(&'static str, String)> {
    let mut out: Vec<(&'static str, Vec<String>)> = Vec::new();
    for level in LEVELS {
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
pub fn labels(design: &Design, topology: &Topology, levels: &[(&'static str, String)], pool_id: usize, host: usize) -> BTreeMap<String, String> {
    let pool = &design.pools[pool_id];
    let mut out = BTreeMap::new();
    out.insert(super::pool_label(design, pool), pool.name.clone());
    for (level, key) in levels.iter().filter(|(level, _)| *level != "host") {
        if let Some(value) = value(design, topology, pool, host, level) {
            out.insert(key.clone(), value);
        }
    }
    // The rack is where the host stands, whether or not it nests as a level.
    if let Some(rack) = value(design, topology, pool, host, "rack") {
        out.insert(key(design, "rack"), rack);
    }
    let ceph = design.storages.iter().any(|s| s.kind == "ceph" && s.hosts.contains(&host));
    if ceph && let Some(rack) = value(design, topology, pool, host, "rack") {
        out.insert("topology.rook.io/rack".into(), rack);
    }
    if let Some(gpu) = &pool.gpu {
        if gpu.own_plugin_config() {
            out.insert("nvidia.com/device-plugin.config".into(), pool.name.clone());
        }
        if gpu.mig.is_some() {
            out.insert("nvidia.com/mig.config".into(), pool.name.clone());
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
        ("kubernetes.io/arch".to_owned(), h.system.architecture().to_owned()),
    ]);
    if pool.role == PoolRole::ControlPlane {
        out.insert("node-role.kubernetes.io/control-plane".into(), String::new());
    }
    out
}

/// The distinct values of a level over a pool.
pub fn values(design: &Design, topology: &Topology, pool: &Pool, level: &str) -> BTreeSet<String> {
    pool.hosts.iter().filter_map(|h| value(design, topology, pool, *h, level)).collect()
}
