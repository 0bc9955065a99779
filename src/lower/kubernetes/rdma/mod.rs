//! `network/`: how pods get at the RDMA ports. What every way has in common is here, each way has a file: the device plugin's choice of ports and the
//! secondary network of each rail.

mod dra;
mod host_device;
mod ipam;
mod shared;
mod sriov;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::super::kinds::network_operator::{
    DevicePlugin, Image, NicClusterPolicy, NicClusterPolicySpec, NicNodePolicy, NicNodePolicySpec, NvIpam, SecondaryNetwork,
};
use super::super::kinds::{affinity, texts, tolerations};
use super::super::{Artifacts, object::Document};
use super::Input;
use crate::design::{Design, DeviceKind, Fabric, Ipam, Network, Nic, Pool, PoolRdma, Rdma, RdmaMode};
use crate::nodes::pool_label;
use crate::nodes::resources::{RailPort, rail_ports};
use crate::versions;

pub use ipam::of_workload;
pub use sriov::drained_at_once;

const NAMESPACE: &str = "nvidia-network-operator";

/// Documents by file.
type Files = BTreeMap<&'static str, Vec<Document>>;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let mut files = Files::new();
    // Pools on the same fabrics share the networks.
    let (mut attached, mut numbered): (BTreeSet<String>, BTreeSet<*const Network>) = Default::default();
    for (id, pool) in input.rdma_pools() {
        let (Some(host), Some(rdma)) = (pool.hosts.first().copied(), &pool.rdma) else { continue };
        let rails: Vec<Rail> = rail_ports(input.design(), pool, host).into_iter().map(|port| Rail { input, pool, rdma, host, port }).collect();
        let way = Way { input, id, pool, rails };
        match rdma.mode {
            Rdma::Sriov { vfs } => sriov::lower(&way, vfs, &mut files),
            Rdma::Shared { per_host } => shared::lower(&way, per_host, &mut files),
            Rdma::HostDevice => host_device::lower(&way, &mut files),
            Rdma::Dra => dra::lower(&way, &mut files),
            // The cloud's own plugin hands out its adapters.
            Rdma::Efa => {}
        }
        for rail in &way.rails {
            let Some(network) = rail.attached_network().filter(|_| attached.insert(rail.attachment_name())) else { continue };
            let (file, document) = rail.attachment(network);
            files.entry(file).or_default().push(document);
            if numbered.insert(std::ptr::from_ref(network)) {
                files.entry("ippools.yaml").or_default().extend(ipam::addresses(rail, network));
            }
        }
    }
    if input.rdma_pools().any(|(_, p)| p.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator())) {
        let policy = nic_cluster_policy(input, files.contains_key(shared::INFINIBAND_NETWORKS));
        files.insert("nicclusterpolicy.yaml", vec![policy]);
    }
    for (file, documents) in files {
        artifacts.objects(format!("kubernetes/network/{file}"), documents);
    }
}

fn nic_cluster_policy(input: &Input, ipoib: bool) -> Document {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let by_operator = || input.rdma_pools().filter(|(_, p)| p.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator()));
    let (_, first) = by_operator().next().expect("an RDMA pool");
    let label = pool_label(d, first);
    let pools: Vec<&str> = by_operator().map(|(_, p)| p.name.as_str()).collect();
    let free: Vec<&str> = d.pools.iter().enumerate().filter(|(id, p)| nodes.taints[*id].is_empty() && p.gpu.is_none()).map(|(_, p)| p.name.as_str()).collect();
    let nv_ipam = d.networks.iter().any(|n| n.rail.is_some() && n.ipam == Ipam::NvIpam);
    let spec = NicClusterPolicySpec {
        node_affinity: affinity(&label, &pools),
        tolerations: by_operator().flat_map(|(id, _)| tolerations(&nodes.taints[id])).collect(),
        deployment_node_affinity: (!free.is_empty()).then(|| affinity(&label, &free)),
        nv_ipam: nv_ipam.then(|| NvIpam { image: image("nvidia-k8s-ipam"), enable_webhook: false }),
        secondary_network: SecondaryNetwork { cni_plugins: image("plugins"), multus: image("multus-cni"), ipoib: ipoib.then(|| image("ipoib-cni")) },
    };
    let mut policy = input
        .maker
        .cluster((&first.at, "rdma"), "nic-cluster-policy", NicClusterPolicy { spec, ..Default::default() })
        .because("", "No ofedDriver: where the same driver carries the host's Ethernet it is part of the host's image, and reloading it cuts the node off.");
    if nv_ipam {
        policy = policy.because("/spec/nvIpam", "Addresses of pods on the rails: ippools.yaml.");
    }
    if !free.is_empty() {
        policy = policy.because("/spec/deploymentNodeAffinity", "Controllers stay off the GPU hosts.");
    }
    policy
}

