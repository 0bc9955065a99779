//! Rook: a Ceph cluster and what it serves.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeAffinity, PodAntiAffinity, ResourceRequirements, Toleration};

use super::{Texts, custom_resources, parts};

custom_resources! {
    "ceph.rook.io" / "v1" {
        NamespaceResourceScope CephCluster { spec: CephClusterSpec }
        NamespaceResourceScope CephFilesystem { spec: CephFilesystemSpec }
        NamespaceResourceScope CephFilesystemSubVolumeGroup { spec: CephFilesystemSubVolumeGroupSpec }
        NamespaceResourceScope CephBlockPool { spec: Pool }
        NamespaceResourceScope CephObjectStore { spec: CephObjectStoreSpec }
    }
}

parts! {
    CephClusterSpec {
        ceph_version: CephVersion,
        data_dir_host_path: &'static str,
        skip_upgrade_checks: bool,
        mon: Daemons,
        mgr: Daemons,
        network: Network,
        dashboard: Dashboard,
        monitoring: Monitoring,
        crash_collector: CrashCollector,
        placement: BTreeMap<&'static str, Placement>,
        priority_class_names: BTreeMap<&'static str, &'static str>,
        resources: BTreeMap<&'static str, ResourceRequirements>,
        storage: Storage,
        disruption_management: DisruptionManagement,
        #[serde(rename = "removeOSDsIfOutAndSafeToRemove")]
        remove_osds_if_out_and_safe_to_remove: bool,
    }
    CephVersion { image: &'static str }
    Daemons { count: i64, allow_multiple_per_node: bool }
    Network { provider: &'static str, address_ranges: AddressRanges, connections: Connections }
    AddressRanges { public: Vec<String>, cluster: Vec<String> }
    Connections { require_msgr2: bool }
    Dashboard { enabled: bool, ssl: bool }
    Monitoring { enabled: bool }
    CrashCollector { days_to_retain: i64 }
    Placement { node_affinity: Option<NodeAffinity>, pod_anti_affinity: Option<PodAntiAffinity>, tolerations: Option<Vec<Toleration>> }
    Storage {
        use_all_nodes: bool,
        use_all_devices: bool,
        device_path_filter: String,
        near_full_ratio: f64,
        backfill_full_ratio: f64,
        full_ratio: f64,
        nodes: Vec<StorageNode>,
    }
    StorageNode { name: String }
    DisruptionManagement { manage_pod_budgets: bool }
    /// A pool of Ceph: `name` in a file system's list, `replicated` or `erasureCoded`.
    Pool { name: Option<&'static str>, failure_domain: &'static str, replicated: Option<Replicated>, erasure_coded: Option<ErasureCoded>, parameters: Texts }
    Replicated { size: i64, require_safe_replica_size: bool }
    ErasureCoded { data_chunks: i64, coding_chunks: i64 }
    CephFilesystemSpec { metadata_pool: Pool, data_pools: Vec<Pool>, preserve_filesystem_on_delete: bool, metadata_server: MetadataServer }
    MetadataServer {
        active_count: i64,
        active_standby: bool,
        placement: Placement,
        priority_class_name: &'static str,
        resources: ResourceRequirements,
    }
    CephFilesystemSubVolumeGroupSpec { filesystem_name: String, name: &'static str }
    CephObjectStoreSpec { metadata_pool: Pool, data_pool: Pool, preserve_pools_on_delete: bool, gateway: Gateway }
    Gateway { port: i64, instances: i64, placement: Placement, priority_class_name: &'static str, resources: ResourceRequirements }
}
