//! `workloads/<name>/`: JobSet, Deployment, Job, with their Service, ServiceAccount and PodDisruptionBudget.

use num_traits::ToPrimitive as _;
use serde_json::{Map, Value, json};

use super::super::Artifacts;
use super::super::object::tolerations;
use super::Input;
use super::scheduling::{priority_name, priority_of};
use crate::base::quantity::to_f64;
use crate::design::{Pool, Workload};
use crate::nodes::{PodShape, format_amount, levels, pool_label, resources};

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    for (id, workload) in d.workloads.iter().enumerate() {
        let Some(pool_id) = d.pool_of(workload) else { continue };
        let Some(shape) = input.compilation.nodes.pods[id].shapes.first() else { continue };
        let one = One { input, workload, pool_id, pool: &d.pools[pool_id], shape };
        let dir = format!("kubernetes/workloads/{}", workload.name);
        let account = input.maker.object(
            "v1",
            "ServiceAccount",
            Some(&workload.namespace),
            &workload.name,
            &workload.at,
            "",
            json!({ "automountServiceAccountToken": false }),
        );
        match workload.kind.as_str() {
            "training" => artifacts.objects(format!("{dir}/jobset.yaml"), vec![one.jobset(), account]),
            "batch" => artifacts.objects(format!("{dir}/job.yaml"), vec![one.job(), account]),
            _ => {
                let mut documents = vec![one.deployment()];
                documents.extend(one.service());
                documents.extend(one.budget());
                documents.push(account);
                artifacts.objects(format!("{dir}/deployment.yaml"), documents);
            }
        }
    }
}

struct One<'a> {
    input: &'a Input<'a>,
    workload: &'a Workload,
    pool_id: usize,
    pool: &'a Pool,
    shape: &'a PodShape,
}

fn variable(name: &str, value: impl Into<String>) -> Value {
    json!({ "name": name, "value": value.into() })
}

