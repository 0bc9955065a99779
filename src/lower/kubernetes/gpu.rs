//! `gpu/` and `runtime/`: the GPU Operator's ClusterPolicy, device-plugin and MIG settings, a RuntimeClass a pool.

use serde_json::{Map, Value, json};

use super::super::object::{agent_tolerations, tolerations};
use super::super::{Artifacts, object::Document};
use super::Input;
use crate::nodes::pool_label;
use crate::versions::{self, Image};

fn image(component: Image) -> Value {
    json!({ "repository": component.0, "image": component.1, "version": component.2 })
}

fn with(component: Image, extra: Value) -> Value {
    let mut value = json!({ "enabled": true });
    for part in [image(component), extra] {
        if let (Value::Object(into), Value::Object(from)) = (&mut value, part) {
            into.extend(from);
        }
    }
    value
}

/// Lowers both folders.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((_, first)) = input.gpu_pools().next() else { return };
    artifacts.objects("kubernetes/runtime/runtimeclasses.yaml", runtime_classes(input));
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let gpu = first.gpu.as_ref().expect("a GPU pool");
    let sharing = input.gpu_pools().any(|(_, p)| p.gpu.as_ref().is_some_and(|g| g.sharing.is_some()));
    let mig: Vec<_> = input.gpu_pools().filter_map(|(_, p)| p.gpu.as_ref()?.mig.as_ref().map(|m| (p, m))).collect();
    // One strategy a ClusterPolicy; where pools differ, `mixed` leaves whole GPUs and slices apart, and the device plugin's settings say the rest.
    let strategy = match mig.as_slice() {
        [] => "none",
        all if all.iter().all(|(_, (s, _))| s == "single") && all.len() == input.gpu_pools().count() => "single",
        _ => "mixed",
    };
    let taints = input.gpu_pools().flat_map(|(id, _)| &nodes.taints[id]);
    let mut spec = json!({
        "operator": { "runtimeClass": "nvidia" },
        "daemonsets": { "priorityClassName": "system-node-critical", "tolerations": agent_tolerations(taints) },
        "cdi": { "enabled": true },
        "validator": image(versions::VALIDATOR),
        "driver": {
            "enabled": true, "repository": "nvcr.io/nvidia", "image": "driver", "version": versions::driver(&gpu.driver),
            "kernelModuleType": "open", "usePrecompiled": false, "useNvidiaDriverCRD": false,
            "rdma": { "enabled": false },
            "manager": image(versions::DRIVER_MANAGER),
            "upgradePolicy": { "autoUpgrade": false },
        },
        "gdrcopy": if input.rdma_pools().any(|(_, p)| p.gpu.is_some()) { with(versions::GDRCOPY, json!({})) } else { json!({ "enabled": false }) },
        "gds": { "enabled": false },
        "toolkit": with(versions::TOOLKIT, json!({})),
        "devicePlugin": with(versions::DEVICE_PLUGIN, json!({ "config": { "name": "device-plugin-config", "default": "default" } })),
        "gfd": with(versions::DEVICE_PLUGIN, json!({})),
        "mig": { "strategy": strategy },
        "migManager": { "enabled": false },
        "dcgm": { "enabled": false },
        "dcgmExporter": with(versions::DCGM_EXPORTER, json!({ "serviceMonitor": { "enabled": d.cluster.observability, "interval": "15s" } })),
        "nodeStatusExporter": { "enabled": false },
    });
    if !mig.is_empty() {
        spec["migManager"] = with(versions::MIG_MANAGER, json!({ "config": { "name": "mig-parted-config", "default": "all-disabled" } }));
    }
    let policy = input.maker.object("nvidia.com/v1", "ClusterPolicy", None, "cluster-policy", &first.at, "gpu", json!({ "spec": spec }));
    artifacts.objects("kubernetes/gpu/clusterpolicy.yaml", vec![policy.from("/spec/driver/version", first.at.set("gpu.driver"))]);
    let mut data = Map::new();
    // A pool's own strategy: one ClusterPolicy has one, and under `mixed` a pool of equal slices would not advertise nvidia.com/gpu.
    data.insert("default".into(), plugin_config("none", None).into());
    for (_, pool) in input.gpu_pools() {
        let Some(gpu) = pool.gpu.as_ref().filter(|g| g.own_plugin_config()) else { continue };
        let own = gpu.mig.as_ref().map_or("none", |(strategy, _)| strategy);
        let sharing = gpu.sharing.as_ref().map(|s| (s.replicas, s.rename));
        data.insert(pool.name.clone(), plugin_config(own, sharing).into());
    }
    let part = if sharing { "gpu.sharing" } else { "gpu" };
    let at = &input.gpu_pools().find(|(_, p)| p.gpu.as_ref().is_some_and(|g| g.sharing.is_some())).map_or(first, |(_, p)| p).at;
    artifacts.objects(
        "kubernetes/gpu/device-plugin-config.yaml",
        vec![input.maker.object("v1", "ConfigMap", Some("gpu-operator"), "device-plugin-config", at, part, json!({ "data": data }))],
    );
    if let Some((pool, _)) = mig.first() {
        let text = mig_config(input);
        let document =
            input.maker.object("v1", "ConfigMap", Some("gpu-operator"), "mig-parted-config", &pool.at, "gpu.mig", json!({ "data": { "config.yaml": text } }));
        artifacts.objects("kubernetes/gpu/mig-parted-config.yaml", vec![document]);
    }
}

