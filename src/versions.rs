//! What exists in which version: Kubernetes minors, driver branches, operators and their charts and images.
//!
//! Source: facts/operators.md, whose sources are chart files read at the tags named there (autumn 2026).

/// A minor version of Kubernetes.
#[derive(Debug)]
pub struct Kubernetes {
    /// `1.36`.
    pub minor: &'static str,
    /// The newest patch level seen.
    pub patch: &'static str,
}

/// Minors that are lowered.
pub const KUBERNETES: &[Kubernetes] = &[
    Kubernetes { minor: "1.33", patch: "1.33.13" },
    Kubernetes { minor: "1.34", patch: "1.34.9" },
    Kubernetes { minor: "1.35", patch: "1.35.9" },
    Kubernetes { minor: "1.36", patch: "1.36.4" },
    Kubernetes { minor: "1.37", patch: "1.37.1" },
];

/// The minor of `1.36` or `1.36.4`.
pub fn kubernetes(version: &str) -> Option<&'static Kubernetes> {
    let version = version.trim_start_matches('v');
    KUBERNETES.iter().find(|k| version == k.minor || version.strip_prefix(k.minor).is_some_and(|rest| rest.starts_with('.')))
}

/// The full version that a design's Kubernetes version lowers to.
pub fn kubernetes_patch(version: &str) -> String {
    let version = version.trim_start_matches('v');
    match kubernetes(version) {
        Some(k) if version == k.minor => format!("v{}", k.patch),
        _ => format!("v{version}"),
    }
}

/// The minor number of `1.36` or `v1.36.4`.
pub fn minor(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').nth(1)?.parse().ok()
}

/// The minor from which on the CPU manager's `strict-cpu-reservation` is generally available. Source: facts/kubelet-config.md.
pub const STRICT_CPU_RESERVATION: u32 = 35;

/// GPU driver branches and the version that each lowers to. 575 is that of the CUDA 12.9.1 installer (cuda_12.9.1_575.57.08_linux.run).
pub const DRIVERS: &[(&str, &str)] = &[("575", "575.57.08"), ("580", "580.126.20"), ("595", "595.91.07")];

/// The full version of a driver branch; a full version stays.
pub fn driver(version: &str) -> String {
    DRIVERS.iter().find(|(branch, _)| *branch == version).map_or_else(|| version.to_owned(), |(_, full)| (*full).to_owned())
}

/// A Helm release of the bundle.
#[derive(Debug)]
pub struct Chart {
    /// Release and folder.
    pub name: &'static str,
    /// Chart in the repository.
    pub chart: &'static str,
    /// Repository; `oci://` or `https://`.
    pub repository: &'static str,
    /// Chart version.
    pub version: &'static str,
    /// Namespace.
    pub namespace: &'static str,
    /// Its DaemonSets need host access.
    pub privileged: bool,
}

