//! `storage/`: Rook-Ceph, StorageClasses, claims.

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::object::{affinity, tolerations};
use super::Input;
use crate::base::quantity::to_f64;
use crate::design::{Storage, StoragePart};
use crate::nodes::{pool_label, resources::format_bytes};

const NAMESPACE: &str = "rook-ceph";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let mut classes = Vec::new();
    for storage in &d.storages {
        match storage.kind.as_str() {
            "ceph" => {
                ceph(input, storage, artifacts);
                classes.extend(storage.parts.iter().map(|part| ceph_class(input, storage, part)));
            }
            "local_nvme" => classes.push(input.maker.object(
                "storage.k8s.io/v1",
                "StorageClass",
                None,
                &storage.name,
                &storage.at,
                "",
                json!({
                    "provisioner": "topolvm.io",
                    "parameters": { "topolvm.io/device-class": storage.name, "csi.storage.k8s.io/fstype": "xfs" },
                    "reclaimPolicy": "Delete", "allowVolumeExpansion": true, "volumeBindingMode": "WaitForFirstConsumer",
                }),
            )),
            _ => {}
        }
    }
    artifacts.objects("kubernetes/storage/storageclasses.yaml", classes);
    let mut claims = Vec::new();
    for (id, volume) in d.volumes.iter().enumerate() {
        let mut namespaces: Vec<&str> = d.workloads.iter().filter(|w| w.mounts.iter().any(|m| m.volume == id)).map(|w| w.namespace.as_str()).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let mode = match volume.access.as_str() {
            "read_write_many" => "ReadWriteMany",
            "read_only_many" => "ReadOnlyMany",
            "read_write_once_pod" => "ReadWriteOncePod",
            _ => "ReadWriteOnce",
        };
        for namespace in namespaces {
            let spec = json!({ "storageClassName": class_of(d, volume.storage, volume.part), "accessModes": [mode], "resources": { "requests": { "storage": format_bytes(volume.size.whole()) } } });
            claims.push(
                input
                    .maker
                    .object("v1", "PersistentVolumeClaim", Some(namespace), &volume.name, &volume.at, "", json!({ "spec": spec }))
                    .from("/spec/resources/requests/storage", volume.at.set("size"))
                    .from("/spec/accessModes/0", volume.at.set("access")),
            );
        }
    }
    artifacts.objects("kubernetes/storage/volumes.yaml", claims);
}

/// The StorageClass of a storage or its part.
pub fn class_of(design: &crate::design::Design, storage: usize, part: Option<usize>) -> String {
    let s = &design.storages[storage];
    match (s.kind.as_str(), part.and_then(|p| s.parts.get(p)).or_else(|| s.parts.first())) {
        ("external", _) => s.class.clone().unwrap_or_default(),
        (_, Some(part)) => format!("{}-{}", s.name, part.name.replace('_', "-")),
        _ => s.name.clone(),
    }
}

fn pool(part: &StoragePart) -> Value {
    match part.erasure {
        Some((k, m)) => {
            json!({ "failureDomain": part.failure_domain, "erasureCoded": { "dataChunks": k, "codingChunks": m }, "parameters": { "min_size": (k + 1).to_string() } })
        }
        None => json!({
            "failureDomain": part.failure_domain,
            "replicated": { "size": part.replicas, "requireSafeReplicaSize": true },
            "parameters": { "min_size": (part.replicas - 1).max(1).to_string() },
        }),
    }
}

/// A replicated pool, which metadata and the first data pool of a file system must be.
fn replicated(part: &StoragePart) -> Value {
    let copies = if part.erasure.is_some() { 3 } else { part.replicas };
    json!({ "failureDomain": part.failure_domain, "replicated": { "size": copies, "requireSafeReplicaSize": true }, "parameters": { "min_size": (copies - 1).max(1).to_string() } })
}

