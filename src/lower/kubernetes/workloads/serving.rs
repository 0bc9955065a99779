//! Inference and services: pods that stay, behind a Service.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment};
use k8s_openapi::api::core::v1::{Container, Service, ServicePort, ServiceSpec, TopologySpreadConstraint};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::super::super::kinds::leader_worker_set::{
    LeaderWorkerSet, LeaderWorkerSetSpec, LeaderWorkerTemplate, NetworkConfig, RollingUpdate, RolloutStrategy,
};
use super::super::super::kinds::{int, labelled, strings, texts};
use super::super::super::object::Document;
use super::Input;
use super::pod::Template;
use crate::design::{Level, Workload};
use crate::nodes::levels;

const NAME: &str = "app.kubernetes.io/name";

/// The Deployment.
pub fn deployment(template: &Template) -> Document {
    let w = template.workload;
    let mut pod = template.pod("service", template.container(&w.name));
    let constraints = spread(template);
    pod.topology_spread_constraints = constraints.clone();
    // A new pod needs a GPU that only an old one may give up; without GPUs there is room for one more.
    let unavailable = if w.replicas > 1 && template.pool.gpu.is_some() { w.served().map_or(1, |s| s.max_unavailable) } else { 0 };
    let spec = DeploymentSpec {
        replicas: Some(int(w.replicas)),
        progress_deadline_seconds: Some(1200),
        strategy: Some(DeploymentStrategy {
            rolling_update: Some(RollingUpdateDeployment { max_surge: Some(IntOrString::Int(1)), max_unavailable: Some(IntOrString::Int(int(unavailable))) }),
            ..Default::default()
        }),
        selector: labelled(NAME, &w.name),
        template: template.with_metadata(None, pod),
        ..Default::default()
    };
    let deployment = template.input.maker.namespaced(&w.at, &w.namespace, &w.name, Deployment { spec: Some(spec), ..Default::default() });
    let mut document = deployment
        .label(NAME, &w.name)
        .from("/spec/replicas", w.at.set("replicas"))
        .because("/spec/progressDeadlineSeconds", "Pulling an image of tens of gigabytes and loading a model is progress, too.");
    if constraints.is_some() {
        document = document.because(
            "/spec/template/spec/topologySpreadConstraints",
            "Replicas of one revision apart: one a host where there are hosts enough, over racks as far as possible.",
        );
    }
    template.explain(document, "/spec/template")
}

/// The label by which LeaderWorkerSet numbers the pods of a group; the leader has 0.
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";

/// Replicas of several hosts each. LeaderWorkerSet tells each pod its leader's address, its index and the group's size (`LWS_…`).
pub fn leader_worker_set(template: &Template) -> Document {
    let w = template.workload;
    let leader = template.pod("service", template.container("leader"));
    // The leader alone serves: on a worker no port is open, and a probe would never succeed.
    let quiet = Container { ports: None, startup_probe: None, readiness_probe: None, liveness_probe: None, lifecycle: None, ..template.container("worker") };
    let worker = template.pod("service", quiet);
    let spec = LeaderWorkerSetSpec {
        replicas: w.replicas,
        rollout_strategy: RolloutStrategy {
            r#type: "RollingUpdate",
            rolling_update_configuration: RollingUpdate {
                max_unavailable: Some(IntOrString::Int(int(w.served().map_or(1, |s| s.max_unavailable).max(1)))),
                max_surge: Some(IntOrString::Int(0)),
            },
        },
        startup_policy: "LeaderCreated",
        network_config: NetworkConfig { subdomain_policy: "Shared" },
        leader_worker_template: LeaderWorkerTemplate {
            size: w.nodes,
            restart_policy: "RecreateGroupOnPodRestart",
            leader_template: template.with_metadata(Some("leader"), leader),
            worker_template: template.with_metadata(Some("worker"), worker),
        },
    };
    let set = template.input.maker.namespaced(&w.at, &w.namespace, &w.name, LeaderWorkerSet { spec, ..Default::default() });
    let document = set
        .label(NAME, &w.name)
        .from("/spec/replicas", w.at.set("replicas"))
        .from("/spec/leaderWorkerTemplate/size", w.at.set("nodes"))
        .because("/spec/rolloutStrategy/rollingUpdateConfiguration/maxSurge", "A new group needs GPUs that only an old one may give up.")
        .because("/spec/leaderWorkerTemplate/restartPolicy", "A group that lost a pod has lost its model: it starts anew as a whole.")
        .because("/spec/leaderWorkerTemplate/workerTemplate", "The leader alone serves: no port and no probe here.");
    template.explain(document, "/spec/leaderWorkerTemplate/leaderTemplate")
}

