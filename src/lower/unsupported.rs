//! What the language accepts and this version does not emit: an error of `build`, at the field that asks for it. Nothing is dropped in silence.

use super::distributions;
use crate::base::{Diagnostic, Span};
use crate::design::{
    Cni, Design, GpuVendor, Os, Provisioner, Raid, Rdma, Redundancy, Scheduler, ShapeWord, StorageWord, SwitchOs, TrainingForm, Word, WorkloadKind,
    WorkloadWord,
};

fn fault(span: Span, what: &str, instead: &str) -> Diagnostic {
    Diagnostic::error("AIC1490", format!("{what} is not emitted by this version")).at(span, "asked here").help(instead.to_owned())
}

/// Everything that is asked for and not emitted.
pub fn find(design: &Design) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let cluster = &design.cluster;
    let at = &cluster.at;
    if distributions::of(cluster.distribution).is_none() {
        out.push(fault(
            at.field("distribution"),
            &format!("distribution = {}", cluster.distribution),
            "distribution = kubeadm; `aic check` and `--emit plan` work for all",
        ));
    }
    if matches!(cluster.scheduler, Scheduler::Kai | Scheduler::Kube) {
        out.push(fault(at.field("scheduler"), &format!("scheduler = {}", cluster.scheduler), "scheduler = kueue"));
    }
    if let Some(pods) = cluster.pods.as_ref().filter(|p| p.cni == Cni::Gke) {
        out.push(fault(at.field("pods.cni"), &format!("cni = {}", pods.cni), "cni = cilium"));
    }
    if !matches!(cluster.os, Os::Ubuntu2404 | Os::Ubuntu2204 | Os::Talos) {
        out.push(fault(at.field("os"), &format!("os = {}", cluster.os), "os = ubuntu_24_04"));
    }
    if at.set("autoscaling.controller").is_some() {
        out.push(fault(at.field("autoscaling.controller"), "an autoscaling controller", "no autoscaling: a fixed number of replicas"));
    }
    fabrics(design, &mut out);
    pools(design, &mut out);
    storages(design, &mut out);
    workloads(design, &mut out);
    out
}

/// Settings of fabrics that nothing in the bundle would carry. What nobody wrote is not asked for.
fn fabrics(design: &Design, out: &mut Vec<Diagnostic>) {
    for fabric in &design.fabrics {
        for (field, what) in [("sharp", "reduction in the switches (SHARP)"), ("pkey", "a partition key")] {
            if let Some(span) = fabric.at.set(field) {
                out.push(fault(span, what, "delete it and set it on the switches by the site's own tool"));
            }
        }
        if fabric.topology.word() == ShapeWord::DragonflyPlus {
            out.push(fault(fabric.at.field("topology"), "topology : dragonfly_plus", "topology : fat_tree { tiers = 3 }"));
        }
        if let Some(span) = fabric.at.set("redundancy").filter(|_| fabric.redundancy() == Redundancy::Evpn) {
            out.push(fault(span, "redundancy = evpn", "redundancy = mlag"));
        }
        let cumulus = fabric.leaf.as_ref().is_some_and(|l| l.operating_system() == SwitchOs::Cumulus);
        if let Some(congestion) = fabric.congestion().filter(|_| cumulus) {
            // `nv set qos roce` pauses priority 3, to which DSCP 24 to 31 belong, and marks by ECN.
            if congestion.pfc_priority != 3 {
                out.push(fault(fabric.at.field("congestion.pfc_priority"), "another paused priority than 3 on Cumulus Linux", "pfc_priority = 3"));
            }
            if congestion.dscp / 8 != 3 {
                out.push(fault(fabric.at.field("congestion.dscp"), "a DSCP outside priority 3 on Cumulus Linux", "dscp = 26"));
            }
            if !congestion.ecn {
                out.push(fault(fabric.at.field("congestion.ecn"), "lossless RoCE without ECN on Cumulus Linux", "ecn = true"));
            }
        }
    }
    for network in &design.networks {
        if let Some(span) = network.at.set("pkey") {
            out.push(fault(span, "a partition key", "delete it; pods then use the default partition"));
        }
    }
}

