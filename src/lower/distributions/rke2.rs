//! RKE2.

use serde_json::json;

use super::super::Artifacts;
use super::Platform;
use super::rancher::Rancher;
use crate::Compilation;
use crate::design::Cni;

/// RKE2.
pub struct Rke2;

const RKE2: Rancher = Rancher {
    name: "rke2",
    script: "https://get.rke2.io",
    version: "INSTALL_RKE2_VERSION",
    revision: "r1",
    units: ["rke2-server", "rke2-agent"],
    join_port: 9345,
    cluster_init: false,
    pod_network: |cni| match cni {
        Cni::Cilium | Cni::Calico => json!({ "cni": cni.word() }),
        Cni::AwsVpc | Cni::Gke | Cni::None => json!({ "cni": "none" }),
    },
    disable: &["rke2-ingress-nginx"],
};

impl Platform for Rke2 {
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        RKE2.lower(c, artifacts);
    }
}
