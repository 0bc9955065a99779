//! `gpu/` and `runtime/`: the GPU Operator's ClusterPolicy, device-plugin and MIG settings, a RuntimeClass a pool.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::node::v1::{RuntimeClass, Scheduling};
use serde::Serialize;

use super::super::kinds::nvidia::{
    ClusterPolicy, ClusterPolicySpec, Daemonsets, Driver, Mig, Operand, OperandConfig, Operator, ServiceMonitor, Switch, UpgradePolicy, Variable,
};
use super::super::kinds::{Texts, agent_tolerations, non_empty, texts, tolerations};
use super::super::{Artifacts, object::Document, yaml};
use super::Input;
use crate::design::MigStrategy;
use crate::nodes::pool_label;
use crate::versions;

/// Lowers both folders.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((_, first)) = input.gpu_pools().next() else { return };
    artifacts.objects("kubernetes/runtime/runtimeclasses.yaml", runtime_classes(input));
    artifacts.objects("kubernetes/gpu/clusterpolicy.yaml", vec![cluster_policy(input)]);
    let sharing = input.gpu_pools().find(|(_, p)| p.gpu.as_ref().is_some_and(|g| g.sharing.is_some()));
    let origin = sharing.map_or((&first.at, "gpu"), |(_, p)| (&p.at, "gpu.sharing"));
    let config = |name: &str, origin: (&crate::design::At, &str), data: Texts| {
        input.maker.namespaced(origin, "gpu-operator", name, ConfigMap { data: Some(data), ..Default::default() })
    };
    let plugin = config("device-plugin-config", origin, plugin_configs(input));
    artifacts.objects("kubernetes/gpu/device-plugin-config.yaml", vec![plugin]);
    if let Some((_, pool)) = mig_pools(input).next() {
        let parted = config("mig-parted-config", (&pool.at, "gpu.mig"), texts([("config.yaml", yaml::text(&mig_layouts(input)))]));
        artifacts.objects("kubernetes/gpu/mig-parted-config.yaml", vec![parted]);
    }
}

fn mig_pools<'a>(input: &Input<'a>) -> impl Iterator<Item = (usize, &'a crate::design::Pool)> {
    input.gpu_pools().filter(|(_, p)| p.gpu.as_ref().is_some_and(|g| g.mig.is_some()))
}

