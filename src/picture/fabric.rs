//! A fabric: cores above spines above leaves above hosts, rails in colours; what is many of a kind is folded.

use std::collections::BTreeMap;

use super::{Drawing, RAILS, width_of};
use crate::Compilation;
use crate::base::names::{count_of, grouped};
use crate::base::{Dimension, Quantity};
use crate::topology::{End, Tier};

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 40.0;
const GAP: f64 = 12.0;
const ROW: f64 = 120.0;
const LEFT: f64 = 200.0;
const MARGIN: f64 = 16.0;
/// Boxes of a row before it is folded.
const MOST: usize = 16;
/// Boxes that stay in front of a fold; the last one stays, too.
const FRONT: usize = 12;

/// One box of a row, or a fold.
enum Place {
    One(usize),
    Fold(usize),
}

/// A row of boxes.
struct Row {
    tier: Option<Tier>,
    labels: Vec<[String; 2]>,
    places: Vec<Place>,
    y: f64,
}

/// Whether a box of a row of so many has a place of its own.
fn is_drawn(index: usize, count: usize) -> bool {
    count <= MOST || index < FRONT || index + 1 == count
}

impl Row {
    fn new(tier: Option<Tier>, labels: Vec<[String; 2]>, y: f64) -> Self {
        let count = labels.len();
        let folded = (0..count).filter(|i| !is_drawn(*i, count)).count();
        let mut places: Vec<Place> = (0..count).filter(|i| is_drawn(*i, count)).map(Place::One).collect();
        if folded > 0 {
            places.insert(FRONT, Place::Fold(folded));
        }
        Self { tier, labels, places, y }
    }

    fn width(&self) -> f64 {
        self.places.len() as f64 * (WIDTH + GAP) - GAP
    }

    /// The left edge of a box, if it is drawn.
    fn x(&self, index: usize, total: f64) -> Option<f64> {
        let start = LEFT + (total - self.width()) / 2.0;
        self.places.iter().position(|p| matches!(p, Place::One(i) if *i == index)).map(|i| start + i as f64 * (WIDTH + GAP))
    }
}

/// Hosts, and ports of other things, on the same leaves.
#[derive(Default)]
struct Group {
    hosts: usize,
    /// The first of them.
    first: Option<u32>,
    /// Management ports of switches and PDUs.
    others: usize,
    /// The leaf of each port of the first owner.
    ends: Vec<u32>,
}

/// What has ports on leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Host(u32),
    /// The management ports on a leaf.
    Management(u32),
}

/// Owners with the same leaves are one box.
fn groups(mut ends: Vec<(Owner, u32)>) -> Vec<Group> {
    // Stable: the ports of a host stay in their order.
    ends.sort_by_key(|(owner, _)| *owner);
    let mut groups: BTreeMap<Vec<u32>, Group> = BTreeMap::new();
    let mut leaves = Vec::new();
    for run in ends.chunk_by(|a, b| a.0 == b.0) {
        leaves.clear();
        leaves.extend(run.iter().map(|(_, leaf)| *leaf));
        leaves.sort_unstable();
        leaves.dedup();
        if !groups.contains_key(&leaves) {
            groups.insert(leaves.clone(), Group::default());
        }
        let Some(group) = groups.get_mut(&leaves) else { continue };
        if group.ends.is_empty() {
            group.ends = run.iter().map(|(_, leaf)| *leaf).collect();
        }
        match run[0].0 {
            Owner::Host(host) => {
                group.first.get_or_insert(host);
                group.hosts += 1;
            }
            Owner::Management(_) => group.others += run.len(),
        }
    }
    groups.into_values().collect()
}

