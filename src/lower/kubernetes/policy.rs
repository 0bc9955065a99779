//! `policy/`: network policies, quotas, rights.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ResourceQuota, ResourceQuotaSpec};
use k8s_openapi::api::networking::v1::{
    IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec,
};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::super::kinds::cilium::{CiliumNetworkPolicy, CiliumNetworkPolicySpec, Egress, Port, Ports};
use super::super::kinds::kubeadm::API_PORT;
use super::super::kinds::{int, labelled, non_empty, strings};
use super::super::{Artifacts, object::Document};
use super::{Input, namespace_at, namespace_file, workload_namespaces};
use crate::design::{At, Cni, PartKind, Scheduler, Workload, WorkloadWord};
use crate::nodes::resources::format_bytes;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    for (namespace, origin) in workload_namespaces(input) {
        let mut policies = basic_policies(input, &namespace, origin);
        for workload in d.workloads.iter().filter(|w| w.namespace == namespace && !w.ports().is_empty()) {
            policies.push(ports_policy(input, workload));
        }
        // In a queue's namespace all pods may talk already.
        policies.extend(d.workloads.iter().filter(|w| w.namespace == namespace && w.nodes > 1 && !origin.2).map(|w| group_policy(input, w)));
        policies.push(quota(input, &namespace, origin));
        policies.extend(d.queues.iter().filter(|q| q.namespace == namespace).flat_map(|queue| rights(input, queue)));
        artifacts.objects(namespace_file("policy", &namespace), policies);
    }
}

fn tcp(port: IntOrString) -> NetworkPolicyPort {
    NetworkPolicyPort { port: Some(port), protocol: Some("TCP".into()), end_port: None }
}

/// Pods of a namespace, by a label.
fn pods_in(namespace: &str, key: &str, value: &str) -> NetworkPolicyPeer {
    NetworkPolicyPeer {
        namespace_selector: Some(labelled("kubernetes.io/metadata.name", namespace)),
        pod_selector: Some(labelled(key, value)),
        ..Default::default()
    }
}

/// Pods of a namespace may talk to each other.
fn among(pods: LabelSelector) -> NetworkPolicySpec {
    let peer = || Some(vec![NetworkPolicyPeer { pod_selector: Some(pods.clone()), ..Default::default() }]);
    NetworkPolicySpec {
        pod_selector: Some(pods.clone()),
        policy_types: Some(strings(["Ingress", "Egress"])),
        ingress: Some(vec![NetworkPolicyIngressRule { from: peer(), ..Default::default() }]),
        egress: Some(vec![NetworkPolicyEgressRule { to: peer(), ..Default::default() }]),
    }
}

/// Nothing but names, the API server and, in a queue's namespace, the pods beside it.
fn basic_policies(input: &Input, namespace: &str, origin: (bool, usize, bool)) -> Vec<Document> {
    let at = namespace_at(input, origin);
    let all_pods = || Some(LabelSelector::default());
    let both = || Some(strings(["Ingress", "Egress"]));
    let object = |name: &str, spec: NetworkPolicySpec| input.maker.namespaced(at, namespace, name, NetworkPolicy { spec: Some(spec), ..Default::default() });
    let dns = NetworkPolicySpec {
        pod_selector: all_pods(),
        policy_types: Some(strings(["Egress"])),
        egress: Some(vec![NetworkPolicyEgressRule {
            to: Some(vec![pods_in("kube-system", "k8s-app", "kube-dns")]),
            ports: Some(vec![NetworkPolicyPort { protocol: Some("UDP".into()), ..tcp(IntOrString::Int(53)) }, tcp(IntOrString::Int(53))]),
        }]),
        ..Default::default()
    };
    let mut policies = vec![
        object("default-deny", NetworkPolicySpec { pod_selector: all_pods(), policy_types: both(), ..Default::default() }),
        object("allow-dns", dns),
        api_server(input, namespace, at),
    ];
    if origin.2 {
        policies.push(object("allow-namespace", among(LabelSelector::default())).because(
            "/spec",
            "Pods of a job meet for rendezvous and NCCL's bootstrap. A NetworkPolicy cannot say \"the same job\": the namespace is the border.",
        ));
    }
    policies
}

