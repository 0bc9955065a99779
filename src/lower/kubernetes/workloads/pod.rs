//! The pod of a workload: what every controller's template has in common.

use k8s_openapi::api::core::v1::{
    Affinity, Capabilities, Container, ContainerPort, EmptyDirVolumeSource, EnvVar, HTTPGetAction, Lifecycle, LifecycleHandler,
    PersistentVolumeClaimVolumeSource, PodAffinity, PodAffinityTerm, PodSpec, PodTemplateSpec, Probe, ResourceRequirements, SeccompProfile, SecurityContext,
    SleepAction, TCPSocketAction, Volume, VolumeMount, WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use num_traits::ToPrimitive as _;
use serde_json::{Value, json};

use super::super::super::kinds::{int, labelled, non_empty, quantities, strings, texts, tolerations, variable, variable_of_field};
use super::super::super::object::Document;
use super::super::gpu::{Claims, claims, runtime};
use super::super::rdma::{attaches, attachment_name, of_workload};
use super::{Input, collectives};
use crate::base::quantity::to_f64;
use crate::design::{Ipam, Level, Manager, Pool, Scheduler, Workload, WorkloadWord};
use crate::nodes::resources::{RailPort, rail_ports};
use crate::nodes::{PodShape, levels, pool_label, resources};

/// The port on which the ranks of a training job meet.
const RENDEZVOUS: i32 = 29500;

/// What a pod of a workload is made of.
pub struct Template<'a> {
    pub input: &'a Input<'a>,
    pub workload: &'a Workload,
    pub pool_id: usize,
    pub pool: &'a Pool,
    pub shape: &'a PodShape,
}

