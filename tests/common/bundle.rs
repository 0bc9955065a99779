//! What one object of a bundle names exists in it, and every pod template has a host: its labels, taints, resources, volumes, networks, queue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aic::lang::Options;
use aic::lower::{Content, plan};
use aic::project::Disk;
use serde_json::Value;

/// Kinds that become a NetworkAttachmentDefinition.
const NETWORKS: &[&str] = &["SriovNetwork", "SriovIBNetwork", "MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork"];

/// The objects of a bundle and its plan.
#[derive(Clone)]
pub struct Bundle {
    /// What is applied.
    pub objects: Vec<Value>,
    /// The plan.
    pub plan: Value,
    /// StorageClasses that the design says exist already.
    pub external: BTreeSet<String>,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl Bundle {
    /// The bundle of an example.
    pub fn build(example: &str) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
        Self::of(aic::compile(&Disk { root: dir }, "cluster.aic", Options::default()))
    }

    /// The bundle of a design without errors.
    pub fn of(c: aic::Compilation) -> Self {
        let errors: Vec<String> = c.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
        assert!(!c.has_errors(), "{errors:?}");
        let artifacts = aic::lower::lower(&c).unwrap_or_else(|faults| panic!("{faults:?}"));
        let documents = artifacts.files.iter().filter(|(path, _)| path.starts_with("kubernetes/")).filter_map(|(_, content)| match content {
            Content::Documents(documents) => Some(documents),
            Content::Text(_) | Content::Stream(_) => None,
        });
        Self {
            objects: documents.flatten().map(|d| d.value.clone()).collect(),
            plan: serde_json::to_value(plan::plan(&c)).unwrap(),
            external: c
                .design
                .storages
                .iter()
                .filter_map(|s| if let aic::design::StorageKind::External { class, .. } = &s.kind { Some(class.clone()) } else { None })
                .collect(),
        }
    }

