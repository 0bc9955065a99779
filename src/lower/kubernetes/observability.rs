//! `observability/`: what the charts do not scrape by themselves, and alerts that compare the cluster with the design.

use std::collections::BTreeSet;

use super::super::Artifacts;
use super::super::install::operators;
use super::super::kinds::monitoring::{Endpoint, NamespaceSelector, PodMonitor, PodMonitorSpec, PrometheusRule, PrometheusRuleSpec, Rule, RuleGroup};
use super::super::kinds::{labelled, texts};
use super::Input;
use crate::design::{Design, DeviceKind, GpuVendor, Pool, Rdma};
use crate::nodes::resources::rail_ports;
use crate::versions;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    if !d.cluster.observability {
        return;
    }
    let origin = (&d.cluster.at, "observability");
    let monitor = |name: &str, namespace: &'static str, selector: (&str, &str), port: &'static str| {
        let spec = PodMonitorSpec {
            namespace_selector: NamespaceSelector { match_names: vec![namespace] },
            selector: labelled(selector.0, selector.1),
            pod_metrics_endpoints: vec![Endpoint { port, interval: "30s" }],
        };
        input.maker.namespaced(origin, "monitoring", name, PodMonitor { spec, ..Default::default() })
    };
    let releases = operators::releases(input.compilation);
    let installed = |chart: &versions::Chart| releases.iter().any(|r| r.operator.chart.name == chart.name);
    let mut monitors = Vec::new();
    if installed(&versions::CILIUM) {
        monitors.push(monitor("cilium-agent", "kube-system", ("k8s-app", "cilium"), "prometheus"));
    }
    if installed(&versions::CERT_MANAGER) {
        monitors.push(monitor("cert-manager", "cert-manager", ("app.kubernetes.io/name", "cert-manager"), "http-metrics"));
    }
    if let Some(first) = monitors.first_mut() {
        first.reasons.push((String::new(), "What starts before the ServiceMonitor kind exists and cannot bring its own.".into()));
    }
    artifacts.objects("kubernetes/observability/podmonitors.yaml", monitors);
    let mut groups: Vec<RuleGroup> = input.gpu_pools().map(|(_, pool)| RuleGroup { name: pool.name.clone(), rules: pool_alerts(input, pool) }).collect();
    groups.extend([
        RuleGroup { name: "queues".into(), rules: queue_alerts(d) },
        RuleGroup { name: "storage".into(), rules: storage_alerts(d) },
        RuleGroup { name: "control-plane".into(), rules: control_plane_alerts(d) },
    ]);
    groups.retain(|group| !group.rules.is_empty());
    let name = d.cluster.name.replace('_', "-");
    let rule = input.maker.namespaced(origin, "monitoring", &name, PrometheusRule { spec: PrometheusRuleSpec { groups }, ..Default::default() });
    artifacts.objects("kubernetes/observability/rules.yaml", vec![rule]);
}

/// `Training` for `training`, `GpuSmall` for `gpu-small`.
fn title(name: &str) -> String {
    name.split(['-', '_']).filter(|w| !w.is_empty()).map(|w| w[..1].to_uppercase() + &w[1..]).collect()
}

fn queue_alerts(d: &Design) -> Vec<Rule> {
    let Some(first) = d.queues.first() else { return Vec::new() };
    let names = d.queues.iter().map(|q| q.name.as_str()).collect::<Vec<_>>().join("|");
    let expr = format!("kueue_pending_workloads{{status=\"active\", cluster_queue=~\"{names}\"}} > 0");
    vec![alert("QueueWaiting".into(), expr, "6h", "info", "Work has waited six hours in a queue.", &first.at.source)]
}

