//! Intel's Gaudi: its device plugin. Source: HabanaAI/habanalabs-k8s-device-plugin and docs.habana.ai, Kubernetes installation.

use k8s_openapi::api::apps::v1::{DaemonSet, DaemonSetSpec};
use k8s_openapi::api::core::v1::{Container, HostPathVolumeSource, PodSpec, PodTemplateSpec, SecurityContext, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::super::super::Artifacts;
use super::super::super::kinds::{affinity_of, agent_tolerations, labelled, texts};
use super::super::Input;
use super::{GpuPool, of_vendor};
use crate::design::GpuVendor;
use crate::nodes::pool_label;
use crate::versions;

const NAME: &str = "habanalabs-device-plugin";

/// The plugin on the hosts of all pools with Gaudi.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let pools: Vec<GpuPool> = of_vendor(input, GpuVendor::Intel).collect();
    let Some((_, first, _)) = pools.first() else { return };
    let path = "/var/lib/kubelet/device-plugins";
    let names: Vec<&str> = pools.iter().map(|(_, pool, _)| pool.name.as_str()).collect();
    let pod = PodSpec {
        priority_class_name: Some("system-node-critical".into()),
        affinity: Some(affinity_of(&pool_label(input.design(), first), &names)),
        tolerations: Some(agent_tolerations(pools.iter().flat_map(|(id, ..)| &input.compilation.nodes.taints[*id]))),
        containers: vec![Container {
            name: "plugin".into(),
            image: Some(versions::GAUDI_PLUGIN.into()),
            security_context: Some(SecurityContext { privileged: Some(true), ..Default::default() }),
            volume_mounts: Some(vec![VolumeMount { name: "device-plugins".into(), mount_path: path.into(), ..Default::default() }]),
            ..Default::default()
        }],
        volumes: Some(vec![Volume {
            name: "device-plugins".into(),
            host_path: Some(HostPathVolumeSource { path: path.into(), type_: None }),
            ..Default::default()
        }]),
        ..Default::default()
    };
    let metadata = ObjectMeta { labels: Some(texts([("name", NAME)])), ..Default::default() };
    let spec =
        DaemonSetSpec { selector: labelled("name", NAME), template: PodTemplateSpec { metadata: Some(metadata), spec: Some(pod) }, ..Default::default() };
    let document = input
        .maker
        .namespaced((&first.at, "gpu"), "kube-system", NAME, DaemonSet { spec: Some(spec), ..Default::default() })
        .because("", "habana.ai/gaudi on every host with Gaudi. Driver, firmware and habana-container-runtime are part of the hosts' image.");
    artifacts.objects("kubernetes/gpu/gaudi-device-plugin.yaml", vec![document]);
}
