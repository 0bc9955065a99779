//! DRANET: RDMA ports by claims. Values: deployments/helm/dranet of kubernetes-sigs/dranet v1.5.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::{PoolRdma, Rdma};
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::DRANET,
    wave: Wave::Hardware,
    wanted: |c| c.design.pools.iter().find(|p| p.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Dra)).map(|p| format!("{}.rdma", p.at.source)),
    values,
    reasons: |_| &[("/args/moveIBInterfaces", "IPoIB interfaces stay with the host: InfiniBand needs the device alone.")],
    serves: &[Folder::Network],
};

fn values(c: &Compilation) -> Value {
    let claimed = |r: &&PoolRdma| r.mode == Rdma::Dra;
    let infiniband = c.design.pools.iter().flat_map(|p| &p.rdma).filter(claimed).flat_map(|r| &r.fabrics).any(|f| c.design.fabrics[*f].is_infiniband());
    json!({ "args": { "moveIBInterfaces": !infiniband } })
}