/// Settings of the device plugin for one pool, itself YAML in a ConfigMap.
fn plugin_config(strategy: &str, sharing: Option<(i64, bool)>) -> String {
    let mut value = json!({ "version": "v1", "flags": { "migStrategy": strategy } });
    if let Some((replicas, rename)) = sharing {
        value["sharing"] = json!({ "timeSlicing": {
            "renameByDefault": rename,
            // More slots than one would not give a pod more of the GPU.
            "failRequestsGreaterThanOne": true,
            "resources": [{ "name": "nvidia.com/gpu", "replicas": replicas }],
        } });
    }
    crate::lower::yaml::text(&value)
}

/// The layouts of mig-parted: one a pool, named by the label `nvidia.com/mig.config`.
fn mig_config(input: &Input) -> String {
    let mut configs = json!({ "all-disabled": [{ "devices": "all", "mig-enabled": false }] });
    for (_, pool) in input.gpu_pools() {
        let Some((_, layout)) = pool.gpu.as_ref().and_then(|g| g.mig.as_ref()) else { continue };
        let mut counts = Map::new();
        for profile in layout {
            let n = counts.get(profile).and_then(Value::as_i64).unwrap_or(0) + 1;
            counts.insert(profile.clone(), n.into());
        }
        configs[&pool.name] = json!([{ "devices": "all", "mig-enabled": true, "mig-devices": counts }]);
    }
    crate::lower::yaml::text(&json!({ "version": "v1", "mig-configs": configs }))
}

/// `nvidia` itself is the operator's. Ours have its handler and carry a pool's placement.
fn runtime_classes(input: &Input) -> Vec<Document> {
    input
        .gpu_pools()
        .map(|(id, pool)| {
            let key = pool_label(input.design(), pool);
            let mut scheduling = json!({ "nodeSelector": { key: pool.name } });
            let tolerations = tolerations(&input.compilation.nodes.taints[id]);
            if !tolerations.is_empty() {
                scheduling["tolerations"] = tolerations.into();
            }
            input.maker.object(
                "node.k8s.io/v1",
                "RuntimeClass",
                None,
                &format!("nvidia-{}", pool.name),
                &pool.at,
                "gpu",
                json!({ "handler": "nvidia", "scheduling": scheduling }),
            )
        })
        .collect()
}
