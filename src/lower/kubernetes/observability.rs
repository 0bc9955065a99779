//! `observability/`: what the charts do not scrape by themselves, and alerts that compare the cluster with the design.

use serde_json::{Value, json};

use super::super::Artifacts;
use super::Input;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    if !d.cluster.observability {
        return;
    }
    let at = &d.cluster.at;
    let monitor = input.maker.object(
        "monitoring.coreos.com/v1",
        "PodMonitor",
        Some("monitoring"),
        "cilium-agent",
        at,
        "observability",
        json!({ "spec": {
            "namespaceSelector": { "matchNames": ["kube-system"] },
            "selector": { "matchLabels": { "k8s-app": "cilium" } },
            "podMetricsEndpoints": [{ "port": "prometheus", "interval": "30s" }],
        } }),
    );
    artifacts.objects("kubernetes/observability/podmonitors.yaml", vec![monitor]);
    let alert = |name: String, expr: String, time: &str, severity: &str, summary: String, source: &str| json!({ "alert": name, "expr": expr, "for": time, "labels": { "severity": severity }, "annotations": { "summary": summary, "source": source } });
    let title = |name: &str| name.split('-').map(|w| w[..1].to_uppercase() + &w[1..]).collect::<String>();
    let mut groups: Vec<Value> = Vec::new();
    for (_, pool) in input.gpu_pools() {
        let mut rules = Vec::new();
        for (resource, amount) in crate::nodes::resources::gpus(d, pool, pool.hosts[0]) {
            let total = amount * pool.hosts.len() as i128;
            let metric = resource.replace(['.', '/', '-'], "_");
            let nodes = pool.hosts.iter().map(|h| d.hosts[*h].name.as_str()).collect::<Vec<_>>().join("|");
            let selector = if pool.hosts.len() <= 64 { format!(", node=~\"{nodes}\"") } else { String::new() };
            rules.push(alert(
                format!("{}GpusMissing", title(&pool.name)),
                format!("sum(kube_node_status_allocatable{{resource=\"{metric}\"{selector}}}) < {total}"),
                "10m",
                "critical",
                format!("Fewer {resource} allocatable than the {total} of the design."),
                &pool.at.source,
            ));
        }
        if pool.rdma.is_some() {
            rules.push(alert(
                format!("{}RailMissing", title(&pool.name)),
                format!("sum by (resource) (kube_node_status_allocatable{{resource=~\"nvidia_com_rail[0-9]+\"}}) < {}", pool.hosts.len()),
                "10m",
                "critical",
                format!("A rail has fewer ports than the {} hosts of the design.", pool.hosts.len()),
                &format!("{}.rdma", pool.at.source),
            ));
        }
        // Low utilisation is an alert for people, never a reason to move a job.
        rules.push(alert(
            format!("{}GpusIdle", title(&pool.name)),
            "avg by (Hostname) (DCGM_FI_DEV_GPU_UTIL) < 10".into(),
            "2h",
            "info",
            "GPUs look idle: data loading, communication, checkpoints or the queue are the places to look.".into(),
            &pool.at.source,
        ));
        groups.push(json!({ "name": pool.name, "rules": rules }));
    }
    let hardware = vec![alert(
        "GpuXid".into(),
        "max by (Hostname, gpu) (DCGM_FI_DEV_XID_ERRORS) > 0".into(),
        "1m",
        "warning",
        "A GPU reports an Xid error.".into(),
        "cluster",
    )];
    groups.push(json!({ "name": "hardware", "rules": hardware }));
    let rule = input.maker.object(
        "monitoring.coreos.com/v1",
        "PrometheusRule",
        Some("monitoring"),
        &d.cluster.name.replace('_', "-"),
        at,
        "observability",
        json!({ "spec": { "groups": groups } }),
    );
    artifacts.objects("kubernetes/observability/rules.yaml", vec![rule]);
}
