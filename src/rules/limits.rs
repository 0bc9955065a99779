//! Limits of Kubernetes: names, versions, node counts.

use super::Context;
use crate::base::names::{dns_label_fault, grouped};
use crate::base::{Diagnostic, Report};
use crate::design::{At, Cni, Distribution};

/// AIC1401. Source: Kubernetes, "Considerations for large clusters": no more than 5,000 nodes.
pub fn node_count(cx: &Context, report: &mut Report) {
    let nodes = cx.nodes.pool_of_host.iter().filter(|p| p.is_some()).count();
    if nodes > 5000 && cx.design.cluster.sound {
        report.push(
            Diagnostic::warning("AIC1401", format!("the cluster has {} nodes, Kubernetes documents up to 5,000", grouped(nodes as i128)))
                .at(cx.design.cluster.at.head, "one cluster")
                .help("several clusters; @allow(AIC1401, \"why\") if the control plane is built for it"),
        );
    }
}

/// AIC1402.
pub fn names(cx: &Context, report: &mut Report) {
    let d = cx.design;
    // The longest suffix that lowering adds to a name of that kind.
    let mut check = |kind: &str, name: &str, at: &At, suffix: usize| {
        if let Some(fault) = dns_label_fault(name, 63 - suffix) {
            report.push(
                Diagnostic::error("AIC1402", format!("{kind} {name} cannot be a Kubernetes name: {fault}"))
                    .at(at.field(if kind == "host" { "hostname" } else { "namespace_" }), "here")
                    .help("lower-case letters, digits and `_` (which becomes `-`)"),
            );
        }
    };
    d.hosts.iter().filter(|h| h.sound).for_each(|h| check("host", &h.name, &h.at, 0));
    d.pools.iter().filter(|p| p.sound).for_each(|p| check("pool", &p.name, &p.at, "nvidia-".len()));
    d.workloads.iter().filter(|w| w.sound).for_each(|w| check("workload", &w.name, &w.at, "-worker-0-00000".len()));
    d.queues.iter().filter(|q| q.sound).for_each(|q| check("queue", &q.name, &q.at, 0));
    d.storages.iter().filter(|s| s.sound).for_each(|s| check("storage", &s.name, &s.at, "-cluster".len()));
    d.volumes.iter().filter(|v| v.sound).for_each(|v| check("volume", &v.name, &v.at, 0));
    d.networks.iter().filter(|n| n.sound).for_each(|n| check("network", &n.name, &n.at, 0));
    let mut seen = std::collections::BTreeMap::new();
    for host in d.hosts.iter().filter(|h| h.sound) {
        if let Some(first) = seen.insert(&host.name, host) {
            report.push(
                Diagnostic::error("AIC1402", format!("two hosts are called {}", host.name))
                    .at(host.at.field("hostname"), "again here")
                    .at(first.at.field("hostname"), "first here")
                    .help("a hostname for each: `hostname = \"gpu-{index:03}\"`"),
            );
        }
    }
    for (name, at) in
        d.workloads.iter().filter(|w| w.sound).map(|w| (&w.namespace, &w.at)).chain(d.queues.iter().filter(|q| q.sound).map(|q| (&q.namespace, &q.at)))
    {
        if let Some(fault) = dns_label_fault(name, 63) {
            report.push(
                Diagnostic::error("AIC1402", format!("namespace {name} cannot be a Kubernetes name: {fault}"))
                    .at(at.field("namespace"), "here")
                    .help("lower-case letters, digits and `-`"),
            );
        }
    }
}

/// AIC1403.
pub fn version(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    if !cluster.sound {
        return;
    }
    if crate::versions::kubernetes(&cluster.kubernetes).is_none() {
        let known: Vec<&str> = crate::versions::KUBERNETES.iter().map(|v| v.minor).collect();
        report.push(
            Diagnostic::error("AIC1403", format!("Kubernetes {} is not among the versions that aic knows", cluster.kubernetes))
                .at(cluster.at.field("kubernetes"), "here")
                .help(format!("one of {}", known.join(", "))),
        );
    }
}

/// AIC1404.
pub fn region(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    if cluster.sound && matches!(cluster.distribution, Distribution::Eks | Distribution::Gke | Distribution::Aks) && cluster.region.is_none() {
        report.push(
            Diagnostic::error("AIC1404", format!("a cluster on {} has a region", cluster.distribution))
                .at(cluster.at.field("distribution"), "a cloud")
                .at(cluster.at.head, "without `region`")
                .help("region = \"us-east-2\""),
        );
    }
}

/// AIC1405.
pub fn pod_network(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    let own = matches!(cluster.distribution, Distribution::Eks | Distribution::Gke | Distribution::Aks | Distribution::K3s | Distribution::Rke2);
    if !cluster.sound {
        return;
    }
    if !own && (cluster.pods.is_none() || cluster.services.is_none()) {
        let missing = if cluster.pods.is_none() { "`pods { cidr = 10.244.0.0/16 }`" } else { "`services { cidr = 10.96.0.0/16 }`" };
        report.push(
            Diagnostic::error(
                "AIC1405",
                format!("cluster {} says nothing of its {}", cluster.name, if cluster.pods.is_none() { "pods' network" } else { "services' range" }),
            )
            .at(cluster.at.head, format!("without {}", if cluster.pods.is_none() { "`pods`" } else { "`services`" }))
            .at(cluster.at.field("distribution"), format!("{} has no default", cluster.distribution))
            .help(missing),
        );
    }
    if let Some(pods) = &cluster.pods
        && pods.network.is_none()
        && cx.design.networks.len() > 1
        && pods.cni != Cni::AwsVpc
        && pods.cni != Cni::Gke
    {
        report.push(
            Diagnostic::error("AIC1405", "the design has several networks; the pods' own is not named")
                .at(cluster.at.field("pods"), "without `network`")
                .help("network = the one that carries node addresses"),
        );
    }
}
