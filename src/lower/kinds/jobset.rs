//! JobSet: the gang of a training job.

use k8s_openapi::api::batch::v1::JobTemplateSpec;

use super::{custom_resources, parts};

custom_resources! {
    "jobset.x-k8s.io" / "v1alpha2" {
        NamespaceResourceScope JobSet { spec: JobSetSpec }
    }
}

parts! {
    JobSetSpec { network: Network, failure_policy: FailurePolicy, success_policy: SuccessPolicy, replicated_jobs: Vec<ReplicatedJob> }
    Network {
        #[serde(rename = "enableDNSHostnames")]
        enable_dns_hostnames: bool,
        subdomain: String,
        publish_not_ready_addresses: bool,
    }
    FailurePolicy { max_restarts: i64, restart_strategy: &'static str, rules: Vec<FailureRule> }
    FailureRule { name: &'static str, action: &'static str, on_job_failure_reasons: Vec<&'static str>, target_replicated_jobs: Vec<&'static str> }
    SuccessPolicy { operator: &'static str }
    ReplicatedJob { name: &'static str, replicas: i64, template: JobTemplateSpec }
}
