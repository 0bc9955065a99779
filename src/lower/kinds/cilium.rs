//! Cilium's own policies.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{custom_resources, parts};

custom_resources! {
    "cilium.io" / "v2" {
        NamespaceResourceScope CiliumNetworkPolicy { spec: CiliumNetworkPolicySpec }
    }
}

parts! {
    CiliumNetworkPolicySpec { endpoint_selector: LabelSelector, egress: Vec<Egress> }
    Egress { to_entities: Vec<&'static str>, to_ports: Vec<Ports> }
    Ports { ports: Vec<Port> }
    Port { port: String, protocol: &'static str }
}