    /// An object.
    pub fn named(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Value> {
        self.objects.iter().find(|o| o["kind"] == kind && o["metadata"]["name"] == name && namespace.is_none_or(|n| o["metadata"]["namespace"] == n))
    }

    /// Everything that does not resolve.
    pub fn faults(&self) -> Vec<String> {
        let mut out = Vec::new();
        for object in &self.objects {
            let id = format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
            let namespace = object["metadata"]["namespace"].as_str();
            let mut need = |holds: bool, what: String| {
                if !holds {
                    out.push(format!("{id}: {what}"));
                }
            };
            if let Some(namespace) = namespace {
                let known = namespace == "default" || namespace == "kube-system" || self.named("Namespace", None, namespace).is_some();
                need(known, format!("namespace {namespace} does not exist"));
            }
            if let Some(queue) = object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"].as_str() {
                need(self.named("LocalQueue", namespace, queue).is_some(), format!("no LocalQueue {queue} in its namespace"));
            }
            if let Some(priority) = object["metadata"]["labels"]["kueue.x-k8s.io/priority-class"].as_str() {
                need(self.named("WorkloadPriorityClass", None, priority).is_some(), format!("no WorkloadPriorityClass {priority}"));
            }
            match text(&object["kind"]) {
                "LocalQueue" => {
                    let queue = text(&object["spec"]["clusterQueue"]);
                    need(self.named("ClusterQueue", None, queue).is_some(), format!("no ClusterQueue {queue}"));
                }
                "ClusterQueue" => {
                    if let Some(cohort) = object["spec"]["cohortName"].as_str() {
                        need(self.named("Cohort", None, cohort).is_some(), format!("no Cohort {cohort}"));
                    }
                    for flavor in list(&object["spec"]["resourceGroups"]).flat_map(|g| list(&g["flavors"])) {
                        let name = text(&flavor["name"]);
                        need(self.named("ResourceFlavor", None, name).is_some(), format!("no ResourceFlavor {name}"));
                    }
                }
                "PodGroup" => {
                    let queue = text(&object["spec"]["queue"]);
                    need(self.named("Queue", None, queue).is_some(), format!("no Queue {queue}"));
                }
                "HyperNode" => {
                    for member in list(&object["spec"]["members"]) {
                        if let Some(name) = member["selector"]["exactMatch"]["name"].as_str() {
                            need(self.named("HyperNode", None, name).is_some(), format!("no HyperNode {name}"));
                        }
                        let labels = &member["selector"]["labelMatch"]["matchLabels"];
                        let matched = labels.is_null() || list(&self.plan["hosts"]).any(|h| contains(&h["labels"], labels));
                        need(matched, "a member that no host is".into());
                    }
                }
                "ResourceFlavor" => {
                    let topology = text(&object["spec"]["topologyName"]);
                    need(self.named("Topology", None, topology).is_some(), format!("no Topology {topology}"));
                    need(!self.hosts(&[&object["spec"]["nodeLabels"]], &object["spec"]["tolerations"]).is_empty(), "no host for the flavor".into());
                }
                "Topology" => {
                    for level in list(&object["spec"]["levels"]).map(|l| text(&l["nodeLabel"])) {
                        let labelled = list(&self.plan["hosts"]).any(|h| h["labels"].get(level).is_some());
                        need(labelled || level == "kubernetes.io/hostname", format!("no host has the label {level}"));
                    }
                }
                "PersistentVolumeClaim" => {
                    let class = text(&object["spec"]["storageClassName"]);
                    need(self.external.contains(class) || self.named("StorageClass", None, class).is_some(), format!("no StorageClass {class}"));
                }
                kind if NETWORKS.contains(&kind) => {
                    if let Some(resource) = object["spec"]["resourceName"].as_str() {
                        let policy = self.objects.iter().any(|o| o["kind"] == "SriovNetworkNodePolicy" && o["spec"]["resourceName"] == resource);
                        let config = format!("\"resourceName\": \"{resource}\"");
                        let selected = self.objects.iter().any(|o| text(&o["spec"]["sriovDevicePlugin"]["config"]).contains(&config));
                        need(policy || selected, format!("no policy advertises {resource}"));
                    }
                    let ipam: Value = serde_json::from_str(text(&object["spec"]["ipam"])).unwrap_or_default();
                    let pool = if ipam["poolType"] == "cidrpool" { "CIDRPool" } else { "IPPool" };
                    let found = ipam["type"] != "nv-ipam" || self.named(pool, None, text(&ipam["poolName"])).is_some();
                    need(found, format!("no {pool} {}", ipam["poolName"]));
                }
                "RoleBinding" => {
                    let role = text(&object["roleRef"]["name"]);
                    need(self.named("Role", namespace, role).is_some(), format!("no Role {role}"));
                }
                "Service" | "PodDisruptionBudget" => {
                    let selector = if object["kind"] == "Service" { &object["spec"]["selector"] } else { &object["spec"]["selector"]["matchLabels"] };
                    let selected = self
                        .pods()
                        .into_iter()
                        .any(|(owner, template)| owner["metadata"]["namespace"].as_str() == namespace && contains(&labels_of(owner, template), selector));
                    need(selected, "selects no pod".into());
                }
                _ => {}
            }
        }
        let mut ids: Vec<String> =
            self.objects.iter().map(|o| format!("{} {} {}", text(&o["kind"]), o["metadata"]["namespace"], text(&o["metadata"]["name"]))).collect();
        ids.retain(|id| !id.starts_with("Kustomization"));
        ids.sort_unstable();
        out.extend(ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| format!("{} stands twice", pair[0])));
        for (owner, template) in self.pods() {
            out.extend(self.pod_faults(owner, template));
        }
        out
    }

    /// Pod templates, each with the object that makes its pods.
    pub fn pods(&self) -> Vec<(&Value, &Value)> {
        let templates = |o: &Value| -> &[&str] {
            match text(&o["kind"]) {
                "JobSet" => &["/spec/replicatedJobs/0/template/spec/template"],
                "LeaderWorkerSet" => &["/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"],
                "Job" | "Deployment" => &["/spec/template"],
                _ => &[],
            }
        };
        self.objects.iter().flat_map(|o| templates(o).iter().filter_map(move |at| Some((o, o.pointer(at)?)))).collect()
    }

    /// Names of hosts that carry all labels and whose taints are tolerated.
    fn hosts(&self, selectors: &[&Value], tolerations: &Value) -> Vec<&Value> {
        let tolerated = |taint: &Value| {
            list(tolerations).any(|t| {
                (t["effect"].is_null() || t["effect"] == taint["effect"])
                    && (t["key"].is_null() || t["key"] == taint["key"])
                    && (t["operator"] == "Exists" || t["value"] == taint["value"])
            })
        };
        list(&self.plan["hosts"]).filter(|h| selectors.iter().all(|s| contains(&h["labels"], s)) && list(&h["taints"]).all(tolerated)).collect()
    }

    fn pod_faults(&self, owner: &Value, template: &Value) -> Vec<String> {
        let id = format!("{} {}", text(&owner["kind"]), text(&owner["metadata"]["name"]));
        let namespace = owner["metadata"]["namespace"].as_str();
        let spec = &template["spec"];
        let mut out = Vec::new();
        let mut need = |holds: bool, what: String| {
            if !holds {
                out.push(format!("{id}: {what}"));
            }
        };
        let class = spec["runtimeClassName"].as_str().map(|name| (name, self.named("RuntimeClass", None, name)));
        if let Some((name, None)) = class {
            need(false, format!("no RuntimeClass {name}"));
        }
        let scheduling = class.and_then(|(_, c)| c).map_or(&Value::Null, |c| &c["scheduling"]);
        let mut tolerations: Vec<Value> = list(&spec["tolerations"]).cloned().collect();
        tolerations.extend(list(&scheduling["tolerations"]).cloned());
        let hosts = self.hosts(&[&spec["nodeSelector"], &scheduling["nodeSelector"]], &tolerations.into());
        need(!hosts.is_empty(), "no host has its labels and tolerated taints".into());
        let container = &spec["containers"][0];
        for (resource, _) in container["resources"]["requests"].as_object().into_iter().flatten() {
            let advertised = hosts.iter().any(|h| h["allocatable"].get(resource).is_some());
            need(advertised, format!("no host of the pod advertises {resource}"));
            if resource.contains('/') || resource.starts_with("hugepages-") {
                let limit = &container["resources"]["limits"][resource];
                need(*limit == container["resources"]["requests"][resource], format!("{resource}: request and limit differ"));
            }
        }
        let claims: BTreeMap<&str, &str> = list(&spec["resourceClaims"]).map(|c| (text(&c["name"]), text(&c["resourceClaimTemplateName"]))).collect();
        for template in claims.values() {
            let domain = |o: &&Value| o["kind"] == "ComputeDomain" && o["spec"]["channel"]["resourceClaimTemplate"]["name"] == **template;
            let made = self.named("ResourceClaimTemplate", namespace, template).is_some() || self.objects.iter().any(|o| domain(&o));
            need(made, format!("no ResourceClaimTemplate {template}"));
        }
        let used: BTreeSet<&str> = list(&container["resources"]["claims"]).map(|c| text(&c["name"])).collect();
        need(used == claims.keys().copied().collect(), "claims of the pod and of its container differ".into());
        if let Some(group) = template["metadata"]["annotations"]["scheduling.k8s.io/group-name"].as_str() {
            need(self.named("PodGroup", namespace, group).is_some(), format!("no PodGroup {group}"));
        }
        if let Some(account) = spec["serviceAccountName"].as_str() {
            need(self.named("ServiceAccount", namespace, account).is_some(), format!("no ServiceAccount {account}"));
        }
        if let Some(class) = spec["priorityClassName"].as_str() {
            need(self.named("PriorityClass", None, class).is_some(), format!("no PriorityClass {class}"));
        }
        let volumes: BTreeMap<&str, &Value> = list(&spec["volumes"]).map(|v| (text(&v["name"]), v)).collect();
        for volume in volumes.values() {
            if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                need(self.named("PersistentVolumeClaim", namespace, claim).is_some(), format!("no claim {claim} in its namespace"));
            }
            if let Some(size) = volume["emptyDir"]["medium"].as_str().and_then(|m| m.strip_prefix("HugePages-")) {
                let asked = container["resources"]["requests"].get(format!("hugepages-{size}")).is_some();
                need(asked, format!("mounts HugePages of {size} and asks for none"));
            }
        }
        let mounted: BTreeSet<&str> = list(&container["volumeMounts"]).map(|m| text(&m["name"])).collect();
        need(mounted == volumes.keys().copied().collect(), "volumes and mounts differ".into());
        let networks = text(&template["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]);
        // The long form is JSON.
        let long: Option<Vec<Value>> = serde_json::from_str(networks).ok();
        let named: Vec<(&str, &str)> = match &long {
            Some(entries) => entries.iter().map(|n| (text(&n["namespace"]), text(&n["name"]))).collect(),
            None => networks.split(", ").filter(|n| !n.is_empty()).map(|n| n.split_once('/').unwrap_or(("", n))).collect(),
        };
        for (space, name) in named {
            let made =
                self.objects.iter().any(|o| NETWORKS.contains(&text(&o["kind"])) && o["metadata"]["name"] == name && o["spec"]["networkNamespace"] == space);
            need(made, format!("no network {space}/{name}"));
        }
        for (key, level) in template["metadata"]["annotations"].as_object().into_iter().flatten() {
            if key.starts_with("kueue.x-k8s.io/podset-") && key.ends_with("-topology") {
                let known = hosts.iter().any(|h| h["labels"].get(text(level)).is_some());
                need(known, format!("no host of the pod has the level {level}"));
            }
        }
        out
    }
}

/// The labels of a pod with those that its controller adds and a Service may select by.
fn labels_of(owner: &Value, template: &Value) -> Value {
    let mut labels = template["metadata"]["labels"].clone();
    if owner["kind"] == "LeaderWorkerSet" && labels["app.kubernetes.io/component"] == "leader" {
        labels["leaderworkerset.sigs.k8s.io/worker-index"] = "0".into();
    }
    labels
}

/// Whether a map has all pairs of another.
fn contains(map: &Value, pairs: &Value) -> bool {
    pairs.as_object().into_iter().flatten().all(|(k, v)| map[k] == *v)
}