/// Fill against what the design counts as usable, and volumes that checkpoints are written to.
fn storage_alerts(d: &Design) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (storage, ceph) in d.storages.iter().filter_map(|s| Some((s, s.ceph()?))) {
        let fill = crate::base::quantity::to_f64(ceph.fill.value);
        rules.push(alert(
            format!("{}Fill", title(&storage.name)),
            format!("ceph_cluster_total_used_bytes / ceph_cluster_total_bytes > {fill}"),
            "10m",
            "critical",
            format!("{} is fuller than the {:.0}% that the design counts on.", storage.name, fill * 100.0),
            &storage.at.source,
        ));
    }
    for workload in &d.workloads {
        let Some(checkpoint) = &workload.checkpoint() else { continue };
        let volume = &d.volumes[checkpoint.volume];
        let of = format!("{{namespace=\"{}\", persistentvolumeclaim=\"{}\"}}", workload.namespace, volume.name);
        rules.push(alert(
            format!("{}CheckpointsFull", title(&workload.name)),
            format!("kubelet_volume_stats_used_bytes{of} / kubelet_volume_stats_capacity_bytes{of} > 0.95"),
            "10m",
            "warning",
            format!("Volume {} ({}, {} checkpoints of {} kept) is nearly full.", volume.name, volume.size, checkpoint.keep, checkpoint.size),
            &volume.at.source,
        ));
    }
    rules
}

fn control_plane_alerts(d: &Design) -> Vec<Rule> {
    let Some(plane) = d.control_plane.as_ref().filter(|cp| !cp.managed) else { return Vec::new() };
    let hosts = pattern(d, &plane.hosts);
    let count = plane.hosts.len();
    let mut rules = vec![alert(
        "EtcdFsyncSlow".into(),
        "histogram_quantile(0.99, sum by (instance, le) (rate(etcd_disk_wal_fsync_duration_seconds_bucket[5m]))) > 0.01",
        "10m",
        "critical",
        "etcd's fsync p99 is above 10 ms.",
        "control_plane.etcd",
    )];
    if count > 1 {
        let left = (count - 1) / 2 - 1;
        rules.push(alert(
            "ControlPlaneMemberDown".into(),
            format!("(count(kube_node_status_condition{{condition=\"Ready\", status=\"true\", node=~\"{hosts}\"}} == 1) or vector(0)) < {count}"),
            "5m",
            "critical",
            match left {
                0 => format!("One of {count} control-plane hosts is down: the next one stops the API."),
                n => format!("One of {count} control-plane hosts is down: etcd bears {n} more."),
            },
            "control_plane",
        ));
    }
    rules
}

fn alert(name: String, expr: impl Into<String>, time: &'static str, severity: &str, summary: impl Into<String>, source: &str) -> Rule {
    Rule {
        alert: name,
        expr: expr.into(),
        r#for: time,
        labels: texts([("severity", severity)]),
        annotations: texts([("summary", summary.into()), ("source", source.to_owned())]),
    }
}

/// The shape of a host's name: a part between dashes that is a number stands for any number.
fn shape(name: &str) -> String {
    name.split('-').map(|part| if part.bytes().all(|b| b.is_ascii_digit()) { "[0-9]+" } else { part }).collect::<Vec<_>>().join("-")
}

/// The names of hosts as a regular expression: their common shapes where no other host has one of them, else one by one.
fn pattern(design: &Design, hosts: &[usize]) -> String {
    let own: BTreeSet<String> = hosts.iter().map(|h| shape(&design.hosts[*h].name)).collect();
    let members: BTreeSet<usize> = hosts.iter().copied().collect();
    if design.hosts.iter().enumerate().any(|(id, h)| !members.contains(&id) && own.contains(&shape(&h.name))) {
        return hosts.iter().map(|h| design.hosts[*h].name.as_str()).collect::<Vec<_>>().join("|");
    }
    own.into_iter().collect::<Vec<_>>().join("|")
}

