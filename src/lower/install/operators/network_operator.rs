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
    wanted: |c| c.design.pools.iter().find(|p| p.rdma.is_some()).map(|p| format!("{}.rdma", p.at.source)),
    values,
    reasons: &[
        ("/nfd/enabled", "Installed once, by its own chart."),
        ("/sriov-network-operator/sriovOperatorConfig/configDaemonNodeSelector", "The host's driver stays: nothing waits for one in a container."),
    ],
    serves: &[Folder::Network],
};

fn values(_: &Compilation) -> Value {
    json!({
        "nfd": { "enabled": false, "deployNodeFeatureRules": true }, "upgradeCRDs": true,
        "sriovNetworkOperator": { "enabled": true }, "maintenanceOperator": { "enabled": false },
        "sriov-network-operator": {
            "operator": { "resourcePrefix": "nvidia.com", "admissionControllers": { "enabled": false } },
            "sriovOperatorConfig": { "deploy": true, "configDaemonNodeSelector": { "network.nvidia.com/operator.mofed.wait": "false" } },
        },
        "operator": { "tolerations": [control_plane_toleration()] },
    })
}
