//! `storage/`: Rook-Ceph, StorageClasses, claims.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PodAffinityTerm, PodAntiAffinity, ResourceRequirements, VolumeResourceRequirements,
};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::super::kinds::ceph::{
    AddressRanges, CephBlockPool, CephCluster, CephClusterSpec, CephFilesystem, CephFilesystemSpec, CephFilesystemSubVolumeGroup,
    CephFilesystemSubVolumeGroupSpec, CephObjectStore, CephObjectStoreSpec, CephVersion, Connections, CrashCollector, Daemons, Dashboard, DisruptionManagement,
    ErasureCoded, Gateway, MetadataServer, Monitoring, Network, Placement, Pool, Replicated, StorageNode,
};
use super::super::kinds::{Texts, affinity, amounts, ceph, labelled, texts, tolerations};
use super::super::{Artifacts, object::Document};
use super::Input;
use crate::base::quantity::to_f64;
use crate::design::{Access, Ceph, Design, PartKind, Storage, StorageKind, StoragePart, Volume};
use crate::nodes::{pool_label, resources::format_bytes};

const NAMESPACE: &str = "rook-ceph";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let mut classes = Vec::new();
    for storage in &d.storages {
        match &storage.kind {
            StorageKind::Ceph(cluster) => {
                ceph(input, storage, cluster, artifacts);
                classes.extend(storage.parts().iter().map(|part| ceph_class(input, storage, part)));
            }
            StorageKind::LocalNvme(_) => classes.push(local_class(input, storage)),
            StorageKind::Nfs(_) | StorageKind::Lustre(_) | StorageKind::Weka(_) | StorageKind::Vast(_) | StorageKind::Beegfs(_) => {}
            StorageKind::S3 { .. } | StorageKind::External { .. } => {}
        }
    }
    artifacts.objects("kubernetes/storage/storageclasses.yaml", classes);
    let claims = d.volumes.iter().enumerate().flat_map(|(id, volume)| claims(input, id, volume)).collect();
    artifacts.objects("kubernetes/storage/volumes.yaml", claims);
}

/// The StorageClass of a storage or its part.
pub fn class_of(design: &Design, storage: usize, part: Option<usize>) -> String {
    let s = &design.storages[storage];
    if let StorageKind::External { class, .. } = &s.kind {
        return class.clone();
    }
    match part.and_then(|p| s.parts().get(p)).or_else(|| s.parts().first()) {
        Some(part) => format!("{}-{}", s.name, part.name.replace('_', "-")),
        None => s.name.clone(),
    }
}

/// A claim in each namespace that mounts the volume.
fn claims(input: &Input, id: usize, volume: &Volume) -> Vec<Document> {
    let d = input.design();
    let namespaces: BTreeSet<&str> = d.workloads.iter().filter(|w| w.mounts.iter().any(|m| m.volume == id)).map(|w| w.namespace.as_str()).collect();
    let mode = match volume.access {
        Access::ReadWriteMany => "ReadWriteMany",
        Access::ReadOnlyMany => "ReadOnlyMany",
        Access::ReadWriteOncePod => "ReadWriteOncePod",
        Access::ReadWriteOnce => "ReadWriteOnce",
    };
    let claim = PersistentVolumeClaim {
        spec: Some(PersistentVolumeClaimSpec {
            storage_class_name: Some(class_of(d, volume.storage, volume.part)),
            access_modes: Some(vec![mode.into()]),
            resources: Some(VolumeResourceRequirements {
                requests: Some(BTreeMap::from([("storage".into(), Quantity(format_bytes(volume.size.whole())))])),
                ..Default::default()
            }),
            ..Default::default()
        }),
        ..Default::default()
    };
    namespaces
        .into_iter()
        .map(|namespace| {
            input
                .maker
                .namespaced(&volume.at, namespace, &volume.name, claim.clone())
                .from("/spec/resources/requests/storage", volume.at.set("size"))
                .from("/spec/accessModes/0", volume.at.set("access"))
        })
        .collect()
}

