//! NVIDIA Network Operator: adapters, secondary networks, addresses of pods.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave, control_plane_toleration};
use crate::Compilation;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::NETWORK_OPERATOR,
    wave: Wave::Hardware,
    wanted: |c| c.design.pools.iter().find(|p| p.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator())).map(|p| format!("{}.rdma", p.at.source)),
    values,
    reasons: |_| {
        &[
            ("/nfd/enabled", "Installed once, by its own chart."),
            ("/sriov-network-operator/sriovOperatorConfig/configDaemonNodeSelector", "The host's driver stays: nothing waits for one in a container."),
        ]
    },
    serves: &[Folder::Network],
};

fn values(c: &Compilation) -> Value {
    let sriov = c.design.pools.iter().flat_map(|p| &p.rdma).any(|r| r.mode.functions().is_some());
    let mut values = json!({
        "nfd": { "enabled": false, "deployNodeFeatureRules": true }, "upgradeCRDs": true,
        "sriovNetworkOperator": { "enabled": sriov }, "maintenanceOperator": { "enabled": false },
    });
    if sriov {
        values["sriov-network-operator"] = json!({
            "operator": { "resourcePrefix": "nvidia.com", "admissionControllers": { "enabled": false } },
            "sriovOperatorConfig": { "deploy": true, "configDaemonNodeSelector": { "network.nvidia.com/operator.mofed.wait": "false" } },
        });
    }
    values["operator"] = json!({ "tolerations": [control_plane_toleration()] });
    values
}
