//! The bill of material: what has to be bought, by class.

use std::collections::{BTreeMap, HashSet};

use super::fabric::Medium;
use super::ports::{Mbps, gbps, mbps};
use super::{End, Topology};
use crate::design::{Design, PortRef, TransceiverTop};

/// Classes of parts, in the order of the bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Racks by height.
    Rack,
    /// Power distribution units.
    Pdu,
    /// Servers.
    System,
    /// Switches.
    Switch,
    /// GPUs, which come in systems.
    Gpu,
    /// NICs, which come in systems.
    Nic,
    /// Physical cables.
    Cable,
    /// Transceivers.
    Transceiver,
}

impl Class {
    /// `system`.
    pub fn word(self) -> &'static str {
        match self {
            Class::Rack => "rack",
            Class::Pdu => "pdu",
            Class::System => "system",
            Class::Switch => "switch",
            Class::Gpu => "gpu",
            Class::Nic => "nic",
            Class::Cable => "cable",
            Class::Transceiver => "transceiver",
        }
    }
}

/// A line of the bill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Material {
    /// Its class.
    pub class: Class,
    /// The product, or what it must be where no product is known: `fibre 400G`.
    pub model: String,
    /// For cables: medium and rate.
    kind: Option<(Medium, u32)>,
    /// For cables: centimetres.
    pub length: u32,
    /// For transceivers: the side of the cage, `switch` or `host`.
    pub side: &'static str,
    /// Part number, where one is known.
    pub part: Option<String>,
    /// How many.
    pub count: usize,
}

impl Material {
    fn new(class: Class, model: impl Into<String>, part: Option<&String>) -> Self {
        Self { class, model: model.into(), kind: None, length: 0, side: "", part: part.cloned(), count: 0 }
    }

    /// The medium of a cable.
    pub fn medium(&self) -> Option<Medium> {
        self.kind.map(|(medium, _)| medium)
    }

    /// The line in a few words: a cable by medium, rate and length.
    pub fn text(&self) -> String {
        match self.kind {
            Some((medium, rate)) => format!("{} {rate}G {}m", medium.word(), f64::from(self.length) / 100.0),
            None => self.model.clone(),
        }
    }
}

/// The whole bill, by class and model.
pub fn list(design: &Design, topology: &Topology) -> Vec<Material> {
    let mut bill = Bill::default();
    for rack in &design.racks {
        bill.add(Material::new(Class::Rack, format!("{}U", rack.height), None), 1);
        if rack.pdus > 0 {
            bill.add(Material::new(Class::Pdu, "with a management port", None), rack.pdus.max(0) as usize);
        }
    }
    let mut systems: Vec<(&std::sync::Arc<crate::design::System>, usize)> = Vec::new();
    for host in &design.hosts {
        match systems.iter_mut().find(|(s, _)| std::sync::Arc::ptr_eq(s, &host.system)) {
            Some((_, n)) => *n += 1,
            None => systems.push((&host.system, 1)),
        }
    }
    for (system, count) in systems {
        bill.add(Material::new(Class::System, &system.name, system.part.as_ref()), count);
        system.gpus().for_each(|(_, gpu)| bill.add(Material::new(Class::Gpu, &gpu.name, None), count));
        system.nics().for_each(|(.., nic)| bill.add(Material::new(Class::Nic, &nic.name, None), count));
    }
    for model in topology.switches.iter().map(|s| &s.model).chain(design.rack_switches.iter().map(|s| &s.model)) {
        bill.add(Material::new(Class::Switch, &model.name, model.part.as_ref()), 1);
    }
    cables(design, topology, &mut bill);
    transceivers(design, topology, &mut bill);
    bill.lines.into_iter().map(|(line, count)| Material { count, ..line }).collect()
}

#[derive(Default)]
struct Bill {
    lines: BTreeMap<Material, usize>,
}

impl Bill {
    fn add(&mut self, line: Material, count: usize) {
        *self.lines.entry(line).or_default() += count;
    }
}