fn cluster_policy(input: &Input) -> Document {
    let (_, first) = input.gpu_pools().next().expect("a GPU pool");
    let driver = &first.gpu.as_ref().expect("a GPU pool").driver;
    let strategies: Vec<MigStrategy> = input.gpu_pools().filter_map(|(_, p)| Some(p.gpu.as_ref()?.mig.as_ref()?.strategy)).collect();
    // One strategy a ClusterPolicy; where pools differ, `mixed` leaves whole GPUs and slices apart, and the device plugin's settings say the rest.
    let strategy = match strategies.as_slice() {
        [] => "none",
        all if all.iter().all(|s| *s == MigStrategy::Single) && all.len() == input.gpu_pools().count() => "single",
        _ => "mixed",
    };
    let rdma = input.rdma_pools().any(|(_, p)| p.gpu.is_some());
    let taints = input.gpu_pools().flat_map(|(id, _)| &input.compilation.nodes.taints[id]);
    let spec = ClusterPolicySpec {
        operator: Operator { runtime_class: "nvidia" },
        daemonsets: Daemonsets { priority_class_name: "system-node-critical", tolerations: agent_tolerations(taints) },
        cdi: Switch { enabled: true },
        validator: Operand::always(versions::VALIDATOR),
        driver: Driver {
            enabled: true,
            repository: "nvcr.io/nvidia",
            image: "driver",
            version: versions::driver(driver),
            kernel_module_type: "open",
            use_precompiled: false,
            use_nvidia_driver_crd: false,
            rdma: Switch { enabled: false },
            manager: Operand::always(versions::DRIVER_MANAGER),
            upgrade_policy: UpgradePolicy { auto_upgrade: false },
        },
        gdrcopy: if rdma { Operand::on(versions::GDRCOPY) } else { Operand::off() },
        gds: Operand::off(),
        toolkit: Operand {
            env: input.design().cluster.distribution.containerd_socket().map(|value| vec![Variable { name: "CONTAINERD_SOCKET", value }]),
            ..Operand::on(versions::TOOLKIT)
        },
        device_plugin: Operand { config: Some(OperandConfig { name: "device-plugin-config", default: "default" }), ..Operand::on(versions::DEVICE_PLUGIN) },
        gfd: Operand::on(versions::DEVICE_PLUGIN),
        mig: Mig { strategy },
        mig_manager: if strategies.is_empty() {
            Operand::off()
        } else {
            Operand { config: Some(OperandConfig { name: "mig-parted-config", default: "all-disabled" }), ..Operand::on(versions::MIG_MANAGER) }
        },
        dcgm: Switch { enabled: false },
        dcgm_exporter: Operand {
            service_monitor: Some(ServiceMonitor { enabled: input.design().cluster.observability, interval: "15s" }),
            ..Operand::on(versions::DCGM_EXPORTER)
        },
        node_status_exporter: Switch { enabled: false },
    };
    let mut policy = input
        .maker
        .cluster((&first.at, "gpu"), "cluster-policy", ClusterPolicy { spec, ..Default::default() })
        .from("/spec/driver/version", first.at.set("gpu.driver"))
        .because("", "The only ClusterPolicy: install/ sets clusterPolicy.deployCR=false, since the operator ignores a second one. So every image that\nthe chart would have named stands here.")
        .because("/spec/operator/runtimeClass", "The class that the operator owns; a pool's own are in runtime/.")
        .because("/spec/daemonsets/tolerations", "Operands run on every GPU pool, whatever the taint's value.")
        .because("/spec/driver/kernelModuleType", "DMA-BUF needs the open modules.")
        .because("/spec/driver/rdma", "GPUDirect RDMA through DMA-BUF: no nvidia-peermem, no dependence on an OFED peer API.")
        .because("/spec/driver/upgradePolicy/autoUpgrade", "An upgrade deletes every GPU pod of a host: people start it, in a maintenance window.")
        .because("/spec/gds", "No storage of the design claims GPUDirect Storage.")
        .because("/spec/dcgm", "The exporter has a host engine of its own.");
    policy = policy.because_if_set(
        "/spec/toolkit/env",
        "The distribution's own containerd. It finds the runtime in /usr/local/nvidia/toolkit when its service starts: restart that once.",
    );
    if versions::driver(driver) != *driver {
        policy = policy.because("/spec/driver/version", format!("The newest of branch {driver} that this version of aic knows."));
    }
    if !strategies.is_empty() {
        policy = policy.because("/spec/mig/strategy", "Pools whose strategy is another have it in device-plugin-config.yaml.");
    }
    policy
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sharing {
    time_slicing: TimeSlicing,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TimeSlicing {
    rename_by_default: bool,
    fail_requests_greater_than_one: bool,
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
    for (_, pool) in input.gpu_pools() {
        let Some(gpu) = pool.gpu.as_ref().filter(|g| g.own_plugin_config()) else { continue };
        let sharing = gpu.sharing.as_ref().map(|s| Sharing {
            time_slicing: TimeSlicing {
                rename_by_default: s.rename,
                // More slots than one would not give a pod more of the GPU.
                fail_requests_greater_than_one: true,
                resources: [SharedResource { name: "nvidia.com/gpu", replicas: s.replicas }],
            },
        });
        data.insert(pool.name.clone(), text(gpu.mig.as_ref().map_or("none", |mig| mig.strategy.word()), sharing));
    }
    data
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MigLayouts<'a> {
    version: &'static str,
    mig_configs: BTreeMap<&'a str, [MigLayout<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MigLayout<'a> {
    devices: &'static str,
    mig_enabled: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mig_devices: BTreeMap<&'a str, usize>,
}

/// The layouts of mig-parted: one a pool, named by the label `nvidia.com/mig.config`.
fn mig_layouts<'a>(input: &Input<'a>) -> MigLayouts<'a> {
    let layout = |mig_enabled, mig_devices| [MigLayout { devices: "all", mig_enabled, mig_devices }];
    let mut mig_configs = BTreeMap::from([("all-disabled", layout(false, BTreeMap::new()))]);
    for (_, pool) in mig_pools(input) {
        let mut counts = BTreeMap::new();
        for profile in pool.gpu.iter().flat_map(|g| &g.mig).flat_map(|mig| &mig.layout) {
            *counts.entry(profile.as_str()).or_insert(0) += 1;
        }
        mig_configs.insert(&pool.name, layout(true, counts));
    }
    MigLayouts { version: "v1", mig_configs }
}

/// `nvidia` itself is the operator's. Ours have its handler and carry a pool's placement.
fn runtime_classes(input: &Input) -> Vec<Document> {
    input
        .gpu_pools()
        .map(|(id, pool)| {
            let class = RuntimeClass {
                handler: "nvidia".into(),
                scheduling: Some(Scheduling {
                    node_selector: Some(texts([(pool_label(input.design(), pool), &pool.name)])),
                    tolerations: non_empty(tolerations(&input.compilation.nodes.taints[id])),
                }),
                ..Default::default()
            };
            input
                .maker
                .cluster((&pool.at, "gpu"), &format!("nvidia-{}", pool.name), class)
                .because("/scheduling", "A pod that names the class lands in this pool and nowhere else, without a selector or toleration of its own.")
        })
        .collect()
}