fn pools(design: &Design, out: &mut Vec<Diagnostic>) {
    for pool in &design.pools {
        let at = &pool.at;
        if let Some(gpu) = &pool.gpu {
            let vendor = pool.hosts.first().and_then(|h| design.hosts[*h].system.gpu_model()).and_then(|g| g.vendor.as_deref());
            if let Some(vendor) = vendor.filter(|v| GpuVendor::parse(v).is_none()) {
                out.push(fault(at.field("gpu"), &format!("an operator for GPUs of {vendor}"), "GPUs of nvidia, amd or intel"));
            }
            if design.gpu_vendor(pool) == GpuVendor::Nvidia && !gpu.driver.contains('.') && crate::versions::driver(&gpu.driver) == gpu.driver {
                out.push(fault(
                    at.field("gpu.driver"),
                    &format!("driver branch {}, whose newest version is not in the table,", gpu.driver),
                    "a full version, such as \"580.126.20\"",
                ));
            }
        }
        if let Some(rdma) = pool.rdma.as_ref().filter(|r| !r.mode.by_network_operator() && !matches!(r.mode, Rdma::Dra | Rdma::Efa)) {
            out.push(fault(at.field("rdma"), &format!("rdma : {}", rdma.mode.word()), "rdma : sriov"));
        }
    }
}

fn storages(design: &Design, out: &mut Vec<Diagnostic>) {
    for storage in &design.storages {
        if storage.file_server().is_some() || storage.word() == StorageWord::S3 {
            out.push(fault(storage.at.head, &format!("storage of kind {}", storage.word()), "storage : external { class = \"…\" } names a class that exists"));
        }
        if storage.local().is_some_and(|l| l.provisioner != Provisioner::Topolvm || l.raid != Raid::None) {
            out.push(fault(storage.at.head, "static or striped local storage", "provisioner = topolvm, raid = none"));
        }
        if storage.gds {
            out.push(fault(storage.at.field("gds"), "GPUDirect Storage", "gds = false"));
        }
    }
    if design.storages.iter().filter(|s| s.ceph().is_some()).count() > 1 {
        out.push(fault(design.storages.iter().rfind(|s| s.ceph().is_some()).map_or(Span::default(), |s| s.at.head), "a second Ceph cluster", "one"));
    }
    for volume in design.volumes.iter().filter(|v| v.snapshots.is_some()) {
        out.push(fault(volume.at.field("snapshots"), "a schedule of snapshots", "snapshots by the site's own tool"));
    }
}

fn workloads(design: &Design, out: &mut Vec<Diagnostic>) {
    for workload in &design.workloads {
        let at = &workload.at;
        if workload.word() == WorkloadWord::Manifest {
            out.push(fault(at.head, "workload : manifest", "declare its image, cpu and memory"));
        }
        if let WorkloadKind::Training { form, .. } = workload.kind
            && form != TrainingForm::Jobset
        {
            out.push(fault(at.field("form"), &format!("form = {form}"), "form = jobset"));
        }
        if !workload.roles().is_empty() {
            out.push(fault(at.field(&format!("role.{}", workload.roles()[0].name)), "disaggregated serving", "a workload for each role"));
        }
        if !workload.autoscale().is_empty() {
            out.push(fault(at.field("autoscale"), "autoscaling", "a fixed number of replicas"));
        }
        let serves = workload.is_served();
        if workload.place.spread.is_some() && (!serves || workload.nodes > 1) {
            out.push(fault(at.field("place.spread"), "spreading pods that belong together", "`place { prefer = … }`, or no `spread`"));
        }
        if serves && workload.queue.is_some() {
            out.push(fault(at.field("queue"), "serving from a queue", "pool = …: a service keeps its GPUs"));
        }
        if workload.queue.is_none() && workload.place.slice.is_some() {
            out.push(fault(at.field("place.slice"), "a slice without a queue", "queue = …: Kueue places the gang"));
        }
        if workload.replicas > 1 && workload.is_training() {
            out.push(fault(at.field("replicas"), "several replicas of a training job", "replicas = 1"));
        }
        if workload.mounts.iter().any(|m| design.volumes[m.volume].per_host) {
            out.push(fault(at.field("mount"), "a claim a host", "per_host = false"));
        }
    }
    for queue in design.queues.iter().filter(|q| q.pools.len() > 1) {
        out.push(fault(queue.at.field("pool"), "a queue over several pools", "a queue a pool"));
    }
}
