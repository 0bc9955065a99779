//! `cluster` and `control_plane`.

use serde::Serialize;

use super::*;

/// `cluster`.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Cluster {
    pub name: String,
    pub kubernetes: String,
    pub distribution: Distribution,
    pub gitops: Gitops,
    pub bundle_path: String,
    pub scheduler: Scheduler,
    pub region: Option<String>,
    pub domain: String,
    pub os: Os,
    pub dns: Vec<IpAddr>,
    pub ntp: Vec<String>,
    pub label_domain: String,
    pub topology_labels: TopologyLabels,
    pub pods: Option<Pods>,
    pub services: Option<IpNet>,
    pub autoscaler: Autoscaler,
    pub mirror: Option<String>,
    pub pod_security: PodSecurity,
    pub audit: bool,
    pub encryption: bool,
    pub observability: bool,
    pub retention: Option<Quantity>,
    /// Whether a cluster is declared without a fault.
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `pods` of a cluster.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Pods {
    pub cni: Cni,
    pub network: Option<usize>,
    pub cidr: IpNet,
    pub host_prefix: u8,
    pub mtu: Option<i64>,
    pub encapsulation: Encapsulation,
}

impl Gitops {
    /// Whether a controller in the cluster applies the bundle, rather than a person's commands.
    pub fn controlled(self) -> bool {
        match self {
            Self::None | Self::Helmfile => false,
            Self::Argocd | Self::Flux => true,
        }
    }
}

impl Distribution {
    /// Whether it brings that pod network itself, tuned by settings of its own rather than by a Helm release.
    pub fn packages(self, cni: Cni) -> bool {
        match self {
            Self::Rke2 => matches!(cni, Cni::Cilium | Cni::Calico),
            Self::Eks => cni == Cni::AwsVpc,
            Self::Gke => cni == Cni::Gke,
            Self::Kubeadm | Self::K3s | Self::Talos | Self::Openshift | Self::Aks => false,
        }
    }
}

impl Distribution {
    /// Whether a provider runs its control plane and makes its hosts.
    pub fn is_cloud(self) -> bool {
        match self {
            Self::Eks | Self::Gke | Self::Aks => true,
            Self::Kubeadm | Self::K3s | Self::Rke2 | Self::Talos | Self::Openshift => false,
        }
    }

    /// Whether the image of a GPU host has driver and container toolkit already.
    pub fn brings_gpu_driver(self) -> bool {
        match self {
            Self::Talos | Self::Eks | Self::Gke | Self::Aks => true,
            Self::Kubeadm | Self::K3s | Self::Rke2 | Self::Openshift => false,
        }
    }

    /// Where its containerd listens, if that is not the usual place.
    pub fn containerd_socket(self) -> Option<&'static str> {
        match self {
            Self::K3s | Self::Rke2 => Some("/run/k3s/containerd/containerd.sock"),
            Self::Kubeadm | Self::Talos | Self::Openshift | Self::Eks | Self::Gke | Self::Aks => None,
        }
    }
}

impl Cluster {
    /// The pod network that a Helm release of ours installs.
    pub fn installs(&self, cni: Cni) -> bool {
        self.pods.as_ref().is_some_and(|p| p.cni == cni) && !self.distribution.packages(cni)
    }

    /// Whether the pod network takes kube-proxy's place.
    pub fn replaces_kube_proxy(&self) -> bool {
        self.pods.as_ref().is_some_and(|p| match p.cni {
            Cni::Cilium => true,
            Cni::Calico | Cni::AwsVpc | Cni::Gke | Cni::None => false,
        })
    }
}

impl Pods {
    /// Addresses that a host's block has for pods.
    pub fn addresses_per_host(&self) -> u128 {
        let bits = self.cidr.max_prefix_len().saturating_sub(self.host_prefix).min(100);
        (1_u128 << bits).saturating_sub(2)
    }

    /// Bytes that the encapsulation adds to a pod's packet on a network of that range: outer IP, UDP and tunnel header.
    pub fn overhead(&self, network: &IpNet) -> i64 {
        match (self.encapsulation, network) {
            (Encapsulation::None, _) => 0,
            (Encapsulation::Vxlan | Encapsulation::Geneve, IpNet::V4(_)) => 50,
            (Encapsulation::Vxlan | Encapsulation::Geneve, IpNet::V6(_)) => 70,
        }
    }
}

/// `control_plane`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct ControlPlane {
    pub managed: bool,
    pub hosts: Vec<usize>,
    pub endpoint: Option<String>,
    pub vip: Vip,
    pub etcd_disk: Option<String>,
    pub etcd_quota: Quantity,
    pub etcd_hosts: Vec<usize>,
    pub burst: Option<i64>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}
