//! etcd on hosts of its own: a configuration a member, its unit, and the names that certificates need.

use serde_json::json;

use super::super::hosts::netplan;
use super::super::object::Document;
use super::super::{Artifacts, Content};
use super::Files;
use crate::topology::addresses::Owner;

/// Where the files of a client's certificate lie on the hosts of the control plane.
pub const CLIENT: [&str; 3] =
    ["/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/apiserver-etcd-client.crt", "/etc/kubernetes/pki/apiserver-etcd-client.key"];

/// Whether members run on other hosts than the API servers.
pub fn external(files: &Files) -> bool {
    files.control_plane.etcd_hosts.iter().any(|h| !files.control_plane.hosts.contains(h))
}

/// The members, each with its address.
fn members(files: &Files) -> Vec<(usize, String)> {
    let (c, d) = (files.c, &files.c.design);
    let address = |host: usize| d.node_network().and_then(|n| c.topology.address_on(host, n)).map(|a| a.address.to_string());
    files.control_plane.etcd_hosts.iter().filter_map(|host| Some((*host, address(*host)?))).collect()
}

/// Where clients find it.
pub fn endpoints(files: &Files) -> Vec<String> {
    members(files).into_iter().map(|(_, address)| format!("https://{address}:2379")).collect()
}

/// Writes `control-plane/etcd/`.
pub fn lower(files: &Files, artifacts: &mut Artifacts) {
    let d = &files.c.design;
    let members = members(files);
    let cluster: Vec<String> = members.iter().map(|(host, address)| format!("{}=https://{address}:2380", d.hosts[*host].name)).collect();
    let security = |own: &str| json!({ "cert-file": format!("/etc/etcd/pki/{own}.crt"), "key-file": format!("/etc/etcd/pki/{own}.key"), "trusted-ca-file": "/etc/etcd/pki/ca.crt", "client-cert-auth": true });
    let document = |(host, address): &(usize, String)| -> Document {
        let value = json!({
            "name": d.hosts[*host].name, "data-dir": "/var/lib/etcd",
            "listen-peer-urls": format!("https://{address}:2380"), "initial-advertise-peer-urls": format!("https://{address}:2380"),
            "listen-client-urls": format!("https://127.0.0.1:2379,https://{address}:2379"), "advertise-client-urls": format!("https://{address}:2379"),
            "listen-metrics-urls": format!("http://{address}:2381"),
            "initial-cluster": cluster.join(","), "initial-cluster-state": "new", "initial-cluster-token": d.cluster.name,
            "quota-backend-bytes": files.control_plane.etcd_quota.whole().to_string().parse::<i64>().unwrap_or(i64::MAX),
            "client-transport-security": security("server"), "peer-transport-security": security("peer"),
        });
        files.file(&value).because(
            "",
            format!("host: {}; /etc/etcd/etcd.yaml. Certificates server and peer name {}, {address} and 127.0.0.1.", d.hosts[*host].name, d.hosts[*host].name),
        )
    };
    artifacts.objects("control-plane/etcd/etcd.yaml", members.iter().map(document).collect());
    let own: Vec<usize> = members.iter().map(|(host, _)| *host).filter(|host| files.c.nodes.pool_of_host[*host].is_none()).collect();
    if !own.is_empty() {
        artifacts.files.insert("control-plane/etcd/netplan.yaml".into(), Content::Documents(netplan::of_hosts(files.c, &own)));
    }
    artifacts.text(
        "control-plane/etcd/etcd.service",
        "# /etc/systemd/system/etcd.service on the hosts of etcd\n[Unit]\nDescription=etcd\nAfter=network-online.target\nWants=network-online.target\n[Service]\nType=notify\nExecStart=/usr/local/bin/etcd --config-file /etc/etcd/etcd.yaml\nRestart=always\nRestartSec=5\nLimitNOFILE=65536\n[Install]\nWantedBy=multi-user.target\n",
    );
    debug_assert!(members.iter().all(|(host, _)| files.c.topology.addresses.iter().any(|a| a.owner == Owner::Host(*host))), "a member has an address");
}

/// What is done with it, for the page of the control plane.
pub fn step(files: &Files) -> Option<String> {
    external(files).then(|| {
        format!(
            "etcd first, on {}: `etcd/etcd.yaml` (each its own document), `etcd/etcd.service`, and certificates of one authority (`kubeadm init phase certs etcd-ca`, `etcd-server`, `etcd-peer`, `apiserver-etcd-client`; names as the documents say). The authority's certificate and the client's pair to {} of every control-plane host.",
            files.control_plane.etcd_hosts.iter().map(|h| files.c.design.hosts[*h].name.as_str()).collect::<Vec<_>>().join(", "),
            CLIENT.map(|path| format!("`{path}`")).join(", "),
        )
    })
}
