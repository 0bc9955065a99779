//! `network/`: SR-IOV, one resource and one network a rail, addresses of pods.

use std::collections::BTreeSet;

use ipnet::IpNet;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::super::kinds::network_operator::{
    CIDRPool, CIDRPoolSpec, Exclusion, IPPool, IPPoolSpec, Image, NicClusterPolicy, NicClusterPolicySpec, NicSelector, NvIpam, PoolRoute, SecondaryNetwork,
    SriovIBNetwork, SriovNetwork, SriovNetworkNodePolicy, SriovNetworkNodePolicySpec, SriovNetworkPoolConfig, SriovNetworkPoolConfigSpec, SriovNetworkSpec,
    StaticAllocation,
};
use super::super::kinds::{affinity, nodes_with, texts, tolerations};
use super::super::{Artifacts, object::Document};
use super::Input;
use crate::design::{Design, DeviceKind, Network, Pool, PoolRdma};
use crate::nodes::pool_label;
use crate::nodes::resources::{RailPort, rail_ports};
use crate::topology::addresses::{Owner, capacity};
use crate::versions;

const NAMESPACE: &str = "nvidia-network-operator";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    if input.rdma_pools().next().is_none() {
        return;
    }
    artifacts.objects("kubernetes/network/nicclusterpolicy.yaml", vec![nic_cluster_policy(input)]);
    let (mut policies, mut networks, mut ippools, mut configs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut attached: BTreeSet<String> = BTreeSet::new();
    for (_, pool) in input.rdma_pools() {
        let (Some(host), Some(rdma)) = (pool.hosts.first().copied(), &pool.rdma) else { continue };
        configs.push(pool_config(input, pool));
        for port in rail_ports(input.design(), pool, host) {
            let rail = Rail { input, pool, rdma, port };
            policies.extend(rail.policy(host));
            let Some(network) = rail.network() else { continue };
            // Pools on the same fabrics share the networks.
            if attached.insert(rail.attachment_name()) {
                networks.push(rail.attachment(network));
                ippools.push(if network.is_pairs() { rail.pairs(network) } else { rail.addresses(network) });
            }
        }
    }
    artifacts.objects("kubernetes/network/sriov-pool.yaml", configs);
    artifacts.objects("kubernetes/network/sriov-policies.yaml", policies);
    let file = if networks.iter().any(|n| n.value["kind"] == "SriovIBNetwork") { "sriov-ib-networks.yaml" } else { "sriov-networks.yaml" };
    artifacts.objects(format!("kubernetes/network/{file}"), networks);
    artifacts.objects("kubernetes/network/ippools.yaml", ippools);
}

fn nic_cluster_policy(input: &Input) -> Document {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let (_, first) = input.rdma_pools().next().expect("an RDMA pool");
    let label = pool_label(d, first);
    let image = |name| Image { repository: versions::NETWORK.0, image: name, version: versions::NETWORK.2, image_pull_secrets: Vec::new() };
    let pools: Vec<&str> = input.rdma_pools().map(|(_, p)| p.name.as_str()).collect();
    let free: Vec<&str> = d.pools.iter().enumerate().filter(|(id, p)| nodes.taints[*id].is_empty() && p.gpu.is_none()).map(|(_, p)| p.name.as_str()).collect();
    let spec = NicClusterPolicySpec {
        node_affinity: affinity(&label, &pools),
        tolerations: input.rdma_pools().flat_map(|(id, _)| tolerations(&nodes.taints[id])).collect(),
        deployment_node_affinity: (!free.is_empty()).then(|| affinity(&label, &free)),
        nv_ipam: NvIpam { image: image("nvidia-k8s-ipam"), enable_webhook: false },
        secondary_network: SecondaryNetwork { cni_plugins: image("plugins"), multus: image("multus-cni") },
    };
    let mut policy = input
        .maker
        .cluster((&first.at, "rdma"), "nic-cluster-policy", NicClusterPolicy { spec, ..Default::default() })
        .because("", "No ofedDriver: where the same driver carries the host's Ethernet it is part of the host's image, and reloading it cuts the node off.")
        .because("/spec/nvIpam", "Addresses of pods on the rails: ippools.yaml.");
    if !free.is_empty() {
        policy = policy.because("/spec/deploymentNodeAffinity", "Controllers stay off the GPU hosts.");
    }
    policy
}

/// How many hosts of a pool the SR-IOV operator drains at a time: an eighth.
pub fn drained_at_once(pool: &Pool) -> i64 {
    (pool.hosts.len() as i64 / 8).max(1)
}

