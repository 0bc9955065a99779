//! Who installs Kubernetes: a distribution is a file, which writes `hosts/` and `control-plane/` as its own users keep them.

mod eks;
mod k3s;
mod kubeadm;
mod rancher;
mod rke2;
mod talos;

use super::Artifacts;
use crate::Compilation;
use crate::design::Distribution;

/// What differs between distributions.
pub trait Platform {
    /// Everything that its hosts and its control plane read.
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts);
}

/// The one of that name, if this version emits it.
pub fn of(distribution: Distribution) -> Option<&'static dyn Platform> {
    match distribution {
        Distribution::Kubeadm => Some(&kubeadm::Kubeadm),
        Distribution::K3s => Some(&k3s::K3s),
        Distribution::Rke2 => Some(&rke2::Rke2),
        Distribution::Eks => Some(&eks::Eks),
        Distribution::Talos => Some(&talos::Talos),
        Distribution::Openshift | Distribution::Gke | Distribution::Aks => None,
    }
}
