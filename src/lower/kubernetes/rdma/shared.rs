//! `rdma : shared`: pods share the ports of their host, through macvlan on Ethernet and IPoIB on InfiniBand.

use serde_json::{Value, json};

use super::super::super::kinds::network_operator::{IPoIBNetwork, IPoIBNetworkSpec, MacvlanNetwork, MacvlanNetworkSpec, NicNodePolicySpec};
use super::super::super::object::Document;
use super::{Files, Rail, Way, attaches, device_plugin};
use crate::design::Network;

/// The file of the networks on InfiniBand.
pub(super) const INFINIBAND_NETWORKS: &str = "ipoib-networks.yaml";

/// The device plugin of a pool: a resource a rail, by the name of its port.
pub(super) fn lower(way: &Way, per_host: i64, files: &mut Files) {
    let resource = |rail: &Rail| {
        let mut selectors = json!({ "ifNames": [rail.interface()] });
        if let (Some(vendor), _) = rail.pci_id() {
            selectors["vendors"] = json!([vendor]);
        }
        json!({ "resourceName": rail.name(), "rdmaHcaMax": per_host, "selectors": selectors })
    };
    let config: Value = json!({ "configList": way.rails.iter().map(resource).collect::<Vec<_>>() });
    let mut policy = way
        .node_policy(|own| NicNodePolicySpec { rdma_shared_device_plugin: device_plugin("k8s-rdma-shared-dev-plugin", &config), ..own })
        .from("/spec/rdmaSharedDevicePlugin/config", way.pool.at.set("rdma.per_host"))
        .because(
            "/spec/rdmaSharedDevicePlugin/config",
            "Pods ask for rdma/rail0 …: one of each rail. The hosts' RDMA devices are in the shared network-namespace mode (hosts/, modprobe.conf).",
        );
    if let Some(rail) = way.rails.iter().find(|r| r.network().is_some() && !attaches(r.input.design(), r.pool, &r.port)) {
        let reason = format!(
            "The device plugin of this pool; what all pools share is in nicclusterpolicy.yaml.\nNo IPoIB networks: {}'s range has no address a host left for pods. Verbs on InfiniBand find peers by LID and need none.",
            rail.network().map_or("", |n| n.name.as_str())
        );
        policy.reasons.retain(|(pointer, _)| !pointer.is_empty());
        policy = policy.because("", reason);
    }
    files.entry("nicnodepolicies.yaml").or_default().push(policy);
}

/// The network of a rail on the hosts' port.
pub(super) fn attachment(rail: &Rail, network: &Network, ipam: String) -> (&'static str, Document) {
    let (maker, name, master) = (&rail.input.maker, rail.attachment_name(), rail.interface());
    if rail.infiniband() {
        let spec = IPoIBNetworkSpec { network_namespace: "default", master, ipam };
        (INFINIBAND_NETWORKS, maker.cluster(&network.at, &name, IPoIBNetwork { spec, ..Default::default() }))
    } else {
        let spec = MacvlanNetworkSpec { network_namespace: "default", master, mode: "bridge", mtu: rail.fabric().mtu, ipam };
        let network = maker
            .cluster(&network.at, &name, MacvlanNetwork { spec, ..Default::default() })
            .because("/spec/mode", "Pods of one host reach each other; the switch sees a MAC address a pod.");
        ("macvlan-networks.yaml", network)
    }
}
