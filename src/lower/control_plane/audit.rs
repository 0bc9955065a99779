//! `audit-policy.yaml`.

use super::super::kinds::kubeadm::{AuditRule, GroupResources, Policy};
use super::super::kinds::non_empty;
use super::super::object::Document;
use super::Files;

/// First match wins: the chatter of agents is dropped, secrets are named and never written, what decides who gets GPUs is kept whole.
pub fn policy(files: &Files, path: &str) -> Document {
    let none = AuditRule { level: "None", ..Default::default() };
    let read = || Some(vec!["get", "list", "watch"]);
    let change = || Some(vec!["create", "update", "patch", "delete", "deletecollection"]);
    let of = |group, resources: &[&'static str]| GroupResources { group, resources: non_empty(resources.to_vec()) };
    let policy = Policy {
        omit_stages: vec!["RequestReceived"],
        rules: vec![
            AuditRule { non_resource_urls: Some(vec!["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"]), ..none.clone() },
            AuditRule { resources: Some(vec![of("coordination.k8s.io", &["leases"])]), ..none.clone() },
            AuditRule { resources: Some(vec![of("", &["events"]), of("events.k8s.io", &["events"])]), ..none.clone() },
            AuditRule { user_groups: Some(vec!["system:nodes"]), verbs: read(), ..none.clone() },
            AuditRule { users: Some(vec!["system:kube-scheduler", "system:kube-controller-manager", "system:apiserver"]), verbs: read(), ..none.clone() },
            AuditRule {
                level: "Metadata",
                resources: Some(vec![
                    of("", &["secrets", "configmaps", "serviceaccounts/token"]),
                    of("authentication.k8s.io", &["tokenreviews"]),
                    of("certificates.k8s.io", &["certificatesigningrequests"]),
                ]),
                ..Default::default()
            },
            AuditRule {
                level: "RequestResponse",
                verbs: change(),
                resources: Some(vec![
                    of("kueue.x-k8s.io", &["clusterqueues", "localqueues", "resourceflavors", "cohorts", "topologies"]),
                    of("rbac.authorization.k8s.io", &[]),
                    of("nvidia.com", &[]),
                    of("mellanox.com", &[]),
                    of("sriovnetwork.openshift.io", &[]),
                ]),
                ..Default::default()
            },
            AuditRule {
                level: "Request",
                resources: Some(vec![of("", &["pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers"])]),
                ..Default::default()
            },
            AuditRule { level: "Metadata", verbs: change(), ..Default::default() },
            none,
        ],
    };
    files
        .document(&policy)
        .because("", format!("{path} on the hosts of the control plane. The first match wins."))
        .because("/rules/0", "Health, discovery, and the leases, events and reads of every host.")
        .because("/rules/5", "Who touched what, never the contents.")
        .because("/rules/6", "Changes of quotas, rights and node state, whole: they decide who gets GPUs.")
        .because("/rules/7", "People's sessions in pods.")
}
