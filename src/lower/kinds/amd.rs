//! AMD GPU operator.

use k8s_openapi::api::core::v1::Toleration;

use super::{Texts, custom_resources, parts};

custom_resources! {
    "amd.com" / "v1alpha1" {
        NamespaceResourceScope DeviceConfig { spec: DeviceConfigSpec }
    }
}

parts! {
    DeviceConfigSpec {
        driver: Driver,
        device_plugin: DevicePlugin,
        metrics_exporter: MetricsExporter,
        config_manager: ConfigManager,
        selector: Texts,
    }
    Driver { enable: bool, blacklist: Option<bool>, version: Option<String>, image: Option<String> }
    DevicePlugin {
        enable_device_plugin: bool,
        enable_node_labeller: bool,
        device_plugin_tolerations: Vec<Toleration>,
        node_labeller_tolerations: Vec<Toleration>,
    }
    MetricsExporter { enable: bool, port: i64, prometheus: Option<Prometheus>, tolerations: Vec<Toleration> }
    Prometheus { service_monitor: ServiceMonitor }
    ServiceMonitor { enable: bool, interval: &'static str }
    ConfigManager { enable: bool, config: Option<Named>, config_manager_tolerations: Option<Vec<Toleration>> }
    Named { name: &'static str }
}