fn local_class(input: &Input, storage: &Storage) -> Document {
    let class = StorageClass {
        provisioner: "topolvm.io".into(),
        parameters: Some(texts([("topolvm.io/device-class", storage.name.as_str()), ("csi.storage.k8s.io/fstype", "xfs")])),
        reclaim_policy: Some("Delete".into()),
        allow_volume_expansion: Some(true),
        volume_binding_mode: Some("WaitForFirstConsumer".into()),
        ..Default::default()
    };
    input.maker.cluster(&storage.at, &storage.name, class).because("/volumeBindingMode", "The pod's host is chosen first, and the volume is made on its disks.")
}

/// A replicated pool of some copies: one less is enough to go on, and losing one does not stop writes.
fn copies(part: &StoragePart, copies: i64) -> Pool {
    Pool {
        failure_domain: part.failure_domain.word(),
        replicated: Some(Replicated { size: copies, require_safe_replica_size: true }),
        parameters: texts([("min_size", (copies - 1).max(1).to_string())]),
        ..Default::default()
    }
}

fn pool(part: &StoragePart) -> Pool {
    match part.erasure {
        Some((k, m)) => Pool {
            failure_domain: part.failure_domain.word(),
            erasure_coded: Some(ErasureCoded { data_chunks: k, coding_chunks: m }),
            parameters: texts([("min_size", (k + 1).to_string())]),
            ..Default::default()
        },
        None => copies(part, part.replicas),
    }
}

/// A replicated pool, which metadata and the first data pool of a file system must be.
fn replicated(part: &StoragePart) -> Pool {
    copies(part, if part.erasure.is_some() { 3 } else { part.replicas })
}

/// Requests and a limit of memory: no CPU limit, which would only throttle.
fn daemon(cpu: &str, memory: &str, limit: &str) -> ResourceRequirements {
    ResourceRequirements { requests: Some(amounts([("cpu", cpu), ("memory", memory)])), limits: Some(amounts([("memory", limit)])), ..Default::default() }
}

/// Where a Ceph cluster's daemons may run.
struct Places {
    /// The pool whose hosts they are.
    pool: String,
    all: Placement,
    /// The topology key over which the members of one kind of daemon are spread.
    spread: &'static str,
}

impl Places {
    fn of(input: &Input, storage: &Ceph) -> Option<Self> {
        let d = input.design();
        let id = d.pools.iter().position(|p| storage.hosts.iter().all(|h| p.hosts.contains(h)))?;
        let pool = &d.pools[id];
        let racks: BTreeSet<_> = storage.hosts.iter().filter_map(|h| d.hosts[*h].rack).collect();
        Some(Self {
            pool: pool.name.clone(),
            all: Placement {
                node_affinity: Some(affinity(&pool_label(d, pool), &[&pool.name])),
                tolerations: Some(tolerations(&input.compilation.nodes.taints[id])),
                pod_anti_affinity: None,
            },
            // Monitors in different racks where there are enough of them.
            spread: if racks.len() as i64 >= storage.monitors { "topology.rook.io/rack" } else { "kubernetes.io/hostname" },
        })
    }

    /// The members of one kind of daemon away from each other.
    fn apart(&self, app: &str) -> PodAntiAffinity {
        let term = PodAffinityTerm { label_selector: Some(labelled("app", app)), topology_key: self.spread.into(), ..Default::default() };
        PodAntiAffinity { required_during_scheduling_ignored_during_execution: Some(vec![term]), ..Default::default() }
    }
}

