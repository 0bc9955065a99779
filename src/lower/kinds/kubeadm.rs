//! What kubeadm, the kubelet and the API server read from files.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;

use super::{Texts, configurations, parts};

/// Where the API server listens.
pub const API_PORT: u16 = 6443;

/// Where containerd listens.
pub const CRI_SOCKET: &str = "unix:///run/containerd/containerd.sock";

/// Where a host keeps what kubeadm merges over the cluster's configuration.
pub const PATCHES: &str = "/etc/kubernetes/aic/patches";

configurations! {
    "kubeadm.k8s.io/v1beta4": InitConfiguration, ClusterConfiguration, JoinConfiguration;
    "kubelet.config.k8s.io/v1beta1": KubeletConfiguration;
    "apiserver.config.k8s.io/v1": EncryptionConfiguration, AdmissionConfiguration;
    "audit.k8s.io/v1": Policy;
}

parts! {
    InitConfiguration {
        #[serde(rename = "localAPIEndpoint")]
        local_api_endpoint: ApiEndpoint,
        node_registration: NodeRegistration,
        patches: Patches,
    }
    ApiEndpoint { advertise_address: Option<String>, bind_port: u16 }
    /// An empty list of taints is not an absent one: kubeadm would then taint a control-plane host by itself.
    NodeRegistration { name: Option<String>, cri_socket: &'static str, taints: Vec<Taint> }
    Patches { directory: &'static str }
    JoinConfiguration { node_registration: NodeRegistration, discovery: Discovery, patches: Patches, control_plane: Option<JoinControlPlane> }
    Discovery { file: FileDiscovery }
    FileDiscovery { kube_config_path: &'static str }
    JoinControlPlane {
        #[serde(rename = "localAPIEndpoint")]
        local_api_endpoint: ApiEndpoint,
    }
    ClusterConfiguration {
        cluster_name: String,
        kubernetes_version: String,
        control_plane_endpoint: String,
        networking: Networking,
        proxy: Proxy,
        api_server: ApiServer,
        controller_manager: Component,
        scheduler: Component,
        etcd: Etcd,
    }
    Networking { dns_domain: String, pod_subnet: Option<String>, service_subnet: Option<String> }
    Proxy { disabled: bool }
    ApiServer {
        #[serde(rename = "certSANs")]
        cert_sans: Vec<String>,
        extra_args: Vec<Argument>,
        extra_volumes: Vec<HostMount>,
    }
    Component { extra_args: Vec<Argument> }
    Argument { name: &'static str, value: String }
    HostMount { name: &'static str, host_path: &'static str, mount_path: &'static str, read_only: Option<bool>, path_type: &'static str }
    /// One of its fields is set.
    Etcd { local: Option<LocalEtcd>, external: Option<ExternalEtcd> }
    ExternalEtcd { endpoints: Vec<String>, ca_file: &'static str, cert_file: &'static str, key_file: &'static str }
    LocalEtcd { data_dir: &'static str, extra_args: Vec<Argument> }

    KubeletConfiguration {
        static_pod_path: Option<&'static str>,
        container_runtime_endpoint: Option<&'static str>,
        cgroup_driver: Option<&'static str>,
        cluster_domain: Option<String>,
        #[serde(rename = "clusterDNS")]
        cluster_dns: Option<Vec<String>>,
        rotate_certificates: Option<bool>,
        protect_kernel_defaults: Option<bool>,
        max_pods: Option<i64>,
        cpu_manager_policy: Option<&'static str>,
        #[serde(rename = "reservedSystemCPUs")]
        reserved_system_cpus: Option<String>,
        cpu_manager_policy_options: Option<BTreeMap<&'static str, &'static str>>,
        topology_manager_policy: Option<String>,
        topology_manager_scope: Option<String>,
        memory_manager_policy: Option<&'static str>,
        reserved_memory: Option<Vec<ReservedMemory>>,
        system_reserved: Option<Texts>,
        enforce_node_allocatable: Option<Vec<&'static str>>,
        eviction_hard: Option<Texts>,
        merge_default_eviction_settings: Option<bool>,
        register_with_taints: Option<Vec<Taint>>,
        serialize_image_pulls: Option<bool>,
        max_parallel_image_pulls: Option<i64>,
        container_log_max_size: Option<&'static str>,
        container_log_max_files: Option<i64>,
        shutdown_grace_period: Option<String>,
        shutdown_grace_period_critical_pods: Option<&'static str>,
    }
    ReservedMemory { numa_node: i64, limits: Texts }

    EncryptionConfiguration { resources: Vec<EncryptedResources> }
    EncryptedResources { resources: Vec<&'static str>, providers: Vec<Provider> }
    /// One of its fields is set.
    Provider { secretbox: Option<Keys>, identity: Option<Identity> }
    Keys { keys: Vec<Key> }
    Key { name: &'static str, secret: &'static str }
    Identity {}

    AdmissionConfiguration { plugins: Vec<AdmissionPlugin> }
    AdmissionPlugin { name: &'static str, configuration: PodSecurityConfiguration }
    PodSecurityConfiguration { api_version: &'static str, kind: &'static str, defaults: PodSecurityDefaults, exemptions: PodSecurityExemptions }
    PodSecurityDefaults {
        enforce: &'static str,
        enforce_version: &'static str,
        audit: &'static str,
        audit_version: &'static str,
        warn: &'static str,
        warn_version: &'static str,
    }
    PodSecurityExemptions { usernames: Vec<&'static str>, runtime_classes: Vec<&'static str>, namespaces: Vec<&'static str> }

    /// The audit policy.
    Policy { omit_stages: Vec<&'static str>, rules: Vec<AuditRule> }
    AuditRule {
        level: &'static str,
        users: Option<Vec<&'static str>>,
        user_groups: Option<Vec<&'static str>>,
        verbs: Option<Vec<&'static str>>,
        resources: Option<Vec<GroupResources>>,
        #[serde(rename = "nonResourceURLs")]
        non_resource_urls: Option<Vec<&'static str>>,
    }
    /// Without resources, all of the group.
    GroupResources { group: &'static str, resources: Option<Vec<&'static str>> }
}
