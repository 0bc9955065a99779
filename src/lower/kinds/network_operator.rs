//! NVIDIA Network Operator, nv-ipam and the SR-IOV operator.

use k8s_openapi::api::core::v1::{NodeAffinity, NodeSelector, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{Texts, custom_resources, parts};

custom_resources! {
    "mellanox.com" / "v1alpha1" {
        ClusterResourceScope NicClusterPolicy { spec: NicClusterPolicySpec }
        ClusterResourceScope NicNodePolicy { spec: NicNodePolicySpec }
        ClusterResourceScope MacvlanNetwork { spec: MacvlanNetworkSpec }
        ClusterResourceScope IPoIBNetwork { spec: IPoIBNetworkSpec }
        ClusterResourceScope HostDeviceNetwork { spec: HostDeviceNetworkSpec }
    }
}

custom_resources! {
    "nv-ipam.nvidia.com" / "v1alpha1" {
        NamespaceResourceScope IPPool { spec: IPPoolSpec }
        NamespaceResourceScope CIDRPool { spec: CIDRPoolSpec }
    }
}

custom_resources! {
    "sriovnetwork.openshift.io" / "v1" {
        NamespaceResourceScope SriovNetworkPoolConfig { spec: SriovNetworkPoolConfigSpec }
        NamespaceResourceScope SriovNetworkNodePolicy { spec: SriovNetworkNodePolicySpec }
        NamespaceResourceScope SriovIBNetwork { spec: SriovNetworkSpec }
        NamespaceResourceScope SriovNetwork { spec: SriovNetworkSpec }
    }
}

parts! {
    NicClusterPolicySpec {
        node_affinity: NodeAffinity,
        tolerations: Vec<Toleration>,
        deployment_node_affinity: Option<NodeAffinity>,
        nv_ipam: Option<NvIpam>,
        secondary_network: SecondaryNetwork,
    }
    NvIpam {
        #[serde(flatten)]
        image: Image,
        enable_webhook: bool,
    }
    SecondaryNetwork { cni_plugins: Image, multus: Image, ipoib: Option<Image> }
    NicNodePolicySpec {
        node_selector: Texts,
        tolerations: Vec<Toleration>,
        rdma_shared_device_plugin: Option<DevicePlugin>,
        sriov_device_plugin: Option<DevicePlugin>,
    }
    DevicePlugin {
        #[serde(flatten)]
        image: Image,
        config: String,
    }
    MacvlanNetworkSpec { network_namespace: &'static str, master: String, mode: &'static str, mtu: i64, ipam: String }
    IPoIBNetworkSpec { network_namespace: &'static str, master: String, ipam: String }
    HostDeviceNetworkSpec { network_namespace: &'static str, resource_name: String, ipam: String }
    Image { repository: &'static str, image: &'static str, version: &'static str, image_pull_secrets: Vec<String> }
    IPPoolSpec { subnet: String, per_node_block_size: i64, exclusions: Option<Vec<Exclusion>>, node_selector: NodeSelector }
    CIDRPoolSpec {
        cidr: String,
        per_node_network_prefix: i64,
        gateway_index: i64,
        routes: Vec<PoolRoute>,
        static_allocations: Vec<StaticAllocation>,
        node_selector: NodeSelector,
    }
    PoolRoute { dst: String }
    StaticAllocation { node_name: String, prefix: String, gateway: String }
    Exclusion {
        #[serde(rename = "startIP")]
        start: String,
        #[serde(rename = "endIP")]
        end: String,
    }
    SriovNetworkPoolConfigSpec { node_selector: LabelSelector, max_unavailable: i64, rdma_mode: &'static str }
    SriovNetworkNodePolicySpec {
        resource_name: String,
        node_selector: Texts,
        nic_selector: NicSelector,
        device_type: &'static str,
        link_type: &'static str,
        is_rdma: bool,
        num_vfs: i64,
        mtu: Option<i64>,
        priority: i64,
    }
    NicSelector {
        vendor: Option<String>,
        #[serde(rename = "deviceID")]
        device_id: Option<String>,
        root_devices: Option<Vec<String>>,
        pf_names: Option<Vec<String>>,
    }
    /// `ipam` and `metaPlugins` are JSON in a text: the operator puts them into the CNI's configuration as they are.
    SriovNetworkSpec { network_namespace: &'static str, resource_name: String, link_state: &'static str, ipam: String, meta_plugins: String, capabilities: Option<&'static str> }
}
