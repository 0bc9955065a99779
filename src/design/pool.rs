//! `pool`, also the implicit ones.

use serde::Serialize;

use super::*;

/// `pool`, also the implicit ones of the control plane and of storages.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Pool {
    pub name: String,
    pub hosts: Vec<usize>,
    pub taint: bool,
    pub taints: Vec<Taint>,
    pub labels: BTreeMap<String, String>,
    pub max_pods: i64,
    pub cpu_manager: Manager,
    pub reserved_cores: i64,
    pub full_cores: bool,
    pub memory_manager: Manager,
    pub reserved: Quantity,
    pub eviction: Quantity,
    pub numa_policy: NumaPolicy,
    pub numa_scope: NumaScope,
    pub hugepages: Vec<HugePages>,
    pub gpu: Option<PoolGpu>,
    pub rdma: Option<PoolRdma>,
    pub nodes: Option<NodeGroup>,
    pub runtime: Runtime,
    /// What made it: a `pool`, the control plane, a storage.
    pub role: PoolRole,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// What made a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "their names are their documentation")]
pub enum PoolRole {
    Declared,
    ControlPlane,
    Storage,
}

/// A further taint of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Taint {
    pub key: String,
    pub value: Option<String>,
    pub effect: TaintEffect,
}

/// `hugepages` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct HugePages {
    pub size: Quantity,
    pub count: i64,
}

/// `gpu` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct PoolGpu {
    pub driver: String,
    pub allocation: Allocation,
    pub imex: bool,
    pub mig: Option<Mig>,
    pub sharing: Option<Sharing>,
    pub partition: Option<Partition>,
}

impl PoolGpu {
    /// Devices that one GPU is to Kubernetes, as AMD's compute partitions.
    pub fn partitions(&self) -> i64 {
        match self.partition.map(|p| p.compute) {
            None | Some(ComputePartition::Spx) => 1,
            Some(ComputePartition::Dpx) => 2,
            Some(ComputePartition::Qpx) => 4,
            Some(ComputePartition::Cpx) => 8,
        }
    }

    /// Whether the device plugin needs settings of the pool's own: slices, or shared GPUs.
    pub fn own_plugin_config(&self) -> bool {
        self.sharing.is_some() || self.mig.is_some()
    }
}

/// `mig` of a pool's GPUs.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Mig {
    pub strategy: MigStrategy,
    pub layout: Vec<String>,
}

/// `partition` of a pool's AMD GPUs.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Partition {
    pub compute: ComputePartition,
    pub memory: MemoryPartition,
}

/// `sharing` of a pool's GPUs.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Sharing {
    pub mode: SharingMode,
    pub replicas: i64,
    pub rename: bool,
}

/// `rdma` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct PoolRdma {
    pub mode: Rdma,
    pub fabrics: Vec<usize>,
}

/// How pods get at the RDMA ports, with what only that way has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum Rdma {
    Sriov { vfs: i64 },
    Shared { per_host: i64 },
    HostDevice,
    Efa,
    Dra,
}

impl Rdma {
    /// Its word.
    pub fn word(self) -> RdmaMode {
        match self {
            Rdma::Sriov { .. } => RdmaMode::Sriov,
            Rdma::Shared { .. } => RdmaMode::Shared,
            Rdma::HostDevice => RdmaMode::HostDevice,
            Rdma::Efa => RdmaMode::Efa,
            Rdma::Dra => RdmaMode::Dra,
        }
    }

    /// Virtual functions that a port is cut into.
    pub fn functions(self) -> Option<i64> {
        match self {
            Rdma::Sriov { vfs } => Some(vfs),
            Rdma::Shared { .. } | Rdma::HostDevice | Rdma::Efa | Rdma::Dra => None,
        }
    }

    /// Whether NVIDIA's Network Operator brings the device plugin and the secondary networks.
    pub fn by_network_operator(self) -> bool {
        match self {
            Rdma::Sriov { .. } | Rdma::Shared { .. } | Rdma::HostDevice => true,
            Rdma::Efa | Rdma::Dra => false,
        }
    }

    /// Whether RDMA devices live in the network namespace of one pod; else every pod of the host sees all of them.
    pub fn exclusive(self) -> bool {
        match self {
            Rdma::Sriov { .. } | Rdma::HostDevice => true,
            Rdma::Shared { .. } | Rdma::Efa | Rdma::Dra => false,
        }
    }

    /// How many pods a port serves at once.
    pub fn pods_per_port(self) -> i64 {
        match self {
            Rdma::Sriov { vfs } => vfs,
            Rdma::Shared { per_host } => per_host,
            Rdma::HostDevice | Rdma::Efa | Rdma::Dra => 1,
        }
    }
}

/// `nodes` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct NodeGroup {
    pub group: NodeGroupKind,
    pub min: i64,
    pub max: i64,
    pub root_volume: Quantity,
}
