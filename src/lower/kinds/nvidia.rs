//! NVIDIA GPU Operator and DRA driver.

use k8s_openapi::api::core::v1::Toleration;

use super::{Texts, custom_resources, parts};
use crate::versions::Image;

custom_resources! {
    "nvidia.com" / "v1" {
        ClusterResourceScope ClusterPolicy { spec: ClusterPolicySpec }
    }
}

custom_resources! {
    "nvidia.com" / "v1alpha1" {
        ClusterResourceScope NVIDIADriver { spec: NVIDIADriverSpec }
    }
}

custom_resources! {
    "resource.nvidia.com" / "v1beta1" {
        NamespaceResourceScope ComputeDomain { spec: ComputeDomainSpec }
    }
}

parts! {
    ComputeDomainSpec { num_nodes: i64, channel: DomainChannel }
    DomainChannel { resource_claim_template: ClaimTemplate }
    ClaimTemplate { name: String }
    NVIDIADriverSpec {
        default: bool,
        driver_type: &'static str,
        repository: &'static str,
        image: &'static str,
        version: String,
        kernel_module_type: &'static str,
        use_precompiled: bool,
        rdma: Switch,
        gdrcopy: Operand,
        manager: Operand,
        node_selector: Texts,
        tolerations: Vec<Toleration>,
    }
    ClusterPolicySpec {
        operator: Operator,
        daemonsets: Daemonsets,
        cdi: Switch,
        validator: Operand,
        driver: Driver,
        gdrcopy: Operand,
        gds: Operand,
        toolkit: Operand,
        device_plugin: Operand,
        gfd: Operand,
        mig: Mig,
        mig_manager: Operand,
        dcgm: Switch,
        dcgm_exporter: Operand,
        node_status_exporter: Switch,
    }
    Operator { runtime_class: &'static str }
    Daemonsets { priority_class_name: &'static str, tolerations: Vec<Toleration> }
    Switch { enabled: bool }
    /// A container that the operator runs; the chart would name its image, but aic brings the ClusterPolicy.
    Operand {
        enabled: Option<bool>,
        repository: Option<&'static str>,
        image: Option<&'static str>,
        version: Option<&'static str>,
        config: Option<OperandConfig>,
        env: Option<Vec<Variable>>,
        service_monitor: Option<ServiceMonitor>,
    }
    Variable { name: &'static str, value: &'static str }
    OperandConfig { name: &'static str, default: &'static str }
    ServiceMonitor { enabled: bool, interval: &'static str }
    Driver {
        enabled: bool,
        repository: &'static str,
        image: &'static str,
        version: String,
        kernel_module_type: &'static str,
        use_precompiled: bool,
        #[serde(rename = "useNvidiaDriverCRD")]
        use_nvidia_driver_crd: bool,
        rdma: Switch,
        manager: Operand,
        upgrade_policy: UpgradePolicy,
    }
    UpgradePolicy { auto_upgrade: bool }
    Mig { strategy: &'static str }
}

impl Operand {
    /// An operand that runs in any case.
    pub fn always(image: Image) -> Self {
        Self { repository: Some(image.0), image: Some(image.1), version: Some(image.2), ..Default::default() }
    }

    /// An operand that is switched on.
    pub fn on(image: Image) -> Self {
        Self { enabled: Some(true), ..Self::always(image) }
    }

    /// An operand that is switched off.
    pub fn off() -> Self {
        Self { enabled: Some(false), ..Default::default() }
    }
}
