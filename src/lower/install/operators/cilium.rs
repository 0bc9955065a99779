//! Cilium: the pod network of clusters of one's own.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::super::super::kinds::kubeadm::API_PORT;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::{Cni, Encapsulation};
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::CILIUM,
    wave: Wave::PodNetwork,
    wanted: |c| c.design.cluster.installs(Cni::Cilium).then(|| "cluster.pods".into()),
    values,
    reasons: |_| {
        &[
            ("/k8sServiceHost", "kube-proxy is off, so the service address of the API server does not work before Cilium does: the endpoint itself."),
            ("/ipam", "From the node's podCIDR. The default, cluster-pool, takes 10.0.0.0/8 and overlaps management networks."),
            ("/MTU", "The device's: Cilium subtracts the encapsulation itself."),
            ("/devices", "The hosts' own network alone: Cilium stays off the RDMA ports."),
            ("/cni/exclusive", "Exclusive would rename the configuration of Multus."),
        ]
    },
    serves: &[Folder::Namespaces, Folder::Nodes],
};

/// Values of the chart, which distributions that package it take too.
pub fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let pods = d.cluster.pods.as_ref();
    let endpoint =
        d.control_plane.as_ref().and_then(|cp| cp.endpoint.clone().or_else(|| c.topology.node_addresses(d, &cp.hosts).into_iter().next())).unwrap_or_default();
    let mtu = pods.and_then(|p| p.network).map_or(1500, |n| d.networks[n].mtu);
    let mut value = json!({
        "kubeProxyReplacement": "true", "k8sServiceHost": endpoint, "k8sServicePort": API_PORT,
        "ipam": { "mode": "kubernetes" }, "k8s": { "requireIPv4PodCIDR": true },
    });
    match pods.map_or(Encapsulation::Vxlan, |p| p.encapsulation) {
        Encapsulation::None => {
            value["routingMode"] = "native".into();
            value["ipv4NativeRoutingCIDR"] = pods.map(|p| p.cidr.to_string()).into();
            value["autoDirectNodeRoutes"] = true.into();
        }
        tunnel @ (Encapsulation::Vxlan | Encapsulation::Geneve) => {
            value["routingMode"] = "tunnel".into();
            value["tunnelProtocol"] = tunnel.word().into();
        }
    }
    value["MTU"] = mtu.into();
    value["devices"] = json!(c.topology.node_interfaces(d));
    value["cni"] = json!({ "exclusive": d.pools.iter().all(|p| p.rdma.is_none()) });
    value["operator"] = json!({ "replicas": if d.hosts.len() > 1 { 2 } else { 1 } });
    value["prometheus"] = json!({ "enabled": d.cluster.observability, "serviceMonitor": { "enabled": false } });
    value["hubble"] = json!({ "enabled": true, "relay": { "enabled": false }, "ui": { "enabled": false } });
    value
}