/// An image of the Network Operator's release.
fn image(name: &'static str) -> Image {
    Image { repository: versions::NETWORK.0, image: name, version: versions::NETWORK.2, image_pull_secrets: Vec::new() }
}

/// A pool and its rails.
struct Way<'a> {
    input: &'a Input<'a>,
    id: usize,
    pool: &'a Pool,
    rails: Vec<Rail<'a>>,
}

impl Way<'_> {
    fn tolerations(&self) -> Vec<Toleration> {
        tolerations(&self.input.compilation.nodes.taints[self.id])
    }

    /// The policy of the pool's own device plugin: pools differ in what they hand out, and a NicClusterPolicy has one configuration for all.
    fn node_policy(&self, spec: impl FnOnce(NicNodePolicySpec) -> NicNodePolicySpec) -> Document {
        let own = NicNodePolicySpec {
            node_selector: texts([(pool_label(self.input.design(), self.pool), &self.pool.name)]),
            tolerations: self.tolerations(),
            ..Default::default()
        };
        self.input
            .maker
            .cluster((&self.pool.at, "rdma"), &self.pool.name, NicNodePolicy { spec: spec(own), ..Default::default() })
            .because("", "The device plugin of this pool; what all pools share is in nicclusterpolicy.yaml.")
    }
}

/// The configuration of a device plugin: JSON in a text.
fn device_plugin(name: &'static str, config: &Value) -> Option<DevicePlugin> {
    Some(DevicePlugin { image: image(name), config: format!("{config:#}\n") })
}

/// One rail of a pool, or one plane of it.
struct Rail<'a> {
    input: &'a Input<'a>,
    pool: &'a Pool,
    rdma: &'a PoolRdma,
    host: usize,
    port: RailPort,
}

impl<'a> Rail<'a> {
    fn name(&self) -> String {
        self.port.name()
    }

