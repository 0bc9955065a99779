//! `observability/`: what the charts do not scrape by themselves, and alerts that compare the cluster with the design.

use std::collections::BTreeSet;

use super::super::Artifacts;
use super::super::kinds::monitoring::{Endpoint, NamespaceSelector, PodMonitor, PodMonitorSpec, PrometheusRule, PrometheusRuleSpec, Rule, RuleGroup};
use super::super::kinds::{labelled, texts};
use super::Input;
use crate::design::{Design, Pool};

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    if !d.cluster.observability {
        return;
    }
    let origin = (&d.cluster.at, "observability");
    let spec = PodMonitorSpec {
        namespace_selector: NamespaceSelector { match_names: vec!["kube-system"] },
        selector: labelled("k8s-app", "cilium"),
        pod_metrics_endpoints: vec![Endpoint { port: "prometheus", interval: "30s" }],
    };
    let monitor = input.maker.namespaced(origin, "monitoring", "cilium-agent", PodMonitor { spec, ..Default::default() });
    artifacts.objects("kubernetes/observability/podmonitors.yaml", vec![monitor]);
    let mut groups: Vec<RuleGroup> = input.gpu_pools().map(|(_, pool)| RuleGroup { name: pool.name.clone(), rules: pool_alerts(input, pool) }).collect();
    let xid = alert("GpuXid".into(), "max by (Hostname, gpu) (DCGM_FI_DEV_XID_ERRORS) > 0", "1m", "warning", "A GPU reports an Xid error.", "cluster");
    groups.push(RuleGroup { name: "hardware".into(), rules: vec![xid] });
    let name = d.cluster.name.replace('_', "-");
    let rule = input.maker.namespaced(origin, "monitoring", &name, PrometheusRule { spec: PrometheusRuleSpec { groups }, ..Default::default() });
    artifacts.objects("kubernetes/observability/rules.yaml", vec![rule]);
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

/// The names of a pool's hosts as a regular expression: their common shapes where no other host has one of them, else one by one.
fn pattern(design: &Design, pool: &Pool) -> String {
    let own: BTreeSet<String> = pool.hosts.iter().map(|h| shape(&design.hosts[*h].name)).collect();
    let members: BTreeSet<usize> = pool.hosts.iter().copied().collect();
    if design.hosts.iter().enumerate().any(|(id, h)| !members.contains(&id) && own.contains(&shape(&h.name))) {
        return pool.hosts.iter().map(|h| design.hosts[*h].name.as_str()).collect::<Vec<_>>().join("|");
    }
    own.into_iter().collect::<Vec<_>>().join("|")
}

/// The counts of the design against what the kubelets advertise.
fn pool_alerts(input: &Input, pool: &Pool) -> Vec<Rule> {
    let d = input.design();
    let title: String = pool.name.split('-').map(|w| w[..1].to_uppercase() + &w[1..]).collect();
    let hosts = pattern(d, pool);
    let mut rules = Vec::new();
    for (resource, amount) in crate::nodes::resources::gpus(d, pool, pool.hosts[0]) {
        let total = amount * pool.hosts.len() as i128;
        let metric = resource.replace(['.', '/', '-'], "_");
        rules.push(alert(
            format!("{title}GpusMissing"),
            format!("sum(kube_node_status_allocatable{{resource=\"{metric}\", node=~\"{hosts}\"}}) < {total}"),
            "10m",
            "critical",
            format!("Fewer {resource} allocatable than the {total} of the design."),
            &pool.at.source,
        ));
    }
    if pool.rdma.is_some() {
        rules.push(alert(
            format!("{title}RailMissing"),
            format!("sum by (resource) (kube_node_status_allocatable{{resource=~\"nvidia_com_rail[0-9]+\", node=~\"{hosts}\"}}) < {}", pool.hosts.len()),
            "10m",
            "critical",
            format!("A rail has fewer ports than the {} hosts of the design.", pool.hosts.len()),
            &format!("{}.rdma", pool.at.source),
        ));
    }
    // Low utilisation is an alert for people, never a reason to move a job.
    rules.push(alert(
        format!("{title}GpusIdle"),
        format!("avg by (Hostname) (DCGM_FI_DEV_GPU_UTIL{{Hostname=~\"{hosts}\"}}) < 10"),
        "2h",
        "info",
        "GPUs look idle: data loading, communication, checkpoints or the queue are the places to look.",
        &pool.at.source,
    ));
    rules
}
