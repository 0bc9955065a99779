//! Lengths and media of links, from where their ends stand, and which of them share a physical cable.

use std::collections::HashMap;

use super::fabric::Medium;
use super::ports::{Mbps, mbps};
use super::{End, LinkPlan, Topology};
use crate::base::Quantity;
use crate::base::quantity::to_f64;
use crate::design::{CableModel, Design};

/// Centimetres of a rack unit (EIA-310: 44.45 mm), of a rack's width and of the way between two rows.
const UNIT: f64 = 4.445;
const COLUMN: f64 = 60.0;
const ROW: f64 = 240.0;

/// How far a medium reaches, in centimetres, where no cable says otherwise. Copper at 100 Gb/s and more and single-mode fibre (FR4, the farthest):
/// media_reach_m of the switch facts, a third-party design tool; twisted pair: 100 m, ANSI/TIA-568. Optics with both plugs on are sold up to 100 m
/// at 400 Gb/s (the class of the part; not in a source that was read), so nothing longer is planned.
fn reach(medium: Medium) -> u32 {
    match medium {
        Medium::Dac => 300,
        Medium::Acc => 500,
        Medium::Aoc | Medium::Copper => 10_000,
        Medium::Fibre => 200_000,
    }
}

/// Links up to this rate run over twisted pair.
const TWISTED_PAIR: Mbps = 10_000;

/// A link that none of the media which its fabric prefers reaches.
#[derive(Clone, Copy, Debug)]
pub struct TooLong {
    /// The link.
    pub link: u32,
    /// Its length in centimetres.
    pub centimetres: u32,
    /// The medium that reaches farthest of those that are preferred, and how far.
    pub medium: Medium,
    /// Its reach in centimetres.
    pub reach: u32,
}

/// Sets medium, length and cable number of every link.
pub fn measure(design: &Design, topology: &mut Topology) {
    let places: Vec<Place> = design
        .racks
        .iter()
        .map(|r| Place {
            x: r.column as f64 * COLUMN,
            y: r.row as f64 * ROW,
            height: r.height as f64 * UNIT,
            stated: r.at.set("column").is_some() || r.at.set("row").is_some(),
        })
        .collect();
    let slack: Vec<f64> = design.fabrics.iter().map(|f| to_f64(f.slack.value) * 100.0).collect();
    let ways: Vec<Way> = topology.links.iter().map(|link| way(design, topology, &places, link, slack[link.fabric as usize])).collect();
    let known = cages(topology, &ways);
    let mut links = std::mem::take(&mut topology.links);
    let mut chooser = Chooser { design, topology, known, offers: Vec::new() };
    let mut too_long = Vec::new();
    for (i, (link, way)) in links.iter_mut().zip(&ways).enumerate() {
        let (medium, centimetres) = chooser.choose(link, way);
        (link.medium, link.centimetres) = (medium, centimetres);
        // Where nobody said where the racks stand, the length is a guess.
        if way.stated && centimetres > reach(Medium::Dac) {
            let fabric = &design.fabrics[link.fabric as usize];
            let farthest = preferred(fabric, link.rate).map(|m| (reach_of(design, m, link.rate), m)).max();
            if let Some((reach, medium)) = farthest.filter(|(reach, _)| *reach < centimetres) {
                too_long.push(TooLong { link: i as u32, centimetres, medium, reach });
            }
        }
    }
    topology.too_long = too_long;
    topology.links = links;
    number(topology);
}

/// The media that a fabric prefers for a rate, in order.
fn preferred(fabric: &crate::design::Fabric, rate: Mbps) -> impl Iterator<Item = Medium> {
    let twisted = rate <= TWISTED_PAIR;
    let wanted: Vec<Medium> = if twisted {
        vec![Medium::Copper]
    } else {
        fabric.prefer.iter().filter_map(|wanted| Medium::ALL.into_iter().find(|m| m.word() == wanted.word() && *m != Medium::Copper)).collect()
    };
    let fallback = if wanted.is_empty() { vec![Medium::Fibre] } else { Vec::new() };
    wanted.into_iter().chain(fallback)
}

/// How far a medium reaches at a rate: as the cables that can be bought say, else the class's reach.
fn reach_of(design: &Design, medium: Medium, rate: Mbps) -> u32 {
    let bought = design.cables.iter().filter(|c| c.medium.word() == medium.word() && mbps(c.rate) == rate).filter_map(|c| c.reach.map(centimetres)).max();
    bought.unwrap_or_else(|| reach(medium))
}