/// The picture of a fabric that is planned.
pub fn draw(c: &Compilation, id: usize) -> Option<Drawing> {
    let (fabric, plan) = (&c.design.fabrics[id], &c.topology.fabrics[id]);
    if plan.fault.is_some() || plan.switches.is_empty() {
        return None;
    }
    let switches = &c.topology.switches[plan.switches.clone()];
    let first = plan.switches.start as u32;
    // Each switch's place in its row.
    let mut index = vec![0; switches.len()];
    let mut counts: BTreeMap<Tier, usize> = BTreeMap::new();
    for (i, switch) in switches.iter().enumerate() {
        let n = counts.entry(switch.tier).or_insert(0);
        index[i] = *n;
        *n += 1;
    }
    let is_drawn = |switch: u32| is_drawn(index[switch as usize], counts[&switches[switch as usize].tier]);
    // Management boards and PDUs are one more owner a leaf, after all hosts.
    let mut ends: Vec<(Owner, u32)> = Vec::new();
    let mut trunks: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for link in &c.topology.links[plan.links.clone()] {
        match (link.a, link.b) {
            (End::Host(port), End::Switch(leaf, _)) => ends.push((Owner::Host(port.host), leaf - first)),
            (End::SwitchManagement(_) | End::Pdu(..), End::Switch(leaf, _)) => ends.push((Owner::Management(leaf), leaf - first)),
            (End::Switch(a, _), End::Switch(b, _)) if is_drawn(a - first) && is_drawn(b - first) => {
                *trunks.entry((a - first, b - first)).or_default() += 1;
            }
            _ => {}
        }
    }
    let groups = groups(ends);
    let host_labels = groups
        .iter()
        .map(|Group { hosts, first, others, .. }| {
            let unit = first.and_then(|host| plan.unit(host as usize));
            let name = first.map_or(String::new(), |host| unit.map_or_else(|| c.design.hosts[host as usize].name.clone(), |unit| format!("unit {unit}")));
            let others = if *others > 0 { format!("{others} ports") } else { String::new() };
            match hosts {
                0 => [others, "management".into()],
                1 => [name, others],
                // Hosts on the same leaves without a unit have no name in common.
                n if unit.is_none() => [count_of(*n, "host"), others],
                n => [name, count_of(*n, "host")],
            }
        })
        .collect();
    let mut rows = Vec::new();
    let mut y = 74.0;
    for tier in [Tier::Core, Tier::Spine, Tier::Leaf] {
        let labels: Vec<[String; 2]> = switches
            .iter()
            .filter(|s| s.tier == tier)
            .enumerate()
            .map(|(n, s)| {
                let rack = s.rack.map_or(String::new(), |r| c.design.racks[r].name.clone());
                [format!("{} {n}", tier.word()), rack]
            })
            .collect();
        if !labels.is_empty() {
            rows.push(Row::new(Some(tier), labels, y));
            y += ROW;
        }
    }
    let hosts = Row::new(None, host_labels, y);
    let total = rows.iter().chain([&hosts]).map(Row::width).fold(0.0, f64::max);
    let mut out = Drawing { width: (LEFT + total + MARGIN).max(760.0), height: y + HEIGHT + MARGIN, ..Drawing::default() };
    let row_of = |tier: Tier| rows.iter().find(|r| r.tier == Some(tier));
    let place = |switch: u32| {
        let row = row_of(switches[switch as usize].tier)?;
        Some((row.x(index[switch as usize], total)? + WIDTH / 2.0, row.y))
    };
    let rails = fabric.topology.rails() && plan.rails > 1;
    for ((a, b), n) in &trunks {
        let (Some(low), Some(up)) = (place(*a), place(*b)) else { continue };
        if low.1 == up.1 {
            // Between the two of a pair.
            let (left, right) = if low.0 < up.0 { (low.0, up.0) } else { (up.0, low.0) };
            let middle = low.1 + HEIGHT / 2.0;
            out.line((left + WIDTH / 2.0, middle), (right - WIDTH / 2.0, middle), "");
            out.text((left + right) / 2.0, middle - 4.0, "middle small", &format!("{n}"));
        } else {
            let class = if rails && switches[*a as usize].tier == Tier::Leaf {
                format!("faint r{}", index[*a as usize] % plan.rails as usize % RAILS)
            } else {
                "faint".into()
            };
            out.line((low.0, low.1), (up.0, up.1 + HEIGHT), &class);
        }
    }
    for (i, Group { ends, .. }) in groups.iter().enumerate() {
        let Some(x) = hosts.x(i, total) else { continue };
        for (ordinal, leaf) in ends.iter().enumerate() {
            let Some(up) = place(*leaf) else { continue };
            let class = if rails { format!("r{}", ordinal % RAILS) } else { String::new() };
            out.line((x + WIDTH / 2.0, hosts.y), (up.0, up.1 + HEIGHT), &class);
        }
    }
    for row in rows.iter().chain([&hosts]) {
        let class = match row.tier {
            Some(Tier::Core) => "d",
            Some(Tier::Spine) => "b",
            Some(Tier::Leaf) => "a",
            None => "c",
        };
        let start = LEFT + (total - row.width()) / 2.0;
        for (i, p) in row.places.iter().enumerate() {
            let x = start + i as f64 * (WIDTH + GAP);
            match p {
                Place::One(n) => out.node(x, row.y, WIDTH, HEIGHT, class, [&row.labels[*n][0], &row.labels[*n][1]]),
                Place::Fold(n) => out.node(x, row.y, WIDTH, HEIGHT, "none", [&format!("… {} more", grouped(*n as i128)), ""]),
            }
        }
        side(&mut out, c, id, row, groups.iter().map(|g| g.hosts).sum());
    }
    heading(&mut out, c, id);
    Some(out)
}

