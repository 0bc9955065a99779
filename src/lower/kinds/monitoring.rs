//! Prometheus Operator: what is scraped and what raises an alert.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{Texts, custom_resources, parts};

custom_resources! {
    "monitoring.coreos.com" / "v1" {
        NamespaceResourceScope PodMonitor { spec: PodMonitorSpec }
        NamespaceResourceScope PrometheusRule { spec: PrometheusRuleSpec }
    }
}

parts! {
    PodMonitorSpec { namespace_selector: NamespaceSelector, selector: LabelSelector, pod_metrics_endpoints: Vec<Endpoint> }
    NamespaceSelector { match_names: Vec<&'static str> }
    Endpoint { port: &'static str, interval: &'static str }
    PrometheusRuleSpec { groups: Vec<RuleGroup> }
    RuleGroup { name: String, rules: Vec<Rule> }
    Rule { alert: String, expr: String, r#for: &'static str, labels: Texts, annotations: Texts }
}