fn ceph(input: &Input, storage: &Storage, artifacts: &mut Artifacts) {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let Some(pool_id) = d.pools.iter().position(|p| storage.hosts.iter().all(|h| p.hosts.contains(h))) else { return };
    let placement =
        json!({ "nodeAffinity": affinity(&pool_label(d, &d.pools[pool_id]), &[&d.pools[pool_id].name]), "tolerations": tolerations(&nodes.taints[pool_id]) });
    let racks: std::collections::BTreeSet<_> = storage.hosts.iter().filter_map(|h| d.hosts[*h].rack).collect();
    // Monitors in different racks where there are enough of them.
    let spread = if racks.len() as i64 >= storage.monitors { "topology.rook.io/rack" } else { "kubernetes.io/hostname" };
    let apart = |app: &str| json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{ "labelSelector": { "matchLabels": { "app": app } }, "topologyKey": spread }] } });
    let cidr = |n: Option<usize>| n.map(|n| d.networks[n].cidr.to_string()).into_iter().collect::<Vec<_>>();
    let device = storage.disks.clone().unwrap_or_default();
    let fill = to_f64(storage.fill.value);
    let spec = json!({
        "cephVersion": { "image": crate::versions::CEPH },
        "dataDirHostPath": "/var/lib/rook",
        "skipUpgradeChecks": false,
        "mon": { "count": storage.monitors, "allowMultiplePerNode": false },
        "mgr": { "count": 2, "allowMultiplePerNode": false },
        "network": {
            "provider": "host",
            "addressRanges": { "public": cidr(storage.network), "cluster": cidr(storage.cluster_network) },
            "connections": { "requireMsgr2": true },
        },
        "dashboard": { "enabled": true, "ssl": true },
        "monitoring": { "enabled": d.cluster.observability },
        "crashCollector": { "daysToRetain": 30 },
        "placement": { "all": placement, "mon": apart("rook-ceph-mon"), "mgr": apart("rook-ceph-mgr") },
        "priorityClassNames": { "mon": "system-node-critical", "osd": "system-node-critical", "mgr": "system-cluster-critical" },
        "resources": {
            "mon": { "requests": { "cpu": "2", "memory": "4Gi" }, "limits": { "memory": "8Gi" } },
            "mgr": { "requests": { "cpu": "2", "memory": "2Gi" }, "limits": { "memory": "4Gi" } },
            "osd": { "requests": { "cpu": "2", "memory": "8Gi" }, "limits": { "memory": "16Gi" } },
        },
        "storage": {
            "useAllNodes": false, "useAllDevices": false,
            "devicePathFilter": format!("^/dev/disk/by-aic/{device}-[0-9]+$"),
            "nearFullRatio": fill, "backfillFullRatio": (fill + 0.05).min(0.92), "fullRatio": 0.95,
            "nodes": storage.hosts.iter().map(|h| json!({ "name": d.hosts[*h].name })).collect::<Vec<_>>(),
        },
        "disruptionManagement": { "managePodBudgets": true },
        "removeOSDsIfOutAndSafeToRemove": false,
    });
    artifacts.objects(
        "kubernetes/storage/ceph-cluster.yaml",
        vec![
            input
                .maker
                .object("ceph.rook.io/v1", "CephCluster", Some(NAMESPACE), &storage.name, &storage.at, "", json!({ "spec": spec }))
                .from("/spec/mon/count", storage.at.set("monitors")),
        ],
    );
    for part in &storage.parts {
        let name = part.name.replace('_', "-");
        let mut daemon_placement = placement.clone();
        let daemon = |app: &str| {
            daemon_placement["podAntiAffinity"] = apart(app)["podAntiAffinity"].clone();
            daemon_placement
        };
        let object = |kind: &str, name: &str, spec: Value| {
            input.maker.object("ceph.rook.io/v1", kind, Some(NAMESPACE), name, &storage.at, &part.key, json!({ "spec": spec }))
        };
        match part.kind.as_str() {
            "filesystem" => {
                let mut first = replicated(part);
                first["name"] = "data0".into();
                let mut pools = vec![first];
                if part.erasure.is_some() {
                    let mut coded = pool(part);
                    coded["name"] = "data1".into();
                    pools.push(coded);
                }
                let spec = json!({
                    "metadataPool": replicated(part), "dataPools": pools, "preserveFilesystemOnDelete": true,
                    "metadataServer": {
                        "activeCount": 1, "activeStandby": true, "placement": daemon("rook-ceph-mds"), "priorityClassName": "system-cluster-critical",
                        "resources": { "requests": { "cpu": "4", "memory": "16Gi" }, "limits": { "memory": "32Gi" } },
                    },
                });
                let group = json!({ "filesystemName": name, "name": "csi" });
                artifacts.objects(
                    format!("kubernetes/storage/ceph-filesystem-{name}.yaml"),
                    vec![object("CephFilesystem", &name, spec), object("CephFilesystemSubVolumeGroup", &format!("{name}-csi"), group)],
                );
            }
            "block" => artifacts.objects(format!("kubernetes/storage/ceph-block-{name}.yaml"), vec![object("CephBlockPool", &name, pool(part))]),
            _ => {
                let spec = json!({
                    "metadataPool": replicated(part), "dataPool": pool(part), "preservePoolsOnDelete": true,
                    "gateway": {
                        "port": 8080, "instances": 2, "placement": placement, "priorityClassName": "system-cluster-critical",
                        "resources": { "requests": { "cpu": "4", "memory": "8Gi" }, "limits": { "memory": "16Gi" } },
                    },
                });
                artifacts.objects(format!("kubernetes/storage/ceph-objectstore-{name}.yaml"), vec![object("CephObjectStore", &name, spec)]);
            }
        }
    }
}

