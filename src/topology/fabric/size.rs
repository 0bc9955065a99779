//! How many switches a fabric takes, and which port sits on which leaf. Numbers only: nothing is wired here, so alternatives are cheap to try.
//!
//! The counts are those of the published reference tables: one leaf a rail and unit; the smallest number of spines that carries all uplinks and
//! divides the uplinks of a leaf, so that they spread evenly; three tiers as pods of leaves and spines below cores.

use std::collections::BTreeMap;

use num_traits::ToPrimitive as _;

use super::super::ports::{self, Fit, Mbps};
use super::attach::{Attached, AttachedPorts};
use super::{Fault, Tier, fit};
use crate::base::Rational;
use crate::design::{Fabric, FabricWord, Shape, ShapeWord, SwitchModel, SwitchedLink};

/// Leaves that share spines.
#[derive(Clone, Debug)]
pub struct Pod {
    /// Its leaves.
    pub leaves: Vec<u32>,
    /// Its spines.
    pub spines: i64,
    /// Links of each spine to the cores.
    pub spine_up: i64,
}

/// How the uplinks of spines spread over the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// All cores.
    pub count: i64,
    /// Blocks of cores, each joined evenly to its share of every pod's spines; 0 where nothing divides, and uplinks go round robin.
    pub blocks: i64,
}

/// What a plane of a fabric comes to.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// For each leaf the attached ports by their place in the order of attachment.
    pub leaves: Vec<Vec<u32>>,
    /// Rate of links between switches.
    pub trunk: Mbps,
    /// Bandwidth down of a full leaf.
    pub down: u64,
    /// Links up of each leaf.
    pub up: i64,
    /// Links of each leaf that are kept for the site's own network.
    pub site: i64,
    /// Whether leaves have uplinks to another fabric or to the site.
    pub uplinked: bool,
    /// Links between two leaves without a spine.
    pub inter: i64,
    /// Whether hosts are on both leaves of a pair and reach each other without those links.
    pub both: bool,
    /// Pods of leaves and spines; one with two tiers.
    pub pods: Vec<Pod>,
    /// The cores of three tiers.
    pub cores: Option<Cores>,
}

/// Hosts of a unit.
pub fn unit(fabric: &Fabric) -> u32 {
    fabric.topology.unit().unwrap_or(1).clamp(1, i64::from(u32::MAX)) as u32
}

fn ceil(a: i64, b: i64) -> i64 {
    if b <= 0 { i64::MAX / 4 } else { (a + b - 1).div_euclid(b) }
}

fn ceil_ratio(amount: u64, ratio: Rational) -> i64 {
    (Rational::from_integer(amount.into()) / ratio).ceil().to_integer().to_i64().unwrap_or(i64::MAX / 4)
}

/// The smallest number that is at least `least` and divides `links`: with so many switches above, the links of each switch below spread evenly.
/// Nothing if even one link to each does not carry it.
pub fn even(links: i64, least: i64) -> Option<i64> {
    (least.max(1)..=links).find(|n| links % n == 0)
}

/// The sizes of one plane of a fabric.
///
/// # Errors
/// Which limit stands in the way.
pub fn sizes(fabric: &Fabric, attached: &AttachedPorts) -> Result<Sizes, Fault> {
    let leaf = fabric.leaf.as_ref().ok_or(Fault::NoModel(Tier::Leaf))?;
    for tier in [Tier::Spine, Tier::Core] {
        if let Some(model) = tier.model(fabric).filter(|m| m.link_type != leaf.link_type) {
            return Err(Fault::TierType(leaf.link_type, tier, model.name.clone(), model.link_type));
        }
    }
    let trunk = trunk(fabric, leaf);
    let mut rates: Vec<Mbps> = Vec::new();
    for a in &attached.ports {
        if rates.last() != Some(&a.rate) && !rates.contains(&a.rate) {
            rates.push(a.rate);
        }
    }
    rates.push(trunk);
    let fits = rates.into_iter().map(|rate| (rate, Fit::new(leaf, rate))).collect();
    let site = fabric.uplink.as_ref().filter(|u| u.fabric.is_none()).map_or(0, |u| u.links);
    let sizer = Sizer { fabric, leaf, attached, fits, trunk, site };
    match &fabric.topology {
        Shape::LeafOnly { .. } => sizer.leaf_only(),
        Shape::LeafSpine { .. } | Shape::RailOptimized { .. } | Shape::RailOnly { .. } | Shape::FatTree(_) => sizer.tiers(),
        Shape::DragonflyPlus { .. } => Err(Fault::NotPlanned(ShapeWord::DragonflyPlus)),
    }
}

