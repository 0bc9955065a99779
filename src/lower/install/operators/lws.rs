//! LeaderWorkerSet: services over several hosts.

use serde_json::{Value, json};

use super::{Operator, Wave};
use crate::Compilation;
use crate::design::WorkloadWord;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::LWS,
    wave: Wave::Jobs,
    wanted,
    values,
    reasons: |_| &[("/image/manager/tag", "The chart's default is a moving tag.")],
    serves: &[],
};

fn wanted(c: &Compilation) -> Option<String> {
    c.design.workloads.iter().find(|w| w.word() == WorkloadWord::Inference && w.nodes > 1).map(|w| w.at.source.clone())
}

fn values(_: &Compilation) -> Value {
    json!({
        "replicaCount": 2, "enablePrometheus": false, "enableCertManager": false,
        "image": { "manager": { "repository": versions::LWS_IMAGE.0, "tag": versions::LWS_IMAGE.1, "pullPolicy": "IfNotPresent" } },
    })
}
