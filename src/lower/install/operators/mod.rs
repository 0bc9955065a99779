//! The operators of a cluster: one file each, and the one list that says in which order they are installed.

mod ceph_csi;
mod cert_manager;
mod cilium;
mod gpu_operator;
mod jobset;
mod kueue;
mod lws;
mod network_operator;
mod node_feature_discovery;
mod prometheus;
mod rook;
mod topolvm;

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::super::folder::Folder;
use super::super::kinds::agent_tolerations;
use crate::Compilation;
use crate::versions::Chart;

/// A release of Helm.
pub struct Operator {
    /// What is installed.
    pub chart: &'static Chart,
    /// The declaration that asks for it, if one does.
    pub wanted: fn(&Compilation) -> Option<String>,
    /// Values that are not the chart's defaults.
    pub values: fn(&Compilation) -> Value,
    /// Why they are not: a JSON pointer and the reason.
    pub reasons: &'static [(&'static str, &'static str)],
    /// Folders of `kubernetes/` that can be applied when it is there.
    pub serves: &'static [Folder],
}

/// All of them; each waits for those before it.
const ORDER: &[&Operator] = &[
    &cilium::OPERATOR,
    &cert_manager::OPERATOR,
    &prometheus::OPERATOR,
    &node_feature_discovery::OPERATOR,
    &network_operator::OPERATOR,
    &gpu_operator::OPERATOR,
    &rook::OPERATOR,
    &ceph_csi::OPERATOR,
    &topolvm::OPERATOR,
    &jobset::OPERATOR,
    &lws::OPERATOR,
    &kueue::OPERATOR,
];

/// An operator that a design needs.
pub struct Release {
    /// The operator.
    pub operator: &'static Operator,
    /// The declaration that asks for it.
    pub source: String,
}

/// What a design needs, in the order of installation.
pub fn releases(c: &Compilation) -> Vec<Release> {
    ORDER.iter().filter_map(|operator| Some(Release { operator, source: (operator.wanted)(c)? })).collect()
}

fn control_plane_toleration() -> Value {
    json!({ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" })
}

/// Tolerations of what runs on every host.
fn agents(c: &Compilation) -> Vec<Toleration> {
    agent_tolerations(c.nodes.taints.iter().flatten())
}
