//! cert-manager: certificates of admission webhooks.

use serde_json::{Value, json};

use super::{Operator, Wave};
use crate::Compilation;
use crate::design::GpuVendor;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::CERT_MANAGER,
    wave: Wave::Certificates,
    wanted,
    values,
    reasons: |_| &[("/crds/keep", "Removing the release must not remove every certificate.")],
    serves: &[],
};

fn wanted(c: &Compilation) -> Option<String> {
    let storages = &c.design.storages;
    let local = storages.iter().find(|s| s.local().is_some()).map(|s| s.at.source.clone());
    let amd = || c.design.pools.iter().find(|p| p.gpu.is_some() && c.design.gpu_vendor(p) == GpuVendor::Amd).map(|p| format!("{}.gpu", p.at.source));
    local.or_else(amd).or_else(|| storages.iter().any(|s| s.ceph().is_some()).then(|| "cluster".into()))
}

fn values(_: &Compilation) -> Value {
    json!({
        "crds": { "enabled": true, "keep": true }, "replicaCount": 2, "podDisruptionBudget": { "enabled": true },
        "webhook": { "replicaCount": 2, "podDisruptionBudget": { "enabled": true } },
        "prometheus": { "servicemonitor": { "enabled": false } },
    })
}
