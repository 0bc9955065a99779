//! NVIDIA's DRA driver: GPUs by claims and NVLink domains. Values: the chart of kubernetes-sigs/dra-driver-nvidia-gpu 0.4 (`gpuResourcesEnabledOverride`
//! confirms that no device plugin hands out the same GPUs).

use serde_json::{Value, json};

use super::super::super::kinds::affinity_of;
use super::super::super::kinds::agent_tolerations;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::{Allocation, GpuVendor, Pool};
use crate::nodes::pool_label;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::NVIDIA_DRA,
    wave: Wave::Drivers,
    wanted: |c| pools(c).next().map(|(_, p)| format!("{}.gpu.allocation", p.at.source)),
    values,
    reasons: |_| {
        &[
            ("/nvidiaDriverRoot", "Where the GPU Operator's driver container has its files; / where the hosts' image brings the driver."),
            ("/gpuResourcesEnabledOverride", "Stands for: no device plugin runs on these hosts."),
            ("/resources/computeDomains", "IMEX channels for NVLink between hosts."),
            ("/kubeletPlugin/affinity", "The pools whose GPUs are claimed."),
        ]
    },
    serves: &[],
};

/// The pools whose GPUs, or whose NVLink domains, are claimed.
fn pools(c: &Compilation) -> impl Iterator<Item = (usize, &Pool)> {
    let claimed = |p: &Pool| p.gpu.as_ref().is_some_and(|gpu| gpu.allocation == Allocation::Dra || gpu.imex);
    c.design.pools.iter().enumerate().filter(move |(_, p)| claimed(p) && c.design.gpu_vendor(p) == GpuVendor::Nvidia)
}

fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let gpus = pools(c).any(|(_, p)| p.gpu.as_ref().is_some_and(|gpu| gpu.allocation == Allocation::Dra));
    let domains = pools(c).any(|(_, p)| p.gpu.as_ref().is_some_and(|gpu| gpu.imex));
    let names: Vec<&str> = pools(c).map(|(_, p)| p.name.as_str()).collect();
    let label = pools(c).next().map_or(String::new(), |(_, p)| pool_label(d, p));
    json!({
        "nvidiaDriverRoot": if d.cluster.distribution.brings_gpu_driver() { "/" } else { "/run/nvidia/driver" },
        "gpuResourcesEnabledOverride": gpus,
        "resources": { "gpus": { "enabled": gpus }, "computeDomains": { "enabled": domains } },
        "kubeletPlugin": {
            "affinity": affinity_of(&label, &names),
            "tolerations": agent_tolerations(pools(c).flat_map(|(id, _)| &c.nodes.taints[id])),
        },
    })
}