fn pool_config(input: &Input, pool: &Pool) -> Document {
    let label = pool_label(input.design(), pool);
    let spec = SriovNetworkPoolConfigSpec {
        node_selector: LabelSelector { match_labels: Some(texts([(label, &pool.name)])), ..Default::default() },
        max_unavailable: drained_at_once(pool),
        rdma_mode: "exclusive",
    };
    input
        .maker
        .namespaced((&pool.at, "rdma"), NAMESPACE, &pool.name, SriovNetworkPoolConfig { spec, ..Default::default() })
        .because("/spec/maxUnavailable", "How many hosts the operator drains at a time: an eighth of the pool.")
        .because("/spec/rdmaMode", "A pod sees its own RDMA devices only; goes with the rdma meta plugin of the networks.")
}

/// One rail of a pool, or one plane of it.
struct Rail<'a> {
    input: &'a Input<'a>,
    pool: &'a Pool,
    rdma: &'a PoolRdma,
    port: RailPort,
}

impl<'a> Rail<'a> {
    fn name(&self) -> String {
        self.port.name()
    }

    fn fabric(&self) -> &'a crate::design::Fabric {
        &self.input.design().fabrics[self.port.fabric]
    }

    fn infiniband(&self) -> bool {
        self.fabric().is_infiniband()
    }

    /// The network that numbers the rail.
    fn network(&self) -> Option<&'a Network> {
        self.port.network(self.input.design()).map(|id| &self.input.design().networks[id])
    }

    fn policy(&self, host: usize) -> Option<Document> {
        let d = self.input.design();
        let port = self.port.port;
        let DeviceKind::Nic(nic) = &d.hosts[host].system.devices[port.device as usize].kind else { return None };
        let (vendor, device_id) = nic.pci_id.first().and_then(|id| id.split_once(':')).map_or((None, None), |(v, d)| (Some(v.to_owned()), Some(d.to_owned())));
        // A port that is split over planes is a function a plane, and its PCI address is that of the first.
        let address = nic.address.get(port.port as usize).filter(|_| self.port.plane.is_none()).cloned();
        let name = if self.input.rdma_pools().count() > 1 { format!("{}-{}", self.pool.name, self.name()) } else { self.name() };
        // Where neither address nor name is in the design, hosts/ names the port.
        let pf_names = address.is_none().then(|| vec![self.port.interface(d)]);
        let spec = SriovNetworkNodePolicySpec {
            resource_name: self.name(),
            node_selector: texts([(pool_label(d, self.pool), &self.pool.name)]),
            nic_selector: NicSelector { vendor, device_id, root_devices: address.map(|a| vec![a]), pf_names },
            device_type: "netdevice",
            link_type: if self.infiniband() { "IB" } else { "ETH" },
            is_rdma: true,
            num_vfs: self.rdma.mode.functions().unwrap_or(1),
            // InfiniBand's MTU is the fabric's.
            mtu: (!self.infiniband()).then_some(self.fabric().mtu),
            priority: 90,
        };
        let policy = self
            .input
            .maker
            .namespaced((&self.pool.at, "rdma"), NAMESPACE, &name, SriovNetworkNodePolicy { spec, ..Default::default() })
            .from("/spec/numVfs", self.pool.at.set("rdma.vfs"))
            .because(
                "/spec/resourceName",
                match self.port.plane {
                    None => format!("Pods ask for nvidia.com/{}: one port of each rail and no two of one.", self.name()),
                    Some(_) => format!("Pods ask for nvidia.com/{}: of each rail one port on each plane.", self.name()),
                },
            );
        let selector = "/spec/nicSelector/rootDevices";
        Some(if policy.value.pointer(selector).is_some() {
            policy.because(selector, "By PCI address: device numbers do not follow the rails.")
        } else {
            policy
        })
    }

    fn attachment_name(&self) -> String {
        attachment_name(self.input.design(), self.pool, &self.port)
    }

    /// The pools that share the network: those on the same fabrics.
    fn sharing(&self) -> impl Iterator<Item = &'a Pool> {
        let own = self.attachment_name();
        self.input.rdma_pools().map(|(_, pool)| pool).filter(move |pool| attachment_name(self.input.design(), pool, &self.port) == own)
    }

    fn attachment(&self, network: &Network) -> Document {
        let name = self.attachment_name();
        let spec = SriovNetworkSpec {
            network_namespace: "default",
            resource_name: self.name(),
            link_state: "enable",
            ipam: format!("{{\"type\": \"nv-ipam\", \"poolName\": \"{name}\", \"poolType\": \"{}\"}}", if network.is_pairs() { "cidrpool" } else { "ippool" }),
            meta_plugins: "{\"type\": \"rdma\"}".into(),
        };
        let maker = &self.input.maker;
        if self.infiniband() {
            maker.namespaced(&network.at, NAMESPACE, &name, SriovIBNetwork { spec, ..Default::default() })
        } else {
            maker.namespaced(&network.at, NAMESPACE, &name, SriovNetwork { spec, ..Default::default() })
        }
    }

    /// A pair a host, the one that its leaf has on that port.
    fn pairs(&self, network: &Network) -> Document {
        let d = self.input.design();
        let topology = &self.input.compilation.topology;
        let pools: Vec<&str> = self.sharing().map(|p| p.name.as_str()).collect();
        let own = topology.addresses.iter().filter(|a| a.of_pods && std::ptr::eq(&d.networks[a.network], network));
        let allocations = own.filter_map(|a| {
            let Owner::Host(host) = a.owner else { return None };
            let prefix = IpNet::new(a.address, a.prefix).ok()?.trunc();
            Some(StaticAllocation { node_name: d.hosts[host].name.clone(), prefix: prefix.to_string(), gateway: prefix.addr().to_string() })
        });
        let beside = d.networks.iter().filter(|n| n.fabric == network.fabric && n.plane == network.plane && n.rail.is_some());
        let all = beside.fold(network.cidr, |all, n| cover(all, n.cidr));
        let mut routes = vec![network.cidr];
        routes.extend((all != network.cidr).then_some(all));
        let spec = CIDRPoolSpec {
            cidr: network.cidr.to_string(),
            per_node_network_prefix: 31,
            gateway_index: 0,
            routes: routes.into_iter().map(|dst| PoolRoute { dst: dst.to_string() }).collect(),
            static_allocations: allocations.collect(),
            node_selector: nodes_with(&pool_label(d, self.pool), &pools),
        };
        self.input
            .maker
            .namespaced(&network.at, NAMESPACE, &self.attachment_name(), CIDRPool { spec, ..Default::default() })
            .from("/spec/cidr", network.at.set("cidr"))
            .because("/spec/gatewayIndex", "The leaf has the even address of each pair (network/switches).")
            .because("/spec/routes", "The rail by its own port, and the other rails of the fabric: they meet above the leaves.")
            .because("/spec/staticAllocations", "As the leaves are configured; without this nv-ipam would give prefixes in the order of nodes.")
    }

    fn addresses(&self, network: &Network) -> Document {
        let d = self.input.design();
        let pools: Vec<&str> = self.sharing().map(|p| p.name.as_str()).collect();
        let hosts = self.sharing().map(|p| p.hosts.len()).sum::<usize>().max(1) as i128;
        let functions = self.sharing().flat_map(|p| &p.rdma).map(|r| r.mode.pods_per_port()).max().unwrap_or(1);
        let block = (4 * i128::from(functions)).min(capacity(network) as i128 / hosts).max(1);
        let spec = IPPoolSpec {
            subnet: network.cidr.to_string(),
            per_node_block_size: block as i64,
            exclusions: network.reserved.map(|(from, to)| vec![Exclusion { start: from.to_string(), end: to.to_string() }]),
            node_selector: nodes_with(&pool_label(d, self.pool), &pools),
        };
        let pool = self
            .input
            .maker
            .namespaced(&network.at, NAMESPACE, &self.attachment_name(), IPPool { spec, ..Default::default() })
            .from("/spec/subnet", network.at.set("cidr"))
            .because("/spec/perNodeBlockSize", format!("{hosts} hosts take {} of the {} usable addresses.", block * hosts, capacity(network)));
        if network.reserved.is_some() { pool.because("/spec/exclusions", "What the design reserves for switches and hosts.") } else { pool }
    }
}

/// The smallest range that holds both.
fn cover(a: IpNet, b: IpNet) -> IpNet {
    let wider = std::iter::successors(Some(a), IpNet::supernet);
    wider.into_iter().find(|range| range.contains(&b)).unwrap_or(a)
}

/// The name of the secondary network of a rail: `rail0`, with the fabrics before it where pools are on different ones.
pub fn attachment_name(design: &Design, pool: &Pool, port: &RailPort) -> String {
    let fabrics = |p: &Pool| p.rdma.as_ref().map(|r| r.fabrics.clone());
    let mut all = design.pools.iter().filter_map(fabrics);
    let first = all.next();
    if all.all(|f| Some(f) == first) {
        return port.name();
    }
    let names: Vec<String> = fabrics(pool).iter().flatten().map(|f| design.fabrics[*f].name.replace('_', "-")).collect();
    format!("{}-{}", names.join("-"), port.name())
}
