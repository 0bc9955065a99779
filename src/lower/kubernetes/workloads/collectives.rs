//! What the library of collectives is told: NCCL on NVIDIA's GPUs, RCCL (by the same names) on AMD's, HCCL on Gaudi.

use k8s_openapi::api::core::v1::EnvVar;

use super::super::super::kinds::variable;
use super::pod::Template;
use crate::design::{DeviceKind, Fabric, FabricWord, GpuVendor, Rdma, ShapeWord};

/// Variables of a pod with RDMA.
pub(super) fn environment(template: &Template) -> Vec<EnvVar> {
    let design = template.input.design();
    match design.gpu_vendor(template.pool) {
        GpuVendor::Nvidia | GpuVendor::Amd => nccl(template),
        GpuVendor::Intel => vec![variable("HCCL_SOCKET_IFNAME", "eth0"), variable("GLOO_SOCKET_IFNAME", "eth0")],
    }
}

/// Variables of which a reader asks why, and the reason; where the design sets one itself, it knows.
pub(super) fn reasons(template: &Template) -> Vec<(&'static str, &'static str)> {
    let set = |name: &str| template.workload.env.iter().any(|(n, _)| n == name);
    if template.input.design().gpu_vendor(template.pool) == GpuVendor::Intel || set("NCCL_NET") || set("NCCL_CROSS_NIC") {
        return Vec::new();
    }
    let cross = if rail_only(template) { "Rails do not meet: traffic stays on its own." } else { "The rails meet above the leaves." };
    let net = match mode(template) {
        Some(Rdma::Efa) => return vec![("FI_PROVIDER", "Without EFA libfabric stops instead of falling back to TCP in silence.")],
        Some(Rdma::HostDevice | Rdma::Dra) => {
            "Without an RDMA device NCCL stops instead of falling back to TCP in silence.\nNo NCCL_IB_HCA: the pod sees the ports that are its own and no others."
        }
        Some(Rdma::Sriov { .. }) => {
            "Without an RDMA device NCCL stops instead of falling back to TCP in silence.\nNo NCCL_IB_HCA: the pod sees its virtual functions only, under other names than the host's."
        }
        _ => "Without an RDMA device NCCL stops instead of falling back to TCP in silence.",
    };
    let mut out = vec![("NCCL_NET", net), ("NCCL_CROSS_NIC", cross)];
    if !devices(template).is_empty() {
        out.push(("NCCL_IB_HCA", "The pod sees all devices of its host: exactly those of the rails."));
    }
    out
}

fn mode(template: &Template) -> Option<Rdma> {
    template.pool.rdma.as_ref().map(|r| r.mode)
}

fn on_fabric(template: &Template, mut is: impl FnMut(&Fabric) -> bool) -> bool {
    template.pool.rdma.iter().flat_map(|r| &r.fabrics).any(|f| is(&template.input.design().fabrics[*f]))
}

fn rail_only(template: &Template) -> bool {
    on_fabric(template, |f| f.topology.word() == ShapeWord::RailOnly)
}

/// The RDMA devices of the rails by the host's names, where pods see those and the system says them.
fn devices(template: &Template) -> Vec<String> {
    let shared = mode(template).is_some_and(|m| matches!(m, Rdma::Shared { .. }));
    let Some(host) = template.pool.hosts.first().filter(|_| shared) else { return Vec::new() };
    let system = &template.input.design().hosts[*host].system;
    let device = |port: &crate::nodes::resources::RailPort| match &system.devices[port.port.device as usize].kind {
        DeviceKind::Nic(nic) if port.plane.is_none() => nic.devices.get(port.port.port as usize).cloned(),
        _ => None,
    };
    template.ports().iter().map(device).collect::<Option<_>>().unwrap_or_default()
}

fn nccl(template: &Template) -> Vec<EnvVar> {
    let sockets = || [variable("NCCL_SOCKET_IFNAME", "=eth0"), variable("GLOO_SOCKET_IFNAME", "eth0"), variable("NCCL_DEBUG", "WARN")];
    if mode(template) == Some(Rdma::Efa) {
        // The plugin aws-ofi-nccl of the image chooses its transport by itself.
        return std::iter::once(variable("FI_PROVIDER", "efa")).chain(sockets()).collect();
    }
    let mut env = vec![variable("NCCL_NET", "IB"), variable("NCCL_CROSS_NIC", if rail_only(template) { "0" } else { "2" })];
    let devices = devices(template);
    if !devices.is_empty() {
        env.push(variable("NCCL_IB_HCA", format!("={}", devices.join(","))));
    }
    env.extend(sockets());
    if on_fabric(template, |f| f.word() == FabricWord::Roce) {
        env.push(variable("NCCL_IB_ROCE_VERSION_NUM", "2"));
        env.push(variable("NCCL_IB_ADDR_FAMILY", "AF_INET"));
        // The mark that the switches sort by.
        let design = template.input.design();
        let congestion = template.pool.rdma.iter().flat_map(|r| &r.fabrics).find_map(|f| design.fabrics[*f].congestion());
        env.extend(congestion.map(|c| variable("NCCL_IB_TC", c.traffic_class().to_string())));
    }
    env
}