/// Links that share a cable stand under its number; the first of them is the cable.
fn cables(design: &Design, topology: &Topology, bill: &mut Bill) {
    let mut seen: Vec<Vec<bool>> = vec![Vec::new(); design.fabrics.len()];
    let mut counts: BTreeMap<(Medium, Mbps, u32), usize> = BTreeMap::new();
    let mut run: Option<((Medium, Mbps, u32), usize)> = None;
    for link in &topology.links {
        let seen = &mut seen[link.fabric as usize];
        if seen.len() <= link.cable as usize {
            seen.resize(link.cable as usize + 1, false);
        }
        if std::mem::replace(&mut seen[link.cable as usize], true) {
            continue;
        }
        // Cables come in runs of one kind.
        let kind = (link.medium, link.rate, link.centimetres);
        match &mut run {
            Some((known, n)) if *known == kind => *n += 1,
            _ => {
                if let Some((kind, n)) = run.replace((kind, 1)) {
                    *counts.entry(kind).or_default() += n;
                }
            }
        }
    }
    if let Some((kind, n)) = run {
        *counts.entry(kind).or_default() += n;
    }
    for ((medium, rate, length), count) in counts {
        let product = design.cables.iter().find(|c| c.medium.word() == medium.word() && mbps(c.rate) == rate);
        let own_length =
            |c: &&crate::design::CableModel| c.lengths.len() == 1 && crate::base::quantity::to_f64(c.lengths[0].value) * 100.0 == f64::from(length);
        let mut line = Material::new(Class::Cable, product.map_or_else(|| format!("{} {}G", medium.word(), gbps(rate)), |c| c.name.clone()), None);
        line.kind = Some((medium, gbps(rate)));
        line.length = length;
        // A part number names a length, too.
        line.part = product.filter(own_length).and_then(|c| c.part.clone());
        bill.add(line, count);
    }
}

/// What decides which transceiver a cage takes: its side, connector, links and rate.
type Need<'a> = (&'static str, Option<&'a str>, i64, Mbps);

/// Needs with how often they occur.
#[derive(Default)]
struct Needs<'a> {
    counted: Vec<(Need<'a>, usize)>,
}

impl<'a> Needs<'a> {
    fn add(&mut self, need: Need<'a>) {
        match self.counted.iter_mut().find(|(known, _)| *known == need) {
            Some((_, n)) => *n += 1,
            None => self.counted.push((need, 1)),
        }
    }
}

/// One in each cage at which a fibre ends, whether it carries one link or all that the cage has.
fn transceivers(design: &Design, topology: &Topology, bill: &mut Bill) {
    let mut on_switches: Vec<Vec<bool>> = topology.switches.iter().map(|s| vec![false; s.ports.cages.len()]).collect();
    let mut on_hosts: HashSet<(u32, usize, u8)> = HashSet::new();
    // There are a few kinds of cages and very many cages.
    let mut needs: Needs = Needs::default();
    for link in topology.links.iter().filter(|l| l.medium == Medium::Fibre) {
        for end in [link.a, link.b] {
            match end {
                End::Switch(id, slot) if !std::mem::replace(&mut on_switches[id as usize][slot.cage as usize], true) => {
                    let switch = &topology.switches[id as usize];
                    let cage = &switch.ports.cages[slot.cage as usize];
                    let links = cage.mode.map_or(1, |m| m.links);
                    needs.add(("switch", switch.model.cages[cage.group as usize].connector.as_deref(), links.into(), link.rate));
                }
                End::Host(port) => {
                    let (key, connector, links) = host_cage(design, port);
                    // A port that is split over planes has a transceiver of as many links.
                    if on_hosts.insert(key) {
                        needs.add(("host", connector, links.max(design.fabrics[link.fabric as usize].planes), link.rate));
                    }
                }
                _ => {}
            }
        }
    }
    for ((side, connector, links, rate), count) in needs.counted {
        bill.add(transceiver(design, side, connector, links, rate), count);
    }
}

/// The cage of a host's port, its connector and links: that of the chassis, or the port's own.
fn host_cage(design: &Design, port: PortRef) -> ((u32, usize, u8), Option<&str>, i64) {
    let system = &design.hosts[port.host as usize].system;
    if let Some((id, cage)) = system.cages.iter().enumerate().find(|(_, c)| c.nics.contains(&port.device)) {
        return ((port.host, system.devices.len() + id, 0), cage.connector.as_deref(), cage.links);
    }
    let connector = design.nic_port(port).and_then(|p| p.connectors.first()).map(String::as_str);
    ((port.host, port.device.into(), port.port), connector, 1)
}

fn transceiver(design: &Design, side: &'static str, connector: Option<&str>, links: i64, rate: Mbps) -> Material {
    let top = if side == "switch" { TransceiverTop::Finned } else { TransceiverTop::Flat };
    let fits = |t: &&crate::design::TransceiverModel| {
        Some(t.cage.as_str()) == connector && t.links == links && mbps(t.rate) == rate && t.top.is_none_or(|own| own == top)
    };
    let product = design.transceivers.iter().find(fits);
    let generic = || format!("{} {}{}G", connector.unwrap_or("any cage"), if links > 1 { format!("{links}×") } else { String::new() }, gbps(rate));
    let mut line = Material::new(Class::Transceiver, product.map_or_else(generic, |t| t.name.clone()), product.and_then(|t| t.part.as_ref()));
    line.side = side;
    line
}