    fn fabric(&self) -> &'a Fabric {
        &self.input.design().fabrics[self.port.fabric]
    }

    fn infiniband(&self) -> bool {
        self.fabric().is_infiniband()
    }

    /// The network that numbers the rail.
    fn network(&self) -> Option<&'a Network> {
        self.port.network(self.input.design()).map(|id| &self.input.design().networks[id])
    }

    fn nic(&self) -> Option<&'a Nic> {
        match &self.input.design().hosts[self.host].system.devices[self.port.port.device as usize].kind {
            DeviceKind::Nic(nic) => Some(nic),
            _ => None,
        }
    }

    /// Vendor and device, as PCI identifies them.
    fn pci_id(&self) -> (Option<String>, Option<String>) {
        let id = self.nic().and_then(|nic| nic.pci_id.first()).and_then(|id| id.split_once(':'));
        id.map_or((None, None), |(vendor, device)| (Some(vendor.to_owned()), Some(device.to_owned())))
    }

    /// The PCI address of the port. One that is split over planes is a function a plane, and its PCI address is that of the first.
    fn pci_address(&self) -> Option<String> {
        self.nic().and_then(|nic| nic.address.get(self.port.port.port as usize)).filter(|_| self.port.plane.is_none()).cloned()
    }

    /// The Linux name; where the design gives neither address nor name, hosts/ names the port.
    fn interface(&self) -> String {
        self.port.interface(self.input.design())
    }

    fn attachment_name(&self) -> String {
        attachment_name(self.input.design(), self.pool, &self.port)
    }

    /// The network that pods attach to.
    fn attached_network(&self) -> Option<&'a Network> {
        self.network().filter(|_| attaches(self.input.design(), self.pool, &self.port))
    }

    /// Its object, and the file of that.
    fn attachment(&self, network: &Network) -> (&'static str, Document) {
        let ipam = ipam::configuration(self, network);
        match self.rdma.mode.word() {
            RdmaMode::Sriov => sriov::attachment(self, network, ipam),
            RdmaMode::Shared => shared::attachment(self, network, ipam),
            RdmaMode::HostDevice => host_device::attachment(self, network, ipam),
            RdmaMode::Efa | RdmaMode::Dra => unreachable!("no secondary network"),
        }
    }

    /// How the sriov-network-device-plugin finds the port: by PCI address, since device numbers do not follow the rails, else by name.
    fn selectors(&self) -> Value {
        let (vendor, _) = self.pci_id();
        let mut selectors = json!({ "isRdma": true });
        if let Some(vendor) = vendor {
            selectors["vendors"] = json!([vendor]);
        }
        match self.pci_address() {
            Some(address) => selectors["pciAddresses"] = json!([address]),
            None => selectors["pfNames"] = json!([self.interface()]),
        }
        selectors
    }
}

/// Whether pods attach to a network of the rail. Verbs on InfiniBand find their peers by LID: where the rail's range has no address left for a pod
/// on each host, pods that share its port do without.
pub fn attaches(design: &Design, pool: &Pool, port: &RailPort) -> bool {
    let (Some(rdma), Some(network)) = (&pool.rdma, port.network(design)) else { return false };
    match rdma.mode {
        Rdma::Sriov { .. } | Rdma::HostDevice => true,
        Rdma::Shared { .. } => !design.fabrics[port.fabric].is_infiniband() || ipam::per_host(design, port, &design.networks[network]) > 0,
        Rdma::Efa | Rdma::Dra => false,
    }
}

/// The name of the secondary network of a rail: that of the rail's addresses, or the pool's where pools get at the same fabrics in different ways.
pub fn attachment_name(design: &Design, pool: &Pool, port: &RailPort) -> String {
    let way = |p: &Pool| Some((p.rdma.as_ref()?.fabrics.clone(), p.rdma.as_ref()?.mode.word(), master(design, p, port)));
    let own = way(pool);
    let mut others = design.pools.iter().filter_map(way).filter(|w| Some(&w.0) == own.as_ref().map(|o| &o.0));
    if others.all(|other| Some(other) == own) { fabrics_name(design, pool, port) } else { format!("{}-{}", pool.name, port.name()) }
}

/// `rail0`, with the fabrics before it where pools are on different ones.
fn fabrics_name(design: &Design, pool: &Pool, port: &RailPort) -> String {
    let fabrics = |p: &Pool| p.rdma.as_ref().map(|r| r.fabrics.clone());
    let mut all = design.pools.iter().filter_map(fabrics);
    let first = all.next();
    if all.all(|f| Some(f) == first) {
        return port.name();
    }
    let names: Vec<String> = fabrics(pool).iter().flatten().map(|f| design.fabrics[*f].name.replace('_', "-")).collect();
    format!("{}-{}", names.join("-"), port.name())
}

/// The port of the host that a network of pods lies on, where its name is in the network's object.
fn master(design: &Design, pool: &Pool, port: &RailPort) -> Option<String> {
    let shared = pool.rdma.as_ref().is_some_and(|r| matches!(r.mode, Rdma::Shared { .. }));
    let host = pool.hosts.first().filter(|_| shared)?;
    rail_ports(design, pool, *host).iter().find(|p| p.name() == port.name()).map(|p| p.interface(design))
}
