//! Whereabouts: addresses of pods from one range over all hosts. Values: deployment/whereabouts-chart of k8snetworkplumbingwg/whereabouts v0.9.4; its
//! DaemonSet tolerates every NoSchedule taint of itself.

use serde_json::json;

use super::super::super::folder::Folder;
use super::{Operator, Wave};
use crate::design::Ipam;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::WHEREABOUTS,
    wave: Wave::Hardware,
    wanted: |c| {
        let rails = c.design.networks.iter().find(|n| n.rail.is_some() && n.ipam == Ipam::Whereabouts)?;
        c.design.pools.iter().any(|p| p.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator())).then(|| format!("{}.ipam", rails.at.source))
    },
    values: |_| json!({}),
    reasons: |_| &[],
    serves: &[Folder::Network],
};
