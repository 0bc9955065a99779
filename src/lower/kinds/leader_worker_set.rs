//! LeaderWorkerSet: replicas that are groups of hosts.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{custom_resources, parts};

custom_resources! {
    "leaderworkerset.x-k8s.io" / "v1" {
        NamespaceResourceScope LeaderWorkerSet { spec: LeaderWorkerSetSpec }
    }
}

parts! {
    LeaderWorkerSetSpec {
        replicas: i64,
        rollout_strategy: RolloutStrategy,
        startup_policy: &'static str,
        network_config: NetworkConfig,
        leader_worker_template: LeaderWorkerTemplate,
    }
    RolloutStrategy { r#type: &'static str, rolling_update_configuration: RollingUpdate }
    RollingUpdate { max_unavailable: Option<IntOrString>, max_surge: Option<IntOrString> }
    NetworkConfig { subdomain_policy: &'static str }
    LeaderWorkerTemplate { size: i64, restart_policy: &'static str, leader_template: PodTemplateSpec, worker_template: PodTemplateSpec }
}
