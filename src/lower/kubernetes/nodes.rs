//! `nodes/`: labels as patches of Node, taints by a script.

use std::fmt::Write as _;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::super::kinds::texts;
use super::super::object::Document;
use super::super::{Artifacts, Content};
use super::Input;
use crate::design::{Distribution, PoolRole};
use crate::nodes::pool_label;

const APPLY: &str = r#"#!/bin/sh
# Labels (and Rook's annotation) of the hosts that have joined. Idempotent; needs kubectl and a cluster admin.
# A Node that is applied before its host joins would be created, and a kubelet that finds its Node adds no registerWithTaints.
set -eu
cd "$(dirname "$0")"
joined=$(kubectl get nodes -o name)
kubectl kustomize . | awk -v joined="$joined" '
  BEGIN { n = split(joined, a, "\n"); for (i = 1; i <= n; i++) known[a[i]] = 1; RS = "---\n"; ORS = "---\n" }
  { match($0, /\n  name: [a-z0-9.-]+/); name = substr($0, RSTART + 9, RLENGTH - 9)
    if (("node/" name) in known) print; else printf "not joined yet: %s\n", name > "/dev/stderr" }' |
  kubectl apply --server-side --field-manager=aic-nodes -f -
./taints.sh
"#;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let nodes = &input.compilation.nodes;
    // A cloud names its hosts itself, and its groups carry labels and taints.
    if d.pools.iter().all(|p| p.nodes.is_some()) {
        return;
    }
    let mut script = String::from(
        "#!/bin/sh\n# Taints of hosts that are already in the cluster; new ones bring them (registerWithTaints in hosts/<pool>/kubelet.yaml).\n# spec.taints is one atomic list that cordon and the node-lifecycle controller write too, so it is never applied as a patch.\nset -eu\ntaint() { kubectl taint nodes -l \"$1\" \"$2\" --overwrite; }\n",
    );
    for (id, pool) in d.pools.iter().enumerate().filter(|(_, p)| p.nodes.is_none()) {
        let documents: Vec<Document> = pool
            .hosts
            .iter()
            .map(|host| {
                let h = &d.hosts[*host];
                let node = Node {
                    metadata: ObjectMeta {
                        name: Some(h.name.clone()),
                        labels: Some(nodes.labels[*host].clone()),
                        annotations: monitor_address(input, *host).map(|address| texts([("network.rook.io/mon-ip", address)])),
                        ..Default::default()
                    },
                    ..Default::default()
                };
                Document::new(&node, "v1", "Node", h.at.source.clone(), h.at.head)
            })
            .collect();
        artifacts.objects(format!("kubernetes/nodes/{}.yaml", pool.name), documents);
        if nodes.taints[id].is_empty() {
            let _ = writeln!(script, "# {}: no taint; operators and everything without a pool run there.", pool.name);
        }
        if pool.role == PoolRole::ControlPlane {
            let whose =
                if d.cluster.distribution == Distribution::Kubeadm { "kubeadm's own taint" } else { "The taint that Kubernetes knows a control plane by" };
            let _ = writeln!(script, "# {whose}, and no second one: CoreDNS, the CNI's operator and kube-vip tolerate exactly this key.");
        }
        for taint in &nodes.taints[id] {
            let _ = writeln!(script, "taint {}={} {}", pool_label(d, pool), pool.name, taint.text());
        }
    }
    artifacts.files.insert("kubernetes/nodes/apply.sh".into(), Content::Text(APPLY.into()));
    artifacts.text("kubernetes/nodes/taints.sh", script);
}

/// With host networking Rook takes a monitor's address from the Node object, not from addressRanges (rook#14829).
fn monitor_address(input: &Input, host: usize) -> Option<String> {
    let d = input.design();
    let storage = d.storages.iter().find(|s| s.ceph().is_some() && s.hosts().contains(&host))?;
    let network = storage.network().filter(|n| Some(*n) != d.node_network())?;
    input.compilation.topology.address_on(host, network).map(|a| a.address.to_string())
}
