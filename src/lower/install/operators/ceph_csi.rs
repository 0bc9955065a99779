//! Ceph-CSI: the drivers that provision and mount volumes of Ceph.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave, agents, rook};
use crate::Compilation;
use crate::design::PartKind;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::CEPH_CSI,
    wave: Wave::Drivers,
    // Wherever Rook is.
    wanted: rook::OPERATOR.wanted,
    values,
    reasons: |_| {
        &[
            ("", "From Rook 1.20 on the drivers are a release of their own."),
            ("/operatorConfig/driverSpecDefaults/nodePlugin/tolerations", "Volumes are mounted on tainted hosts, too."),
        ]
    },
    serves: &[Folder::Storage],
};

fn values(c: &Compilation) -> Value {
    let has = |kind: PartKind| c.design.storages.iter().flat_map(|s| s.parts()).any(|p| p.kind == kind);
    json!({
        "operatorConfig": { "namespace": "rook-ceph", "driverSpecDefaults": {
            "imageSet": { "name": "rook-csi-operator-image-set-configmap" }, "snapshotPolicy": "none",
            "nodePlugin": { "priorityClassName": "system-node-critical", "tolerations": agents(c) },
            "controllerPlugin": { "priorityClassName": "system-cluster-critical", "replicas": 2 },
        } },
        "drivers": {
            "cephfs": { "enabled": has(PartKind::Filesystem), "name": "rook-ceph.cephfs.csi.ceph.com" },
            "rbd": { "enabled": has(PartKind::Block), "name": "rook-ceph.rbd.csi.ceph.com" },
            "nfs": { "enabled": false }, "nvmeof": { "enabled": false },
        },
    })
}