/// What a row is, at the left, and the links above it.
fn side(out: &mut Drawing, c: &Compilation, id: usize, row: &Row, hosts: usize) {
    let plan = &c.topology.fabrics[id];
    let y = row.y + HEIGHT / 2.0;
    let above = match row.tier {
        Some(tier) => {
            if let Some((_, model, n)) = plan.tiers.iter().find(|(t, ..)| *t == tier) {
                out.text(MARGIN, y - 2.0, "", &format!("{} {}", grouped(i128::from(*n)), tier.noun(*n)));
                out.text(MARGIN, y + 13.0, "soft", &model.name);
            }
            tier.word()
        }
        None => {
            if hosts > 0 {
                out.text(MARGIN, y + 4.0, "", &count_of(hosts, "host"));
            }
            "host"
        }
    };
    let links: Vec<String> = plan
        .cables
        .iter()
        .filter(|((from, to, _), _)| *from == above && *to != "uplink" && from != to)
        .map(|((.., gbps), n)| format!("{} × {gbps}G", grouped(i128::from(*n))))
        .collect();
    for (i, text) in links.iter().enumerate() {
        out.text(MARGIN, row.y - 36.0 + 14.0 * i as f64 - 7.0 * (links.len() - 1) as f64, "soft", text);
    }
}

fn heading(out: &mut Drawing, c: &Compilation, id: usize) {
    let (fabric, plan) = (&c.design.fabrics[id], &c.topology.fabrics[id]);
    out.text(MARGIN, 26.0, "title", &format!("fabric {}", fabric.name));
    let tera = |rate: crate::base::Rational| match crate::base::quantity::to_f64(rate) * 8e-12 {
        tera if tera >= 1000.0 => format!("{:.2} Pb/s", tera / 1000.0),
        tera if tera < 1.0 => format!("{:.0} Gb/s", tera * 1000.0),
        tera => format!("{tera:.1} Tb/s"),
    };
    let mut words = vec![fabric.word().to_string(), fabric.topology.word().to_string()];
    if fabric.planes > 1 {
        words.push(format!("{} planes", fabric.planes));
    }
    words.extend(plan.ratio.map(|r| format!("{} at the leaf", Quantity::new(r, Dimension::Ratio))));
    words.extend(plan.taper.filter(|t| *t.numer() != *t.denom()).map(|t| format!("{} at the spine", Quantity::new(t, Dimension::Ratio))));
    words.push(format!("injection {}", tera(plan.injection)));
    words.extend(plan.bisection.filter(|b| *b.numer() > 0).map(|b| format!("bisection {}", tera(b))));
    words.push(format!("{} hops", plan.max_hops));
    let text = words.join(" · ");
    out.width = out.width.max(MARGIN * 2.0 + width_of(&text, 11.0));
    out.text(MARGIN, 46.0, "soft", &text);
}