impl Template<'_> {
    /// Whether the pod gets ports of the RDMA fabrics.
    pub(super) fn over_rdma(&self) -> bool {
        self.workload.rdma && !self.ports().is_empty()
    }

    pub(super) fn ports(&self) -> Vec<RailPort> {
        self.pool.hosts.first().map_or_else(Vec::new, |host| rail_ports(self.input.design(), self.pool, *host))
    }

    /// The networks that the pod attaches to, rail by rail; where one has static addresses, in the long form that carries the pod's own.
    fn networks(&self) -> Option<String> {
        let d = self.input.design();
        let ports = if self.workload.rdma { self.ports() } else { Vec::new() };
        let attached: Vec<&RailPort> = ports.iter().filter(|port| attaches(d, self.pool, port)).collect();
        if attached.is_empty() {
            return None;
        }
        let own = |port: &RailPort| port.network(d).filter(|n| d.networks[*n].ipam == Ipam::Static);
        if attached.iter().all(|port| own(port).is_none()) {
            let names: Vec<String> = attached.iter().map(|port| format!("default/{}", attachment_name(d, self.pool, port))).collect();
            return Some(names.join(", "));
        }
        let id = d.workloads.iter().position(|w| std::ptr::eq(w, self.workload))?;
        let entries = attached.iter().map(|port| {
            let mut entry = json!({ "namespace": "default", "name": attachment_name(d, self.pool, port) });
            if let Some(network) = own(port)
                && let Some(address) = of_workload(self.input.compilation, id, network)
            {
                entry["ips"] = json!([format!("{address}/{}", d.networks[network].cidr.prefix_len())]);
            }
            entry
        });
        Some(Value::from_iter(entries).to_string())
    }

    fn pins(&self) -> bool {
        self.pool.cpu_manager == Manager::Static
    }

    /// CPU limits only where the pool pins: elsewhere they would only throttle.
    fn resources(&self) -> ResourceRequirements {
        let asked = self.shape.requests.iter().filter(|(name, _)| !resources::by_claim(self.input.design(), self.pool, name));
        let requests = quantities(&asked.map(|(name, amount)| (name.clone(), *amount)).collect());
        let limits = requests.iter().filter(|(n, _)| self.pins() || *n != "cpu").map(|(n, q)| (n.clone(), q.clone())).collect();
        ResourceRequirements { requests: Some(requests), limits: Some(limits), claims: non_empty(self.claims().of_container()) }
    }

    fn environment(&self) -> Vec<EnvVar> {
        let w = self.workload;
        let mut env = Vec::new();
        if w.is_training() {
            env.push(variable("PET_NNODES", w.nodes.to_string()));
            env.push(variable("PET_NPROC_PER_NODE", w.gpus.max(1).to_string()));
            env.push(variable("PET_MASTER_ADDR", format!("{0}-worker-0-0.{0}", w.name)));
            env.push(variable("PET_MASTER_PORT", RENDEZVOUS.to_string()));
            env.push(variable_of_field("PET_NODE_RANK", "metadata.annotations['batch.kubernetes.io/job-completion-index']"));
        }
        if let Some(p) = &w.parallel() {
            for (name, n) in [("TENSOR", p.tensor), ("PIPELINE", p.pipeline), ("DATA", p.data), ("CONTEXT", p.context), ("EXPERT", p.expert)] {
                if n > 1 {
                    env.push(variable(&format!("AIC_{name}_PARALLEL"), n.to_string()));
                }
            }
        }
        if let Some(c) = &w.checkpoint() {
            if let Some(mount) = w.mounts.iter().find(|m| m.volume == c.volume) {
                env.push(variable("AIC_CHECKPOINT_DIR", mount.path.clone()));
            }
            env.push(variable("AIC_CHECKPOINT_SECONDS", to_f64(c.every.value).round().to_string()));
            env.push(variable("AIC_CHECKPOINT_KEEP", c.keep.to_string()));
        }
        if self.over_rdma() {
            env.extend(collectives::environment(self));
        }
        // What the design says wins.
        for (name, value) in &w.env {
            env.retain(|e| e.name != *name);
            env.push(variable(name, value.clone()));
        }
        env
    }

    /// The container of that name.
    pub fn container(&self, name: &str) -> Container {
        let w = self.workload;
        let mut ports: Vec<ContainerPort> =
            w.ports().iter().map(|p| ContainerPort { name: Some(p.name.clone()), container_port: int(p.number), ..Default::default() }).collect();
        if w.is_training() {
            ports.push(ContainerPort { name: Some("rendezvous".into()), container_port: RENDEZVOUS, ..Default::default() });
        }
        let probe = |period, timeout, failures| {
            self.probe().map(|p| Probe { period_seconds: Some(period), timeout_seconds: timeout, failure_threshold: Some(failures), ..p })
        };
        let sleep = LifecycleHandler { sleep: Some(SleepAction { seconds: 10 }), ..Default::default() };
        Container {
            name: name.to_owned(),
            image: Some(w.image.clone()),
            command: non_empty(w.command.clone()),
            args: non_empty(w.args.clone()),
            env: non_empty(self.environment()),
            ports: non_empty(ports),
            resources: Some(self.resources()),
            startup_probe: probe(10, None, 60).filter(|_| self.pool.gpu.is_some()),
            readiness_probe: probe(5, None, 3),
            liveness_probe: probe(10, Some(5), 6),
            lifecycle: (!w.ports().is_empty()).then_some(Lifecycle { pre_stop: Some(sleep), ..Default::default() }),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                capabilities: Some(Capabilities { drop: Some(strings(["ALL"])), add: self.over_rdma().then(|| strings(["IPC_LOCK"])) }),
                seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), localhost_profile: None }),
                ..Default::default()
            }),
            volume_mounts: non_empty(self.mounts()),
            ..Default::default()
        }
    }

    /// What tells that the container serves: its health path, or an open socket where the design names none.
    fn probe(&self) -> Option<Probe> {
        let ports = &self.workload.ports();
        let port = ports.iter().find(|p| p.health.is_some()).or(ports.first())?;
        let target = IntOrString::String(port.name.clone());
        Some(match &port.health {
            Some(path) => Probe { http_get: Some(HTTPGetAction { path: Some(path.clone()), port: target, ..Default::default() }), ..Default::default() },
            None => Probe { tcp_socket: Some(TCPSocketAction { port: target, host: None }), ..Default::default() },
        })
    }

    fn hugepages(&self) -> Option<&str> {
        self.shape.requests.keys().find_map(|n| n.strip_prefix("hugepages-"))
    }

    fn mounts(&self) -> Vec<VolumeMount> {
        let mount = |name: &str, path: &str| VolumeMount { name: name.to_owned(), mount_path: path.to_owned(), ..Default::default() };
        let d = self.input.design();
        let mounts = self.workload.mounts.iter();
        let mut out: Vec<VolumeMount> =
            mounts.map(|m| VolumeMount { read_only: m.read_only.then_some(true), ..mount(&d.volumes[m.volume].name, &m.path) }).collect();
        out.extend(self.hugepages().map(|_| mount("hugepages", "/dev/hugepages")));
        out.extend(self.workload.shm.as_ref().map(|_| mount("shm", "/dev/shm")));
        out
    }

    fn volumes(&self) -> Vec<Volume> {
        let d = self.input.design();
        let claim = |name: &str| Volume {
            name: name.to_owned(),
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource { claim_name: name.to_owned(), read_only: None }),
            ..Default::default()
        };
        let memory = |name: &str, medium: String, limit: Option<String>| Volume {
            name: name.to_owned(),
            empty_dir: Some(EmptyDirVolumeSource { medium: Some(medium), size_limit: limit.map(Quantity) }),
            ..Default::default()
        };
        let mut out: Vec<Volume> = self.workload.mounts.iter().map(|m| claim(&d.volumes[m.volume].name)).collect();
        out.extend(self.hugepages().map(|size| memory("hugepages", format!("HugePages-{size}"), None)));
        out.extend(self.workload.shm.as_ref().map(|shm| memory("shm", "Memory".into(), Some(resources::format_bytes(shm.whole())))));
        out
    }

    /// What the pod claims: devices that no plugin hands out.
    pub fn claims(&self) -> Claims {
        claims(self.input, self.workload, self.pool)
    }

    /// The class that brings the pool's selector and toleration, where its pods have one.
    fn runtime_class(&self) -> Option<String> {
        runtime::class(self.input.design(), self.pool).map(|(name, _)| name)
    }

    /// The pod with its one container.
    pub fn pod(&self, class: &str, container: Container) -> PodSpec {
        let runtime_class = self.runtime_class();
        let placed = runtime_class.is_some();
        let own = tolerations(&self.input.compilation.nodes.taints[self.pool_id]);
        let scheduler = self.workload.queue.filter(|_| self.input.design().cluster.scheduler == Scheduler::Volcano);
        PodSpec {
            scheduler_name: scheduler.map(|_| "volcano".into()),
            runtime_class_name: runtime_class,
            resource_claims: non_empty(self.claims().of_pod()),
            node_selector: (!placed).then(|| texts([(pool_label(self.input.design(), self.pool), &self.pool.name)])),
            tolerations: non_empty(own).filter(|_| !placed),
            priority_class_name: Some(format!("aic-{class}")),
            service_account_name: Some(self.workload.name.clone()),
            automount_service_account_token: Some(false),
            termination_grace_period_seconds: Some(self.grace()),
            affinity: self.together(),
            containers: vec![container],
            volumes: non_empty(self.volumes()),
            ..Default::default()
        }
    }

    /// A gang that no queue places: the scheduler keeps its pods together one by one.
    fn together(&self) -> Option<Affinity> {
        let place = &self.workload.place;
        let level = place.within.or(place.prefer).filter(|_| self.workload.queue.is_none() && self.workload.nodes > 1)?;
        let term = PodAffinityTerm {
            topology_key: levels::key(self.input.design(), level),
            label_selector: Some(labelled("app.kubernetes.io/name", &self.workload.name)),
            match_label_keys: (self.workload.word() == WorkloadWord::Inference).then(|| strings(["leaderworkerset.sigs.k8s.io/group-index"])),
            ..Default::default()
        };
        let mut affinity = PodAffinity::default();
        if place.within.is_some() {
            affinity.required_during_scheduling_ignored_during_execution = Some(vec![term]);
        } else {
            affinity.preferred_during_scheduling_ignored_during_execution = Some(vec![WeightedPodAffinityTerm { weight: 100, pod_affinity_term: term }]);
        }
        Some(Affinity { pod_affinity: Some(affinity), ..Default::default() })
    }

    /// What writing a checkpoint takes, in whole seconds.
    fn checkpoint_seconds(&self) -> Option<i64> {
        let d = self.input.design();
        let checkpoint = self.workload.checkpoint()?;
        let rate = crate::topology::storage::figures(d, &d.storages[d.volumes[checkpoint.volume].storage]).write?;
        (checkpoint.size.value / rate).ceil().to_integer().to_i64()
    }

    /// The larger of 30 s and what writing a checkpoint takes.
    fn grace(&self) -> i64 {
        match &self.workload.grace {
            Some(grace) => to_f64(grace.value).ceil() as i64,
            None => self.checkpoint_seconds().unwrap_or(0).max(30),
        }
    }

    /// The pod with its labels, its place in the topology and its networks.
    pub fn with_metadata(&self, component: Option<&str>, pod: PodSpec) -> PodTemplateSpec {
        let mut labels = texts([("app.kubernetes.io/name", self.workload.name.as_str()), ("app.kubernetes.io/managed-by", "aic")]);
        labels.extend(component.map(|c| ("app.kubernetes.io/component".to_owned(), c.to_owned())));
        let domain = &self.input.design().cluster.label_domain;
        let mut annotations = texts([(format!("{domain}/source"), &self.workload.at.source)]);
        let place = &self.workload.place;
        let key = |level: Level| levels::key(self.input.design(), level);
        if self.workload.queue.is_some() && self.input.design().cluster.scheduler == Scheduler::Volcano {
            annotations.insert("scheduling.k8s.io/group-name".into(), self.workload.name.clone());
        } else if self.workload.queue.is_some() {
            annotations.extend(match (place.within, place.prefer, place.slice) {
                (Some(level), _, Some(slice)) => {
                    texts([("kueue.x-k8s.io/podset-slice-required-topology", key(level)), ("kueue.x-k8s.io/podset-slice-size", slice.to_string())])
                }
                (Some(level), _, None) => texts([("kueue.x-k8s.io/podset-required-topology", key(level))]),
                (None, Some(level), _) => texts([("kueue.x-k8s.io/podset-preferred-topology", key(level))]),
                _ => texts::<String, String>([]),
            });
        }
        annotations.extend(self.networks().map(|networks| ("k8s.v1.cni.cncf.io/networks".to_owned(), networks)));
        PodTemplateSpec { metadata: Some(ObjectMeta { labels: Some(labels), annotations: Some(annotations), ..Default::default() }), spec: Some(pod) }
    }

    /// The reasons for the fields of the template at a pointer, and the lines that its user wrote.
    pub fn explain(&self, mut document: Document, template: &str) -> Document {
        let w = self.workload;
        let container = format!("{template}/spec/containers/0");
        document = document
            .from(&format!("{container}/image"), w.at.set("image"))
            .from(&format!("{container}/resources/requests/memory"), w.at.set("memory"))
            .from(&format!("{container}/resources/requests/cpu"), w.at.set("cpu"));
        let mut because = |pointer: String, reason: String| {
            document.reasons.push((pointer, reason));
        };
        if self.networks().is_some() {
            let planes = self.ports().iter().any(|p| p.plane.is_some());
            let reason = if planes {
                "net1, net2 … in this order: rail by rail, its planes side by side."
            } else {
                "net1, net2 … in this order: rail i is net(i+1)."
            };
            because(format!("{template}/metadata/annotations/k8s.v1.cni.cncf.io~1networks"), reason.into());
        }
        if self.runtime_class().is_some() {
            because(format!("{template}/spec/runtimeClassName"), "Brings the pool's node selector and toleration.".into());
        }
        if let Some(seconds) = self.checkpoint_seconds() {
            because(format!("{template}/spec/terminationGracePeriodSeconds"), format!("A checkpoint takes {seconds} s to write (storage/plan.md)."));
        }
        if w.is_training() && w.env.iter().all(|(n, _)| n != "PET_NNODES") {
            because(format!("{container}/env/PET_NNODES"), "torchrun takes each option from PET_<OPTION>, so the command stays as designed.".into());
        }
        if self.over_rdma() {
            for (variable, reason) in collectives::reasons(self) {
                because(format!("{container}/env/{variable}"), reason.into());
            }
        }
        if self.pins() {
            because(format!("{container}/resources"), "Requests equal limits (Guaranteed): the pool's static CPU manager pins whole CPUs.".into());
        } else {
            because(format!("{container}/resources"), "No CPU limit: the pool does not pin, and a limit would only throttle.".into());
        }
        if !w.ports().is_empty() {
            if w.ports().iter().all(|p| p.health.is_none()) {
                because(format!("{container}/readinessProbe"), "No port has a health path: an open socket must do.".into());
            }
            if self.pool.gpu.is_some() {
                because(format!("{container}/startupProbe"), "Loading a model takes minutes: ten of them before the liveness probe counts.".into());
            }
        }
        if !w.ports().is_empty() {
            because(format!("{container}/lifecycle"), "Out of the endpoints before it stops answering.".into());
        }
        if self.over_rdma() {
            because(format!("{container}/securityContext/capabilities/add"), "RDMA registers memory with the adapter.".into());
        }
        if w.shm.is_some() {
            because(format!("{template}/spec/volumes/shm"), "Counts against the container's memory.".into());
        }
        document
    }
}
