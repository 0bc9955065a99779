//! `flowcontrol.yaml`: API priority and fairness.

use std::collections::BTreeSet;

use k8s_openapi::api::flowcontrol::v1::{
    FlowDistinguisherMethod, FlowSchema, FlowSchemaSpec, GroupSubject, LimitResponse, LimitedPriorityLevelConfiguration, PolicyRulesWithSubjects,
    PriorityLevelConfiguration, PriorityLevelConfigurationReference, PriorityLevelConfigurationSpec, QueuingConfiguration, ResourcePolicyRule, Subject,
};

use super::super::install::operators;
use super::super::kinds::{int, strings};
use super::super::object::Document;
use super::Files;

/// A job storm must not starve kubelets, the scheduler or leader election.
pub fn objects(files: &Files) -> Vec<Document> {
    let Files { c, control_plane } = *files;
    let releases = operators::releases(c);
    let operators = |names: &[&str]| -> Vec<String> {
        let mut found: Vec<String> = releases.iter().map(|r| r.operator.chart.namespace.to_owned()).filter(|n| names.contains(&n.as_str())).collect();
        found.dedup();
        found
    };
    let queues = c.design.queues.iter().map(|q| &q.namespace);
    let tenants: BTreeSet<&String> = queues.chain(c.design.workloads.iter().map(|w| &w.namespace)).collect();
    let largest = || c.nodes.pods.iter().flat_map(|p| &p.shapes).map(|s| s.count as i64).max().unwrap_or(1);
    let burst = control_plane.burst.unwrap_or_else(largest).max(1);
    let agents = ["gpu-operator", "nvidia-network-operator", "node-feature-discovery", "rook-ceph", "topolvm-system", "monitoring"];
    // Controllers and agents are told apart by user; tenants are fair between namespaces, and lend more, since they call rarely.
    let system = Level { flows: "ByUser", lendable: 50, queues: 64, hand: 6, ..Level::default() };
    let controllers = operators(&["kueue-system", "jobset-system"]);
    let tenants = tenants.into_iter().cloned().collect();
    let levels = [
        Level { name: "aic-job-controllers", shares: 40, precedence: 1100, namespaces: controllers, ..system.clone() },
        Level { name: "aic-node-agents", shares: 20, precedence: 1200, namespaces: operators(&agents), ..system },
        Level { name: "aic-tenants", shares: 20, precedence: 1300, flows: "ByNamespace", lendable: 75, queues: 16, hand: 4, namespaces: tenants },
    ];
    levels.into_iter().filter(|level| !level.namespaces.is_empty()).flat_map(|level| objects_of(files, level, burst)).collect()
}

fn objects_of(files: &Files, level: Level, burst: i64) -> [Document; 2] {
    let length = ((burst * 10 + level.hand - 1) / level.hand).max(50);
    let queuing = QueuingConfiguration { queues: Some(level.queues), hand_size: Some(int(level.hand)), queue_length_limit: Some(int(length)) };
    let limited = LimitedPriorityLevelConfiguration {
        nominal_concurrency_shares: Some(level.shares),
        lendable_percent: Some(level.lendable),
        limit_response: Some(LimitResponse { type_: "Queue".into(), queuing: Some(queuing) }),
        ..Default::default()
    };
    let configuration = PriorityLevelConfigurationSpec { type_: "Limited".into(), limited: Some(limited), exempt: None };
    let subject = |namespace: String| Subject {
        kind: "Group".into(),
        group: Some(GroupSubject { name: format!("system:serviceaccounts:{namespace}") }),
        ..Default::default()
    };
    let all = || strings(["*"]);
    let everything = ResourcePolicyRule { verbs: all(), api_groups: all(), resources: all(), cluster_scope: Some(true), namespaces: Some(all()) };
    let rule = PolicyRulesWithSubjects {
        subjects: level.namespaces.into_iter().map(subject).collect(),
        resource_rules: Some(vec![everything]),
        non_resource_rules: None,
    };
    let schema = FlowSchemaSpec {
        priority_level_configuration: PriorityLevelConfigurationReference { name: level.name.into() },
        matching_precedence: Some(level.precedence),
        distinguisher_method: Some(FlowDistinguisherMethod { type_: level.flows.into() }),
        rules: Some(vec![rule]),
    };
    [
        files.object(level.name, None, PriorityLevelConfiguration { spec: Some(configuration), ..Default::default() }).because(
            "/spec/limited/limitResponse/queuing/queueLengthLimit",
            format!("handSize × this is at least ten requests for each of the {burst} pods that may start at once."),
        ),
        files
            .object(level.name, None, FlowSchema { spec: Some(schema), ..Default::default() })
            .because("/spec/matchingPrecedence", "Before the catch-all, after what the API server brings for kubelets and leader election.")
            .because("/spec/rules/0/subjects", "All service accounts of a namespace: no chart's account name is assumed."),
    ]
}

/// A priority level of the API server and who is in it.
#[derive(Clone, Default)]
struct Level {
    name: &'static str,
    shares: i32,
    precedence: i32,
    flows: &'static str,
    lendable: i32,
    queues: i32,
    /// How many queues a flow is spread over.
    hand: i64,
    namespaces: Vec<String>,
}
