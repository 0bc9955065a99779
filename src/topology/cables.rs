//! Lengths and media of links, from where their ends stand.

use std::collections::HashMap;

use super::ports::mode;
use super::{End, LinkPlan, Topology};
use crate::base::Rational;
use crate::design::{CableModel, Design};

/// Centimetres of a rack unit (EIA-310: 44.45 mm), of a rack's width and of the way between two rows.
const UNIT: f64 = 4.445;
const COLUMN: f64 = 60.0;
const ROW: f64 = 240.0;
/// Copper reach at 100 Gb/s and more where no cable says otherwise (facts/switches.yaml, media_reach_m).
const DAC_REACH: u32 = 300;

/// Sets medium, length and cable number of every link.
pub fn measure(design: &Design, topology: &mut Topology) {
    let slack: Vec<f64> = design.fabrics.iter().map(|f| crate::base::quantity::to_f64(f.slack.value) * 100.0).collect();
    let lengths: Vec<f64> = topology.links.iter().map(|link| distance(design, topology, link, slack[link.fabric as usize])).collect();
    let media = choose(design, topology, &lengths);
    for (link, (medium, centimetres)) in topology.links.iter_mut().zip(media) {
        link.medium = medium;
        link.centimetres = centimetres;
    }
    number(topology);
}

/// Rack and lowest unit of an end.
pub fn place(design: &Design, topology: &Topology, end: End) -> (Option<usize>, Option<i64>) {
    match end {
        End::Host(port) => (design.hosts[port.host as usize].rack, topology.host_units[port.host as usize]),
        End::Switch(id, _) | End::SwitchManagement(id) => (topology.switches[id as usize].rack, topology.switches[id as usize].unit),
        End::Pdu(rack, _) => (Some(rack as usize), Some(1)),
    }
}

/// Centimetres from end to end, with the slack of the fabric.
fn distance(design: &Design, topology: &Topology, link: &LinkPlan, slack: f64) -> f64 {
    let ((Some(rack_a), unit_a), (Some(rack_b), unit_b)) = (place(design, topology, link.a), place(design, topology, link.b)) else {
        return slack;
    };
    let (unit_a, unit_b) = (unit_a.unwrap_or(1) as f64, unit_b.unwrap_or(1) as f64);
    if rack_a == rack_b {
        return (unit_a - unit_b).abs() * UNIT + slack;
    }
    let (a, b) = (&design.racks[rack_a], &design.racks[rack_b]);
    let across = (a.column - b.column).abs() as f64 * COLUMN + (a.row - b.row).abs() as f64 * ROW;
    across + (a.height as f64 - unit_a + b.height as f64 - unit_b) * UNIT + slack
}

/// A switch and one of its cages.
type CageId = (u32, u16);

/// The physical cage at an end: links that share one are one cable or one splitter.
fn cage_of(end: End) -> Option<CageId> {
    if let End::Switch(id, slot) = end { Some((id, slot.cage)) } else { None }
}

/// What is known of a cage once all links are.
#[derive(Clone, Copy, Default)]
struct Cage {
    /// The longest of its links: a splitter or a twin-port cable is copper only if all of it is in reach.
    longest: f64,
    /// The cage at the other end, of the first link; and whether it is that of all.
    partner: Option<Option<CageId>>,
    mixed: bool,
}

fn cages(topology: &Topology, lengths: &[f64]) -> Vec<Vec<Cage>> {
    let mut out: Vec<Vec<Cage>> = topology.switches.iter().map(|s| vec![Cage::default(); s.ports.cages.len()]).collect();
    for (link, length) in topology.links.iter().zip(lengths) {
        for (end, other) in [(link.a, link.b), (link.b, link.a)] {
            if let Some((switch, cage)) = cage_of(end) {
                let cage = &mut out[switch as usize][cage as usize];
                cage.longest = cage.longest.max(*length);
                cage.mixed |= *cage.partner.get_or_insert(cage_of(other)) != cage_of(other);
            }
        }
    }
    out
}

