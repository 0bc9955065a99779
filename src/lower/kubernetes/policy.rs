//! `policy/`: network policies, quotas, rights.

use serde_json::{Value, json};

use super::super::Artifacts;
use super::{Input, namespace_at, workload_namespaces};
use crate::nodes::resources::format_bytes;

const NETWORKING: &str = "networking.k8s.io/v1";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let mut quotas = Vec::new();
    for (namespace, origin) in workload_namespaces(input) {
        let at = namespace_at(input, origin);
        let object = |kind: &str, api: &str, name: &str, spec: Value| input.maker.object(api, kind, Some(&namespace), name, at, "", json!({ "spec": spec }));
        let dns = json!({
            "podSelector": {}, "policyTypes": ["Egress"],
            "egress": [{
                "to": [{ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": "kube-system" } }, "podSelector": { "matchLabels": { "k8s-app": "kube-dns" } } }],
                "ports": [{ "protocol": "UDP", "port": 53 }, { "protocol": "TCP", "port": 53 }],
            }],
        });
        // An ipBlock does not match cluster hosts with Cilium: the API server is an entity.
        let api = json!({ "endpointSelector": {}, "egress": [{ "toEntities": ["kube-apiserver"], "toPorts": [{ "ports": [{ "port": "6443", "protocol": "TCP" }] }] }] });
        let mut policies = vec![
            object("NetworkPolicy", NETWORKING, "default-deny", json!({ "podSelector": {}, "policyTypes": ["Ingress", "Egress"] })),
            object("NetworkPolicy", NETWORKING, "allow-dns", dns),
            object("CiliumNetworkPolicy", "cilium.io/v2", "allow-kube-apiserver", api),
        ];
        if origin.2 {
            // Pods of a queue's namespace meet for rendezvous and bootstrap: a NetworkPolicy cannot say "the same job".
            let all = json!({ "podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [{ "from": [{ "podSelector": {} }] }], "egress": [{ "to": [{ "podSelector": {} }] }] });
            policies.push(object("NetworkPolicy", NETWORKING, "allow-namespace", all));
        }
        for workload in d.workloads.iter().filter(|w| w.namespace == namespace && !w.ports.is_empty()) {
            policies.push(ports_policy(input, workload, &namespace));
        }
        artifacts.objects(format!("kubernetes/policy/{namespace}.yaml"), policies);
        quotas.push(quota(input, &namespace, origin));
    }
    artifacts.objects("kubernetes/policy/quotas.yaml", quotas);
    rights(input, artifacts);
}

/// Declared ports are open to the cluster, those of a `service` also to the outside; a service may call the declared ports of others.
fn ports_policy(input: &Input, workload: &crate::design::Workload, namespace: &str) -> super::Document {
    let d = input.design();
    let ports: Vec<Value> = workload.ports.iter().map(|p| json!({ "protocol": "TCP", "port": p.name })).collect();
    let ingress = if workload.kind == "service" { json!([{ "ports": ports }]) } else { json!([{ "from": [{ "namespaceSelector": {} }], "ports": ports }]) };
    let mut spec = json!({ "podSelector": { "matchLabels": { "app.kubernetes.io/name": workload.name } }, "policyTypes": ["Ingress"], "ingress": ingress });
    if workload.kind == "service" {
        let egress: Vec<Value> = d
            .workloads
            .iter()
            .filter(|w| w.name != workload.name && !w.ports.is_empty())
            .map(|w| {
                json!({
                    "to": [{ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": w.namespace } }, "podSelector": { "matchLabels": { "app.kubernetes.io/name": w.name } } }],
                    "ports": w.ports.iter().map(|p| json!({ "protocol": "TCP", "port": p.number })).collect::<Vec<_>>(),
                })
            })
            .collect();
        if !egress.is_empty() {
            spec["policyTypes"] = json!(["Ingress", "Egress"]);
            spec["egress"] = egress.into();
        }
    }
    let part = format!("port.{}", workload.ports[0].name);
    input.maker.object(
        NETWORKING,
        "NetworkPolicy",
        Some(namespace),
        &format!("{}-{}", workload.name, workload.ports[0].name),
        &workload.at,
        &part,
        json!({ "spec": spec }),
    )
}

/// What a namespace may take without Kueue: its queues' quota and what they borrow, or its workloads' GPUs and one more for a rolling update.
fn quota(input: &Input, namespace: &str, origin: (bool, usize, bool)) -> super::Document {
    let d = input.design();
    let mut hard = serde_json::Map::new();
    let names: std::collections::BTreeSet<String> = input.gpu_pools().flat_map(|(_, p)| crate::nodes::resources::gpus(d, p, p.hosts[0]).into_keys()).collect();
    for name in names {
        let queued: i64 = d
            .queues
            .iter()
            .filter(|q| q.namespace == namespace && crate::nodes::resources::gpus(d, &d.pools[q.pools[0]], d.pools[q.pools[0]].hosts[0]).contains_key(&name))
            .map(|q| q.gpus.unwrap_or(0) + q.borrow)
            .sum();
        let direct: i128 = d
            .workloads
            .iter()
            .zip(&input.compilation.nodes.pods)
            .filter(|(w, _)| w.namespace == namespace && w.queue.is_none())
            .flat_map(|(_, p)| &p.shapes)
            .map(|s| s.requests.get(&name).map_or(0, |a| a * (s.count as i128 + 1)))
            .sum();
        hard.insert(format!("requests.{name}"), (i128::from(queued) + direct).to_string().into());
    }
    for (id, storage) in d.storages.iter().enumerate().filter(|(_, s)| s.kind == "ceph") {
        for (part, _) in storage.parts.iter().enumerate().filter(|(_, p)| p.kind != "object") {
            let used = d.volumes.iter().enumerate().filter(|(v, volume)| {
                volume.storage == id
                    && volume.part.unwrap_or(0) == part
                    && d.workloads.iter().any(|w| w.namespace == namespace && w.mounts.iter().any(|m| m.volume == *v))
            });
            let bytes: i128 = used.map(|(_, v)| v.size.whole()).sum();
            if origin.2 || bytes > 0 {
                hard.insert(
                    format!("{}.storageclass.storage.k8s.io/requests.storage", super::storage::class_of(d, id, Some(part))),
                    format_bytes(bytes).into(),
                );
            }
        }
    }
    input.maker.object("v1", "ResourceQuota", Some(namespace), "gpus", namespace_at(input, origin), "", json!({ "spec": { "hard": hard } }))
}

/// The group is called like the queue; nobody may create pods: work enters through the queue.
fn rights(input: &Input, artifacts: &mut Artifacts) {
    let mut out = Vec::new();
    for queue in &input.design().queues {
        let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
        let read = ["get", "list", "watch"];
        let rules = json!([
            { "apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": all },
            { "apiGroups": ["batch"], "resources": ["jobs"], "verbs": all },
            { "apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues", "workloads"], "verbs": read },
            { "apiGroups": [""], "resources": ["pods", "pods/log", "events", "configmaps", "persistentvolumeclaims"], "verbs": read },
        ]);
        let api = "rbac.authorization.k8s.io/v1";
        let name = format!("{}-user", queue.name);
        out.push(input.maker.object(api, "Role", Some(&queue.namespace), &name, &queue.at, "", json!({ "rules": rules })));
        out.push(input.maker.object(
            api,
            "RoleBinding",
            Some(&queue.namespace),
            &name,
            &queue.at,
            "",
            json!({
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name },
                "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": queue.name }],
            }),
        ));
    }
    artifacts.objects("kubernetes/policy/rbac.yaml", out);
}
