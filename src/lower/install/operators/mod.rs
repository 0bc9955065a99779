//! The operators of a cluster: one file each, and the one list that says in which order they are installed.

mod amd_gpu_operator;
pub mod calico;
mod ceph_csi;
mod cert_manager;
pub mod cilium;
mod dranet;
mod efa;
mod gpu_operator;
mod jobset;
mod kueue;
mod lws;
mod network_operator;
mod node_feature_discovery;
mod nvidia_dra_driver;
mod prometheus;
mod rook;
mod topolvm;
mod volcano;
mod whereabouts;

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::super::folder::Folder;
use super::super::kinds::agent_tolerations;
use crate::Compilation;
use crate::versions::Chart;

/// What is healthy before what, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its name")]
pub enum Wave {
    PodNetwork,
    Certificates,
    Monitoring,
    Hardware,
    Storage,
    Drivers,
    Jobs,
    Queues,
}

/// A release of Helm.
pub struct Operator {
    /// What is installed.
    pub chart: &'static Chart,
    /// When.
    pub wave: Wave,
    /// The declaration that asks for it, if one does.
    pub wanted: fn(&Compilation) -> Option<String>,
    /// Values that are not the chart's defaults.
    pub values: fn(&Compilation) -> Value,
    /// Why they are not: a JSON pointer and the reason.
    pub reasons: fn(&Compilation) -> &'static [(&'static str, &'static str)],
    /// Folders of `kubernetes/` that can be applied when it is there.
    pub serves: &'static [Folder],
}

/// All of them, wave by wave.
const ORDER: &[&Operator] = &[
    &cilium::OPERATOR,
    &calico::OPERATOR,
    &cert_manager::OPERATOR,
    &prometheus::OPERATOR,
    &node_feature_discovery::OPERATOR,
    &network_operator::OPERATOR,
    &whereabouts::OPERATOR,
    &gpu_operator::OPERATOR,
    &amd_gpu_operator::OPERATOR,
    &dranet::OPERATOR,
    &efa::OPERATOR,
    &rook::OPERATOR,
    &ceph_csi::OPERATOR,
    &topolvm::OPERATOR,
    &nvidia_dra_driver::OPERATOR,
    &jobset::OPERATOR,
    &lws::OPERATOR,
    &kueue::OPERATOR,
    &volcano::OPERATOR,
];

/// An operator that a design needs.
pub struct Release {
    /// The operator.
    pub operator: &'static Operator,
    /// The declaration that asks for it.
    pub source: String,
    /// The releases that it waits for: those of the wave before it that the design has.
    pub needs: Vec<&'static Chart>,
}

/// What a design needs, in the order of installation.
pub fn releases(c: &Compilation) -> Vec<Release> {
    let wanted: Vec<(&Operator, String)> = ORDER.iter().filter_map(|operator| Some((*operator, (operator.wanted)(c)?))).collect();
    let needs = |wave: Wave| {
        let before = wanted.iter().map(|(o, _)| o.wave).filter(|w| *w < wave).max();
        wanted.iter().filter(|(o, _)| Some(o.wave) == before).map(|(o, _)| o.chart).collect()
    };
    wanted.iter().map(|(operator, source)| Release { operator, source: source.clone(), needs: needs(operator.wave) }).collect()
}

fn control_plane_toleration() -> Value {
    json!({ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" })
}

/// Tolerations of what runs on every host.
fn agents(c: &Compilation) -> Vec<Toleration> {
    agent_tolerations(c.nodes.taints.iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_stand_in_the_order_of_their_waves() {
        assert!(ORDER.is_sorted_by_key(|operator| operator.wave));
    }
}
