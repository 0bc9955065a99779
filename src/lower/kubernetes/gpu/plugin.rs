//! `device-plugin-config.yaml`: slices and shared GPUs, a named configuration a pool and never the cluster's default.

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;

use super::super::super::kinds::{Texts, texts};
use super::super::super::{Artifacts, yaml};
use super::super::Input;
use super::allocated;
use super::nvidia::NAMESPACE;
use crate::design::{Allocation, SharingMode};

/// Writes the file.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((_, first, _)) = allocated(input, Allocation::DevicePlugin).next() else { return };
    let sharing = allocated(input, Allocation::DevicePlugin).find(|(.., gpu)| gpu.sharing.is_some());
    let origin = sharing.map_or((&first.at, "gpu"), |(_, pool, _)| (&pool.at, "gpu.sharing"));
    let map = ConfigMap { data: Some(plugin_configs(input)), ..Default::default() };
    artifacts.objects("kubernetes/gpu/device-plugin-config.yaml", vec![input.maker.namespaced(origin, NAMESPACE, "device-plugin-config", map)]);
}

/// Settings of the device plugin, one a pool that needs its own, each itself YAML in a ConfigMap.
#[derive(Serialize)]
struct PluginConfig<'a> {
    version: &'static str,
    flags: Flags<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<Sharing>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flags<'a> {
    mig_strategy: &'a str,
}

/// One of its fields is set.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sharing {
    time_slicing: Option<Slots>,
    mps: Option<Slots>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Slots {
    rename_by_default: bool,
    fail_requests_greater_than_one: Option<bool>,
    resources: [SharedResource; 1],
}

#[derive(Serialize)]
struct SharedResource {
    name: &'static str,
    replicas: i64,
}

fn plugin_configs(input: &Input) -> Texts {
    let text = |mig_strategy: &str, sharing: Option<Sharing>| yaml::text(&PluginConfig { version: "v1", flags: Flags { mig_strategy }, sharing });
    // A pool's own strategy: one ClusterPolicy has one, and under `mixed` a pool of equal slices would not advertise nvidia.com/gpu.
    let mut data = texts([("default", text("none", None))]);
    for (_, pool, gpu) in allocated(input, Allocation::DevicePlugin).filter(|(.., gpu)| gpu.own_plugin_config()) {
        let sharing = gpu.sharing.as_ref().map(|s| {
            let slots = Slots {
                rename_by_default: s.rename,
                // More slots than one would not give a pod more of the GPU; MPS refuses them by itself.
                fail_requests_greater_than_one: (s.mode == SharingMode::TimeSlicing).then_some(true),
                resources: [SharedResource { name: "nvidia.com/gpu", replicas: s.replicas }],
            };
            match s.mode {
                SharingMode::TimeSlicing => Sharing { time_slicing: Some(slots), mps: None },
                SharingMode::Mps => Sharing { time_slicing: None, mps: Some(slots) },
            }
        });
        data.insert(pool.name.clone(), text(gpu.mig.as_ref().map_or("none", |mig| mig.strategy.word()), sharing));
    }
    data
}