fn ceph(input: &Input, storage: &Storage, cluster: &Ceph, artifacts: &mut Artifacts) {
    let Some(places) = Places::of(input, cluster) else { return };
    artifacts.objects("kubernetes/storage/ceph-cluster.yaml", vec![ceph_cluster(input, storage, cluster, &places)]);
    for part in &cluster.parts {
        let name = part.name.replace('_', "-");
        let origin = (&storage.at, part.key.as_str());
        match part.kind {
            PartKind::Filesystem => artifacts.objects(format!("kubernetes/storage/ceph-filesystem-{name}.yaml"), filesystem(input, storage, part, &places)),
            PartKind::Block => {
                let pool = input.maker.namespaced(origin, NAMESPACE, &name, CephBlockPool { spec: pool(part), ..Default::default() });
                artifacts.objects(format!("kubernetes/storage/ceph-block-{name}.yaml"), vec![pool]);
            }
            PartKind::Object => {
                let spec = CephObjectStoreSpec {
                    metadata_pool: replicated(part),
                    data_pool: pool(part),
                    preserve_pools_on_delete: true,
                    gateway: Gateway {
                        port: 8080,
                        instances: 2,
                        placement: places.all.clone(),
                        priority_class_name: "system-cluster-critical",
                        resources: daemon("4", "8Gi", "16Gi"),
                    },
                };
                let store = input.maker.namespaced(origin, NAMESPACE, &name, CephObjectStore { spec, ..Default::default() });
                artifacts.objects(format!("kubernetes/storage/ceph-objectstore-{name}.yaml"), vec![store]);
            }
        }
    }
}

fn ceph_cluster(input: &Input, storage: &Storage, cluster: &Ceph, places: &Places) -> Document {
    let d = input.design();
    let cidr = |network: usize| vec![d.networks[network].cidr.to_string()];
    let device = &cluster.disks;
    let fill = to_f64(cluster.fill.value);
    let apart = |app| Placement { pod_anti_affinity: Some(places.apart(app)), ..Default::default() };
    let spec = CephClusterSpec {
        ceph_version: CephVersion { image: crate::versions::CEPH },
        data_dir_host_path: "/var/lib/rook",
        skip_upgrade_checks: false,
        mon: Daemons { count: cluster.monitors, allow_multiple_per_node: false },
        mgr: Daemons { count: 2, allow_multiple_per_node: false },
        network: Network {
            provider: "host",
            address_ranges: AddressRanges { public: cidr(cluster.network), cluster: cidr(cluster.cluster_network) },
            connections: Connections { require_msgr2: true },
        },
        dashboard: Dashboard { enabled: true, ssl: true },
        monitoring: Monitoring { enabled: d.cluster.observability },
        crash_collector: CrashCollector { days_to_retain: 30 },
        placement: BTreeMap::from([("all", places.all.clone()), ("mon", apart("rook-ceph-mon")), ("mgr", apart("rook-ceph-mgr"))]),
        priority_class_names: BTreeMap::from([("mon", "system-node-critical"), ("osd", "system-node-critical"), ("mgr", "system-cluster-critical")]),
        resources: BTreeMap::from([("mon", daemon("2", "4Gi", "8Gi")), ("mgr", daemon("2", "2Gi", "4Gi")), ("osd", daemon("2", "8Gi", "16Gi"))]),
        storage: ceph::Storage {
            use_all_nodes: false,
            use_all_devices: false,
            device_path_filter: format!("^/dev/disk/by-aic/{device}-[0-9]+$"),
            near_full_ratio: fill,
            backfill_full_ratio: (fill + 0.05).min(0.92),
            full_ratio: 0.95,
            nodes: cluster.hosts.iter().map(|h| StorageNode { name: d.hosts[*h].name.clone() }).collect(),
        },
        disruption_management: DisruptionManagement { manage_pod_budgets: true },
        remove_osds_if_out_and_safe_to_remove: false,
    };
    input
        .maker
        .namespaced(&storage.at, NAMESPACE, &storage.name, CephCluster { spec, ..Default::default() })
        .from("/spec/mon/count", storage.at.set("monitors"))
        .because("/spec/network", "The hosts' own network: OSDs speak on the storage fabric, and a pod network would halve it.")
        .because("/spec/placement/mon", format!("No two in one {}.", if places.spread == "topology.rook.io/rack" { "rack" } else { "host" }))
        .because(
            "/spec/storage/devicePathFilter",
            format!("Names that hosts/{}/osd-names.sh gives to the disks `{device}`: never a disk that nobody declared.", places.pool),
        )
        .because("/spec/storage/nearFullRatio", "fill: above it the cluster warns, and what is above it cannot heal the largest failure domain.")
        .because("/spec/removeOSDsIfOutAndSafeToRemove", "People decide that a disk is gone.")
}

