//! Calico: its operator and the Installation that it reads. Values: charts/tigera-operator v3.32 of projectcalico/calico; fields: the Installation
//! reference (docs.tigera.io/calico/latest/reference/installation/api).

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::{Cni, Encapsulation};
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::CALICO,
    wave: Wave::PodNetwork,
    wanted: |c| c.design.cluster.installs(Cni::Calico).then(|| "cluster.pods".into()),
    values,
    reasons: |_| REASONS,
    serves: &[Folder::Namespaces, Folder::Nodes],
};

/// Why, by pointer in the values.
const REASONS: &[(&str, &str)] = &[
    ("/installation/calicoNetwork/bgp", "Off: hosts reach each other by the encapsulation, and the fabric's routers are told nothing."),
    ("/installation/calicoNetwork/linuxDataplane", "iptables beside kube-proxy; eBPF would take its place and want the API server's address first."),
    ("/installation/calicoNetwork/mtu", "That of the pods: unlike Cilium, Calico subtracts nothing."),
    ("/installation/calicoNetwork/ipPools/0/blockSize", "pods.host_prefix: one block numbers the pods of one host."),
    ("/installation/calicoNetwork/nodeAddressAutodetectionV4", "The hosts' own network alone: the first interface found could be a rail."),
    ("/apiServer", "Nothing here uses projectcalico.org/v3; its aggregated API would be one more thing that API discovery waits for."),
];

/// Values of the chart, which distributions that package it take too.
pub fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let Some(pods) = &d.cluster.pods else { return json!({}) };
    let network = d.node_network().map(|n| &d.networks[n]);
    let mtu = pods.mtu.unwrap_or_else(|| network.map_or(1450, |n| n.mtu - pods.overhead(&n.cidr)));
    let (encapsulation, bgp) = match pods.encapsulation {
        Encapsulation::Vxlan => ("VXLAN", "Disabled"),
        // Without a tunnel, hosts learn each other's blocks by BGP.
        Encapsulation::None => ("None", "Enabled"),
        Encapsulation::Geneve => unreachable!("a rule refuses Geneve with Calico"),
    };
    let mut calico = json!({
        "bgp": bgp, "linuxDataplane": "Iptables", "mtu": mtu,
        "ipPools": [{
            "cidr": pods.cidr, "blockSize": pods.host_prefix.clamp(20, 32), "encapsulation": encapsulation, "natOutgoing": "Enabled", "nodeSelector": "all()",
        }],
    });
    if let Some(network) = network {
        calico["nodeAddressAutodetectionV4"] = json!({ "cidrs": [network.cidr] });
    }
    json!({
        "installation": { "enabled": true, "cni": { "type": "Calico" }, "calicoNetwork": calico },
        "apiServer": { "enabled": false }, "goldmane": { "enabled": false }, "whisker": { "enabled": false },
    })
}
