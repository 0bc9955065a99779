//! Rook: the operator of Ceph.

use serde_json::{Value, json};

use super::{Operator, Wave};
use crate::Compilation;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::ROOK,
    wave: Wave::Storage,
    wanted: |c| c.design.storages.iter().find(|s| s.ceph().is_some()).map(|s| s.at.source.clone()),
    values,
    reasons: |_| {
        &[
            ("/enableDiscoveryDaemon", "Disks are declared; nothing is discovered."),
            ("/disableDeviceHotplug", "A disk that is put in is not an OSD before the design says so."),
        ]
    },
    serves: &[],
};

fn values(c: &Compilation) -> Value {
    json!({
        "crds": { "enabled": true }, "csi": { "installCsiOperator": true }, "enableDiscoveryDaemon": false, "disableDeviceHotplug": true,
        "monitoring": { "enabled": c.design.cluster.observability },
        "resources": { "requests": { "cpu": "200m", "memory": "128Mi" }, "limits": { "memory": "512Mi" } },
        "tolerations": [],
    })
}