/// Rack and lowest unit of an end.
pub fn place(design: &Design, topology: &Topology, end: End) -> (Option<usize>, Option<i64>) {
    match end {
        End::Host(port) => (design.hosts[port.host as usize].rack, topology.host_units[port.host as usize]),
        End::Switch(id, _) | End::SwitchManagement(id) => (topology.switches[id as usize].rack, topology.switches[id as usize].unit),
        End::Pdu(rack, _) => (Some(rack as usize), Some(1)),
    }
}

/// Where a rack stands, in centimetres.
struct Place {
    x: f64,
    y: f64,
    height: f64,
    stated: bool,
}

/// The way of a link.
#[derive(Clone, Copy)]
struct Way {
    /// Centimetres from end to end, slack included.
    length: f64,
    /// Whether the design says where both racks stand.
    stated: bool,
}

fn way(design: &Design, topology: &Topology, places: &[Place], link: &LinkPlan, slack: f64) -> Way {
    let ((Some(rack_a), unit_a), (Some(rack_b), unit_b)) = (place(design, topology, link.a), place(design, topology, link.b)) else {
        return Way { length: slack, stated: false };
    };
    let (unit_a, unit_b) = (unit_a.unwrap_or(1) as f64 * UNIT, unit_b.unwrap_or(1) as f64 * UNIT);
    if rack_a == rack_b {
        return Way { length: (unit_a - unit_b).abs() + slack, stated: true };
    }
    // Up to the tray above the rack, along it, and down again.
    let (a, b) = (&places[rack_a], &places[rack_b]);
    let across = (a.x - b.x).abs() + (a.y - b.y).abs();
    Way { length: across + (a.height - unit_a) + (b.height - unit_b) + slack, stated: a.stated && b.stated }
}

/// A switch and one of its cages.
type CageId = (u32, u16);

/// The physical cage at an end: links that share one are one cable or one splitter.
fn cage_of(end: End) -> Option<CageId> {
    if let End::Switch(id, slot) = end { Some((id, slot.cage)) } else { None }
}

/// What is known of a cage once all links are.
#[derive(Clone, Copy, Default)]
struct CageUse {
    /// The longest of its links: a splitter or a twin-port cable is copper only if all of it is in reach.
    longest: f32,
    /// The cage at the other end of the first link; none at a host.
    partner: Option<CageId>,
    seen: bool,
    /// Whether its links end in different cages.
    mixed: bool,
}

fn cages(topology: &Topology, ways: &[Way]) -> Vec<Vec<CageUse>> {
    let mut out: Vec<Vec<CageUse>> = topology.switches.iter().map(|s| vec![CageUse::default(); s.ports.cages.len()]).collect();
    for (link, way) in topology.links.iter().zip(ways) {
        let (a, b) = (cage_of(link.a), cage_of(link.b));
        for (end, other) in [(a, b), (b, a)] {
            if let Some((switch, cage)) = end {
                let cage = &mut out[switch as usize][cage as usize];
                cage.longest = cage.longest.max(way.length as f32);
                if !std::mem::replace(&mut cage.seen, true) {
                    cage.partner = other;
                }
                cage.mixed |= cage.partner != other;
            }
        }
    }
    out
}

/// What a link may be made of, by what decides it: its fabric, rate, and the kind of the upper cage.
struct Offer {
    fabric: u16,
    rate: Mbps,
    model: *const crate::design::SwitchModel,
    group: u8,
    links: u8,
    /// Media in order of preference, with the cable that is bought, if one is known.
    media: Vec<(Medium, Option<usize>)>,
}

struct Chooser<'a> {
    design: &'a Design,
    topology: &'a Topology,
    known: Vec<Vec<CageUse>>,
    offers: Vec<Offer>,
}