fn ceph_class(input: &Input, storage: &Storage, part: &StoragePart) -> super::Document {
    let name = part.name.replace('_', "-");
    let secrets = |driver: &str| {
        let mut parameters = json!({ "clusterID": NAMESPACE });
        for (step, suffix) in [("provisioner", "provisioner"), ("controller-expand", "provisioner"), ("node-stage", "node")] {
            parameters[format!("csi.storage.k8s.io/{step}-secret-name")] = format!("rook-csi-{driver}-{suffix}").into();
            parameters[format!("csi.storage.k8s.io/{step}-secret-namespace")] = NAMESPACE.into();
        }
        parameters
    };
    // Deleting a claim, or its namespace, must not delete weeks of checkpoints.
    let rest = match part.kind.as_str() {
        "filesystem" => {
            let mut parameters = secrets("cephfs");
            parameters["fsName"] = name.as_str().into();
            parameters["pool"] = format!("{name}-data{}", i32::from(part.erasure.is_some())).into();
            json!({ "provisioner": "rook-ceph.cephfs.csi.ceph.com", "parameters": parameters, "reclaimPolicy": "Retain", "allowVolumeExpansion": true, "volumeBindingMode": "Immediate" })
        }
        "block" => {
            let mut parameters = secrets("rbd");
            parameters["pool"] = name.as_str().into();
            parameters["imageFeatures"] = "layering".into();
            parameters["csi.storage.k8s.io/fstype"] = "ext4".into();
            json!({ "provisioner": "rook-ceph.rbd.csi.ceph.com", "parameters": parameters, "reclaimPolicy": "Retain", "allowVolumeExpansion": true, "volumeBindingMode": "Immediate" })
        }
        _ => json!({
            "provisioner": "rook-ceph.ceph.rook.io/bucket", "parameters": { "objectStoreName": name, "objectStoreNamespace": NAMESPACE },
            "reclaimPolicy": "Retain", "volumeBindingMode": "Immediate",
        }),
    };
    input.maker.object("storage.k8s.io/v1", "StorageClass", None, &format!("{}-{name}", storage.name), &storage.at, &part.key, rest)
}
