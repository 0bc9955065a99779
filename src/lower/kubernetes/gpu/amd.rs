//! AMD's GPUs: a DeviceConfig a pool and the profiles of the Device Config Manager. Sources: ROCm/gpu-operator v1.5 (DeviceConfig reference) and
//! ROCm/device-config-manager (profiles, the label `dcm.amd.com/gpu-config-profile`).

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use super::super::super::kinds::amd::{
    ConfigManager, DeviceConfig, DeviceConfigSpec, DevicePlugin, Driver, MetricsExporter, Named, Prometheus, ServiceMonitor,
};
use super::super::super::kinds::{texts, tolerations};
use super::super::super::{Artifacts, object::Document};
use super::super::Input;
use super::{GpuPool, of_vendor};
use crate::design::{GpuVendor, Partition};
use crate::nodes::pool_label;

const NAMESPACE: &str = "kube-amd-gpu";
const PROFILES: &str = "config-manager-config";

/// What the operator reads.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let configs: Vec<Document> = of_vendor(input, GpuVendor::Amd).map(|pool| device_config(input, &pool)).collect();
    artifacts.objects("kubernetes/gpu/deviceconfigs.yaml", configs);
    let Some((_, pool, _)) = of_vendor(input, GpuVendor::Amd).find(|(.., gpu)| gpu.partition.is_some()) else { return };
    let profiles = of_vendor(input, GpuVendor::Amd).filter_map(|(_, pool, gpu)| {
        let Partition { compute, memory } = gpu.partition?;
        let count = pool.hosts.first().map_or(0, |h| input.design().hosts[*h].system.gpus().count());
        let profile = json!({
            "computePartition": compute.word().to_uppercase(), "memoryPartition": memory.word().to_uppercase(), "numGPUsAssigned": count,
        });
        Some((pool.name.clone(), json!({ "skippedGPUs": { "ids": [] }, "profiles": [profile] })))
    });
    let config = json!({
        "gpu-config-profiles": profiles.collect::<serde_json::Map<_, _>>(),
        // Whatever holds a GPU open keeps it from being cut.
        "gpuClientSystemdServices": { "names": ["amd-metrics-exporter", "gpuagent"] },
    });
    let map = ConfigMap { data: Some(texts([("config.json", format!("{config:#}\n"))])), ..Default::default() };
    let document = input
        .maker
        .namespaced((&pool.at, "gpu.partition"), NAMESPACE, PROFILES, map)
        .because("/data", "A profile a pool, chosen by the label dcm.amd.com/gpu-config-profile of its hosts. A change restarts every GPU client of a host.");
    artifacts.objects("kubernetes/gpu/partition-profiles.yaml", vec![document]);
}

fn device_config(input: &Input, (id, pool, gpu): &GpuPool) -> Document {
    let d = input.design();
    let mirror = d.cluster.mirror.as_deref();
    let own = || tolerations(&input.compilation.nodes.taints[*id]);
    let partitioned = gpu.partition.is_some();
    let spec = DeviceConfigSpec {
        driver: Driver {
            enable: mirror.is_some(),
            blacklist: mirror.is_some().then_some(true),
            version: mirror.map(|_| gpu.driver.clone()),
            image: mirror.map(|mirror| format!("{mirror}/amdgpu_kmod")),
        },
        device_plugin: DevicePlugin {
            enable_device_plugin: true,
            enable_node_labeller: true,
            device_plugin_tolerations: own(),
            node_labeller_tolerations: own(),
        },
        metrics_exporter: MetricsExporter {
            enable: d.cluster.observability,
            port: 5000,
            prometheus: d.cluster.observability.then_some(Prometheus { service_monitor: ServiceMonitor { enable: true, interval: "15s" } }),
            tolerations: own(),
        },
        config_manager: ConfigManager {
            enable: partitioned,
            config: partitioned.then_some(Named { name: PROFILES }),
            config_manager_tolerations: partitioned.then(own),
        },
        selector: texts([(pool_label(d, pool), &pool.name)]),
    };
    let driver = if mirror.is_some() {
        "Built by the Kernel Module Manager for the kernel of each host, and kept in the site's registry."
    } else {
        "The Kernel Module Manager would need a registry that it can push to (images { mirror = … }): without one the hosts' image brings amdgpu (hosts/README.md)."
    };
    input
        .maker
        .namespaced((&pool.at, "gpu"), NAMESPACE, &pool.name, DeviceConfig { spec, ..Default::default() })
        .because("/spec/driver", driver)
        .because_if_set("/spec/configManager/config", "Partition modes: partition-profiles.yaml.")
}
