//! What a distribution, a pod network or a cloud does not have.

use super::Context;
use crate::base::{Diagnostic, Report, Span};
use crate::design::{Cni, Distribution, Encapsulation};

/// AIC1406.
pub fn lacking(cx: &Context, report: &mut Report) {
    let cluster = &cx.design.cluster;
    if !cluster.sound {
        return;
    }
    let mut lacks = |span: Span, role: &str, message: String, help: &str| {
        let where_it_is = Diagnostic::error("AIC1406", message).at(span, role);
        report.push(where_it_is.at(cluster.at.field("distribution"), cluster.distribution.word()).help(help));
    };
    if let Some(pods) = &cluster.pods {
        let at = cluster.at.field("pods.cni");
        if pods.cni == Cni::AwsVpc && cluster.distribution != Distribution::Eks {
            lacks(at, "a pod network of AWS", format!("the VPC's pod network exists on eks, not on {}", cluster.distribution), "cni = cilium");
        }
        if pods.cni == Cni::Gke && cluster.distribution != Distribution::Gke {
            lacks(at, "a pod network of Google", format!("GKE's pod network exists on gke, not on {}", cluster.distribution), "cni = cilium");
        }
        if pods.cni == Cni::Calico && pods.encapsulation == Encapsulation::Geneve {
            let at = cluster.at.field("pods.encapsulation");
            lacks(at, "Geneve", "Calico has VXLAN and IP in IP, no Geneve".into(), "encapsulation = vxlan, or cni = cilium");
        }
    }
}