/// The counts of the design against what the kubelets advertise.
fn pool_alerts(input: &Input, pool: &Pool) -> Vec<Rule> {
    let d = input.design();
    let title = title(&pool.name);
    let hosts = pattern(d, &pool.hosts);
    let mut rules = Vec::new();
    // The kubelet advertises what a device plugin hands out, not what is claimed.
    let counted = |name: &str| !crate::nodes::resources::by_claim(d, pool, name);
    for (resource, amount) in crate::nodes::resources::gpus(d, pool, pool.hosts[0]).into_iter().filter(|(name, _)| counted(name)) {
        let total = amount * pool.hosts.len() as i128;
        let metric = resource.replace(['.', '/', '-'], "_");
        rules.push(alert(
            format!("{title}GpusMissing"),
            format!("(sum(kube_node_status_allocatable{{resource=\"{metric}\", node=~\"{hosts}\"}}) or vector(0)) < {total}"),
            "10m",
            "critical",
            format!("Fewer {resource} allocatable than the {total} of the design."),
            &pool.at.source,
        ));
    }
    if let Some((first, ..)) = pool.rdma.as_ref().and_then(|r| Some((rail_ports(d, pool, *pool.hosts.first()?).first()?.resource(r.mode), r)))
        && pool.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator())
    {
        let prefix = first.split('/').next().unwrap_or("").replace('.', "_");
        let pods = pool.rdma.as_ref().map_or(1, |r| if matches!(r.mode, Rdma::Shared { .. }) { r.mode.pods_per_port() } else { 1 });
        let total = pool.hosts.len() as i64 * pods;
        rules.push(alert(
            format!("{title}RailMissing"),
            format!("sum by (resource) (kube_node_status_allocatable{{resource=~\"{prefix}_rail[0-9]+\", node=~\"{hosts}\"}}) < {total}"),
            "10m",
            "critical",
            format!("A rail has fewer ports than the {} hosts of the design.", pool.hosts.len()),
            &format!("{}.rdma", pool.at.source),
        ));
    }
    rules.extend(rail_speed(input, pool, &hosts));
    rules.extend(gpu_alerts(d, pool, &title, &hosts));
    rules
}

/// What the exporter of the GPUs' vendor tells: faults, and idleness, which is an alert for people and never a reason to move a job.
fn gpu_alerts(d: &Design, pool: &Pool, title: &str, hosts: &str) -> Vec<Rule> {
    let (fault, summary, idle) = match d.gpu_vendor(pool) {
        GpuVendor::Nvidia => (
            format!("max by (Hostname, gpu) (DCGM_FI_DEV_XID_ERRORS{{Hostname=~\"{hosts}\"}}) > 0"),
            "A GPU reports an Xid error.",
            format!("avg by (Hostname) (DCGM_FI_DEV_GPU_UTIL{{Hostname=~\"{hosts}\"}}) < 10"),
        ),
        GpuVendor::Amd => (
            format!("min by (hostname, gpu_id) (gpu_health{{hostname=~\"{hosts}\"}}) < 1"),
            "The exporter calls a GPU unhealthy.",
            format!("avg by (hostname) (gpu_gfx_activity{{hostname=~\"{hosts}\"}}) < 10"),
        ),
        // Its exporter is not part of the bundle.
        GpuVendor::Intel => return Vec::new(),
    };
    let idle_text = "GPUs look idle: data loading, communication, checkpoints or the queue are the places to look.";
    let name = if d.gpu_vendor(pool) == GpuVendor::Nvidia { "GpuXid" } else { "GpuUnhealthy" };
    vec![
        alert(format!("{title}{name}"), fault, "1m", "warning", summary, &format!("{}.gpu", pool.at.source)),
        alert(format!("{title}GpusIdle"), idle, "2h", "info", idle_text, &pool.at.source),
    ]
}

/// A rail that came up slower than its port: a bad cable, or a switch port that fell back.
fn rail_speed(input: &Input, pool: &Pool, hosts: &str) -> Option<Rule> {
    let d = input.design();
    let first = *pool.hosts.first()?;
    let rails = crate::nodes::resources::rails(d, pool, first);
    // A port that is split over planes is a device a plane, whose names are not known.
    let (fabric, _) = rails.first().filter(|(fabric, _)| d.fabrics[*fabric].planes <= 1)?;
    let gbps = input.compilation.topology.fabrics[*fabric].host_gbps()?;
    let devices: Option<Vec<&str>> = rails
        .iter()
        .map(|(_, port)| match &d.hosts[first].system.devices[port.device as usize].kind {
            DeviceKind::Nic(nic) => nic.devices.get(port.port as usize).map(String::as_str),
            _ => None,
        })
        .collect();
    Some(alert(
        format!("{}RailSlow", title(&pool.name)),
        format!(
            "node_infiniband_rate_bytes_per_second{{device=~\"{}\"}} * on (namespace, pod) group_left (node) kube_pod_info{{node=~\"{hosts}\"}} < {}",
            devices?.join("|"),
            gbps * 125_000_000
        ),
        "5m",
        "critical",
        format!("A rail runs below the {gbps} Gb/s of its port."),
        &d.fabrics[*fabric].at.source,
    ))
}
