//! What a distribution, a pod network or a cloud does not have.

use super::Context;
use crate::base::{Diagnostic, Report, Span};
use crate::design::{Allocation, Cni, Distribution, Encapsulation, GpuVendor, Ipam, Manager, Os, Pool, Rdma};

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
    if (cluster.os == Os::Talos) != (cluster.distribution == Distribution::Talos) {
        let message = format!("os = {} goes with distribution = talos and with no other", Os::Talos);
        lacks(cluster.at.field("os"), cluster.os.word(), message, "os and distribution of one kind");
    }
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
    let own = cx.design.control_plane.as_ref().filter(|cp| cp.sound && !cp.managed);
    let external = own.filter(|cp| cp.etcd_hosts.iter().any(|h| !cp.hosts.contains(h)));
    if let Some(control_plane) = external.filter(|_| !matches!(cluster.distribution, Distribution::Kubeadm | Distribution::K3s)) {
        report.push(
            Diagnostic::error("AIC1406", format!("{} runs etcd with its API servers and takes no other", cluster.distribution))
                .at(control_plane.at.field("etcd.hosts"), "other hosts than the API servers'")
                .at(cluster.at.field("distribution"), cluster.distribution.word())
                .help("delete `hosts` in `etcd`"),
        );
    }
    for storage in cx.design.storages.iter().filter(|s| s.sound && cluster.distribution == Distribution::Talos && s.on_disks().is_some()) {
        report.push(
            Diagnostic::error("AIC1406", format!("storage {} names its disks by a script on each host, and talos runs none", storage.name))
                .at(storage.at.head, "on disks of the hosts")
                .at(cluster.at.field("distribution"), "no shell")
                .help("`storage : external { class = … }`, or hosts of another distribution"),
        );
    }
    addresses(cx, report);
    groups(cx, report);
}

/// Who gives pods their addresses, and what that cannot do.
fn addresses(cx: &Context, report: &mut Report) {
    let d = cx.design;
    for (id, network) in d.networks.iter().enumerate().filter(|(_, n)| n.sound && n.rail.is_some() && n.ipam != Ipam::NvIpam) {
        let at = network.at.field("ipam");
        let wrong = |message: String| Diagnostic::error("AIC1406", message).at(at, network.ipam.word());
        let name = &network.name;
        if network.is_pairs() {
            let message = format!("network {name} has a pair of addresses for each port, and {} does not know which host is at which", network.ipam);
            report.push(wrong(message).help("ipam = nv_ipam"));
        }
        if network.ipam == Ipam::Dhcp && d.cluster.distribution == Distribution::Talos {
            let message = format!("network {name} wants a DHCP daemon beside the kubelet, and talos runs none");
            report.push(wrong(message).at(d.cluster.at.field("distribution"), "no units of your own").help("ipam = nv_ipam or whereabouts"));
        }
        if network.ipam != Ipam::Static {
            continue;
        }
        let on_it = |pool: &&Pool| pool.rdma.as_ref().is_some_and(|r| r.fabrics.contains(&d.networks[id].fabric));
        for pool in d.pools.iter().filter(on_it) {
            if !pool.rdma.as_ref().is_some_and(|r| matches!(r.mode, Rdma::Sriov { .. })) {
                let message = format!("a pod names its static address on network {name}, which only rdma : sriov passes on; pool {} has another", pool.name);
                report.push(wrong(message).at(pool.at.field("rdma"), "this one").help("rdma : sriov, or ipam = nv_ipam"));
            }
            let own = d.workloads.iter().filter(|w| w.rdma && d.pool_of(w).is_some_and(|p| std::ptr::eq(&d.pools[p], pool)));
            for workload in own.filter(|w| w.nodes > 1 || w.replicas > 1) {
                let message = format!("the pods of workload {} have one template, and network {name} wants an address in each", workload.name);
                report.push(wrong(message).at(workload.at.head, "several pods").help("ipam = nv_ipam"));
            }
        }
    }
}

/// Node groups: a cloud's image and its bootstrap leave some settings to nobody.
fn groups(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    let distribution = cluster.distribution;
    for (_, pool) in cx.pools() {
        let mut lacks = |field: &str, role: &str, message: String, help: &str| {
            report.push(
                Diagnostic::error("AIC1406", message).at(pool.at.field(field), role).at(cluster.at.field("distribution"), distribution.word()).help(help),
            );
        };
        if !distribution.is_cloud() {
            if pool.nodes.is_some() {
                lacks(
                    "nodes",
                    "a cloud's node group",
                    format!("{distribution} has no node groups: pool {} is made of hosts of your own", pool.name),
                    "delete `nodes { … }`",
                );
            }
            continue;
        }
        if pool.nodes.is_none() {
            let help = format!("nodes {{ min = {0}, max = {0} }}", pool.hosts.len());
            lacks("hosts", "hosts of a cloud", format!("pool {} on {distribution} is no node group", pool.name), &help);
        }
        if pool.labels.keys().any(|key| key.contains("node-restriction.kubernetes.io/")) {
            let message = format!("the groups of {distribution} cannot set protected labels, as pool {} asks", pool.name);
            lacks("labels", "a label that no kubelet may set", message, "a label without node-restriction.kubernetes.io");
        }
        if pool.memory_manager == Manager::Static {
            let message =
                format!("{distribution} reserves the kubelet's memory by the size of the machine: pool {} cannot split it over NUMA nodes", pool.name);
            lacks("memory.manager", "static", message, "memory { manager = none }");
        }
        let pages = match distribution {
            // Its groups have a setting for them.
            Distribution::Gke => false,
            _ => !pool.hugepages.is_empty(),
        };
        if pages {
            let message = format!("the image of {distribution} reserves no HugePages, pool {} asks for {}", pool.name, pool.hugepages[0].count);
            lacks("hugepages", "on the provider's image", message, "delete it: pods with EFA get the pages that the image reserves for it");
        }
        let most = match distribution {
            Distribution::Eks | Distribution::Aks => 250,
            Distribution::Gke => 256,
            _ => i64::MAX,
        };
        if pool.max_pods > most {
            lacks(
                "max_pods",
                "pods a host",
                format!("{distribution} runs at most {most} pods a host, pool {} wants {}", pool.name, pool.max_pods),
                &format!("max_pods = {most}"),
            );
        }
    }
}
