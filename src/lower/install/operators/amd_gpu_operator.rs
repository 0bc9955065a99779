//! AMD GPU operator. Values: helm-charts-k8s of ROCm/gpu-operator v1.5.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave, control_plane_toleration};
use crate::Compilation;
use crate::design::GpuVendor;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::AMD_GPU_OPERATOR,
    wave: Wave::Hardware,
    wanted: |c| c.design.pools.iter().find(|p| p.gpu.is_some() && c.design.gpu_vendor(p) == GpuVendor::Amd).map(|p| format!("{}.gpu", p.at.source)),
    values,
    reasons: |_| {
        &[
            ("/node-feature-discovery", "Installed once, by its own chart."),
            ("/crds", "kubernetes/gpu/ brings the DeviceConfigs, so that they are reviewed with the rest."),
            ("/kmm", "The Kernel Module Manager builds drivers into a registry: only where the design has one."),
        ]
    },
    serves: &[Folder::Gpu],
};

fn values(c: &Compilation) -> Value {
    json!({
        "node-feature-discovery": { "enabled": false }, "kmm": { "enabled": c.design.cluster.mirror.is_some() },
        "crds": { "defaultCR": { "install": false } },
        "controllerManager": { "manager": { "tolerations": [control_plane_toleration()] } },
    })
}
