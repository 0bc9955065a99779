//! NVIDIA GPU Operator.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave, control_plane_toleration};
use crate::Compilation;
use crate::design::GpuVendor;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::GPU_OPERATOR,
    wave: Wave::Hardware,
    wanted: |c| c.design.pools.iter().find(|p| p.gpu.is_some() && c.design.gpu_vendor(p) == GpuVendor::Nvidia).map(|p| format!("{}.gpu", p.at.source)),
    values,
    reasons: |_| {
        &[("/clusterPolicy", "kubernetes/gpu/ brings the ClusterPolicy, so that it is reviewed with the rest."), ("/nfd", "Installed once, by its own chart.")]
    },
    serves: &[Folder::Runtime, Folder::Gpu],
};

fn values(_: &Compilation) -> Value {
    json!({
        "clusterPolicy": { "deployCR": false }, "gpuCluster": { "deployCR": false },
        "nfd": { "enabled": false, "nodefeaturerules": false }, "psa": { "enabled": false },
        "operator": { "upgradeCRD": true, "tolerations": [control_plane_toleration()] },
        "driver": { "manager": { "version": versions::DRIVER_MANAGER.2 } },
    })
}