/// The rate of links between switches.
fn trunk(fabric: &Fabric, leaf: &SwitchModel) -> Mbps {
    let native = ports::native_rate(leaf).unwrap_or(0);
    let least = |model: &Option<std::sync::Arc<SwitchModel>>| model.as_ref().and_then(|m| ports::native_rate(m)).unwrap_or(native).min(native);
    match fabric.link_rate {
        Some(rate) => ports::mbps(rate).min(native),
        None => least(&fabric.spine),
    }
}

struct Sizer<'a> {
    fabric: &'a Fabric,
    leaf: &'a SwitchModel,
    attached: &'a AttachedPorts,
    /// How the leaf runs each rate that occurs.
    fits: Vec<(Mbps, Option<Fit>)>,
    trunk: Mbps,
    site: i64,
}

impl Sizer<'_> {
    /// How the leaf runs a rate.
    fn leaf_fit(&self, rate: Mbps) -> Option<Fit> {
        self.fits.iter().find(|(known, _)| *known == rate).and_then(|(_, fit)| *fit)
    }

    fn need_leaf_fit(&self, rate: Mbps) -> Result<Fit, Fault> {
        self.leaf_fit(rate).ok_or_else(|| Fault::NoRate(rate, self.leaf.name.clone()))
    }

    /// One leaf, or two with links between them, or more that meet at an uplink.
    fn leaf_only(&self) -> Result<Sizes, Fault> {
        let fabric = self.fabric;
        let ports = &self.attached.ports;
        let leaves = fabric.topology.leaves().unwrap_or_else(|| self.leaves_for()).clamp(1, MOST_LEAVES);
        let mut assigned: Vec<Vec<u32>> = vec![Vec::new(); leaves as usize];
        let mut alternate = 0_usize;
        let mut both = false;
        for (i, a) in ports.iter().enumerate() {
            let leaf = if leaves > 2 {
                // More than a pair: hosts fill leaves in order, so that a rack's hosts share one.
                i * leaves as usize / ports.len()
            } else if self.attached.counts[a.index as usize] == 1 {
                alternate += 1;
                (alternate - 1) % leaves as usize
            } else {
                both = true;
                a.ordinal as usize % leaves as usize
            };
            assigned[leaf].push(i as u32);
        }
        let ethernet = !fabric.is_infiniband();
        let both = both && ethernet && leaves == 2;
        let down = assigned.iter().map(Vec::len).max().unwrap_or(0) as i64;
        let inter = match fabric.inter_leaf {
            Some(n) => n.max(0),
            None if leaves < 2 => 0,
            None if ethernet => 4 * i64::from(both),
            None => ceil_ratio(down as u64, fabric.oversubscription.value),
        };
        let uplinks = fabric.uplink.as_ref().map_or(0, |u| u.links);
        if leaves > 1 && uplinks == 0 && (inter == 0 || leaves > 2) {
            return Err(Fault::Islands(leaves));
        }
        let sizes = Sizes {
            trunk: self.trunk,
            down: self.widest(&assigned),
            site: self.site,
            uplinked: uplinks > 0,
            inter: if leaves == 2 { inter } else { 0 },
            both,
            ..Sizes::default()
        };
        let reserved = self.site + sizes.inter;
        for list in &assigned {
            self.check_leaf(list, reserved, inter + uplinks)?;
        }
        Ok(Sizes { leaves: assigned, ..sizes })
    }

    /// Whether a leaf takes its ports and so many trunks; a fault names `up` links.
    fn check_leaf(&self, list: &[u32], trunks: i64, up: i64) -> Result<(), Fault> {
        if self.cages_used(&self.by_rate(list), trunks)? <= self.cages() {
            return Ok(());
        }
        let radix = self.leaf_fit(self.trunk).map_or(0, |f| f.radix());
        // Where hosts and trunks sit in cages of their own, the hosts' are those that are short.
        let rates = self.by_rate(list);
        let host = rates.iter().max_by_key(|(_, n)| *n).map(|(rate, _)| *rate).filter(|rate| {
            let group = |rate: Mbps| self.leaf_fit(rate).map(|f| f.group);
            group(*rate) != group(self.trunk)
        });
        Err(match host {
            Some(rate) => Fault::LeafPorts { down: list.len() as i64, up: 0, radix: self.leaf_fit(rate).map_or(0, |f| f.radix()), rate },
            None => Fault::LeafPorts { down: list.len() as i64, up, radix, rate: self.trunk },
        })
    }

    /// Leaves that the attached ports fill.
    fn leaves_for(&self) -> i64 {
        let sum: Rational = self
            .by_rate(&self.all_ports())
            .into_iter()
            .map(|(rate, n)| Rational::new(n.into(), self.leaf_fit(rate).map_or(1, |f| f.radix()).max(1).into()))
            .fold(Rational::from_integer(0), |a, b| a + b);
        sum.ceil().to_integer().to_i64().unwrap_or(1)
    }

    /// Leaves that the attached ports fill at least, by the cages that can serve them.
    fn leaves_by_cages(&self) -> i64 {
        let mut needed: BTreeMap<u8, Rational> = BTreeMap::new();
        for (rate, n) in self.by_rate(&self.all_ports()) {
            if let Some(fit) = self.leaf_fit(rate).filter(|fit| fit.radix() > 0) {
                *needed.entry(fit.group).or_insert_with(|| Rational::from_integer(0)) += Rational::new(n.into(), fit.radix().into());
            }
        }
        needed.into_values().max().map_or(1, |leaves| leaves.ceil().to_integer().to_i64().unwrap_or(1))
    }

    fn all_ports(&self) -> Vec<u32> {
        (0..self.attached.ports.len() as u32).collect()
    }

    /// Two or three tiers.
    fn tiers(&self) -> Result<Sizes, Fault> {
        let fabric = self.fabric;
        let topology = &fabric.topology;
        let three = topology.is_three_tier();
        let rail_only = topology.word() == ShapeWord::RailOnly;
        if fabric.spine.is_none() && !rail_only {
            return Err(Fault::NoModel(Tier::Spine));
        }
        let leaves = if topology.rails() { self.on_rails() } else { self.in_order()? };
        let count = leaves.len() as i64;
        if let Some(declared) = topology.leaves().filter(|d| *d != count * fabric.planes && *d != count) {
            return Err(Fault::Count(Tier::Leaf, declared, count));
        }
        // A full unit decides: a missing host leaves its ports empty and changes nothing else.
        let full = topology.unit().filter(|_| topology.rails());
        let host_rate = self.attached.ports.first().map_or(self.trunk, |a| a.rate);
        let down = full.map_or_else(|| self.widest(&leaves), |unit| unit.max(0) as u64 * u64::from(host_rate));
        let mut sizes = Sizes { trunk: self.trunk, down, site: self.site, ..Sizes::default() };
        let rails = self.attached.rails.max(1);
        let units = count / rails.max(1);
        let joined = !rail_only || units > 1;
        if rail_only && joined && fabric.spine.is_none() {
            return Err(Fault::Islands(count));
        }
        let least = if !joined { 0 } else { ceil_ratio(down, fabric.oversubscription.value * Rational::from_integer(self.trunk.max(1).into())).max(1) };
        // With one uplink, a lost cable is a lost leaf.
        let least = if joined && !fabric.is_infiniband() { least.max(2) } else { least };
        let most_down = full.unwrap_or_else(|| leaves.iter().map(Vec::len).max().unwrap_or(0) as i64);
        let trunk_fit = self.need_leaf_fit(self.trunk)?;
        let fault = |up: i64| Fault::LeafPorts { down: most_down, up: up + self.site, radix: trunk_fit.radix(), rate: self.trunk };
        let room = self.room(&leaves, full.map(|unit| (host_rate, unit)))? - self.site;
        if least > room {
            return Err(fault(least));
        }
        sizes.leaves = leaves;
        if !joined {
            return Ok(sizes);
        }
        if three {
            self.three_tiers(&mut sizes, least)?;
        } else {
            // Without spines of their own, the rails of a unit meet; with them each rail is a tree.
            let trees: Vec<Vec<u32>> = if rail_only {
                (0..rails as u32).map(|r| (r..count as u32).step_by(rails as usize).collect()).collect()
            } else {
                vec![(0..count as u32).collect()]
            };
            self.two_tiers(&mut sizes, trees, least, room)?;
        }
        if sizes.up > room { Err(fault(sizes.up)) } else { Ok(sizes) }
    }

    fn spine_fit(&self) -> Result<Fit, Fault> {
        fit(self.fabric.spine.as_ref().ok_or(Fault::NoModel(Tier::Spine))?, self.trunk)
    }

    /// Trees of leaves, each under spines of its own.
    fn two_tiers(&self, sizes: &mut Sizes, trees: Vec<Vec<u32>>, least: i64, room: i64) -> Result<(), Fault> {
        let radix = self.spine_fit()?.radix();
        let leaves = trees.iter().map(|t| t.len() as i64).max().unwrap_or(1);
        let needed = |up: i64| ceil(leaves * up, radix);
        let copies = trees.len() as i64 * self.fabric.planes;
        let (up, spines) = match self.fabric.topology.spines() {
            Some(declared) => {
                let own = declared / copies.max(1);
                if own < needed(least) || own < 1 {
                    return Err(Fault::Count(Tier::Spine, declared, needed(least) * copies));
                }
                // Each leaf gets as many links to every spine.
                (ceil(least, own) * own, own)
            }
            None => {
                // A few more uplinks than needed may divide better; the fewest spines win, then the fewest links.
                let spare = room - ceil(self.fabric.manager.len() as i64, sizes.leaves.len() as i64);
                let best = (least..=spare.max(least)).filter_map(|up| Some((even(up, needed(up))?, up))).min();
                let (spines, up) = best.ok_or(Fault::TooManyLeaves(leaves, radix))?;
                (up, spines)
            }
        };
        if leaves * (up / spines) > radix {
            return Err(Fault::TooManyLeaves(leaves, radix));
        }
        sizes.up = up;
        sizes.pods = trees.into_iter().map(|leaves| Pod { leaves, spines, spine_up: 0 }).collect();
        Ok(())
    }

    /// Pods below cores.
    fn three_tiers(&self, sizes: &mut Sizes, up: i64) -> Result<(), Fault> {
        let topology = &self.fabric.topology;
        let radix = self.spine_fit()?.radix();
        let core_fit = fit(self.fabric.core.as_ref().ok_or(Fault::NoModel(Tier::Core))?, self.trunk)?;
        let taper = topology.fat_tree().map_or(Rational::from_integer(1), |tree| tree.taper.value);
        let up_for = |down: i64| ceil_ratio(down.max(0) as u64, taper).max(1);
        // As many ports down as leave room for their share up.
        let down = (1..=radix).rev().find(|down| down + up_for(*down) <= radix).ok_or(Fault::UpperPorts(Tier::Spine, 2, radix))?;
        let group = if topology.rails() { self.attached.rails.max(1) } else { 1 };
        let count = sizes.leaves.len() as i64;
        let most = down / group * group;
        let pod = topology.fat_tree().and_then(|tree| tree.pod).unwrap_or(most);
        if pod > down || pod < 1 || pod % group != 0 {
            return Err(Fault::Pod(pod, down, group));
        }
        let mut first = 0;
        while first < count {
            let left = count - first;
            let exact = |leaves: &i64| (leaves * up) % down == 0 && up % (leaves * up / down).max(1) == 0;
            // The rest is cut where the uplinks of each part spread evenly over spines that are full.
            let leaves = if left >= pod { pod } else { (1..=left / group).rev().map(|n| n * group).find(exact).unwrap_or(left) };
            let spines = even(up, ceil(leaves * up, down)).ok_or(Fault::UpperPorts(Tier::Spine, leaves, down))?;
            let spine_up = up_for(leaves * up / spines);
            sizes.pods.push(Pod { leaves: (first as u32..(first + leaves) as u32).collect(), spines, spine_up });
            first += leaves;
        }
        if let Some(declared) = topology.spines() {
            let planned: i64 = sizes.pods.iter().map(|p| p.spines).sum::<i64>() * self.fabric.planes;
            if declared != planned {
                return Err(Fault::Count(Tier::Spine, declared, planned));
            }
        }
        sizes.up = up;
        sizes.cores = Some(self.cores(&sizes.pods, core_fit.radix())?);
        Ok(())
    }

    /// Cores of three tiers: blocks to which all spines are joined evenly if that takes no more than the fewest that carry all links, or if each
    /// spine can reach all of them.
    fn cores(&self, pods: &[Pod], radix: i64) -> Result<Cores, Fault> {
        let links: i64 = pods.iter().map(|p| p.spines * p.spine_up).sum();
        let needed = ceil(links, radix);
        let up = pods.iter().map(|p| p.spine_up).max().unwrap_or(1);
        if let Some(declared) = self.fabric.topology.cores() {
            let own = declared / self.fabric.planes.max(1);
            if own < needed {
                return Err(Fault::Count(Tier::Core, declared, needed * self.fabric.planes));
            }
            let all_even = pods.iter().all(|p| p.spine_up % own == 0);
            return Ok(Cores { count: own, blocks: i64::from(all_even) });
        }
        let alike = pods.iter().all(|p| p.spine_up == up);
        let common = pods.iter().fold(0, |a, p| gcd(a, p.spines));
        // Fewer blocks reach more cores from each spine.
        let blocks = (1..=common).filter(|b| alike && common % b == 0).filter_map(|b| Some((even(up, ceil(links / b, radix))? * b, b)));
        match blocks.min() {
            Some((count, blocks)) if count == needed || needed <= up => Ok(Cores { count, blocks }),
            _ => Ok(Cores { count: needed, blocks: 0 }),
        }
    }

    /// Rail i of the hosts of a unit on leaf i of that unit.
    fn on_rails(&self) -> Vec<Vec<u32>> {
        let unit = unit(self.fabric) as usize;
        let rails = self.attached.rails.max(1) as usize;
        let units = self.attached.counts.len().div_ceil(unit).max(1);
        let mut leaves: Vec<Vec<u32>> = (0..units * rails).map(|_| Vec::with_capacity(unit.min(1024))).collect();
        for (i, a) in self.attached.ports.iter().enumerate() {
            leaves[a.index as usize / unit * rails + a.ordinal as usize].push(i as u32);
        }
        leaves
    }

    /// Hosts fill leaves in order; on Ethernet a host is attached to both leaves of a pair.
    fn in_order(&self) -> Result<Vec<Vec<u32>>, Fault> {
        let ports = &self.attached.ports;
        let group: i64 = if self.fabric.word() == FabricWord::Ethernet && ports.len() > 1 { 2 } else { 1 };
        let declared = self.fabric.topology.leaves().map(|l| (l / self.fabric.planes.max(1)).clamp(1, MOST_LEAVES));
        // Ports of each owner, in their order.
        let mut owned: Vec<Vec<u32>> = self.attached.counts.iter().map(|n| Vec::with_capacity(*n as usize)).collect();
        ports.iter().enumerate().for_each(|(i, a)| owned[a.index as usize].push(i as u32));
        // A bound from bandwidth alone saves most of the tries.
        let total: u64 = ports.iter().map(|a| u64::from(a.rate)).sum();
        let most: u64 = self.leaf.cages.iter().filter_map(|c| Some(u64::from(ports::mbps(c.rate?)) * (c.count * c.links).clamp(0, 1 << 20) as u64)).sum();
        let ratio = self.fabric.oversubscription.value;
        let share = ratio / (ratio + Rational::from_integer(1));
        let low = if most > 0 { ceil_ratio(total, Rational::from_integer(most.into()) * share).max(1) } else { 1 };
        let low = low.max(self.leaves_by_cages());
        let mut leaves = declared.unwrap_or((low + group - 1) / group * group).max(group.min(declared.unwrap_or(group))).max(1);
        loop {
            let assigned = self.spread(&owned, leaves, group);
            let mut worst = 0;
            for list in &assigned {
                worst = worst.max(self.cages_used(&self.by_rate(list), self.uplinks(list) + self.site)?);
            }
            if worst <= self.cages() {
                return Ok(assigned);
            }
            if declared.is_some() || leaves > ports.len() as i64 + group {
                let down = assigned.iter().map(Vec::len).max().unwrap_or(0) as i64;
                let up = assigned.iter().map(|l| self.uplinks(l)).max().unwrap_or(0);
                return Err(Fault::LeafPorts { down, up: up + self.site, radix: self.need_leaf_fit(self.trunk)?.radix(), rate: self.trunk });
            }
            leaves += group;
        }
    }

    fn spread(&self, owned: &[Vec<u32>], leaves: i64, group: i64) -> Vec<Vec<u32>> {
        let group = group.min(leaves).max(1);
        let groups = (leaves / group).max(1) as usize;
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); leaves as usize];
        let mut alternate = vec![0_usize; groups];
        for (i, list) in owned.iter().enumerate() {
            let g = i * groups / owned.len().max(1);
            for port in list {
                let side = if list.len() == 1 {
                    alternate[g] += 1;
                    (alternate[g] - 1) % group as usize
                } else {
                    self.attached.ports[*port as usize].ordinal as usize % group as usize
                };
                out[g * group as usize + side].push(*port);
            }
        }
        out
    }

    /// Links by rate: a leaf has a few rates and many ports.
    fn by_rate(&self, list: &[u32]) -> Vec<(Mbps, i64)> {
        let mut out: Vec<(Mbps, i64)> = Vec::new();
        for port in list {
            let Attached { rate, .. } = self.attached.ports[*port as usize];
            match out.iter_mut().find(|(known, _)| *known == rate) {
                Some((_, n)) => *n += 1,
                None => out.push((rate, 1)),
            }
        }
        out.sort_unstable();
        out
    }

    fn width(&self, list: &[u32]) -> u64 {
        self.by_rate(list).into_iter().map(|(rate, n)| u64::from(rate) * n as u64).sum()
    }

    fn widest(&self, leaves: &[Vec<u32>]) -> u64 {
        leaves.iter().map(|l| self.width(l)).max().unwrap_or(0)
    }

    /// Uplinks that a leaf with these ports needs.
    fn uplinks(&self, list: &[u32]) -> i64 {
        let up = ceil_ratio(self.width(list), self.fabric.oversubscription.value * Rational::from_integer(self.trunk.max(1).into()));
        up.max(if self.leaf.link_type == SwitchedLink::Ethernet { 2 } else { 1 })
    }

    /// Cages of the group that carries trunks.
    fn cages(&self) -> i64 {
        self.leaf_fit(self.trunk).map_or(0, |f| f.cages)
    }

    /// Cages of the trunks' group that links of these rates and so many trunks take.
    fn cages_used(&self, rates: &[(Mbps, i64)], trunks: i64) -> Result<i64, Fault> {
        let trunk = self.need_leaf_fit(self.trunk)?;
        let mut cages = trunk.cages_for(trunks);
        for (rate, n) in rates {
            let fit = self.need_leaf_fit(*rate)?;
            let needed = fit.cages_for(*n);
            if fit.group == trunk.group {
                cages += needed;
            } else if needed > fit.cages {
                // Another group of cages overflows: as if all were needed.
                return Ok(i64::MAX);
            }
        }
        Ok(cages)
    }

    /// Links up that the fullest leaf has room for.
    fn room(&self, leaves: &[Vec<u32>], full: Option<(Mbps, i64)>) -> Result<i64, Fault> {
        let trunk = self.need_leaf_fit(self.trunk)?;
        let mut used = 0;
        match full {
            Some((rate, unit)) => used = self.cages_used(&[(rate, unit)], 0)?,
            None => {
                for list in leaves {
                    used = used.max(self.cages_used(&self.by_rate(list), 0)?);
                }
            }
        }
        Ok(if used > trunk.cages { -1 } else { (trunk.cages - used) * i64::from(trunk.mode.links) })
    }
}

