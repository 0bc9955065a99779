//! The cluster as plain typed data: the waist of the compiler. Everything above exists to produce it, everything below only reads it.
//!
//! Defaults are filled in. A figure that a data sheet does not give is `None`; what is `None` otherwise is really not there.

mod build;
pub mod hardware;

use std::collections::BTreeMap;
use std::sync::Arc;

use ipnet::IpNet;
use serde::Serialize;
use std::net::IpAddr;

pub use build::{build, switch_models};
pub use hardware::*;

use crate::base::{Quantity, Span};

/// Where a declaration and its fields stand in the sources.
#[derive(Clone, Debug, Default)]
pub struct At {
    /// `pool.training`, `rack.train[0]`.
    pub source: String,
    /// Its head.
    pub head: Span,
    /// All of it.
    pub whole: Span,
    /// The fields that are set, by path: `cpu.reserved_cores`, `hugepages[0].size`.
    pub fields: Arc<BTreeMap<String, Span>>,
    /// The `///` lines.
    pub docs: Arc<[String]>,
}

impl At {
    /// The place of a field: where it is set, else its group, else the head.
    pub fn field(&self, path: &str) -> Span {
        let mut path = path;
        loop {
            if let Some(span) = self.fields.get(path) {
                return *span;
            }
            match path.rfind('.') {
                Some(dot) => path = &path[..dot],
                None => return self.head,
            }
        }
    }

    /// The place of a field that is set.
    pub fn set(&self, path: &str) -> Option<Span> {
        self.fields.get(path).copied()
    }
}

/// A whole design.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the fields are the kinds")]
pub struct Design {
    pub cluster: Cluster,
    pub racks: Vec<Rack>,
    pub hosts: Vec<Host>,
    pub rack_switches: Vec<RackSwitch>,
    pub fabrics: Vec<Fabric>,
    pub networks: Vec<Network>,
    pub control_plane: Option<ControlPlane>,
    pub pools: Vec<Pool>,
    pub storages: Vec<Storage>,
    pub volumes: Vec<Volume>,
    pub queues: Vec<Queue>,
    pub workloads: Vec<Workload>,
    /// Cables that can be bought: the standard library's and the user's.
    #[serde(skip)]
    pub cables: Vec<CableModel>,
    /// Transceivers that can be bought.
    #[serde(skip)]
    pub transceivers: Vec<TransceiverModel>,
}

/// `cluster`.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Cluster {
    pub name: String,
    pub kubernetes: String,
    pub distribution: String,
    pub gitops: String,
    pub scheduler: String,
    pub region: Option<String>,
    pub domain: String,
    pub os: String,
    pub dns: Vec<IpAddr>,
    pub ntp: Vec<String>,
    pub label_domain: String,
    pub topology_labels: String,
    pub pods: Option<Pods>,
    pub services: Option<IpNet>,
    pub autoscaler: String,
    pub mirror: Option<String>,
    pub pod_security: String,
    pub audit: bool,
    pub encryption: bool,
    pub observability: bool,
    pub retention: Option<Quantity>,
    /// Whether a cluster is declared without a fault.
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `pods` of a cluster.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Pods {
    pub cni: String,
    pub network: Option<usize>,
    pub cidr: IpNet,
    pub host_prefix: u8,
    pub mtu: Option<i64>,
    pub encapsulation: String,
}

impl Pods {
    /// Addresses that a host's block has for pods.
    pub fn addresses_per_host(&self) -> u128 {
        let bits = self.cidr.max_prefix_len().saturating_sub(self.host_prefix).min(100);
        (1_u128 << bits).saturating_sub(2)
    }

    /// Bytes that the encapsulation adds to a pod's packet on a network of that range: outer IP, UDP and tunnel header.
    pub fn overhead(&self, network: &IpNet) -> i64 {
        match (self.encapsulation.as_str(), network) {
            ("none", _) => 0,
            (_, IpNet::V4(_)) => 50,
            (_, IpNet::V6(_)) => 70,
        }
    }
}

/// `rack`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Rack {
    pub name: String,
    pub height: i64,
    pub power: Option<Quantity>,
    pub cooling: Option<Quantity>,
    pub weight: Option<Quantity>,
    pub pdus: i64,
    pub feeds: i64,
    pub supply: Option<Supply>,
    pub zone: Option<String>,
    pub row: i64,
    pub column: i64,
    /// Its array: racks of one declaration are alike.
    pub declaration: String,
    /// The rack-scale system it is.
    pub system: Option<Arc<System>>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

