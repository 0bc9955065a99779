//! AWS' device plugin of the Elastic Fabric Adapter. Values: stable/aws-efa-k8s-device-plugin of aws/eks-charts.

use serde_json::{Value, json};

use super::{Operator, Wave, agents};
use crate::Compilation;
use crate::design::Rdma;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::EFA_PLUGIN,
    wave: Wave::Hardware,
    wanted: |c| c.design.pools.iter().find(|p| p.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Efa)).map(|p| format!("{}.rdma", p.at.source)),
    values,
    reasons: |_| &[("/tolerations", "It must run on the GPU hosts, which are tainted.")],
    serves: &[],
};

fn values(c: &Compilation) -> Value {
    json!({ "tolerations": agents(c) })
}