macro_rules! charts {
    ($($name:ident $release:literal $chart:literal $repository:literal $version:literal $namespace:literal $privileged:literal;)*) => {
        $(#[allow(missing_docs, reason = "the release of that name")] pub const $name: Chart = Chart { name: $release, chart: $chart, repository: $repository, version: $version, namespace: $namespace, privileged: $privileged };)*
    };
}

charts! {
    CILIUM "cilium" "cilium" "https://helm.cilium.io/" "1.19.6" "kube-system" true;
    CALICO "calico" "tigera-operator" "https://docs.tigera.io/calico/charts" "v3.32.1" "tigera-operator" true;
    CERT_MANAGER "cert-manager" "cert-manager" "oci://quay.io/jetstack/charts" "v1.21.1" "cert-manager" false;
    PROMETHEUS "kube-prometheus-stack" "kube-prometheus-stack" "https://prometheus-community.github.io/helm-charts" "88.3.0" "monitoring" true;
    NFD "node-feature-discovery" "node-feature-discovery" "oci://registry.k8s.io/nfd/charts" "0.19.0" "node-feature-discovery" true;
    GPU_OPERATOR "gpu-operator" "gpu-operator" "https://helm.ngc.nvidia.com/nvidia" "v26.7.0" "gpu-operator" true;
    AMD_GPU_OPERATOR "amd-gpu-operator" "gpu-operator-charts" "https://rocm.github.io/gpu-operator" "v1.5.1" "kube-amd-gpu" true;
    NVIDIA_DRA "nvidia-dra-driver-gpu" "dra-driver-nvidia-gpu" "oci://registry.k8s.io/dra-driver-nvidia/charts" "0.4.1" "nvidia-dra-driver-gpu" true;
    DRANET "dranet" "dranet" "oci://registry.k8s.io/networking/charts" "v1.5.0" "kube-system" true;
    EFA_PLUGIN "aws-efa-k8s-device-plugin" "aws-efa-k8s-device-plugin" "https://aws.github.io/eks-charts" "v0.5.29" "kube-system" true;
    NETWORK_OPERATOR "network-operator" "network-operator" "https://helm.ngc.nvidia.com/nvidia" "26.4.1" "nvidia-network-operator" true;
    WHEREABOUTS "whereabouts" "whereabouts-chart" "oci://ghcr.io/k8snetworkplumbingwg" "0.9.4" "kube-system" true;
    ROOK "rook-ceph" "rook-ceph" "https://charts.rook.io/release" "v1.20.6" "rook-ceph" true;
    CEPH_CSI "ceph-csi-drivers" "ceph-csi-drivers" "https://ceph.github.io/ceph-csi-operator" "1.0.4" "rook-ceph" true;
    TOPOLVM "topolvm" "topolvm" "https://topolvm.github.io/topolvm" "17.1.0" "topolvm-system" true;
    JOBSET "jobset" "jobset" "oci://registry.k8s.io/jobset/charts" "0.12.0" "jobset-system" false;
    LWS "lws" "lws" "oci://registry.k8s.io/lws/charts" "0.10.0" "lws-system" false;
    VOLCANO "volcano" "volcano" "https://volcano-sh.github.io/helm-charts" "1.15.1" "volcano-system" false;
    KUEUE "kueue" "kueue" "oci://registry.k8s.io/kueue/charts" "0.19.2" "kueue-system" false;
}

/// Images of the GPU and network stack: repository, image, version.
pub type Image = (&'static str, &'static str, &'static str);

#[allow(missing_docs, reason = "the component of that name")]
mod images {
    use super::Image;
    pub const VALIDATOR: Image = ("nvcr.io/nvidia", "gpu-operator", "v26.7.0");
    pub const DRIVER_MANAGER: Image = ("nvcr.io/nvidia/cloud-native", "k8s-driver-manager", "v0.12.0");
    pub const TOOLKIT: Image = ("nvcr.io/nvidia/k8s", "container-toolkit", "v1.20.0");
    pub const DEVICE_PLUGIN: Image = ("nvcr.io/nvidia", "k8s-device-plugin", "v0.20.0");
    pub const DCGM_EXPORTER: Image = ("nvcr.io/nvidia/k8s", "dcgm-exporter", "4.6.0-4.8.3-distroless");
    pub const MIG_MANAGER: Image = ("nvcr.io/nvidia/cloud-native", "k8s-mig-manager", "v0.15.0");
    pub const GDRCOPY: Image = ("nvcr.io/nvidia/cloud-native", "gdrdrv", "v2.6");
    pub const GDS: Image = ("nvcr.io/nvidia/cloud-native", "nvidia-fs", "2.29.4");
    pub const NETWORK: Image = ("nvcr.io/nvidia/mellanox", "", "network-operator-v26.4.1");
    pub const CEPH: &str = "quay.io/ceph/ceph:v20.2.4";
    /// Source: docs.habana.ai, release notes 1.22 (the plugin has the version of the SynapseAI release).
    pub const GAUDI_PLUGIN: &str = "vault.habana.ai/docker-k8s-device-plugin/docker-k8s-device-plugin:1.22.0";
    pub const KUBE_VIP: &str = "ghcr.io/kube-vip/kube-vip:v1.2.3";
    pub const KUEUE_IMAGE: (&str, &str) = ("registry.k8s.io/kueue/kueue", "v0.19.2");
    pub const LWS_IMAGE: (&str, &str) = ("registry.k8s.io/lws/lws", "v0.10.0");
    pub const JOBSET_IMAGE: (&str, &str) = ("registry.k8s.io/jobset/jobset", "v0.12.0");
}
pub use images::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_lower_to_patches() {
        assert_eq!(kubernetes_patch("1.36"), "v1.36.4");
        assert_eq!(kubernetes_patch("1.36.2"), "v1.36.2");
        assert!(kubernetes("1.32").is_none() && kubernetes("1.360").is_none());
        assert_eq!(driver("580"), "580.126.20");
        assert_eq!(driver("580.65.06"), "580.65.06");
    }
}