impl Rack {
    /// The device name of a PDU.
    pub fn pdu_name(&self, pdu: u8) -> String {
        format!("{}-pdu-{pdu}", self.name)
    }
}

/// `supply` of a rack.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Supply {
    pub volts: i64,
    pub amps: i64,
    pub phases: i64,
    pub derating: Quantity,
}

/// `host`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Host {
    pub name: String,
    #[serde(serialize_with = "by_name")]
    pub system: Arc<System>,
    pub rack: Option<usize>,
    pub position: Option<i64>,
    pub height: Option<i64>,
    pub power: Option<Quantity>,
    pub zone: Option<String>,
    pub capacity: String,
    pub labels: BTreeMap<String, String>,
    pub sriov: bool,
    pub iommu: String,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

fn by_name<S: serde::Serializer>(system: &Arc<System>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&system.name)
}

/// A switch that stands in a rack: NVLink trays.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct RackSwitch {
    pub name: String,
    pub rack: Option<usize>,
    pub model: Arc<SwitchModel>,
    pub position: Option<i64>,
    #[serde(skip)]
    pub at: At,
}

/// `placement` of a tier.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Placement {
    pub racks: Option<Vec<usize>>,
    pub position: Option<i64>,
}

impl Network {
    /// Whether each port of a host is a pair with its leaf.
    pub fn is_pairs(&self) -> bool {
        self.host_prefix == Some(31)
    }
}

/// A port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PortRef {
    /// The host.
    pub host: u32,
    /// The device of its system.
    pub device: u16,
    /// The port of the device.
    pub port: u8,
}

/// `fabric`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Fabric {
    pub name: String,
    pub kind: String,
    #[serde(skip)]
    pub attach: Vec<PortRef>,
    /// `attach = all.management`.
    pub management: bool,
    pub topology: Topology,
    pub leaf: Option<Arc<SwitchModel>>,
    pub spine: Option<Arc<SwitchModel>>,
    pub core: Option<Arc<SwitchModel>>,
    pub oversubscription: Quantity,
    pub racks: Vec<usize>,
    /// Where the leaves, spines and cores stand, if that is written.
    pub placement: [Option<Placement>; 3],
    pub inter_leaf: Option<i64>,
    pub planes: i64,
    pub link_rate: Option<Quantity>,
    pub mtu: i64,
    #[serde(skip)]
    pub manager: Vec<PortRef>,
    pub uplink: Option<Uplink>,
    pub slack: Quantity,
    pub prefer: Vec<String>,
    pub subnet_manager: String,
    pub adaptive_routing: bool,
    pub sharp: bool,
    pub pkey: Option<i64>,
    pub congestion: Option<Congestion>,
    pub routed: Option<Routed>,
    pub redundancy: String,
    pub domain: String,
    pub provider: Option<String>,
    pub bandwidth: Option<Quantity>,
    pub placement_group: bool,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `topology` of a fabric.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Topology {
    pub shape: String,
    pub leaves: Option<i64>,
    pub spines: Option<i64>,
    pub cores: Option<i64>,
    pub unit: Option<i64>,
    pub tiers: i64,
    pub rails: bool,
    pub pod: Option<i64>,
    pub taper: Option<Quantity>,
    pub groups: Option<i64>,
}

/// `uplink` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Uplink {
    pub fabric: Option<usize>,
    pub links: i64,
}

/// `congestion` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Congestion {
    pub pfc_priority: i64,
    pub dscp: i64,
    pub ecn: bool,
    pub adaptive_routing: bool,
}

impl Congestion {
    /// The byte of the IP header that carries the DSCP, with the bit that says ECN is understood.
    pub fn traffic_class(&self) -> i64 {
        self.dscp * 4 + 2
    }
}

/// `routed` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Routed {
    pub loopbacks: IpNet,
    pub links: IpNet,
    pub asn: Option<i64>,
}

