//! Routed fabrics: a loopback a switch, an autonomous system a leaf, a /31 a link.
//!
//! Autonomous systems follow RFC 7938 section 5.2: the spines of a pod share one, so do the cores, and every leaf has its own; numbers are private
//! ones of 32 bits (RFC 6996) unless the design says where to begin.

use std::net::IpAddr;

use super::addresses::nth;
use super::fabric::Tier;
use super::{End, Topology};
use crate::design::{Design, Routed};

/// The first private number of 32 bits (RFC 6996).
const FIRST_PRIVATE: i64 = 4_200_000_000;

/// What a routed fabric numbers.
#[derive(Debug, Default)]
pub struct Routing {
    /// Loopback of each switch, in the order of the fabric's switches.
    pub loopbacks: Vec<IpAddr>,
    /// Autonomous system of each.
    pub systems: Vec<u32>,
    /// For each link between switches, by its number among all links: the addresses of its lower and upper end.
    pub links: Vec<(u32, IpAddr, IpAddr)>,
}

/// A range that is too small: needed and there are addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The fabric.
    pub fabric: usize,
    /// `routed.loopbacks` or `routed.links`.
    pub field: &'static str,
    /// Addresses needed.
    pub needed: usize,
    /// Addresses there are.
    pub available: u128,
}

/// Numbers a routed fabric.
///
/// # Errors
/// The range that is too small.
pub fn number(design: &Design, topology: &Topology, fabric: usize) -> Option<Result<Routing, Short>> {
    let routed = design.fabrics[fabric].routed()?;
    let plan = &topology.fabrics[fabric];
    if plan.fault.is_some() {
        return None;
    }
    Some(assign(routed, topology, fabric))
}

fn assign(routed: &Routed, topology: &Topology, fabric: usize) -> Result<Routing, Short> {
    let plan = &topology.fabrics[fabric];
    let short = |field, range: &ipnet::IpNet, needed| Short {
        fabric,
        field,
        needed,
        available: 1_u128.checked_shl((range.max_prefix_len() - range.prefix_len()).into()).unwrap_or(u128::MAX),
    };
    let mut out = Routing::default();
    let count = plan.switches.len();
    // The first address of a range is left out: some tools take it for the network's name.
    for i in 0..count {
        out.loopbacks.push(nth(&routed.loopbacks, i as u128 + 1).ok_or_else(|| short("routed.loopbacks", &routed.loopbacks, count + 1))?);
    }
    let trunks: Vec<usize> = plan.links.clone().filter(|l| matches!(topology.links[*l].a, End::Switch(..))).collect();
    for (i, link) in trunks.iter().enumerate() {
        let pair = nth(&routed.links, 2 * i as u128).zip(nth(&routed.links, 2 * i as u128 + 1));
        let (a, b) = pair.ok_or_else(|| short("routed.links", &routed.links, 2 * trunks.len()))?;
        out.links.push((*link as u32, a, b));
    }
    out.systems = systems(routed, topology, fabric, &trunks);
    Ok(out)
}

fn systems(routed: &Routed, topology: &Topology, fabric: usize, trunks: &[usize]) -> Vec<u32> {
    let plan = &topology.fabrics[fabric];
    let start = plan.switches.start;
    let base = routed.asn.unwrap_or(FIRST_PRIVATE).clamp(1, i64::from(u32::MAX) - 1_000_000) as u32;
    // A pod is the spines that share a leaf.
    let mut pod: Vec<Option<u32>> = vec![None; plan.switches.len()];
    let mut pods = 0;
    let mut of_leaf: Vec<Option<u32>> = vec![None; plan.switches.len()];
    for link in trunks {
        let (Some(a), Some(b)) = (topology.links[*link].a.switch(), topology.links[*link].b.switch()) else { continue };
        let (a, b) = (a as usize - start, b as usize - start);
        if topology.switches[start + a].tier == Tier::Leaf && topology.switches[start + b].tier == Tier::Spine {
            let known = of_leaf[a].or(pod[b]).unwrap_or_else(|| {
                pods += 1;
                pods
            });
            of_leaf[a] = Some(known);
            pod[b] = Some(known);
        }
    }
    let mut leaf = 0;
    (0..plan.switches.len())
        .map(|i| match topology.switches[start + i].tier {
            Tier::Core => base,
            Tier::Spine => base + pod[i].unwrap_or(0),
            Tier::Leaf => {
                leaf += 1;
                base + pods + leaf
            }
        })
        .collect()
}