impl One<'_> {
    fn source(&self) -> Value {
        json!({ format!("{}/source", self.input.design().cluster.label_domain): self.workload.at.source })
    }

    fn rails(&self) -> usize {
        if self.workload.rdma { self.shape.requests.keys().filter(|n| n.contains("/rail")).count() } else { 0 }
    }

    /// CPU limits only where the pool pins: elsewhere they would only throttle.
    fn resources(&self) -> Value {
        let pins = self.pool.cpu_manager == "static";
        let text = |name: &String, amount: &i128| (name.clone(), Value::from(format_amount(name, *amount)));
        let requests: Map<String, Value> = self.shape.requests.iter().map(|(n, a)| text(n, a)).collect();
        let limits: Map<String, Value> = self.shape.requests.iter().filter(|(n, _)| pins || *n != "cpu").map(|(n, a)| text(n, a)).collect();
        json!({ "requests": requests, "limits": limits })
    }

    fn environment(&self) -> Vec<Value> {
        let w = self.workload;
        let mut env = Vec::new();
        if w.kind == "training" {
            // torchrun takes each option from PET_<OPTION>, so the command stays as designed.
            env.push(variable("PET_NNODES", w.nodes.to_string()));
            env.push(variable("PET_NPROC_PER_NODE", w.gpus.max(1).to_string()));
            env.push(variable("PET_MASTER_ADDR", format!("{0}-worker-0-0.{0}", w.name)));
            env.push(variable("PET_MASTER_PORT", "29500"));
            env.push(json!({ "name": "PET_NODE_RANK", "valueFrom": { "fieldRef": { "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']" } } }));
        }
        if let Some(p) = &w.parallel {
            for (name, n) in [("TENSOR", p.tensor), ("PIPELINE", p.pipeline), ("DATA", p.data), ("CONTEXT", p.context), ("EXPERT", p.expert)] {
                if n > 1 {
                    env.push(variable(&format!("AIC_{name}_PARALLEL"), n.to_string()));
                }
            }
        }
        if let Some(c) = &w.checkpoint {
            if let Some(mount) = w.mounts.iter().find(|m| m.volume == c.volume) {
                env.push(variable("AIC_CHECKPOINT_DIR", mount.path.clone()));
            }
            env.push(variable("AIC_CHECKPOINT_SECONDS", to_f64(c.every.value).round().to_string()));
            env.push(variable("AIC_CHECKPOINT_KEEP", c.keep.to_string()));
        }
        if self.rails() > 0 {
            env.extend(self.nccl());
        }
        // What the design says wins.
        for (name, value) in &w.env {
            env.retain(|e| e["name"] != name.as_str());
            env.push(variable(name, value.clone()));
        }
        env
    }

    fn nccl(&self) -> Vec<Value> {
        let d = self.input.design();
        let rail_only = self.pool.rdma.iter().flat_map(|r| &r.fabrics).any(|f| d.fabrics[*f].topology.shape == "rail_only");
        let roce = self.pool.rdma.iter().flat_map(|r| &r.fabrics).any(|f| d.fabrics[*f].kind == "roce");
        // Without a device NCCL stops instead of falling back to TCP in silence. No NCCL_IB_HCA: virtual functions have other names.
        let mut env = vec![
            variable("NCCL_NET", "IB"),
            variable("NCCL_CROSS_NIC", if rail_only { "0" } else { "2" }),
            variable("NCCL_SOCKET_IFNAME", "=eth0"),
            variable("GLOO_SOCKET_IFNAME", "eth0"),
            variable("NCCL_DEBUG", "WARN"),
        ];
        if roce {
            env.push(variable("NCCL_IB_ROCE_VERSION_NUM", "2"));
            env.push(variable("NCCL_IB_ADDR_FAMILY", "AF_INET"));
        }
        env
    }

    fn container(&self, name: &str) -> Value {
        let w = self.workload;
        let mut c = json!({ "name": name, "image": w.image });
        if !w.command.is_empty() {
            c["command"] = json!(w.command);
        }
        if !w.args.is_empty() {
            c["args"] = json!(w.args);
        }
        let env = self.environment();
        if !env.is_empty() {
            c["env"] = env.into();
        }
        let mut ports: Vec<Value> = w.ports.iter().map(|p| json!({ "name": p.name, "containerPort": p.number })).collect();
        if w.kind == "training" {
            ports.push(json!({ "name": "rendezvous", "containerPort": 29500 }));
        }
        if !ports.is_empty() {
            c["ports"] = ports.into();
        }
        c["resources"] = self.resources();
        if let Some((port, path)) = w.ports.iter().find_map(|p| Some((p, p.health.as_ref()?))) {
            let get = json!({ "path": path, "port": port.name });
            // Loading a model takes minutes.
            c["startupProbe"] = json!({ "httpGet": get, "periodSeconds": 10, "failureThreshold": 60 });
            c["readinessProbe"] = json!({ "httpGet": get, "periodSeconds": 5, "failureThreshold": 3 });
            c["livenessProbe"] = json!({ "httpGet": get, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 6 });
        }
        if !w.ports.is_empty() {
            // Out of the endpoints before it stops answering.
            c["lifecycle"] = json!({ "preStop": { "sleep": { "seconds": 10 } } });
        }
        let mut capabilities = json!({ "drop": ["ALL"] });
        if self.rails() > 0 {
            capabilities["add"] = json!(["IPC_LOCK"]);
        }
        c["securityContext"] = json!({ "allowPrivilegeEscalation": false, "capabilities": capabilities, "seccompProfile": { "type": "RuntimeDefault" } });
        let mounts = self.mounts();
        if !mounts.is_empty() {
            c["volumeMounts"] = mounts.into();
        }
        c
    }

    fn hugepages(&self) -> Option<String> {
        self.shape.requests.keys().find_map(|n| n.strip_prefix("hugepages-").map(str::to_owned))
    }

    fn mounts(&self) -> Vec<Value> {
        let d = self.input.design();
        let mut out: Vec<Value> = self
            .workload
            .mounts
            .iter()
            .map(|m| {
                let mut mount = json!({ "name": d.volumes[m.volume].name, "mountPath": m.path });
                if m.read_only {
                    mount["readOnly"] = true.into();
                }
                mount
            })
            .collect();
        if self.hugepages().is_some() {
            out.push(json!({ "name": "hugepages", "mountPath": "/dev/hugepages" }));
        }
        if self.workload.shm.is_some() {
            out.push(json!({ "name": "shm", "mountPath": "/dev/shm" }));
        }
        out
    }

    fn volumes(&self) -> Vec<Value> {
        let d = self.input.design();
        let mut out: Vec<Value> = self
            .workload
            .mounts
            .iter()
            .map(|m| json!({ "name": d.volumes[m.volume].name, "persistentVolumeClaim": { "claimName": d.volumes[m.volume].name } }))
            .collect();
        if let Some(size) = self.hugepages() {
            out.push(json!({ "name": "hugepages", "emptyDir": { "medium": format!("HugePages-{size}") } }));
        }
        if let Some(shm) = &self.workload.shm {
            out.push(json!({ "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": resources::format_bytes(shm.whole()) } }));
        }
        out
    }

    /// The pod's settings that are not its container's.
    fn pod(&self, class: &str, container: Value) -> Value {
        let mut spec = json!({});
        if self.pool.gpu.is_some() {
            // The class brings the pool's nodeSelector and toleration.
            spec["runtimeClassName"] = format!("nvidia-{}", self.pool.name).into();
        } else {
            spec["nodeSelector"] = json!({ pool_label(self.input.design(), self.pool): self.pool.name });
            let own = tolerations(&self.input.compilation.nodes.taints[self.pool_id]);
            if !own.is_empty() {
                spec["tolerations"] = own.into();
            }
        }
        spec["priorityClassName"] = format!("aic-{class}").into();
        spec["serviceAccountName"] = self.workload.name.as_str().into();
        spec["automountServiceAccountToken"] = false.into();
        spec["terminationGracePeriodSeconds"] = self.grace().into();
        spec["containers"] = json!([container]);
        let volumes = self.volumes();
        if !volumes.is_empty() {
            spec["volumes"] = volumes.into();
        }
        spec
    }

    /// The larger of 30 s and what writing a checkpoint takes.
    fn grace(&self) -> i64 {
        if let Some(grace) = &self.workload.grace {
            return to_f64(grace.value).ceil() as i64;
        }
        let d = self.input.design();
        let write = self.workload.checkpoint.as_ref().and_then(|c| {
            let rate = crate::topology::storage::figures(d, &d.storages[d.volumes[c.volume].storage]).write?;
            (c.size.value / rate).ceil().to_integer().to_i64()
        });
        write.unwrap_or(0).max(30)
    }

    fn template_metadata(&self, component: Option<&str>) -> Value {
        let mut labels = json!({ "app.kubernetes.io/name": self.workload.name });
        if let Some(component) = component {
            labels["app.kubernetes.io/component"] = component.into();
        }
        labels["app.kubernetes.io/managed-by"] = "aic".into();
        let mut annotations = self.source();
        let place = &self.workload.place;
        let key = |level: &String| levels::key(self.input.design(), level);
        if self.workload.queue.is_some() {
            match (&place.within, &place.prefer, place.slice) {
                (Some(level), _, Some(slice)) => {
                    annotations["kueue.x-k8s.io/podset-slice-required-topology"] = key(level).into();
                    annotations["kueue.x-k8s.io/podset-slice-size"] = slice.to_string().into();
                }
                (Some(level), _, None) => annotations["kueue.x-k8s.io/podset-required-topology"] = key(level).into(),
                (None, Some(level), _) => annotations["kueue.x-k8s.io/podset-preferred-topology"] = key(level).into(),
                _ => {}
            }
        }
        let rails = self.rails();
        if rails > 0 {
            // net1, net2 … in this order: rail i is net(i+1).
            annotations["k8s.v1.cni.cncf.io/networks"] = (0..rails).map(|i| format!("default/rail{i}")).collect::<Vec<_>>().join(", ").into();
        }
        json!({ "labels": labels, "annotations": annotations })
    }

    fn queue_labels(&self, document: super::Document) -> super::Document {
        let d = self.input.design();
        match self.workload.queue {
            Some(queue) => document
                .label("kueue.x-k8s.io/queue-name", &d.queues[queue].name)
                .label("kueue.x-k8s.io/priority-class", &priority_name(priority_of(d, self.workload))),
            None => document,
        }
    }

    fn jobset(&self) -> super::Document {
        let w = self.workload;
        let mut pod = self.pod("training", self.container("worker"));
        pod["restartPolicy"] = "Never".into();
        // No `suspend`: Kueue's webhook sets it, and a later apply that says true would stop a running job.
        let spec = json!({
            "network": { "enableDNSHostnames": true, "subdomain": w.name, "publishNotReadyAddresses": true },
            "failurePolicy": {
                "maxRestarts": w.restarts, "restartStrategy": "BlockingRecreate",
                "rules": [{ "name": "hostMaintenance", "action": "RestartJobSetAndIgnoreMaxRestarts", "onJobFailureReasons": ["PodFailurePolicy"], "targetReplicatedJobs": ["worker"] }],
            },
            "successPolicy": { "operator": "All" },
            "replicatedJobs": [{ "name": "worker", "replicas": 1, "template": { "spec": {
                "completionMode": "Indexed", "completions": w.nodes, "parallelism": w.nodes, "backoffLimit": 0, "podReplacementPolicy": "Failed",
                "podFailurePolicy": { "rules": [{ "action": "FailJob", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] }] },
                "template": { "metadata": self.template_metadata(Some("worker")), "spec": pod },
            } } }],
        });
        let job = self.input.maker.object("jobset.x-k8s.io/v1alpha2", "JobSet", Some(&w.namespace), &w.name, &w.at, "", json!({ "spec": spec }));
        let base = "/spec/replicatedJobs/0/template/spec";
        self.queue_labels(job)
            .from(&format!("{base}/completions"), w.at.set("nodes"))
            .from(&format!("{base}/template/spec/containers/0/image"), w.at.set("image"))
            .from(&format!("{base}/template/spec/containers/0/resources/requests/memory"), w.at.set("memory"))
            .from("/spec/failurePolicy/maxRestarts", w.at.set("restarts"))
    }

    fn job(&self) -> super::Document {
        let w = self.workload;
        let mut pod = self.pod("batch", self.container("worker"));
        pod["restartPolicy"] = "Never".into();
        let mut spec = json!({ "completions": w.completions, "parallelism": w.parallelism, "backoffLimit": w.restarts });
        if let Some(deadline) = &w.deadline {
            spec["activeDeadlineSeconds"] = (to_f64(deadline.value).ceil() as i64).into();
        }
        spec["template"] = json!({ "metadata": self.template_metadata(None), "spec": pod });
        self.queue_labels(self.input.maker.object("batch/v1", "Job", Some(&w.namespace), &w.name, &w.at, "", json!({ "spec": spec })))
    }

    fn deployment(&self) -> super::Document {
        let w = self.workload;
        let labels = json!({ "app.kubernetes.io/name": w.name });
        let mut pod = self.pod("service", self.container(&w.name));
        if w.replicas > 1 {
            let spread = |key: &str, when: &str| json!({ "topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": when, "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["pod-template-hash"], "labelSelector": { "matchLabels": labels } });
            // One a host where there are hosts enough; racks as far as possible.
            let hard = w.replicas as usize <= self.shape.candidates.len();
            let mut constraints = vec![spread("kubernetes.io/hostname", if hard { "DoNotSchedule" } else { "ScheduleAnyway" })];
            if self.input.compilation.nodes.levels[self.pool_id].iter().any(|(l, _)| *l == "rack") {
                constraints.push(spread(&levels::key(self.input.design(), "rack"), "ScheduleAnyway"));
            }
            pod["topologySpreadConstraints"] = constraints.into();
        }
        let spec = json!({
            "replicas": w.replicas, "progressDeadlineSeconds": 1200,
            "strategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": if w.replicas > 1 { w.max_unavailable } else { 0 } } },
            "selector": { "matchLabels": labels },
            "template": { "metadata": self.template_metadata(None), "spec": pod },
        });
        self.input
            .maker
            .object("apps/v1", "Deployment", Some(&w.namespace), &w.name, &w.at, "", json!({ "spec": spec }))
            .label("app.kubernetes.io/name", &w.name)
            .from("/spec/replicas", w.at.set("replicas"))
            .from("/spec/template/spec/containers/0/image", w.at.set("image"))
    }

    fn service(&self) -> Option<super::Document> {
        let w = self.workload;
        let first = w.ports.first()?;
        let ports: Vec<Value> = w.ports.iter().map(|p| json!({ "name": p.name, "port": p.number, "targetPort": p.name })).collect();
        let spec = json!({ "selector": { "app.kubernetes.io/name": w.name }, "ports": ports });
        Some(
            self.input
                .maker
                .object("v1", "Service", Some(&w.namespace), &w.name, &w.at, &format!("port.{}", first.name), json!({ "spec": spec }))
                .label("app.kubernetes.io/name", &w.name),
        )
    }

    fn budget(&self) -> Option<super::Document> {
        let w = self.workload;
        if w.replicas < 2 {
            return None;
        }
        let spec = json!({ "maxUnavailable": w.max_unavailable, "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": { "matchLabels": { "app.kubernetes.io/name": w.name } } });
        Some(self.input.maker.object("policy/v1", "PodDisruptionBudget", Some(&w.namespace), &w.name, &w.at, "", json!({ "spec": spec })))
    }
}
