//! JobSet: training jobs of several pods.

use serde_json::{Value, json};

use super::{Operator, Wave};
use crate::Compilation;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::JOBSET,
    wave: Wave::Jobs,
    wanted: |c| c.design.workloads.iter().find(|w| w.is_training()).map(|w| w.at.source.clone()),
    values,
    reasons: |_| &[("/image", "The chart's default is a staging tag.")],
    serves: &[],
};

fn values(_: &Compilation) -> Value {
    json!({
        "image": { "repository": versions::JOBSET_IMAGE.0, "tag": versions::JOBSET_IMAGE.1, "pullPolicy": "IfNotPresent" },
        "controller": { "replicas": 2, "leaderElection": { "enable": true }, "podDisruptionBudget": { "enabled": true, "minAvailable": 1 } },
        "certManager": { "enable": false }, "prometheus": { "enable": false },
    })
}
