//! Resources that a node advertises, and what is left for pods.

use std::collections::BTreeMap;

use super::{NodeShape, gpu_resource};
use crate::base::Rational;
use crate::design::{Allocation, Design, DeviceKind, Mig, MigStrategy, Pool, Rdma};

/// Amounts by resource name: CPUs and devices whole, memory and disk in bytes.
pub type Resources = BTreeMap<String, i128>;

const MI: i128 = 1 << 20;
const KI: i128 = 1 << 10;
/// Disk of a host whose boot disk is not in the design: a cautious planning value.
const UNKNOWN_BOOT: i128 = 200_000_000_000;

/// Whether a resource is counted in bytes.
pub fn in_bytes(name: &str) -> bool {
    name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-")
}

/// A Kubernetes quantity: bytes in the largest binary unit that divides them.
pub fn format_amount(name: &str, amount: i128) -> String {
    if in_bytes(name) { format_bytes(amount) } else { amount.to_string() }
}

/// Bytes in the largest binary unit that divides them.
pub fn format_bytes(amount: i128) -> String {
    for (unit, size) in [("Ti", 1_i128 << 40), ("Gi", 1 << 30), ("Mi", MI), ("Ki", KI)] {
        if amount != 0 && amount % size == 0 {
            return format!("{}{unit}", amount / size);
        }
    }
    amount.to_string()
}

/// `hugepages-1Gi`.
pub fn hugepage_resource(size: i128) -> String {
    format!("hugepages-{}", format_bytes(size))
}

/// Capacity and allocatable of a host of a pool.
pub fn shape(design: &Design, pool: &Pool, host: usize) -> NodeShape {
    let h = &design.hosts[host];
    let system = &h.system;
    let mut capacity = Resources::new();
    let threads = i128::from(system.threads());
    capacity.insert("cpu".into(), threads);
    let memory = system.usable_memory.map_or(0, |m| m.whole()) / MI * MI;
    capacity.insert("memory".into(), memory);
    let disk = boot_disk(design, pool, host) * 98 / 100 / KI * KI;
    capacity.insert("ephemeral-storage".into(), disk);
    capacity.insert("pods".into(), pool.max_pods.into());
    let mut pages = 0;
    for huge in &pool.hugepages {
        let bytes = huge.size.whole() * i128::from(huge.count);
        pages += bytes;
        *capacity.entry(hugepage_resource(huge.size.whole())).or_default() += bytes;
    }
    if efa(pool) {
        pages += EFA_PAGES * (2 << 20);
        *capacity.entry(hugepage_resource(2 << 20)).or_default() += EFA_PAGES * (2 << 20);
    }
    capacity.extend(gpus(design, pool, host));
    capacity.extend(rdma(design, pool, host));
    if pool.gpu.as_ref().is_some_and(|gpu| gpu.imex) {
        capacity.insert(CHANNELS.into(), system.gpus().count() as i128);
    }
    let mut allocatable = capacity.clone();
    allocatable.insert("cpu".into(), threads - i128::from(pool.reserved_cores * system.threads_per_core()));
    let left = memory - pool.reserved.whole() - pool.eviction.whole() - pages;
    allocatable.insert("memory".into(), left.max(0) / KI * KI);
    allocatable.insert("ephemeral-storage".into(), disk * 9 / 10 / KI * KI);
    NodeShape { capacity, allocatable }
}

/// HugePages of 2 MiB that the image of a host reserves where it finds EFA, and bytes of them that libfabric takes in a pod. Source:
/// docs.aws.amazon.com/eks, "Run machine learning training on Amazon EKS with Elastic Fabric Adapter".
const EFA_PAGES: i128 = 5128;
/// The same, for one pod.
pub const EFA_POD_PAGES: i128 = 5120 << 20;

/// Whether a pool hands out Elastic Fabric Adapters.
pub fn efa(pool: &Pool) -> bool {
    pool.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Efa)
}

/// The disk that the root file system is on.
fn boot_disk(design: &Design, pool: &Pool, host: usize) -> i128 {
    if let Some(nodes) = &pool.nodes {
        return nodes.root_volume.whole();
    }
    let system = &design.hosts[host].system;
    if let Some(boot) = system.disks("boot").next() {
        return boot.capacity.whole();
    }
    // Without a disk called boot: the first that neither etcd nor a storage takes.
    let taken: Vec<&str> = design
        .storages
        .iter()
        .filter(|s| s.hosts().contains(&host))
        .filter_map(|s| Some(s.on_disks()?.1))
        .chain(design.control_plane.iter().filter_map(|c| c.etcd_disk.as_deref()))
        .collect();
    system
        .devices
        .iter()
        .find_map(|d| match &d.kind {
            DeviceKind::Disk(disk) if !taken.contains(&d.name.as_str()) => Some(disk.capacity.whole()),
            _ => None,
        })
        .unwrap_or(UNKNOWN_BOOT)
}

/// The GPU resources of a host under its pool's MIG layout and sharing.
pub fn gpus(design: &Design, pool: &Pool, host: usize) -> Resources {
    let count = design.hosts[host].system.gpus().count() as i128;
    let mut out = Resources::new();
    let Some(gpu) = pool.gpu.as_ref().filter(|_| count > 0) else { return out };
    let mut units: Vec<(String, i128)> = Vec::new();
    match &gpu.mig {
        Some(Mig { strategy: MigStrategy::Mixed, layout }) => {
            for profile in layout {
                units.push((mig_resource(profile), count));
            }
        }
        Some(Mig { strategy: MigStrategy::Single, layout }) => units.push((gpu_resource(design, pool).to_owned(), count * layout.len() as i128)),
        None => units.push((gpu_resource(design, pool).to_owned(), count * i128::from(gpu.partitions()))),
    }
    for (name, amount) in units {
        match &gpu.sharing {
            Some(sharing) => {
                let name = if sharing.rename { format!("{name}.shared") } else { name };
                *out.entry(name).or_default() += amount * i128::from(sharing.replicas);
            }
            None => *out.entry(name).or_default() += amount,
        }
    }
    out
}