/// Bound on declared leaves: a typo must not take all memory.
const MOST_LEAVES: i64 = 100_000;

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Sizes {
    /// Switches of a tier.
    pub fn count(&self, tier: Tier) -> i64 {
        match tier {
            Tier::Leaf => self.leaves.len() as i64,
            Tier::Spine => self.pods.iter().map(|p| p.spines).sum(),
            Tier::Core => self.cores.map_or(0, |c| c.count),
        }
    }

    fn trunks(&self, links: i64) -> u64 {
        u64::from(self.trunk) * links.max(0) as u64
    }

    /// Links of a plane.
    pub fn links(&self, attached: &AttachedPorts) -> usize {
        let between = if self.pods.is_empty() { self.inter } else { self.leaves.len() as i64 * self.up };
        let cores: i64 = if self.cores.is_some() { self.pods.iter().map(|p| p.spines * p.spine_up).sum() } else { 0 };
        attached.ports.len() + (between + cores).max(0) as usize
    }

    /// Down : up at the leaf, in bandwidth; nothing where traffic between leaves has no way of its own.
    pub fn ratio(&self) -> Option<Rational> {
        let up = if self.pods.is_empty() { if self.both { 0 } else { self.inter } } else { self.up };
        (up > 0 && self.trunk > 0).then(|| Rational::new(self.down.into(), self.trunks(up).into()))
    }

    /// Down : up at the spine, the worst of all pods.
    pub fn taper(&self) -> Option<Rational> {
        self.cores?;
        self.pods.iter().filter(|p| p.spine_up > 0).map(|p| Rational::new((p.leaves.len() as i64 * self.up).into(), (p.spines * p.spine_up).into())).max()
    }

    /// Links from host to host, the longest way.
    pub fn max_hops(&self) -> i64 {
        match (self.cores, self.pods.is_empty()) {
            (Some(_), _) => 6,
            (None, false) => 4,
            (None, true) if self.both || !self.uplinked && self.inter == 0 || self.leaves.len() < 2 => 2,
            (None, true) => 3,
        }
    }

    /// Bandwidth across the narrowest halving of the hosts, both directions, Mb/s.
    pub fn bisection(&self, attached: &AttachedPorts) -> u64 {
        let injection: u64 = attached.ports.iter().map(|a| u64::from(a.rate)).sum();
        if self.pods.is_empty() {
            // Rails on one leaf each, a single leaf, or hosts on both leaves of a pair: hosts reach each other without links between leaves.
            let meet = self.leaves.len() == 1 || self.both || !self.uplinked && self.inter == 0;
            return if meet { injection } else { self.trunks(2 * self.inter) };
        }
        let width = self.trunks(self.leaves.len() as i64 * self.up);
        let cores: u64 = self.pods.iter().map(|p| self.trunks(p.spines * p.spine_up)).sum();
        let narrowest = if self.cores.is_some() { width.min(cores) } else { width };
        narrowest.min(injection)
    }
}

#[cfg(test)]
mod tests {
    use super::even;

    #[test]
    fn spines_of_the_published_tables() {
        let spines = |leaves: i64, up: i64, radix: i64| even(up, (leaves * up + radix - 1) / radix).unwrap();
        // RA-11333-001 table 4 (H100): 1 to 4 units of 8 leaves with 32 uplinks on 64 ports.
        assert_eq!([8, 16, 24, 32].map(|l| spines(l, 32, 64)), [4, 8, 16, 16]);
        // RA-11339-001 (B300 XDR): 1, 2, 4, 8, 18 units, 72 uplinks on 144 ports.
        assert_eq!([8, 16, 32, 64, 144].map(|l| spines(l, 72, 144)), [4, 8, 18, 36, 72]);
        // One unit of GB200: 32 leaves with 18 uplinks.
        assert_eq!(spines(32, 18, 64), 9);
        // Five leaves of seven uplinks on radix 4 need nine spines: more than a leaf has links.
        assert_eq!(even(7, 9), None);
    }
}
