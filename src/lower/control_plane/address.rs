//! The virtual address of the API servers, held by one of the hosts at a time.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, HostAlias, HostPathVolumeSource, Pod, PodSpec, ResourceRequirements, SecurityContext, Volume, VolumeMount,
};

use super::super::kinds::kubeadm::API_PORT;
use super::super::kinds::{amounts, strings, variable, variable_of_field};
use super::super::object::Document;
use super::Files;
use crate::versions;

/// The endpoint's address, held by one of the hosts at a time.
pub fn kube_vip(files: &Files, config: &str, manifests: &str) -> Document {
    let interface = files.c.topology.node_interfaces(&files.c.design).into_iter().next().unwrap_or_default();
    let container = Container {
        name: "kube-vip".into(),
        image: Some(versions::KUBE_VIP.into()),
        image_pull_policy: Some("IfNotPresent".into()),
        args: Some(strings(["manager"])),
        env: Some(vec![
            variable("vip_arp", "true"),
            variable("vip_interface", interface),
            variable("vip_subnet", "32"),
            variable("address", files.control_plane.endpoint.as_deref().unwrap_or("")),
            variable("port", API_PORT.to_string()),
            variable_of_field("vip_nodename", "spec.nodeName"),
            variable("cp_enable", "true"),
            variable("cp_namespace", "kube-system"),
            variable("svc_enable", "false"),
            variable("vip_leaderelection", "true"),
            variable("vip_leasename", "plndr-cp-lock"),
            variable("vip_leaseduration", "5"),
            variable("vip_renewdeadline", "3"),
            variable("vip_retryperiod", "1"),
            variable("prometheus_server", ":2112"),
        ]),
        resources: Some(ResourceRequirements { requests: Some(amounts([("cpu", "50m"), ("memory", "64Mi")])), ..Default::default() }),
        security_context: Some(SecurityContext {
            capabilities: Some(Capabilities { add: Some(strings(["NET_ADMIN", "NET_RAW"])), drop: Some(strings(["ALL"])) }),
            ..Default::default()
        }),
        volume_mounts: Some(vec![VolumeMount { name: "kubeconfig".into(), mount_path: config.into(), ..Default::default() }]),
        ..Default::default()
    };
    let spec = PodSpec {
        host_network: Some(true),
        host_aliases: Some(vec![HostAlias { ip: "127.0.0.1".into(), hostnames: Some(strings(["kubernetes"])) }]),
        priority_class_name: Some("system-node-critical".into()),
        containers: vec![container],
        volumes: Some(vec![Volume {
            name: "kubeconfig".into(),
            host_path: Some(HostPathVolumeSource { path: config.into(), type_: None }),
            ..Default::default()
        }]),
        ..Default::default()
    };
    files
        .object("kube-vip", Some("kube-system"), Pod { spec: Some(spec), ..Default::default() })
        .because("", format!("A static pod: {manifests}/kube-vip.yaml on each host of the control plane."))
        .because("/spec/hostAliases", "Its own API server, which is there before the address is.")
        .because("/spec/containers/kube-vip/env/svc_enable", "The API endpoint only; services of type LoadBalancer are not its work.")
}
