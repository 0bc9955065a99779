//! What is attached to a fabric, in the order in which it takes switch ports.

use std::collections::{BTreeMap, HashSet};

use super::super::ports::{self, Mbps};
use super::{End, FabricPlan, Fault, Switch, Tier};
use crate::base::Rational;
use crate::design::{Design, DeviceKind, Fabric, FabricKind, NicPort, PortRef};

/// One attached port with its rate.
#[derive(Clone, Copy)]
pub struct Attached {
    /// The port.
    pub end: End,
    /// Rate of its link on one plane.
    pub rate: Mbps,
    /// The thing it belongs to: a host by its number, other things after all hosts. Single ports of one thing alternate over a pair.
    pub owner: u32,
    /// Its position among the owner's ports.
    pub ordinal: u32,
    /// The owner's place in the order of first occurrence.
    pub index: u32,
}

/// All that is attached.
#[derive(Default)]
pub struct AttachedPorts {
    /// The ports in order.
    pub ports: Vec<Attached>,
    /// Each owner's number of ports, in order of first occurrence.
    pub counts: Vec<u32>,
    /// Ports of the owner that has most.
    pub rails: i64,
}

impl AttachedPorts {
    fn push(&mut self, of_owner: &mut Vec<u32>, end: End, rate: Mbps, owner: u32) {
        if of_owner.len() <= owner as usize {
            of_owner.resize(owner as usize + 1, u32::MAX);
        }
        let index = &mut of_owner[owner as usize];
        if *index == u32::MAX {
            *index = self.counts.len() as u32;
            self.counts.push(0);
        }
        let ordinal = self.counts[*index as usize];
        self.counts[*index as usize] += 1;
        self.ports.push(Attached { end, rate, owner, ordinal, index: *index });
    }
}

/// What a fabric connects: its ports, and on a management fabric those of all service processors, switches and PDUs.
pub fn attached(design: &Design, id: usize, switches: &[Switch]) -> Result<AttachedPorts, Fault> {
    let fabric = &design.fabrics[id];
    let leaf = fabric.leaf.as_ref().ok_or(Fault::NoModel(Tier::Leaf))?;
    let mut out = AttachedPorts::default();
    let mut of_owner = Vec::new();
    let management = if fabric.management { management_ports(design) } else { Vec::new() };
    let switches = if fabric.management { switches } else { &[] };
    out.ports.reserve_exact(fabric.attach.len() + management.len() + switches.len());
    // Ports come in long runs of one kind: the same port of equal systems.
    let mut known: Option<(*const NicPort, Mbps)> = None;
    for port in fabric.attach.iter().chain(&management) {
        let Some(nic_port) = design.nic_port(*port) else { continue };
        let rate = match known {
            Some((same, rate)) if std::ptr::eq(same, nic_port) => rate,
            _ => {
                // RoCE runs on Ethernet switches.
                if !nic_port.speaks(leaf.link_type) {
                    return Err(Fault::LinkType(*port, nic_port.link_types.clone(), leaf.name.clone(), leaf.link_type));
                }
                let rate = rate_of(fabric, nic_port);
                known = Some((nic_port, rate));
                rate
            }
        };
        out.push(&mut of_owner, End::Host(*port), rate, port.host);
    }
    out.rails = out.counts.iter().copied().max().unwrap_or(0).into();
    if fabric.management {
        let others = switches.iter().enumerate().filter(|(_, s)| s.fabric != id && s.model.management_port).map(|(i, _)| End::SwitchManagement(i as u32));
        let pdus = design.racks.iter().enumerate().flat_map(|(rack, r)| (0..r.pdus.clamp(0, 64)).map(move |pdu| End::Pdu(rack as u32, pdu as u8)));
        for (owner, end) in (design.hosts.len() as u32..).zip(others.chain(pdus)) {
            out.push(&mut of_owner, end, 1000, owner);
        }
    }
    Ok(out)
}

/// The rate of a port's link on one plane.
fn rate_of(fabric: &Fabric, port: &NicPort) -> Mbps {
    let full = ports::mbps(port.rate);
    match fabric.link_rate {
        Some(rate) => ports::mbps(rate).min(full),
        None => full / fabric.planes.clamp(1, 255) as u32,
    }
}

/// The management ports of all hosts that no fabric names.
fn management_ports(design: &Design) -> Vec<PortRef> {
    let named: HashSet<PortRef> = design
        .fabrics
        .iter()
        .flat_map(|f| f.attach.iter().copied())
        .filter(|p| matches!(&design.hosts[p.host as usize].system.devices[p.device as usize].kind, DeviceKind::Nic(nic) if nic.management))
        .collect();
    let mut out = Vec::new();
    for (host, h) in design.hosts.iter().enumerate() {
        for (device, _, nic) in h.system.nics().filter(|(_, _, nic)| nic.management) {
            out.extend((0..nic.ports.len() as u8).map(|port| PortRef { host: host as u32, device, port }).filter(|p| !named.contains(p)));
        }
    }
    out
}

/// NVLink: its domains.
pub fn nvlink(design: &Design, fabric: &Fabric, plan: &mut FabricPlan) {
    let mut domains: BTreeMap<u64, i64> = BTreeMap::new();
    for port in &fabric.attach {
        let host = &design.hosts[port.host as usize];
        let key = if fabric.joins_racks() { host.rack.map_or(u64::from(port.host) << 32, |r| r as u64) } else { u64::from(port.host) };
        *domains.entry(key).or_default() += 1;
        if let DeviceKind::Gpu(gpu) = &host.system.devices[port.device as usize].kind
            && let Some((links, rate)) = &gpu.nvlink
        {
            plan.injection += rate.value * Rational::from_integer((*links).into());
        }
    }
    plan.domains = domains.into_values().collect();
    plan.max_hops = 2;
}

/// A cloud's fabric: its bandwidth is what the provider says.
pub fn managed(fabric: &Fabric, plan: &mut FabricPlan) {
    let hosts = fabric.attach.iter().map(|p| p.host).collect::<HashSet<_>>().len();
    plan.injection = if let FabricKind::Managed { bandwidth, .. } = fabric.kind {
        bandwidth.value * Rational::from_integer(hosts as i128)
    } else {
        Rational::from_integer(0)
    };
    plan.rails = (fabric.attach.len() / hosts.max(1)) as i64;
}
