//! kube-prometheus-stack: what measures, and what asks people.

use serde_json::{Value, json};

use super::{Operator, Wave};
use crate::Compilation;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::PROMETHEUS,
    wave: Wave::Monitoring,
    wanted: |c| c.design.cluster.observability.then(|| "cluster.observability".into()),
    values,
    reasons: |c| if c.design.cluster.replaces_kube_proxy() { REPLACED } else { KEPT },
    serves: &[],
};

const MONITORS: (&str, &str) =
    ("/prometheus/prometheusSpec/serviceMonitorSelectorNilUsesHelmValues", "Monitors of all releases are read, not this one's only.");
const ETCD: (&str, &str) = ("/kubeEtcd/service", "etcd's plain metrics port; the client port needs a certificate.");
const EXPORTER: (&str, &str) = ("/prometheus-node-exporter/tolerations", "Every host is measured, tainted or not.");
const REPLACED: &[(&str, &str)] = &[MONITORS, ("/kubeProxy", "Cilium replaces it."), ETCD, EXPORTER];
const KEPT: &[(&str, &str)] = &[MONITORS, ("/kubeProxy", "Its metrics listen on the host's own loopback."), ETCD, EXPORTER];

fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let retention = d
        .cluster
        .retention
        .map_or("15d".to_owned(), |r| format!("{}h", crate::base::quantity::decimal(r.value / crate::base::Rational::from_integer(3600), 0)));
    let addresses = d.control_plane.as_ref().map_or_else(Vec::new, |cp| c.topology.node_addresses(d, &cp.hosts));
    // A provider's control plane is nobody's to scrape.
    let managed = addresses.is_empty();
    let etcd =
        if managed { json!({ "enabled": false }) } else { json!({ "enabled": true, "endpoints": addresses, "service": { "port": 2381, "targetPort": 2381 } }) };
    let component = if managed { json!({ "enabled": false }) } else { json!({ "endpoints": addresses }) };
    json!({
        "crds": { "enabled": true },
        "prometheus": { "prometheusSpec": {
            "replicas": 2, "retention": retention, "retentionSize": "90GB", "storageSpec": { "emptyDir": { "sizeLimit": "100Gi" } },
            "resources": { "requests": { "cpu": "4", "memory": "32Gi", "ephemeral-storage": "110Gi" }, "limits": { "memory": "32Gi" } },
            "ruleSelectorNilUsesHelmValues": false, "serviceMonitorSelectorNilUsesHelmValues": false,
            "podMonitorSelectorNilUsesHelmValues": false, "probeSelectorNilUsesHelmValues": false,
        } },
        "alertmanager": { "alertmanagerSpec": { "replicas": 3 } },
        "grafana": { "enabled": true }, "kubeProxy": { "enabled": false },
        "kubeEtcd": etcd, "kubeControllerManager": component, "kubeScheduler": component,
        "prometheus-node-exporter": { "tolerations": [{ "operator": "Exists", "effect": "NoSchedule" }] },
    })
}
