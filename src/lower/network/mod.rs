//! `network/`: cables, ports and addresses as CSV.

pub mod nccl;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::Artifacts;
use crate::Compilation;
use crate::base::Rational;
use crate::design::{PortRef, System};
use crate::topology::addresses::{Owner, management_interface};
use crate::topology::ports::{Slot, gbps, port_name};
use crate::topology::{End, cables};

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    artifacts.text("network/cables.csv", cable_rows(c));
    artifacts.text("network/ports.csv", port_rows(c));
    artifacts.text("network/addresses.csv", address_rows(c));
}

/// A host port by its chassis' name, else `device/port`.
pub fn host_port(c: &Compilation, port: PortRef) -> String {
    let system = &c.design.hosts[port.host as usize].system;
    for cage in &system.cages {
        if let Some(position) = cage.nics.iter().position(|n| *n == port.device) {
            return format!("{}P{}", cage.name.to_uppercase(), position + 1);
        }
    }
    let device = &system.devices[port.device as usize];
    let ports = system.nics().find(|(id, ..)| *id == port.device).map_or(1, |(.., nic)| nic.ports.len());
    if ports > 1 { format!("{}/{}", device.flat(), port.port) } else { device.flat() }
}

/// Names of ends. The ports of equal hosts have equal names: they are made once a system.
struct Names<'a> {
    c: &'a Compilation,
    ports: HashMap<(*const System, u16, u8), String>,
}

impl<'a> Names<'a> {
    fn new(c: &'a Compilation) -> Self {
        Self { c, ports: HashMap::new() }
    }

    /// Device and port of an end. With planes, a host's port has a link on each: the plane tells them apart.
    fn of(&mut self, end: End, plane: Option<u8>) -> (Cow<'a, str>, String) {
        let c = self.c;
        match end {
            End::Host(port) => {
                let host = &c.design.hosts[port.host as usize];
                let name = self.ports.entry((Arc::as_ptr(&host.system), port.device, port.port)).or_insert_with(|| host_port(c, port));
                (Cow::Borrowed(&host.name), plane.map_or_else(|| name.clone(), |p| format!("{name}p{p}")))
            }
            End::Switch(id, slot) => {
                let switch = &c.topology.switches[id as usize];
                (Cow::Borrowed(&switch.name), port_name(&switch.model, &switch.ports, slot))
            }
            End::SwitchManagement(id) => {
                let switch = &c.topology.switches[id as usize];
                (Cow::Borrowed(&switch.name), management_interface(&switch.model.link_type).to_owned())
            }
            End::Pdu(rack, pdu) => (Cow::Owned(format!("{}-pdu-{pdu}", c.design.racks[rack as usize].name)), "mgmt".to_owned()),
        }
    }
}

fn plane_of(c: &Compilation, link: &crate::topology::LinkPlan) -> Option<u8> {
    (c.design.fabrics[link.fabric as usize].planes > 1).then_some(link.plane)
}

fn cable_rows(c: &Compilation) -> String {
    let mut out = String::from("cable,fabric,plane,a_device,a_rack,a_u,a_port,b_device,b_rack,b_u,b_port,speed_gbps,medium,length_m,label\n");
    let mut numbers: HashMap<u16, u32> = HashMap::new();
    let mut names = Names::new(c);
    let rack = |r: Option<usize>| r.map_or("", |r| c.design.racks[r].name.as_str());
    for link in &c.topology.links {
        let fabric = &c.design.fabrics[link.fabric as usize];
        let number = numbers.entry(link.fabric).or_default();
        *number += 1;
        let (a, a_port) = names.of(link.a, plane_of(c, link));
        let (b, b_port) = names.of(link.b, None);
        let ((a_rack, a_u), (b_rack, b_u)) = (cables::place(&c.design, &c.topology, link.a), cables::place(&c.design, &c.topology, link.b));
        let unit = |u: Option<i64>| u.map_or(String::new(), |u| u.to_string());
        let _ = writeln!(
            out,
            "{name}-{number:04},{name},{},{a},{},{},{a_port},{b},{},{},{b_port},{},{},{},{}-{:04}",
            link.plane,
            rack(a_rack),
            unit(a_u),
            rack(b_rack),
            unit(b_u),
            link.gbps,
            link.medium,
            f64::from(link.centimetres) / 100.0,
            fabric.name.to_uppercase(),
            link.cable,
            name = fabric.name,
        );
    }
    out
}

/// Which link ends at each port of each switch.
struct Peers {
    /// The first cage of each switch among all cages.
    first: Vec<usize>,
    /// Links that a cage can have.
    stride: usize,
    links: Vec<Option<u32>>,
    management: HashMap<u32, usize>,
}