fn choose(design: &Design, topology: &Topology, lengths: &[f64]) -> Vec<(&'static str, u32)> {
    let known = cages(topology, lengths);
    let gigabit = Rational::from_integer(1_250_000_000);
    topology
        .links
        .iter()
        .zip(lengths)
        .map(|(link, length)| {
            let fabric = &design.fabrics[link.fabric as usize];
            if link.rate <= gigabit {
                return ("copper", round_up(*length, 100));
            }
            let fibre = || {
                let medium = if fabric.prefer.iter().any(|m| m == "fibre") || fabric.prefer.iter().all(|m| m != "aoc") { "fibre" } else { "aoc" };
                (medium, round_up(*length, 100))
            };
            if fabric.prefer.iter().all(|m| m != "dac") {
                return fibre();
            }
            let ends = || [link.a, link.b].into_iter().filter_map(cage_of);
            let info = |(switch, cage): CageId| &known[switch as usize][cage as usize];
            let whole = ends().map(|c| info(c).longest).fold(*length, f64::max);
            // A host's cage may hold two rails that end on two leaves: then no twin-port copper fits.
            let host_twin =
                matches!(link.a, End::Host(port) if design.hosts[port.host as usize].system.cages.iter().any(|c| c.links > 1 && c.nics.contains(&port.device)));
            let fits = !host_twin && ends().all(|cage| links_of_cage(topology, cage) <= 1 || !info(cage).mixed || is_split(topology, cage, link));
            match copper(design, topology, link, whole).filter(|_| fits) {
                Some(length) => ("dac", length),
                None => fibre(),
            }
        })
        .collect()
}

/// The copper cable for a way of so many centimetres, if one reaches.
fn copper(design: &Design, topology: &Topology, link: &LinkPlan, whole: f64) -> Option<u32> {
    let needed = round_up(whole, 50);
    let Some(cable) = dac_for(&design.cables, link, topology) else { return Some(needed).filter(|l| *l <= DAC_REACH) };
    let reach = cable.reach.as_ref().map_or(DAC_REACH, centimetres);
    let fitting = if cable.lengths.len() > 1 { cable.lengths.iter().map(centimetres).filter(|l| f64::from(*l) >= whole).min() } else { Some(needed) };
    fitting.filter(|l| *l <= reach)
}

fn links_of_cage(topology: &Topology, (id, cage): (u32, u16)) -> i64 {
    topology.switches[id as usize].ports.cages[cage as usize].1.map_or(1, |m| m.links)
}

fn is_split(topology: &Topology, (id, cage): (u32, u16), link: &LinkPlan) -> bool {
    let switch = &topology.switches[id as usize];
    let group = switch.ports.cages[cage as usize].0;
    mode(&switch.model, group, link.rate).is_some_and(|m| m.split)
}

/// A copper cable that can be bought for a link between two cages.
fn dac_for<'a>(cables: &'a [CableModel], link: &LinkPlan, topology: &Topology) -> Option<&'a CableModel> {
    let (id, cage) = cage_of(link.b)?;
    let switch = &topology.switches[id as usize];
    let group = &switch.model.cages[switch.ports.cages[cage as usize].0];
    let links = links_of_cage(topology, (id, cage));
    cables.iter().find(|c| c.medium == "dac" && c.rate.value == link.rate && Some(&c.connector) == group.connector.as_ref() && c.links == links)
}

fn centimetres(length: &crate::base::Quantity) -> u32 {
    (crate::base::quantity::to_f64(length.value) * 100.0).round() as u32
}

fn round_up(length: f64, step: u32) -> u32 {
    // No cable is longer than 10 km; a wrong height must not overflow.
    (((length - 1e-6) / f64::from(step)).ceil().max(1.0).min(1e6 / f64::from(step)) as u32) * step
}

/// Numbers physical cables: links of one splitter or twin-port cable share a number.
fn number(topology: &mut Topology) {
    let mut next: HashMap<u16, u32> = HashMap::new();
    let mut known: HashMap<(u16, u32, u16), u32> = HashMap::new();
    for i in 0..topology.links.len() {
        let link = &topology.links[i];
        // A twin-port copper or a splitter hangs on one cage of the upper switch; single fibres are cables of their own.
        let shared = match cage_of(link.b) {
            Some(cage) if link.medium == "dac" && links_of_cage(topology, cage) > 1 => Some((link.fabric, cage.0, cage.1)),
            Some(cage) if is_split(topology, cage, link) => Some((link.fabric, cage.0, cage.1)),
            _ => None,
        };
        let next = next.entry(link.fabric).or_default();
        let number = match shared {
            Some(key) => *known.entry(key).or_insert_with(|| {
                *next += 1;
                *next
            }),
            None => {
                *next += 1;
                *next
            }
        };
        topology.links[i].cable = number;
    }
}