/// `network`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Network {
    pub name: String,
    pub fabric: usize,
    pub cidr: IpNet,
    pub vlan: Option<i64>,
    pub pkey: Option<i64>,
    pub rail: Option<i64>,
    pub plane: Option<i64>,
    pub gateway: Option<IpAddr>,
    pub reserved: Option<(IpAddr, IpAddr)>,
    pub host_prefix: Option<i64>,
    pub mtu: i64,
    pub ipam: String,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `control_plane`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct ControlPlane {
    pub managed: bool,
    pub hosts: Vec<usize>,
    pub endpoint: Option<String>,
    pub vip: String,
    pub etcd_disk: Option<String>,
    pub etcd_quota: Quantity,
    pub etcd_hosts: Vec<usize>,
    pub burst: Option<i64>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

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
    pub cpu_manager: String,
    pub reserved_cores: i64,
    pub full_cores: bool,
    pub memory_manager: String,
    pub reserved: Quantity,
    pub eviction: Quantity,
    pub numa_policy: String,
    pub numa_scope: String,
    pub hugepages: Vec<HugePages>,
    pub gpu: Option<PoolGpu>,
    pub rdma: Option<PoolRdma>,
    pub nodes: Option<NodeGroup>,
    pub runtime: String,
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
    pub effect: String,
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
    pub allocation: String,
    pub imex: bool,
    pub mig: Option<(String, Vec<String>)>,
    pub sharing: Option<Sharing>,
    pub partition: Option<(String, String)>,
}

impl PoolGpu {
    /// Whether the device plugin needs settings of the pool's own: slices, or shared GPUs.
    pub fn own_plugin_config(&self) -> bool {
        self.sharing.is_some() || self.mig.is_some()
    }
}

/// `sharing` of a pool's GPUs.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Sharing {
    pub mode: String,
    pub replicas: i64,
    pub rename: bool,
}

/// `rdma` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct PoolRdma {
    pub mode: String,
    pub fabrics: Vec<usize>,
    pub vfs: i64,
    pub per_host: i64,
}

/// `nodes` of a pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct NodeGroup {
    pub group: String,
    pub min: i64,
    pub max: i64,
    pub root_volume: Quantity,
}

/// `storage`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Storage {
    pub name: String,
    pub kind: String,
    pub hosts: Vec<usize>,
    pub disks: Option<String>,
    pub network: Option<usize>,
    pub cluster_network: Option<usize>,
    pub monitors: i64,
    pub fill: Quantity,
    pub parts: Vec<StoragePart>,
    pub raid: String,
    pub provisioner: String,
    pub server: Option<String>,
    pub capacity: Option<Quantity>,
    pub read: Option<Quantity>,
    pub write: Option<Quantity>,
    pub options: Vec<String>,
    pub bucket: Option<String>,
    pub region: Option<String>,
    pub endpoint: Option<String>,
    pub class: Option<String>,
    pub access: Vec<String>,
    pub gds: bool,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// A file system, block pool or object store of a Ceph cluster.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct StoragePart {
    pub kind: String,
    pub name: String,
    pub replicas: i64,
    pub erasure: Option<(i64, i64)>,
    pub failure_domain: String,
    /// The prefix of its fields in the storage's [`At`].
    #[serde(skip)]
    pub key: String,
}

impl StoragePart {
    /// How many failure domains one object spreads over.
    pub fn width(&self) -> i64 {
        self.erasure.map_or(self.replicas, |(k, m)| k + m)
    }

    /// Raw bytes a stored byte takes: numerator and denominator.
    pub fn factor(&self) -> (i128, i128) {
        self.erasure.map_or((i128::from(self.replicas.max(1)), 1), |(k, m)| (i128::from(k + m), i128::from(k.max(1))))
    }
}

/// `volume`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Volume {
    pub name: String,
    pub storage: usize,
    pub part: Option<usize>,
    pub size: Quantity,
    pub access: String,
    pub per_host: bool,
    pub holds: Option<String>,
    pub snapshots: Option<(Quantity, i64)>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// An amount of a resource: whole units, or bytes.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "their names are their documentation")]
pub enum Amount {
    Count(i64),
    Bytes(Quantity),
}

