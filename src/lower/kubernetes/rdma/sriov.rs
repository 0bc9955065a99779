//! `rdma : sriov`: virtual functions by the SR-IOV operator, one a pod and rail.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::super::super::kinds::network_operator::{
    NicSelector, SriovIBNetwork, SriovNetwork, SriovNetworkNodePolicy, SriovNetworkNodePolicySpec, SriovNetworkPoolConfig, SriovNetworkPoolConfigSpec,
    SriovNetworkSpec,
};
use super::super::super::kinds::texts;
use super::super::super::object::Document;
use super::{Files, NAMESPACE, Rail, Way};
use crate::design::{Ipam, Network, Pool};
use crate::nodes::pool_label;

/// The operator's settings for a pool, and a policy a rail.
pub(super) fn lower(way: &Way, functions: i64, files: &mut Files) {
    files.entry("sriov-pool.yaml").or_default().push(pool_config(way));
    files.entry("sriov-policies.yaml").or_default().extend(way.rails.iter().map(|rail| policy(rail, functions)));
}

/// How many hosts of a pool the SR-IOV operator drains at a time: an eighth.
pub fn drained_at_once(pool: &Pool) -> i64 {
    (pool.hosts.len() as i64 / 8).max(1)
}

fn pool_config(way: &Way) -> Document {
    let pool = way.pool;
    let label = pool_label(way.input.design(), pool);
    let spec = SriovNetworkPoolConfigSpec {
        node_selector: LabelSelector { match_labels: Some(texts([(label, &pool.name)])), ..Default::default() },
        max_unavailable: drained_at_once(pool),
        rdma_mode: "exclusive",
    };
    way.input
        .maker
        .namespaced((&pool.at, "rdma"), NAMESPACE, &pool.name, SriovNetworkPoolConfig { spec, ..Default::default() })
        .because("/spec/maxUnavailable", "How many hosts the operator drains at a time: an eighth of the pool.")
        .because("/spec/rdmaMode", "A pod sees its own RDMA devices only; goes with the rdma meta plugin of the networks.")
}

fn policy(rail: &Rail, functions: i64) -> Document {
    let d = rail.input.design();
    let (vendor, device_id) = rail.pci_id();
    let address = rail.pci_address();
    let name = if rail.input.rdma_pools().count() > 1 { format!("{}-{}", rail.pool.name, rail.name()) } else { rail.name() };
    let pf_names = address.is_none().then(|| vec![rail.interface()]);
    let spec = SriovNetworkNodePolicySpec {
        resource_name: rail.name(),
        node_selector: texts([(pool_label(d, rail.pool), &rail.pool.name)]),
        nic_selector: NicSelector { vendor, device_id, root_devices: address.map(|a| vec![a]), pf_names },
        device_type: "netdevice",
        link_type: if rail.infiniband() { "IB" } else { "ETH" },
        is_rdma: true,
        num_vfs: functions,
        // InfiniBand's MTU is the fabric's.
        mtu: (!rail.infiniband()).then_some(rail.fabric().mtu),
        priority: 90,
    };
    rail.input
        .maker
        .namespaced((&rail.pool.at, "rdma"), NAMESPACE, &name, SriovNetworkNodePolicy { spec, ..Default::default() })
        .from("/spec/numVfs", rail.pool.at.set("rdma.vfs"))
        .because(
            "/spec/resourceName",
            match rail.port.plane {
                None => format!("Pods ask for nvidia.com/{}: one port of each rail and no two of one.", rail.name()),
                Some(_) => format!("Pods ask for nvidia.com/{}: of each rail one port on each plane.", rail.name()),
            },
        )
        .because_if_set("/spec/nicSelector/rootDevices", "By PCI address: device numbers do not follow the rails.")
}

/// The network of a rail.
pub(super) fn attachment(rail: &Rail, network: &Network, ipam: String) -> (&'static str, Document) {
    let name = rail.attachment_name();
    let spec = SriovNetworkSpec {
        network_namespace: "default",
        resource_name: rail.name(),
        link_state: "enable",
        ipam,
        meta_plugins: "{\"type\": \"rdma\"}".into(),
        // A pod names its own address.
        capabilities: (network.ipam == Ipam::Static).then_some("{\"ips\": true}"),
    };
    let maker = &rail.input.maker;
    if rail.infiniband() {
        ("sriov-ib-networks.yaml", maker.namespaced(&network.at, NAMESPACE, &name, SriovIBNetwork { spec, ..Default::default() }))
    } else {
        ("sriov-networks.yaml", maker.namespaced(&network.at, NAMESPACE, &name, SriovNetwork { spec, ..Default::default() }))
    }
}
