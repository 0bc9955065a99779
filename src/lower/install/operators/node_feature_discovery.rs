//! Node Feature Discovery: labels of the hardware that is there, on which operands are placed.

use serde_json::{Value, json};

use super::{Operator, Wave, agents};
use crate::Compilation;
use crate::design::GpuVendor;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::NFD,
    wave: Wave::Monitoring,
    wanted,
    values,
    reasons: |_| {
        &[
            ("", "Installed once, here; the charts of the GPU and Network Operators would each bring another."),
            ("/worker/tolerations", "Its labels decide where operands run, so its workers run on every host."),
        ]
    },
    serves: &[],
};

fn wanted(c: &Compilation) -> Option<String> {
    let pools = &c.design.pools;
    pools.iter().find(|p| p.gpu.is_some()).or_else(|| pools.iter().find(|p| p.rdma.is_some())).map(|p| p.at.source.clone())
}

fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let mut classes = vec!["02", "0200", "0207", "0300", "0302"];
    // AMD's Instinct and Gaudi are processing accelerators, older Instinct display controllers.
    if d.pools.iter().any(|p| p.gpu.is_some() && d.gpu_vendor(p) != GpuVendor::Nvidia) {
        classes.extend(["0380", "12", "1200"]);
    }
    json!({
        "master": { "config": { "extraLabelNs": ["nvidia.com"] } },
        "worker": {
            "config": { "sources": { "pci": { "deviceClassWhitelist": classes, "deviceLabelFields": ["vendor"] } } },
            "tolerations": agents(c),
        },
        "prometheus": { "enable": false },
    })
}
