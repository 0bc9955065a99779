//! Argo CD.

use serde_json::Value;

use super::{custom_resources, parts};

custom_resources! {
    "argoproj.io" / "v1alpha1" {
        NamespaceResourceScope Application { spec: ApplicationSpec }
    }
}

parts! {
    ApplicationSpec {
        project: &'static str,
        destination: Destination,
        source: Source,
        sync_policy: SyncPolicy,
        ignore_differences: Vec<Ignored>,
    }
    Destination { server: &'static str, namespace: &'static str }
    Source {
        #[serde(rename = "repoURL")]
        repository: &'static str,
        chart: &'static str,
        target_revision: &'static str,
        helm: Helm,
    }
    Helm { release_name: &'static str, values_object: Value }
    SyncPolicy { automated: Automated, sync_options: Vec<&'static str>, retry: Retry }
    Automated { prune: bool, self_heal: bool }
    Retry { limit: i64, backoff: Backoff }
    Backoff { duration: &'static str, factor: i64, max_duration: &'static str }
    Ignored { group: Option<&'static str>, kind: &'static str, jq_path_expressions: Vec<&'static str> }
}