fn filesystem(input: &Input, storage: &Storage, part: &StoragePart, places: &Places) -> Vec<Document> {
    let name = part.name.replace('_', "-");
    let mut data_pools = vec![Pool { name: Some("data0"), ..replicated(part) }];
    if part.erasure.is_some() {
        data_pools.push(Pool { name: Some("data1"), ..pool(part) });
    }
    let spec = CephFilesystemSpec {
        metadata_pool: replicated(part),
        data_pools,
        preserve_filesystem_on_delete: true,
        metadata_server: MetadataServer {
            active_count: 1,
            active_standby: true,
            placement: Placement { pod_anti_affinity: Some(places.apart("rook-ceph-mds")), ..places.all.clone() },
            priority_class_name: "system-cluster-critical",
            resources: daemon("4", "16Gi", "32Gi"),
        },
    };
    let group = CephFilesystemSubVolumeGroupSpec { filesystem_name: name.clone(), name: "csi" };
    let origin = (&storage.at, part.key.as_str());
    vec![
        input
            .maker
            .namespaced(origin, NAMESPACE, &name, CephFilesystem { spec, ..Default::default() })
            .because("/spec/preserveFilesystemOnDelete", "Deleting the object must not delete the data."),
        input.maker.namespaced(origin, NAMESPACE, &format!("{name}-csi"), CephFilesystemSubVolumeGroup { spec: group, ..Default::default() }),
    ]
}

/// Which secrets the driver's steps use.
fn secrets(driver: &str) -> Texts {
    let mut parameters = texts([("clusterID", NAMESPACE)]);
    for (step, suffix) in [("provisioner", "provisioner"), ("controller-expand", "provisioner"), ("node-stage", "node")] {
        parameters.insert(format!("csi.storage.k8s.io/{step}-secret-name"), format!("rook-csi-{driver}-{suffix}"));
        parameters.insert(format!("csi.storage.k8s.io/{step}-secret-namespace"), NAMESPACE.into());
    }
    parameters
}

fn ceph_class(input: &Input, storage: &Storage, part: &StoragePart) -> Document {
    let name = part.name.replace('_', "-");
    let (provisioner, own, own_secrets, expands) = match part.kind {
        PartKind::Filesystem => {
            let pool = format!("{name}-data{}", i32::from(part.erasure.is_some()));
            ("rook-ceph.cephfs.csi.ceph.com", texts([("fsName", &name), ("pool", &pool)]), secrets("cephfs"), Some(true))
        }
        PartKind::Block => {
            let own = texts([("pool", name.as_str()), ("imageFeatures", "layering"), ("csi.storage.k8s.io/fstype", "ext4")]);
            ("rook-ceph.rbd.csi.ceph.com", own, secrets("rbd"), Some(true))
        }
        PartKind::Object => {
            ("rook-ceph.ceph.rook.io/bucket", texts([("objectStoreName", name.as_str()), ("objectStoreNamespace", NAMESPACE)]), Texts::new(), None)
        }
    };
    let class = StorageClass {
        provisioner: provisioner.into(),
        parameters: Some(own.into_iter().chain(own_secrets).collect()),
        reclaim_policy: Some("Retain".into()),
        allow_volume_expansion: expands,
        volume_binding_mode: Some("Immediate".into()),
        ..Default::default()
    };
    input
        .maker
        .cluster((&storage.at, part.key.as_str()), &format!("{}-{name}", storage.name), class)
        .because("/reclaimPolicy", "Deleting a claim, or its namespace, must not delete weeks of checkpoints.")
}