impl Peers {
    fn new(c: &Compilation) -> Self {
        let slot = |end: End| if let End::Switch(_, slot) = end { usize::from(slot.sub) + 1 } else { 1 };
        let stride = c.topology.links.iter().map(|l| slot(l.a).max(slot(l.b))).max().unwrap_or(1);
        let mut cages = 0;
        let mut first = Vec::with_capacity(c.topology.switches.len());
        for switch in &c.topology.switches {
            first.push(cages);
            cages += switch.ports.cages.len();
        }
        let mut peers = Self { first, stride, links: vec![None; cages * stride], management: HashMap::new() };
        for (i, link) in c.topology.links.iter().enumerate() {
            for end in [link.a, link.b] {
                match end {
                    End::Switch(id, slot) => {
                        let at = peers.at(id, slot);
                        peers.links[at] = Some(i as u32);
                    }
                    End::SwitchManagement(id) => {
                        peers.management.insert(id, i);
                    }
                    _ => {}
                }
            }
        }
        peers
    }

    fn at(&self, switch: u32, slot: Slot) -> usize {
        (self.first[switch as usize] + usize::from(slot.cage)) * self.stride + usize::from(slot.sub)
    }

    /// The link at a port; cages may have more ports than any link uses.
    fn link(&self, switch: u32, slot: Slot) -> Option<usize> {
        (usize::from(slot.sub) < self.stride).then(|| self.links[self.at(switch, slot)]).flatten().map(|i| i as usize)
    }
}

fn port_rows(c: &Compilation) -> String {
    let peers = Peers::new(c);
    let mut names = Names::new(c);
    // Ports come in long runs of one rate.
    let mut speed: Option<(Rational, u32)> = None;
    let mut out = String::from("device,model,port,speed_gbps,fabric,plane,peer_device,peer_port\n");
    for (id, switch) in c.topology.switches.iter().enumerate() {
        let id = id as u32;
        let fabric = &c.design.fabrics[switch.fabric].name;
        let mut peer = |i: usize| {
            let link = &c.topology.links[i];
            let own = |end: End| matches!(end, End::Switch(s, _) | End::SwitchManagement(s) if s == id);
            let other = if own(link.a) { link.b } else { link.a };
            names.of(other, plane_of(c, link))
        };
        for (cage, (group, mode, _)) in switch.ports.cages.iter().enumerate() {
            let cages = &switch.model.cages[*group];
            let links = mode.map_or(cages.links, |m| m.links);
            // A cage without a rate is a service port.
            let Some(rate) = mode.map(|m| m.rate).or(cages.rate.map(|r| r.value)) else { continue };
            if speed.is_none_or(|(known, _)| known != rate) {
                speed = Some((rate, gbps(rate)));
            }
            let gigabits = speed.map_or(0, |(_, gigabits)| gigabits);
            for sub in 0..links {
                let slot = Slot { cage: cage as u16, sub: sub as u8 };
                let (device, port) = peers.link(id, slot).map(&mut peer).unwrap_or_default();
                let name = port_name(&switch.model, &switch.ports, slot);
                let _ = writeln!(out, "{},{},{name},{},{fabric},{},{device},{port}", switch.name, switch.model.name, gigabits, switch.plane);
            }
        }
        if let Some(link) = peers.management.get(&id) {
            let (device, port) = peer(*link);
            let own = management_interface(&switch.model.link_type);
            let on = &c.design.fabrics[c.topology.links[*link].fabric as usize].name;
            let _ = writeln!(out, "{},{},{own},1,{on},0,{device},{port}", switch.name, switch.model.name);
        }
    }
    out
}

fn address_rows(c: &Compilation) -> String {
    let mut out = String::from("device,interface,network,address,prefix_length,gateway,vlan\n");
    for address in &c.topology.addresses {
        let network = &c.design.networks[address.network];
        let device = match address.owner {
            Owner::Host(host) => c.design.hosts[host].name.clone(),
            Owner::Switch(id) => c.topology.switches[id].name.clone(),
            Owner::Pdu(rack, pdu) => format!("{}-pdu-{pdu}", c.design.racks[rack].name),
        };
        let text = |v: Option<String>| v.unwrap_or_default();
        let _ = writeln!(
            out,
            "{device},{},{},{},{},{},{}",
            address.interface,
            network.name,
            address.address,
            address.prefix,
            text(network.gateway.map(|g| g.to_string())),
            text(network.vlan.map(|v| v.to_string()))
        );
    }
    out
}
