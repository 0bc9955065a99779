//! The virtual address of the API servers, held by one of the hosts at a time.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, HostAlias, HostPathVolumeSource, Pod, PodSpec, ResourceRequirements, SecurityContext, Volume, VolumeMount,
};

use super::super::Artifacts;
use super::super::kinds::kubeadm::API_PORT;
use super::super::kinds::{amounts, strings, variable, variable_of_field};
use super::super::object::Document;
use super::Files;
use crate::design::Vip;
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

/// The same by keepalived: its configuration, and the check that takes a host without an API server out.
pub fn keepalived(files: &Files) -> (String, String) {
    let interface = files.c.topology.node_interfaces(&files.c.design).into_iter().next().unwrap_or_default();
    let endpoint = files.control_plane.endpoint.as_deref().unwrap_or("");
    // One number a virtual address on a network: its last part, which no other virtual address of the network has.
    let router = endpoint.rsplit(['.', ':']).next().and_then(|part| part.parse::<u8>().ok()).filter(|n| *n > 0).unwrap_or(51);
    let configuration = format!(
        "# /etc/keepalived/keepalived.conf on each host of the control plane: the same file on all, so that none is preferred and an address never moves back by itself.\n\
         global_defs {{\n  enable_script_security\n  script_user nobody\n}}\n\
         vrrp_script api {{\n  script \"/etc/keepalived/check-apiserver.sh\"\n  interval 2\n  fall 3\n  rise 2\n}}\n\
         vrrp_instance api {{\n  state BACKUP\n  nopreempt\n  interface {interface}\n  virtual_router_id {router}\n  priority 100\n  advert_int 1\n  virtual_ipaddress {{\n    {endpoint}\n  }}\n  track_script {{\n    api\n  }}\n}}\n"
    );
    // Where anonymous requests are refused, the refusal comes from an API server that lives.
    let check = format!(
        "#!/bin/sh\n# The host's own API server, whoever holds the address. 401 and 403: it answers, and knows no anonymous user.\n\
         case \"$(curl --silent --insecure --max-time 2 --output /dev/null --write-out '%{{http_code}}' https://127.0.0.1:{API_PORT}/readyz)\" in\n\
         200 | 401 | 403) exit 0 ;;\n*) exit 1 ;;\nesac\n"
    );
    (configuration, check)
}

/// Writes what holds the address, where several hosts share one: `config` is the kubeconfig of a host, `manifests` its folder of static pods.
pub fn lower(files: &Files, config: &str, manifests: &str, artifacts: &mut Artifacts) {
    if files.control_plane.hosts.len() < 2 {
        return;
    }
    match files.control_plane.vip {
        Vip::KubeVip => artifacts.objects("control-plane/kube-vip.yaml", vec![kube_vip(files, config, manifests)]),
        Vip::Keepalived => {
            let (configuration, check) = keepalived(files);
            artifacts.text("control-plane/keepalived.conf", configuration);
            artifacts.text("control-plane/check-apiserver.sh", check);
        }
        // The site's own load balancer.
        Vip::External => {}
    }
}

/// What is done with it, for the page of the control plane.
pub fn step(files: &Files) -> Option<String> {
    (files.control_plane.hosts.len() > 1 && files.control_plane.vip == Vip::Keepalived).then(|| {
        "On each, before the first API server starts: the package keepalived, `keepalived.conf` and `check-apiserver.sh` (mode 0755) to `/etc/keepalived/`, `systemctl enable --now keepalived`."
            .to_owned()
    })
}