/// The way to the API server, as the pod network sees it.
fn api_server(input: &Input, namespace: &str, at: &At) -> Document {
    const NAME: &str = "allow-kube-apiserver";
    let d = input.design();
    let pods = d.cluster.pods.as_ref();
    if pods.is_some_and(|p| p.cni == Cni::Cilium) {
        let spec = CiliumNetworkPolicySpec {
            endpoint_selector: LabelSelector::default(),
            egress: vec![Egress {
                to_entities: vec!["kube-apiserver"],
                to_ports: vec![Ports { ports: vec![Port { port: API_PORT.to_string(), protocol: "TCP" }] }],
            }],
        };
        return input
            .maker
            .namespaced(at, namespace, NAME, CiliumNetworkPolicy { spec, ..Default::default() })
            .because("/spec/egress", "An ipBlock does not match hosts of the cluster with Cilium: the API server is an entity.");
    }
    let own = d.control_plane.as_ref().filter(|cp| !cp.managed);
    let addresses = own.map_or_else(Vec::new, |cp| input.compilation.topology.node_addresses(d, &cp.hosts));
    let (blocks, port, reason) = if addresses.is_empty() {
        // The provider's API servers have addresses of the hosts' network; some agents judge before the service address is translated.
        let ranges = pods.map(|p| p.cidr.to_string()).into_iter().chain(d.cluster.services.map(|s| s.to_string()));
        (ranges.collect(), 443, "The provider's API servers: the network's range and the service's, on their port alone.")
    } else {
        let hosts = addresses.iter().map(|a| format!("{a}/{}", if a.contains(':') { 128 } else { 32 }));
        (hosts.collect::<Vec<_>>(), API_PORT, "The service address is translated before policies are asked: the hosts of the control plane.")
    };
    let peer = |cidr| NetworkPolicyPeer { ip_block: Some(IPBlock { cidr, except: None }), ..Default::default() };
    let spec = NetworkPolicySpec {
        pod_selector: Some(LabelSelector::default()),
        policy_types: Some(strings(["Egress"])),
        egress: Some(vec![NetworkPolicyEgressRule {
            to: non_empty(blocks.into_iter().map(peer).collect()),
            ports: Some(vec![tcp(IntOrString::Int(port.into()))]),
        }]),
        ..Default::default()
    };
    input.maker.namespaced(at, namespace, NAME, NetworkPolicy { spec: Some(spec), ..Default::default() }).because("/spec/egress", reason)
}

/// The pods of a replica over several hosts talk to each other.
fn group_policy(input: &Input, workload: &Workload) -> Document {
    let policy = NetworkPolicy { spec: Some(among(labelled("app.kubernetes.io/name", &workload.name))), ..Default::default() };
    input.maker.namespaced(&workload.at, &workload.namespace, &format!("{}-group", workload.name), policy)
}

/// Declared ports are open to the cluster, those of a `service` also to the outside; a service may call the declared ports of others.
fn ports_policy(input: &Input, workload: &Workload) -> Document {
    const NAME: &str = "app.kubernetes.io/name";
    let service = workload.word() == WorkloadWord::Service;
    let anywhere = NetworkPolicyPeer { namespace_selector: Some(LabelSelector::default()), ..Default::default() };
    let ingress = NetworkPolicyIngressRule {
        from: (!service).then(|| vec![anywhere]),
        ports: Some(workload.ports().iter().map(|p| tcp(IntOrString::String(p.name.clone()))).collect()),
    };
    let egress: Vec<NetworkPolicyEgressRule> = input
        .design()
        .workloads
        .iter()
        .filter(|w| service && w.name != workload.name && !w.ports().is_empty())
        .map(|w| NetworkPolicyEgressRule {
            to: Some(vec![pods_in(&w.namespace, NAME, &w.name)]),
            ports: Some(w.ports().iter().map(|p| tcp(IntOrString::Int(int(p.number)))).collect()),
        })
        .collect();
    let spec = NetworkPolicySpec {
        pod_selector: Some(labelled(NAME, &workload.name)),
        policy_types: Some(if egress.is_empty() { strings(["Ingress"]) } else { strings(["Ingress", "Egress"]) }),
        ingress: Some(vec![ingress]),
        egress: non_empty(egress),
    };
    let first = &workload.ports()[0].name;
    let policy = NetworkPolicy { spec: Some(spec), ..Default::default() };
    input.maker.namespaced((&workload.at, format!("port.{first}").as_str()), &workload.namespace, &format!("{}-{first}", workload.name), policy)
}

