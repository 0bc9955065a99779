//! `rdma : host_device`: the whole port moves into one pod.

use serde_json::{Value, json};

use super::super::super::kinds::network_operator::{HostDeviceNetwork, HostDeviceNetworkSpec, NicNodePolicySpec};
use super::super::super::object::Document;
use super::{Files, Rail, Way, device_plugin};
use crate::design::Network;

/// The device plugin of a pool: a resource a rail.
pub(super) fn lower(way: &Way, files: &mut Files) {
    let resource = |rail: &Rail| json!({ "resourcePrefix": "nvidia.com", "resourceName": rail.name(), "selectors": rail.selectors() });
    let config: Value = json!({ "resourceList": way.rails.iter().map(resource).collect::<Vec<_>>() });
    let policy = way
        .node_policy(|own| NicNodePolicySpec { sriov_device_plugin: device_plugin("sriov-network-device-plugin", &config), ..own })
        .because("/spec/sriovDevicePlugin/config", "Pods ask for nvidia.com/rail0 …: the whole port of each rail, gone from the host while the pod runs.");
    files.entry("nicnodepolicies.yaml").or_default().push(policy);
}

/// The network of a rail.
pub(super) fn attachment(rail: &Rail, network: &Network, ipam: String) -> (&'static str, Document) {
    let spec = HostDeviceNetworkSpec { network_namespace: "default", resource_name: rail.name(), ipam };
    ("host-device-networks.yaml", rail.input.maker.cluster(&network.at, &rail.attachment_name(), HostDeviceNetwork { spec, ..Default::default() }))
}