impl Chooser<'_> {
    fn choose(&mut self, link: &LinkPlan, way: &Way) -> (Medium, u32) {
        if link.rate <= TWISTED_PAIR {
            return (Medium::Copper, round_up(way.length, 100));
        }
        let offer = self.offer(link);
        let media = std::mem::take(&mut self.offers[offer].media);
        let chosen = media.iter().find_map(|(medium, cable)| self.try_medium(link, way, *medium, *cable));
        let last = media.last().map_or(Medium::Fibre, |(medium, _)| *medium);
        self.offers[offer].media = media;
        chosen.unwrap_or_else(|| (if last == Medium::Aoc { last } else { Medium::Fibre }, round_up(way.length, 100)))
    }

    /// Medium and length, if the medium reaches and fits the cages.
    fn try_medium(&self, link: &LinkPlan, way: &Way, medium: Medium, cable: Option<usize>) -> Option<(Medium, u32)> {
        if medium == Medium::Fibre {
            return Some((medium, round_up(way.length, 100)));
        }
        let ends = [cage_of(link.a), cage_of(link.b)];
        // A cable with both plugs on joins two whole cages; a host's cage may hold two rails that end on two leaves.
        let host_twin = matches!(link.a, End::Host(port) if self.design.hosts[port.host as usize].system.cages.iter().any(|c| c.links > 1 && c.nics.contains(&port.device)));
        let fits = |id: CageId| links_of_cage(self.topology, id) <= 1 || !self.known[id.0 as usize][id.1 as usize].mixed || is_split(self.topology, id);
        if host_twin || !ends.into_iter().flatten().all(fits) {
            return None;
        }
        let whole = ends.into_iter().flatten().map(|(s, c)| f64::from(self.known[s as usize][c as usize].longest)).fold(way.length, f64::max);
        let needed = round_up(whole, if medium == Medium::Aoc { 100 } else { 50 });
        let cable = cable.map(|i| &self.design.cables[i]);
        let limit = cable.and_then(|c| c.reach).map_or(reach(medium), centimetres);
        let length = match cable.filter(|c| c.lengths.len() > 1) {
            Some(cable) => cable.lengths.iter().map(|l| centimetres(*l)).filter(|l| f64::from(*l) >= whole).min()?,
            None => needed,
        };
        (length <= limit).then_some((medium, length))
    }

    fn offer(&mut self, link: &LinkPlan) -> usize {
        let (model, group, links) = match cage_of(link.b) {
            Some((switch, cage)) => {
                let switch = &self.topology.switches[switch as usize];
                let cage = &switch.ports.cages[cage as usize];
                (std::sync::Arc::as_ptr(&switch.model), cage.group, cage.mode.map_or(1, |m| m.links))
            }
            None => (std::ptr::null(), 0, 1),
        };
        let same = |o: &Offer| o.fabric == link.fabric && o.rate == link.rate && o.model == model && o.group == group && o.links == links;
        if let Some(found) = self.offers.iter().position(same) {
            return found;
        }
        let connector = cage_of(link.b).and_then(|(switch, _)| self.topology.switches[switch as usize].model.cages[group as usize].connector.clone());
        let fabric = &self.design.fabrics[link.fabric as usize];
        let bought = |medium: Medium| {
            let fits = |c: &CableModel| {
                c.medium.word() == medium.word() && mbps(c.rate) == link.rate && Some(&c.connector) == connector.as_ref() && c.links == i64::from(links)
            };
            self.design.cables.iter().position(fits)
        };
        let media = preferred(fabric, link.rate).map(|medium| (medium, bought(medium))).collect();
        self.offers.push(Offer { fabric: link.fabric, rate: link.rate, model, group, links, media });
        self.offers.len() - 1
    }
}

fn links_of_cage(topology: &Topology, (id, cage): CageId) -> u8 {
    topology.switches[id as usize].ports.cages[cage as usize].mode.map_or(1, |m| m.links)
}

fn is_split(topology: &Topology, (id, cage): CageId) -> bool {
    topology.switches[id as usize].ports.cages[cage as usize].mode.is_some_and(|m| m.split)
}

fn centimetres(length: Quantity) -> u32 {
    (to_f64(length.value) * 100.0).round() as u32
}

fn round_up(length: f64, step: u32) -> u32 {
    // No cable is longer than 10 km; a wrong height must not overflow.
    (((length - 1e-6) / f64::from(step)).ceil().max(1.0).min(1e6 / f64::from(step)) as u32) * step
}

/// Numbers physical cables: links of one splitter or twin-port cable share a number.
fn number(topology: &mut Topology) {
    let fabrics = topology.fabrics.len();
    let mut next: Vec<u32> = vec![0; fabrics];
    let mut known: HashMap<(u16, CageId), u32> = HashMap::new();
    for i in 0..topology.links.len() {
        let link = &topology.links[i];
        // A cable with both plugs on or a splitter hangs on one cage of the upper switch; single fibres are cables of their own.
        let shared = cage_of(link.b)
            .filter(|cage| is_split(topology, *cage) || matches!(link.medium, Medium::Dac | Medium::Acc | Medium::Aoc) && links_of_cage(topology, *cage) > 1);
        let next = &mut next[link.fabric as usize];
        let mut fresh = || {
            *next += 1;
            *next
        };
        let number = match shared {
            Some(cage) => *known.entry((link.fabric, cage)).or_insert_with(fresh),
            None => fresh(),
        };
        topology.links[i].cable = number;
    }
}
