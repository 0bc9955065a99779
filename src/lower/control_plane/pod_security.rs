//! `pod-security.yaml`: the level of namespaces that carry no label of their own, where the installer reads a file for it.

use super::super::kinds::kubeadm::{AdmissionConfiguration, AdmissionPlugin, PodSecurityConfiguration, PodSecurityDefaults, PodSecurityExemptions};
use super::super::object::Document;
use super::Files;

/// The cluster's level for all but what the distribution itself runs.
pub fn configuration(files: &Files, path: &str) -> Document {
    let level = files.c.design.cluster.pod_security.word();
    let configuration = PodSecurityConfiguration {
        api_version: "pod-security.admission.config.k8s.io/v1",
        kind: "PodSecurityConfiguration",
        defaults: PodSecurityDefaults { enforce: level, enforce_version: "latest", audit: level, audit_version: "latest", warn: level, warn_version: "latest" },
        exemptions: PodSecurityExemptions {
            usernames: Vec::new(),
            runtime_classes: Vec::new(),
            namespaces: vec!["kube-system", "tigera-operator", "calico-system"],
        },
    };
    files
        .document(&AdmissionConfiguration { plugins: vec![AdmissionPlugin { name: "PodSecurity", configuration }] })
        .because("", format!("{path} on the servers. Namespaces of the bundle carry their level as a label, which wins."))
        .because("/plugins/0/configuration/exemptions/namespaces", "What the distribution itself installs, in namespaces without labels.")
}