fn spread(template: &Template) -> Option<Vec<TopologySpreadConstraint>> {
    let w = template.workload;
    if w.replicas < 2 {
        return None;
    }
    let constraint = |key: &str, when: &str| TopologySpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: 1,
        when_unsatisfiable: when.to_owned(),
        node_taints_policy: Some("Honor".into()),
        match_label_keys: Some(strings(["pod-template-hash"])),
        label_selector: Some(labelled(NAME, &w.name)),
        ..Default::default()
    };
    let enough = w.replicas as usize <= template.shape.candidates.len();
    let mut constraints = vec![constraint("kubernetes.io/hostname", if enough { "DoNotSchedule" } else { "ScheduleAnyway" })];
    let has = |level: Level| template.input.compilation.nodes.levels[template.pool_id].iter().any(|(l, _)| *l == level);
    // What the design asks for holds; racks otherwise, as far as possible.
    match w.place.spread {
        Some(Level::Host) => constraints[0].when_unsatisfiable = "DoNotSchedule".into(),
        Some(level) => constraints.push(constraint(&levels::key(template.input.design(), level), "DoNotSchedule")),
        None if has(Level::Rack) => constraints.push(constraint(&levels::key(template.input.design(), Level::Rack), "ScheduleAnyway")),
        None => {}
    }
    Some(constraints)
}

/// The Service before the declared ports.
pub fn service(input: &Input, w: &Workload) -> Option<Document> {
    let first = w.ports().first()?;
    let ports = w.ports().iter().map(|p| ServicePort {
        name: Some(p.name.clone()),
        port: int(p.number),
        target_port: Some(IntOrString::String(p.name.clone())),
        ..Default::default()
    });
    let mut selector = texts([(NAME, &w.name)]);
    if w.nodes > 1 {
        selector.insert(WORKER_INDEX.into(), "0".into());
    }
    let spec = ServiceSpec { selector: Some(selector), ports: Some(ports.collect()), ..Default::default() };
    let origin = (&w.at, format!("port.{}", first.name));
    let service = Service { spec: Some(spec), ..Default::default() };
    Some(input.maker.namespaced((origin.0, origin.1.as_str()), &w.namespace, &w.name, service).label(NAME, &w.name))
}

/// How many replicas a drain may take at a time; a single one has no budget, which would only block drains.
pub fn budget(input: &Input, w: &Workload) -> Option<Document> {
    if w.replicas < 2 {
        return None;
    }
    let spec = PodDisruptionBudgetSpec {
        max_unavailable: Some(IntOrString::Int(int(w.served().map_or(1, |s| s.max_unavailable)))),
        unhealthy_pod_eviction_policy: Some("AlwaysAllow".into()),
        selector: Some(labelled(NAME, &w.name)),
        ..Default::default()
    };
    let budget = PodDisruptionBudget { spec: Some(spec), ..Default::default() };
    let document = input.maker.namespaced(&w.at, &w.namespace, &w.name, budget);
    Some(document.because("/spec/unhealthyPodEvictionPolicy", "A replica that is not ready anyway must not block a drain."))
}
