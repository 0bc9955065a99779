//! Volcano: queues and gangs by a scheduler of its own. Values: installer/helm/chart of volcano-sh/volcano v1.15.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::Scheduler;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::VOLCANO,
    wave: Wave::Queues,
    wanted: |c| c.design.queues.first().filter(|_| c.design.cluster.scheduler == Scheduler::Volcano).map(|_| "cluster.scheduler".into()),
    values,
    reasons: |_| {
        &[(
            "/custom/scheduler_config_override",
            "gang: all pods or none. capacity: what a queue deserves and may take at most, in every resource. network-topology-aware: hypernodes.yaml.",
        )]
    },
    serves: &[Folder::Scheduling],
};

const PLUGINS: &str = r#"actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: capacity
  - name: nodeorder
  - name: binpack
  - name: network-topology-aware
"#;

fn values(_: &Compilation) -> Value {
    json!({ "custom": { "controller_replicas": 2, "scheduler_replicas": 2, "admission_replicas": 2, "scheduler_config_override": PLUGINS } })
}