/// `nvidia.com/mig-1g.10gb.me` of the profile `1g.10gb+me`.
pub fn mig_resource(profile: &str) -> String {
    format!("nvidia.com/mig-{}", profile.replace('+', "."))
}

/// Ports of a host on its pool's RDMA fabrics, rail by rail: the fabric and the port.
pub fn rails(design: &Design, pool: &Pool, host: usize) -> Vec<(usize, crate::design::PortRef)> {
    let Some(rdma) = &pool.rdma else { return Vec::new() };
    rdma.fabrics.iter().flat_map(|f| design.fabrics[*f].attach.iter().filter(move |p| p.host as usize == host).map(move |p| (*f, *p))).collect()
}

/// What pods get of a rail: its port, or on a fabric of several planes its part on each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RailPort {
    /// The rail, counted over all fabrics of the pool.
    pub rail: usize,
    /// The fabric.
    pub fabric: usize,
    /// The port.
    pub port: crate::design::PortRef,
    /// The plane, where the fabric has several.
    pub plane: Option<u8>,
}

impl RailPort {
    /// `rail0`, on a plane `rail0p1`: the name of its resource.
    pub fn name(&self) -> String {
        match self.plane {
            Some(plane) => format!("rail{}p{plane}", self.rail),
            None => format!("rail{}", self.rail),
        }
    }

    /// The extended resource by which pods ask for it.
    pub fn resource(&self, mode: Rdma) -> String {
        format!("{}/{}", if matches!(mode, Rdma::Shared { .. }) { "rdma" } else { "nvidia.com" }, self.name())
    }

    /// Its Linux name.
    pub fn interface(&self, design: &Design) -> String {
        crate::topology::addresses::port_interface(design, &design.fabrics[self.fabric], self.port, self.plane.unwrap_or(0))
    }

    /// The network that numbers it.
    pub fn network(&self, design: &Design) -> Option<usize> {
        let plane = self.plane.map(i64::from);
        design.networks.iter().position(|n| n.fabric == self.fabric && n.rail == Some(self.rail as i64) && (plane.is_none() || n.plane == plane))
    }
}

/// What the pods of a host get, rail by rail and plane by plane.
pub fn rail_ports(design: &Design, pool: &Pool, host: usize) -> Vec<RailPort> {
    let planes = |fabric: usize| design.fabrics[fabric].planes.clamp(1, 255) as u8;
    let all = rails(design, pool, host).into_iter().enumerate();
    all.flat_map(|(rail, (fabric, port))| {
        (0..planes(fabric)).map(move |plane| RailPort { rail, fabric, port, plane: (planes(fabric) > 1).then_some(plane) }).collect::<Vec<_>>()
    })
    .collect()
}

/// What a host hands out of its ports: as many of each rail as pods may have one.
fn rdma(design: &Design, pool: &Pool, host: usize) -> Resources {
    let each = pool.rdma.as_ref().map_or(0, |r| i128::from(r.mode.pods_per_port()));
    ports(design, pool, host).into_iter().map(|(name, n)| (name, n * each)).collect()
}

/// What a pod asks for that gets a port of each rail.
pub fn ports(design: &Design, pool: &Pool, host: usize) -> Resources {
    let Some(rdma) = &pool.rdma else { return Resources::new() };
    let all = || rails(design, pool, host).len() as i128;
    match rdma.mode {
        Rdma::Efa => Resources::from([("vpc.amazonaws.com/efa".to_owned(), all())]),
        Rdma::Dra => Resources::from([(CLAIMED_PORTS.to_owned(), rail_ports(design, pool, host).len() as i128)]),
        Rdma::Sriov { .. } | Rdma::Shared { .. } | Rdma::HostDevice => {
            rail_ports(design, pool, host).iter().map(|port| (port.resource(rdma.mode), 1)).collect()
        }
    }
}

/// RDMA ports that are handed out by claims (DRA): the name that counts them, here and in quotas.
pub const CLAIMED_PORTS: &str = "dra.net/rdma";
/// Channels of an NVLink domain, which are claimed too: one a pod.
pub const CHANNELS: &str = "nvidia.com/imex-channel";

/// Whether pods get a resource by a claim, and must not ask for it among their resources.
pub fn by_claim(design: &Design, pool: &Pool, name: &str) -> bool {
    let gpus = pool.gpu.as_ref().is_some_and(|gpu| gpu.allocation == Allocation::Dra);
    name == CLAIMED_PORTS || name == CHANNELS || (gpus && name == gpu_resource(design, pool))
}

/// Bytes a second of one rail port.
pub fn rail_rate(design: &Design, pool: &Pool) -> Option<Rational> {
    let host = *pool.hosts.first()?;
    let (fabric, port) = *rails(design, pool, host).first()?;
    let rate = design.nic_port(port)?.rate.value;
    Some(design.fabrics[fabric].link_rate.map_or(rate, |l| (l.value * Rational::from_integer(design.fabrics[fabric].planes.into())).min(rate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_use_the_largest_whole_unit() {
        assert_eq!(format_bytes(1600 << 30), "1600Gi");
        assert_eq!(format_bytes(2_055_208 * MI), "2055208Mi");
        assert_eq!(format_bytes(60 << 40), "60Ti");
        assert_eq!(format_bytes(1000), "1000");
        assert_eq!(hugepage_resource(2 << 20), "hugepages-2Mi");
    }
}
