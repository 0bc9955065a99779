//! Kueue: topology, flavors, quotas, queues.

use k8s_openapi::api::core::v1::Toleration;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{Texts, custom_resources, parts};

custom_resources! {
    "kueue.x-k8s.io" / "v1beta2" {
        ClusterResourceScope Topology { spec: TopologySpec }
        ClusterResourceScope ResourceFlavor { spec: ResourceFlavorSpec }
        ClusterResourceScope Cohort { spec: CohortSpec }
        ClusterResourceScope ClusterQueue { spec: ClusterQueueSpec }
        NamespaceResourceScope LocalQueue { spec: LocalQueueSpec }
        ClusterResourceScope WorkloadPriorityClass { value: i64, description: String }
    }
}

parts! {
    TopologySpec { levels: Vec<Level> }
    Level { node_label: String }
    ResourceFlavorSpec { topology_name: String, node_labels: Texts, tolerations: Vec<Toleration> }
    CohortSpec {}
    LocalQueueSpec { cluster_queue: String }
    ClusterQueueSpec {
        cohort_name: Option<String>,
        namespace_selector: LabelSelector,
        queueing_strategy: &'static str,
        preemption: Preemption,
        resource_groups: Vec<ResourceGroup>,
    }
    Preemption { within_cluster_queue: &'static str, reclaim_within_cohort: &'static str }
    ResourceGroup { covered_resources: Vec<String>, flavors: Vec<FlavorQuotas> }
    FlavorQuotas { name: String, resources: Vec<ResourceQuota> }
    ResourceQuota { name: String, nominal_quota: Quantity, borrowing_limit: Option<Quantity>, lending_limit: Option<Quantity> }
}
