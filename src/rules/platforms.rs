//! What a distribution, a pod network or a cloud does not have.

use super::Context;
use crate::base::{Diagnostic, Report, Span};
use crate::design::{Allocation, Cni, Distribution, Encapsulation, GpuVendor};

/// AIC1406.
pub fn lacking(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    if !cluster.sound {
        return;
    }
    let mut lacks = |span: Span, role: &str, message: String, help: &str| {
        let where_it_is = Diagnostic::error("AIC1406", message).at(span, role);
        report.push(where_it_is.at(cluster.at.field("distribution"), cluster.distribution.word()).help(help));
    };
    if let Some(pods) = &cluster.pods {
        let at = cluster.at.field("pods.cni");
        if pods.cni == Cni::AwsVpc && cluster.distribution != Distribution::Eks {
            lacks(at, "a pod network of AWS", format!("the VPC's pod network exists on eks, not on {}", cluster.distribution), "cni = cilium");
        }
        if pods.cni == Cni::Gke && cluster.distribution != Distribution::Gke {
            lacks(at, "a pod network of Google", format!("GKE's pod network exists on gke, not on {}", cluster.distribution), "cni = cilium");
        }
        if pods.cni == Cni::Calico && pods.encapsulation == Encapsulation::Geneve {
            let at = cluster.at.field("pods.encapsulation");
            lacks(at, "Geneve", "Calico has VXLAN and IP in IP, no Geneve".into(), "encapsulation = vxlan, or cni = cilium");
        }
    }
    for (_, pool) in cx.pools() {
        let Some(gpu) = &pool.gpu else { continue };
        let vendor = cx.design.gpu_vendor(pool);
        let mut only = |of: GpuVendor, field: &str, what: &str, help: &str| {
            if vendor != of {
                report.push(
                    Diagnostic::error("AIC1406", format!("pool {} asks for {what}, which GPUs of {vendor} do not have", pool.name))
                        .at(pool.at.field(field), what)
                        .at(pool.at.field("hosts"), format!("GPUs of {vendor}"))
                        .help(help),
                );
            }
        };
        if gpu.allocation == Allocation::Dra {
            only(GpuVendor::Nvidia, "gpu.allocation", "claims", "allocation = device_plugin");
        }
        if gpu.imex {
            only(GpuVendor::Nvidia, "gpu.imex", "IMEX", "delete it");
        }
        if gpu.mig.is_some() {
            only(GpuVendor::Nvidia, "gpu.mig", "MIG", "`partition { compute = … }` for GPUs of amd");
        }
        if gpu.sharing.is_some() {
            only(GpuVendor::Nvidia, "gpu.sharing", "sharing", "`partition { compute = … }` for GPUs of amd");
        }
        if gpu.partition.is_some() {
            only(GpuVendor::Amd, "gpu.partition", "partitions", "`mig { layout = … }` for GPUs of nvidia");
        }
        if gpu.allocation == Allocation::Dra && gpu.own_plugin_config() {
            report.push(
                Diagnostic::error("AIC1406", format!("pool {} claims its GPUs and cuts or shares them by the device plugin", pool.name))
                    .at(pool.at.field("gpu.allocation"), "claims")
                    .at(pool.at.field(if gpu.mig.is_some() { "gpu.mig" } else { "gpu.sharing" }), "the device plugin's")
                    .help("allocation = device_plugin, or whole GPUs"),
            );
        }
    }
}
