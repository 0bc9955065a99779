//! Volcano.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{custom_resources, parts};

custom_resources! {
    "scheduling.volcano.sh" / "v1beta1" {
        ClusterResourceScope Queue { spec: QueueSpec }
        NamespaceResourceScope PodGroup { spec: PodGroupSpec }
    }
}

custom_resources! {
    "topology.volcano.sh" / "v1alpha1" {
        ClusterResourceScope HyperNode { spec: HyperNodeSpec }
    }
}

parts! {
    QueueSpec {
        reclaimable: bool,
        capability: Option<BTreeMap<String, Quantity>>,
        deserved: BTreeMap<String, Quantity>,
        guarantee: Option<Guarantee>,
    }
    Guarantee { resource: BTreeMap<String, Quantity> }
    PodGroupSpec {
        min_member: i64,
        min_resources: BTreeMap<String, Quantity>,
        queue: String,
        priority_class_name: String,
        network_topology: Option<NetworkTopology>,
    }
    NetworkTopology { mode: &'static str, highest_tier_allowed: Option<i64> }
    HyperNodeSpec { tier: i64, tier_name: String, members: Vec<Member> }
    Member {
        #[serde(rename = "type")]
        kind: &'static str,
        selector: MemberSelector,
    }
    MemberSelector { label_match: Option<LabelSelector>, exact_match: Option<Exact> }
    Exact { name: String }
}
