//! The control plane and the services beside it.

use super::Context;
use crate::base::{Diagnostic, Report};
use crate::design::{DeviceKind, PoolRole, WorkloadWord};

/// AIC1301.
pub fn shared(cx: &Context, report: &mut Report) {
    let Some(control_plane) = cx.design.control_plane.as_ref().filter(|c| c.sound) else { return };
    let with_gpus = control_plane.hosts.iter().map(|h| cx.host(*h)).find(|h| h.system.gpu_model().is_some());
    if let Some(host) = with_gpus {
        report.push(
            Diagnostic::error("AIC1301", format!("host {} carries the control plane and {} GPUs", host.name, host.system.gpus().count()))
                .at(control_plane.at.head, "control plane")
                .at(host.at.head, format!("{} with GPUs", host.system.name))
                .why("a job that fills the memory or the disk of its host takes the API server and etcd with it")
                .help("hosts of their own for the control plane; @allow(AIC1301, \"why\") in a lab"),
        );
        return;
    }
    for (_, pool) in cx.pools().filter(|(_, p)| p.role == PoolRole::Declared) {
        if let Some(host) = pool.hosts.iter().find(|h| control_plane.hosts.contains(h)) {
            report.push(
                Diagnostic::error("AIC1301", format!("host {} is in pool {} and carries the control plane", cx.host(*host).name, pool.name))
                    .at(control_plane.at.head, "control plane")
                    .at(pool.at.field("hosts"), "pool")
                    .help("hosts of their own; @allow(AIC1301, \"why\") in a lab"),
            );
        }
    }
}

/// AIC1302.
pub fn even(cx: &Context, report: &mut Report) {
    let Some(control_plane) = cx.design.control_plane.as_ref().filter(|c| c.sound && !c.managed) else { return };
    let members = control_plane.etcd_hosts.len();
    if members > 0 && members.is_multiple_of(2) {
        let field = if control_plane.at.set("etcd.hosts").is_some() { "etcd.hosts" } else { "hosts" };
        let message = match members {
            2 => "two etcd members lose quorum with one failure, as one member does".to_owned(),
            n => format!("{n} etcd members survive {} failures, as {} do", (n - 1) / 2, n - 1),
        };
        report.push(
            Diagnostic::error("AIC1302", message).at(control_plane.at.field(field), format!("{members} hosts")).help("3 (survives one) or 5 (survives two)"),
        );
    }
}

/// AIC1303.
pub fn services(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let uses = workload.gpus > 0 || workload.slice.is_some() || workload.roles().iter().any(|r| r.gpus > 0);
        if pool.gpu.is_some() && !uses && workload.word() != WorkloadWord::Manifest {
            report.push(
                Diagnostic::warning("AIC1303", format!("workload {} runs on the GPU hosts of pool {} and uses no GPU", workload.name, pool.name))
                    .at(workload.at.head, "no GPU asked")
                    .at(pool.at.field("gpu"), "GPU hosts")
                    .why("its CPU and memory are missing to the pods that do, and its host cannot be drained for them")
                    .help("a pool of hosts without GPUs"),
            );
        }
    }
}

/// AIC1304.
pub fn endpoint(cx: &Context, report: &mut Report) {
    let Some(control_plane) = cx.design.control_plane.as_ref().filter(|c| c.sound && !c.managed) else { return };
    if control_plane.hosts.len() > 1 && control_plane.endpoint.is_none() {
        report.push(
            Diagnostic::error("AIC1304", format!("{} API servers have no common address", control_plane.hosts.len()))
                .at(control_plane.at.head, "without `endpoint`")
                .why("every kubelet would hang on one of them")
                .help("endpoint = an address of the hosts' network that is reserved"),
        );
    }
}

/// AIC1305.
pub fn etcd_disk(cx: &Context, report: &mut Report) {
    let Some(control_plane) = cx.design.control_plane.as_ref().filter(|c| c.sound && !c.managed && c.etcd_hosts.len() > 1) else { return };
    match &control_plane.etcd_disk {
        None => {
            // A design that has nothing but a boot disk in these hosts cannot follow the advice by a field alone.
            report.push(
                Diagnostic::advice("AIC1305", "etcd shares the boot disk of its hosts")
                    .at(control_plane.at.head, "without `etcd { disk = … }`")
                    .why("a log or an image pull delays fsync beyond 10 ms, leaders change, and the API stalls (etcd, hardware recommendations)")
                    .help("etcd { disk = … } with an NVMe of its own"),
            );
        }
        Some(disk) => {
            if let Some(host) = control_plane.etcd_hosts.iter().map(|h| cx.host(*h)).find(|h| h.system.disks(disk).next().is_none()) {
                let known: Vec<&str> = host.system.devices.iter().filter(|d| matches!(d.kind, DeviceKind::Disk(_))).map(|d| d.name.as_str()).collect();
                report.push(
                    Diagnostic::error("AIC1305", format!("host {} has no disk called {disk}", host.name))
                        .at(control_plane.at.field("etcd.disk"), "asked here")
                        .at(host.at.head, format!("{} has {}", host.system.name, known.join(", ")))
                        .help(format!("disk = {}", known.first().unwrap_or(&"boot"))),
                );
            }
        }
    }
}

/// AIC1306.
pub fn untainted(cx: &Context, report: &mut Report) {
    let declared: Vec<_> = cx.pools().filter(|(_, p)| p.role == PoolRole::Declared).collect();
    if !declared.is_empty() && declared.iter().all(|(id, _)| !cx.nodes.taints[*id].is_empty()) && cx.design.cluster.sound {
        report.push(
            Diagnostic::advice("AIC1306", "every pool is tainted: operators, monitoring and the registry find no host")
                .at(cx.design.cluster.at.head, "no pool without taint")
                .help("a pool of hosts without GPUs: `pool services { hosts = … }`"),
        );
    }
}
