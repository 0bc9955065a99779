//! What Kubernetes will see: per host its labels, taints and resources; per workload its pod shapes; a placement of all of them.

pub mod attributes;
pub mod levels;
mod placement;
mod pods;
pub mod resources;

use std::collections::BTreeMap;

use crate::design::{Design, GpuVendor, Level, Pool, PoolRole, TaintEffect};
use crate::topology::Topology;

pub use pods::{PodShape, WorkloadPods};
pub use resources::{Resources, format_amount};

/// A taint as Kubernetes writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTaint {
    /// Key.
    pub key: String,
    /// Value.
    pub value: Option<String>,
    /// `NoSchedule`…
    pub effect: &'static str,
}

impl NodeTaint {
    /// `key=value:Effect`.
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}:{}", self.key, self.effect),
            None => format!("{}:{}", self.key, self.effect),
        }
    }
}

/// What all hosts of one pool and system have in common.
#[derive(Clone, Debug, Default)]
pub struct NodeShape {
    /// Every resource that the node advertises.
    pub capacity: Resources,
    /// What pods may use.
    pub allocatable: Resources,
}

/// Everything about nodes.
#[derive(Debug, Default)]
pub struct Nodes {
    /// The pool of each host.
    pub pool_of_host: Vec<Option<usize>>,
    /// The shape of each host, in `shapes`.
    pub shape_of_host: Vec<Option<usize>>,
    /// Distinct shapes.
    pub shapes: Vec<NodeShape>,
    /// Labels that the bundle sets, by host.
    pub labels: Vec<BTreeMap<String, String>>,
    /// Taints, by pool.
    pub taints: Vec<Vec<NodeTaint>>,
    /// Topology levels, by pool: level and key, widest first.
    pub levels: Vec<Vec<(Level, String)>>,
    /// Pods, by workload.
    pub pods: Vec<WorkloadPods>,
}

impl Nodes {
    /// Derives everything from the design and its plan.
    pub fn derive(design: &Design, topology: &Topology) -> Self {
        let pool_of_host = design.pools_of_hosts();
        let taints = design.pools.iter().map(|p| taints(design, p)).collect();
        let mut nodes = Nodes {
            pool_of_host,
            taints,
            shape_of_host: vec![None; design.hosts.len()],
            labels: vec![BTreeMap::new(); design.hosts.len()],
            ..Nodes::default()
        };
        let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (host, h) in design.hosts.iter().enumerate() {
            let Some(pool) = nodes.pool_of_host[host] else { continue };
            let key = (pool, std::sync::Arc::as_ptr(&h.system) as usize);
            let shape = *known.entry(key).or_insert_with(|| {
                nodes.shapes.push(resources::shape(design, &design.pools[pool], host));
                nodes.shapes.len() - 1
            });
            nodes.shape_of_host[host] = Some(shape);
        }
        nodes.levels = design.pools.iter().map(|p| levels::of_pool(design, topology, p)).collect();
        for host in 0..design.hosts.len() {
            if let Some(pool) = nodes.pool_of_host[host] {
                nodes.labels[host] = levels::labels(design, topology, &nodes.levels[pool], pool, host);
            }
        }
        nodes.pods = design.workloads.iter().map(|w| pods::of_workload(design, w)).collect();
        placement::place(design, &mut nodes);
        nodes
    }

    /// What pods may use of a host.
    pub fn allocatable(&self, host: usize) -> Option<&Resources> {
        self.shape_of_host[host].map(|s| &self.shapes[s].allocatable)
    }

    /// What a pool's first host offers to pods: all hosts of a pool are alike where rules allow it.
    pub fn pool_allocatable(&self, pool: &Pool) -> Option<&Resources> {
        pool.hosts.first().and_then(|h| self.allocatable(*h))
    }
}

/// The label that says to which pool a node belongs. A kubelet cannot set it itself, except in a cloud's groups, which cannot set the protected one.
pub fn pool_label(design: &Design, pool: &Pool) -> String {
    let domain = &design.cluster.label_domain;
    if pool.nodes.is_some() { format!("{domain}/pool") } else { format!("{domain}.node-restriction.kubernetes.io/pool") }
}

/// What the vendor's plugin calls a GPU of a pool.
pub fn gpu_resource(design: &Design, pool: &Pool) -> &'static str {
    match design.gpu_vendor(pool) {
        GpuVendor::Nvidia => "nvidia.com/gpu",
        GpuVendor::Amd => "amd.com/gpu",
        GpuVendor::Intel => "habana.ai/gaudi",
    }
}

fn taints(design: &Design, pool: &Pool) -> Vec<NodeTaint> {
    let mut out = Vec::new();
    if pool.role == PoolRole::ControlPlane {
        out.push(NodeTaint { key: "node-role.kubernetes.io/control-plane".into(), value: None, effect: "NoSchedule" });
    } else if pool.taint {
        let has_gpus = pool.hosts.iter().any(|h| design.hosts[*h].system.gpu_model().is_some());
        let key = if has_gpus { gpu_resource(design, pool).to_owned() } else { format!("{}/pool", design.cluster.label_domain) };
        out.push(NodeTaint { key, value: Some(pool.name.clone()), effect: "NoSchedule" });
    }
    out.extend(pool.taints.iter().map(|t| NodeTaint {
        key: t.key.clone(),
        value: t.value.clone(),
        effect: match t.effect {
            TaintEffect::PreferNoSchedule => "PreferNoSchedule",
            TaintEffect::NoExecute => "NoExecute",
            TaintEffect::NoSchedule => "NoSchedule",
        },
    }));
    out
}
