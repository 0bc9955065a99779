//! NVIDIA's GPUs: the GPU Operator's ClusterPolicy, and a driver a pool where pools differ in it.

use super::super::super::kinds::nvidia::{
    ClusterPolicy, ClusterPolicySpec, Daemonsets, Driver, Mig, NVIDIADriver, NVIDIADriverSpec, Operand, OperandConfig, Operator, ServiceMonitor, Switch,
    UpgradePolicy, Variable,
};
use super::super::super::kinds::{agent_tolerations, texts, tolerations};
use super::super::super::{Artifacts, object::Document};
use super::super::Input;
use super::{GpuPool, allocated, mig, of_vendor, plugin};
use crate::design::{Allocation, GpuVendor, MigStrategy, PoolGpu};
use crate::nodes::pool_label;
use crate::versions;

/// The namespace of the operator.
pub(super) const NAMESPACE: &str = "gpu-operator";

/// What the operator reads.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let pools: Vec<GpuPool> = of_vendor(input, GpuVendor::Nvidia).collect();
    if pools.is_empty() {
        return;
    }
    artifacts.objects("kubernetes/gpu/clusterpolicy.yaml", vec![cluster_policy(input)]);
    if drivers_differ(&pools) {
        artifacts.objects("kubernetes/gpu/nvidiadrivers.yaml", pools.iter().map(|pool| driver(input, pool)).collect());
    }
    plugin::lower(input, artifacts);
    mig::lower(input, artifacts);
}

/// Whether one ClusterPolicy cannot name the driver of all pools.
fn drivers_differ(pools: &[GpuPool]) -> bool {
    pools.iter().any(|(.., gpu)| gpu.driver != pools[0].2.driver)
}

/// The driver of a pool.
fn driver(input: &Input, (id, pool, gpu): &GpuPool) -> Document {
    let gdrcopy = if pool.rdma.is_some() { Operand::on(versions::GDRCOPY) } else { Operand::off() };
    let spec = NVIDIADriverSpec {
        default: false,
        driver_type: "gpu",
        repository: "nvcr.io/nvidia",
        image: "driver",
        version: versions::driver(&gpu.driver),
        kernel_module_type: "open",
        use_precompiled: false,
        rdma: Switch { enabled: false },
        gdrcopy,
        manager: Operand::always(versions::DRIVER_MANAGER),
        node_selector: texts([(pool_label(input.design(), pool), &pool.name)]),
        tolerations: tolerations(&input.compilation.nodes.taints[*id]),
    };
    let document = input
        .maker
        .cluster((&pool.at, "gpu"), &pool.name, NVIDIADriver { spec, ..Default::default() })
        .from("/spec/version", pool.at.set("gpu.driver"))
        .because("/spec/kernelModuleType", "DMA-BUF needs the open modules.");
    if versions::driver(&gpu.driver) == gpu.driver {
        return document;
    }
    document.because("/spec/version", format!("The newest of branch {} that this version of aic knows.", gpu.driver))
}

fn cluster_policy(input: &Input) -> Document {
    let pools: Vec<GpuPool> = of_vendor(input, GpuVendor::Nvidia).collect();
    let (_, first, PoolGpu { driver, .. }) = pools[0];
    let own_drivers = drivers_differ(&pools);
    let host_driver = input.design().cluster.distribution.brings_gpu_driver();
    let strategies: Vec<MigStrategy> = pools.iter().filter_map(|(.., gpu)| Some(gpu.mig.as_ref()?.strategy)).collect();
    // One strategy a ClusterPolicy; where pools differ, `mixed` leaves whole GPUs and slices apart, and the device plugin's settings say the rest.
    let strategy = match strategies.as_slice() {
        [] => "none",
        all if all.iter().all(|s| *s == MigStrategy::Single) && all.len() == pools.len() => "single",
        _ => "mixed",
    };
    let rdma = pools.iter().any(|(_, pool, _)| pool.rdma.is_some());
    let taints = pools.iter().flat_map(|(id, ..)| &input.compilation.nodes.taints[*id]);
    let plugin = allocated(input, Allocation::DevicePlugin).next().is_some();
    let spec = ClusterPolicySpec {
        operator: Operator { runtime_class: "nvidia" },
        daemonsets: Daemonsets { priority_class_name: "system-node-critical", tolerations: agent_tolerations(taints) },
        cdi: Switch { enabled: true },
        validator: Operand::always(versions::VALIDATOR),
        driver: Driver {
            enabled: !host_driver,
            repository: "nvcr.io/nvidia",
            image: "driver",
            version: versions::driver(driver),
            kernel_module_type: "open",
            use_precompiled: false,
            use_nvidia_driver_crd: own_drivers,
            rdma: Switch { enabled: false },
            manager: Operand::always(versions::DRIVER_MANAGER),
            upgrade_policy: UpgradePolicy { auto_upgrade: false },
        },
        gdrcopy: if rdma && !own_drivers && !host_driver { Operand::on(versions::GDRCOPY) } else { Operand::off() },
        gds: Operand::off(),
        toolkit: Operand {
            enabled: Some(!host_driver),
            env: input.design().cluster.distribution.containerd_socket().map(|value| vec![Variable { name: "CONTAINERD_SOCKET", value }]),
            ..Operand::always(versions::TOOLKIT)
        },
        device_plugin: if plugin {
            Operand { config: Some(OperandConfig { name: "device-plugin-config", default: "default" }), ..Operand::on(versions::DEVICE_PLUGIN) }
        } else {
            Operand::off()
        },
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
    if own_drivers {
        policy = policy.because("/spec/driver/useNvidiaDriverCRD", "Pools differ in their driver: nvidiadrivers.yaml has one for each.");
    } else if host_driver {
        policy = policy.because("/spec/driver/enabled", "The hosts' image brings driver and toolkit.");
    }
    if !plugin {
        policy = policy.because("/spec/devicePlugin", "GPUs are handed out by claims (DRA): two allocators of one GPU would hand it out twice.");
    }
    if versions::driver(driver) != *driver {
        policy = policy.because("/spec/driver/version", format!("The newest of branch {driver} that this version of aic knows."));
    }
    if !strategies.is_empty() {
        policy = policy.because("/spec/mig/strategy", "Pools whose strategy is another have it in device-plugin-config.yaml.");
    }
    policy
}
