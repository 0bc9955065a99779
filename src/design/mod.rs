//! The cluster as plain typed data: the waist of the compiler. Everything above exists to produce it, everything below only reads it.
//!
//! Defaults are filled in. A figure that a data sheet does not give is `None`; what is `None` otherwise is really not there.

mod build;
mod cluster;
mod fabric;
pub mod hardware;
mod pool;
mod racks;
mod storage;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use ipnet::IpNet;
use serde::Serialize;
use std::net::IpAddr;

pub use build::{build, switch_models};
pub use cluster::*;
pub use fabric::*;
pub use hardware::*;
pub use pool::*;
pub use racks::*;
pub use storage::*;
pub use workload::*;

pub use crate::schema::words::*;

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

    /// Whose GPUs a pool has; NVIDIA's where the product does not say.
    pub fn gpu_vendor(&self, pool: &Pool) -> GpuVendor {
        let gpu = pool.hosts.first().and_then(|h| self.hosts[*h].system.gpu_model());
        gpu.and_then(|g| GpuVendor::parse(g.vendor.as_deref()?)).unwrap_or(GpuVendor::Nvidia)
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