/// What a namespace may take without Kueue: its queues' quota and what they borrow, or its workloads' GPUs and one more for a rolling update.
fn quota(input: &Input, namespace: &str, origin: (bool, usize, bool)) -> Document {
    let d = input.design();
    let mut hard = BTreeMap::new();
    let names: BTreeSet<String> = input.gpu_pools().flat_map(|(_, p)| crate::nodes::resources::gpus(d, p, p.hosts[0]).into_keys()).collect();
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
        let claimed = input.gpu_pools().any(|(_, pool)| crate::nodes::resources::by_claim(d, pool, &name));
        let key = if claimed { "gpu.nvidia.com.deviceclass.resource.k8s.io/devices".to_owned() } else { format!("requests.{name}") };
        hard.insert(key, Quantity((i128::from(queued) + direct).to_string()));
    }
    for (id, storage) in d.storages.iter().enumerate().filter(|(_, s)| s.ceph().is_some()) {
        for (part, _) in storage.parts().iter().enumerate().filter(|(_, p)| p.kind != PartKind::Object) {
            let used = d.volumes.iter().enumerate().filter(|(v, volume)| {
                volume.storage == id
                    && volume.part.unwrap_or(0) == part
                    && d.workloads.iter().any(|w| w.namespace == namespace && w.mounts.iter().any(|m| m.volume == *v))
            });
            let bytes: i128 = used.map(|(_, v)| v.size.whole()).sum();
            let class = super::storage::class_of(d, id, Some(part));
            hard.insert(format!("{class}.storageclass.storage.k8s.io/requests.storage"), Quantity(format_bytes(bytes)));
        }
    }
    let spec = ResourceQuotaSpec { hard: Some(hard), ..Default::default() };
    input
        .maker
        .namespaced(namespace_at(input, origin), namespace, "gpus", ResourceQuota { spec: Some(spec), ..Default::default() })
        .because("/spec/hard", "What the queues grant with what they borrow, or the declared pods and one more for a rolling update; claims as declared.")
}

/// The group is called like the queue; nobody may create pods: work enters through the queue.
fn rights(input: &Input, queue: &crate::design::Queue) -> [Document; 2] {
    let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let read = ["get", "list", "watch"];
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| PolicyRule {
        api_groups: Some(strings([group])),
        resources: Some(strings(resources.iter().copied())),
        verbs: strings(verbs.iter().copied()),
        ..Default::default()
    };
    let name = format!("{}-user", queue.name);
    let admitted = match input.design().cluster.scheduler {
        Scheduler::Kueue => rule("kueue.x-k8s.io", &["localqueues", "workloads"], &read),
        Scheduler::Volcano => rule("scheduling.volcano.sh", &["podgroups"], &all),
        Scheduler::Kai | Scheduler::Kube => rule("scheduling.k8s.io", &["priorityclasses"], &read),
    };
    let role = Role {
        rules: Some(vec![
            rule("jobset.x-k8s.io", &["jobsets"], &all),
            rule("batch", &["jobs"], &all),
            admitted,
            rule("", &["pods", "pods/log", "events", "configmaps", "persistentvolumeclaims"], &read),
        ]),
        ..Default::default()
    };
    let binding = RoleBinding {
        role_ref: RoleRef { api_group: Some(RBAC.into()), kind: "Role".into(), name: name.clone() },
        subjects: Some(vec![Subject { api_group: Some(RBAC.into()), kind: "Group".into(), name: queue.name.clone(), namespace: None }]),
        ..Default::default()
    };
    [
        input.maker.namespaced(&queue.at, &queue.namespace, &name, role).because("/rules", "Nobody may create pods: work enters through the queue."),
        input.maker.namespaced(&queue.at, &queue.namespace, &name, binding).because("/subjects", "The identity provider's group of that name."),
    ]
}