/// `queue`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Queue {
    pub name: String,
    pub pools: Vec<usize>,
    pub gpus: Option<i64>,
    pub resources: BTreeMap<String, Amount>,
    pub cohort: Option<String>,
    pub borrow: i64,
    pub lend: i64,
    pub namespace: String,
    pub priority: i64,
    pub preemption: String,
    pub reclaim: String,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `workload`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Workload {
    pub name: String,
    pub kind: String,
    pub queue: Option<usize>,
    pub pool: Option<usize>,
    pub namespace: String,
    pub image: String,
    pub command: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub nodes: i64,
    pub replicas: i64,
    pub gpus: i64,
    pub slice: Option<(String, i64)>,
    pub cpu: i64,
    pub memory: Quantity,
    pub hugepages: Quantity,
    pub shm: Option<Quantity>,
    pub ephemeral: Quantity,
    pub rdma: bool,
    pub place: Place,
    pub mounts: Vec<Mount>,
    pub priority: i64,
    pub grace: Option<Quantity>,
    pub restarts: i64,
    pub heterogeneous: Option<String>,
    pub form: String,
    pub parallel: Option<Parallel>,
    pub checkpoint: Option<Checkpoint>,
    pub ports: Vec<ServedPort>,
    pub autoscale: Vec<Autoscale>,
    pub roles: Vec<Role>,
    pub kv_transfer: Option<(String, String, String)>,
    pub max_unavailable: i64,
    pub completions: i64,
    pub parallelism: i64,
    pub deadline: Option<Quantity>,
    pub file: Option<String>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `place` of a workload.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Place {
    pub within: Option<String>,
    pub prefer: Option<String>,
    pub spread: Option<String>,
    pub slice: Option<i64>,
}

/// `mount` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Mount {
    pub volume: usize,
    pub path: String,
    pub read_only: bool,
}

/// `parallel` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Parallel {
    pub tensor: i64,
    pub pipeline: i64,
    pub data: i64,
    pub context: i64,
    pub expert: i64,
}

impl Parallel {
    /// The product of all degrees but `expert`.
    pub fn dense(&self) -> i64 {
        self.tensor.saturating_mul(self.pipeline).saturating_mul(self.data).saturating_mul(self.context)
    }

    /// Whether the degrees fit that many GPUs: as their product, or without `expert` where it divides `data`.
    pub fn fits(&self, gpus: i64) -> bool {
        let dense = self.dense();
        dense.saturating_mul(self.expert) == gpus || self.expert > 1 && self.data % self.expert == 0 && dense == gpus
    }
}

/// `checkpoint` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Checkpoint {
    pub volume: usize,
    pub size: Quantity,
    pub every: Quantity,
    pub keep: i64,
    pub readers: i64,
    pub restore_within: Option<Quantity>,
}

/// `port` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct ServedPort {
    pub name: String,
    pub number: i64,
    pub health: Option<String>,
}

/// `autoscale` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Autoscale {
    pub role: Option<String>,
    pub min: i64,
    pub max: i64,
    pub metric: String,
    pub target: i64,
}

/// `role` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Role {
    pub name: String,
    pub replicas: i64,
    pub nodes: i64,
    pub gpus: i64,
    pub cpu: i64,
    pub memory: Quantity,
    pub command: Vec<String>,
}

impl Design {
    /// The pool that a workload runs in.
    pub fn pool_of(&self, workload: &Workload) -> Option<usize> {
        workload.pool.or_else(|| workload.queue.and_then(|q| self.queues.get(q)?.pools.first().copied()))
    }

    /// The pool of each host.
    pub fn pools_of_hosts(&self) -> Vec<Option<usize>> {
        let mut pools = vec![None; self.hosts.len()];
        for (id, pool) in self.pools.iter().enumerate() {
            pool.hosts.iter().for_each(|h| pools[*h] = pools[*h].or(Some(id)));
        }
        pools
    }

    /// The port of a NIC; a port of another device is none.
    pub fn nic_port(&self, port: PortRef) -> Option<&NicPort> {
        match &self.hosts[port.host as usize].system.devices[port.device as usize].kind {
            DeviceKind::Nic(nic) => nic.ports.get(port.port as usize),
            _ => None,
        }
    }

    /// The network that carries node addresses and pods.
    pub fn node_network(&self) -> Option<usize> {
        self.cluster.pods.as_ref().and_then(|p| p.network).or((self.networks.len() == 1).then_some(0))
    }
}
