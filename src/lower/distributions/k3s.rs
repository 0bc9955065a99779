//! k3s.

use serde_json::json;

use super::super::Artifacts;
use super::Platform;
use super::rancher::Rancher;
use crate::Compilation;
use crate::design::Cni;

/// k3s.
pub struct K3s;

const K3S: Rancher = Rancher {
    name: "k3s",
    script: "https://get.k3s.io",
    version: "INSTALL_K3S_VERSION",
    revision: "1",
    units: ["k3s", "k3s-agent"],
    join_port: 6443,
    cluster_init: true,
    // It packages flannel alone, with policies of its own.
    pod_network: |cni| match cni {
        Cni::Cilium | Cni::Calico | Cni::AwsVpc | Cni::Gke | Cni::None => json!({ "flannel-backend": "none", "disable-network-policy": true }),
    },
    disable: &["traefik", "servicelb"],
};

impl Platform for K3s {
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        K3S.lower(c, artifacts);
    }
}
