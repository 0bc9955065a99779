//! The ports of one switch: cages, how they are split, which are taken.

use num_traits::ToPrimitive as _;

use crate::base::{Dimension, Quantity, Rational};
use crate::design::{SwitchModel, SwitchOs, SwitchedLink};

/// Megabits a second: whole in every link that exists, so that a hundred thousand of them are added and compared as integers.
pub type Mbps = u32;

/// The rate of a quantity, rounded to a megabit a second.
pub fn mbps(rate: Quantity) -> Mbps {
    (rate.value * Rational::new(8, 1_000_000)).round().to_integer().to_u32().unwrap_or(u32::MAX)
}

/// A rate as a quantity in Gb/s, as link rates are written.
pub fn quantity(rate: Mbps) -> Quantity {
    Quantity { unit: crate::base::quantity::find_unit("Gb/s"), ..Quantity::new(bytes(rate.into()), Dimension::Rate) }
}

/// Bytes a second of so many megabits a second.
pub fn bytes(rate: u64) -> Rational {
    Rational::from_integer(i128::from(rate) * 125_000)
}

/// A rate in whole gigabits a second.
pub fn gbps(rate: Mbps) -> u32 {
    rate.saturating_add(500) / 1000
}

/// A port by its cage and its place in the cage, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The cage.
    pub cage: u16,
    /// The link in the cage.
    pub sub: u8,
}

/// How a cage is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Rate of each link.
    pub rate: Mbps,
    /// Links of the cage.
    pub links: u8,
    /// Whether the cage is split.
    pub split: bool,
}

/// The cages of a switch that serve a rate, and how they run then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Which of the switch's groups of equal cages.
    pub group: u8,
    /// Cages of the group.
    pub cages: i64,
    /// How they are run.
    pub mode: Mode,
}

impl Fit {
    /// The group that serves a rate: the one that runs it natively, then by a split, then slowed down.
    pub fn new(model: &SwitchModel, rate: Mbps) -> Option<Self> {
        let rank = |(group, cages): (usize, &crate::design::CageGroup)| {
            let native = mbps(cages.rate?);
            let links = |n: i64| n.clamp(0, 255) as u8;
            let split = cages.breakout.iter().find(|(_, r)| mbps(*r) == rate);
            let mode = match split {
                _ if native == rate => Mode { rate, links: links(cages.links), split: false },
                Some((n, _)) => Mode { rate, links: links(*n), split: true },
                None if native > rate => Mode { rate, links: links(cages.links), split: false },
                None => return None,
            };
            let fit = Self { group: group as u8, cages: cages.count.clamp(0, MOST_CAGES), mode };
            Some(((native != rate, !mode.split && native != rate, native), fit))
        };
        model.cages.iter().take(256).enumerate().filter_map(rank).min_by_key(|(rank, fit)| (*rank, fit.group)).map(|(_, fit)| fit)
    }

    /// Links of that rate that the switch can have in all.
    pub fn radix(&self) -> i64 {
        i64::from(self.mode.links) * self.cages
    }

    /// Cages for so many links.
    pub fn cages_for(&self, links: i64) -> i64 {
        links.div_euclid(i64::from(self.mode.links.max(1))) + i64::from(links.rem_euclid(i64::from(self.mode.links.max(1))) > 0)
    }
}

/// No switch has more cages of a kind; a typo must not take all memory.
const MOST_CAGES: i64 = 1024;

/// The fastest link of a switch without splitting.
pub fn native_rate(model: &SwitchModel) -> Option<Mbps> {
    model.cages.iter().filter_map(|c| c.rate.map(mbps)).max()
}

/// A cage of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Cage {
    /// Its group of equal cages.
    pub group: u8,
    /// Links that are taken.
    pub taken: u8,
    /// How it is run, once something is plugged in.
    pub mode: Option<Mode>,
}

/// Which ports are taken.
#[derive(Clone, Debug)]
pub struct Ports {
    /// All cages, in order.
    pub cages: Vec<Cage>,
    /// The cage that took the last link from below.
    open: u16,
}

impl Ports {
    /// All free.
    pub fn new(model: &SwitchModel) -> Self {
        let cages = model
            .cages
            .iter()
            .take(256)
            .enumerate()
            .flat_map(|(g, c)| std::iter::repeat_n(Cage { group: g as u8, taken: 0, mode: None }, c.count.clamp(0, MOST_CAGES) as usize))
            .collect();
        Self { cages, open: 0 }
    }

    /// The lowest free port of that rate.
    pub fn take_low(&mut self, fit: Fit) -> Option<Slot> {
        if let Some(cage) = self.cages.get_mut(self.open as usize)
            && cage.mode == Some(fit.mode)
            && cage.group == fit.group
            && cage.taken < fit.mode.links
        {
            cage.taken += 1;
            return Some(Slot { cage: self.open, sub: cage.taken - 1 });
        }
        let cage = self.cages.iter().position(|cage| cage.group == fit.group && cage.mode.is_none())?;
        self.cages[cage] = Cage { group: fit.group, taken: 1, mode: Some(fit.mode) };
        self.open = cage as u16;
        Some(Slot { cage: self.open, sub: 0 })
    }

    /// The last free cages for `count` links of that rate, in rising order; nothing if they do not fit.
    pub fn take_last(&mut self, fit: Fit, count: i64) -> Option<Vec<Slot>> {
        let needed = fit.cages_for(count.max(0)) as usize;
        let mut free: Vec<usize> =
            (0..self.cages.len()).rev().filter(|i| self.cages[*i].group == fit.group && self.cages[*i].mode.is_none()).take(needed).collect();
        if free.len() < needed {
            return None;
        }
        free.reverse();
        let mut slots = Vec::with_capacity(count.max(0) as usize);
        for cage in free {
            let links = (count - slots.len() as i64).min(fit.mode.links.into()) as u8;
            self.cages[cage] = Cage { group: fit.group, taken: links, mode: Some(fit.mode) };
            slots.extend((0..links).map(|sub| Slot { cage: cage as u16, sub }));
        }
        Some(slots)
    }

    /// Links that could still be plugged in: the rest of cages in use, and whole cages at their own rate.
    pub fn free(&self, model: &SwitchModel) -> i64 {
        self.cages.iter().map(|c| c.mode.map_or(model.cages[c.group as usize].links, |m| m.links.into()) - i64::from(c.taken)).sum()
    }
}

/// Electrical lanes of a cage, by its connector (SFF and OSFP specifications).
pub fn lanes(connector: Option<&str>) -> u32 {
    match connector {
        Some("osfp" | "qsfp_dd") => 8,
        Some(c) if c.starts_with("qsfp") => 4,
        _ => 1,
    }
}

/// How a switch's operating system calls a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortName {
    /// Cage and place in it, from 1: `IB1/3/2`.
    Infiniband(u32, u32),
    /// The cage from 1: `swp3`.
    Swp(u32),
    /// The cage from 1 and the place in it from 0: `swp3s1`.
    Split(u32, u32),
    /// The first lane: `Ethernet8`.
    Ethernet(u32),
}

impl PortName {
    /// The name of a port in a cage.
    pub fn new(model: &SwitchModel, cage: Option<&Cage>, slot: Slot) -> Self {
        let number = u32::from(slot.cage) + 1;
        if model.link_type == SwitchedLink::Infiniband {
            return Self::Infiniband(number, u32::from(slot.sub) + 1);
        }
        let links = cage.and_then(|c| c.mode).map_or(1, |m| u32::from(m.links));
        if model.operating_system() == SwitchOs::Sonic {
            let lanes = lanes(cage.and_then(|c| model.cages[c.group as usize].connector.as_deref()));
            return Self::Ethernet(u32::from(slot.cage) * lanes + u32::from(slot.sub) * (lanes / links.max(1)).max(1));
        }
        if links > 1 { Self::Split(number, slot.sub.into()) } else { Self::Swp(number) }
    }
}

impl std::fmt::Display for PortName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Infiniband(cage, link) => write!(f, "IB1/{cage}/{link}"),
            Self::Swp(cage) => write!(f, "swp{cage}"),
            Self::Split(cage, link) => write!(f, "swp{cage}s{link}"),
            Self::Ethernet(lane) => write!(f, "Ethernet{lane}"),
        }
    }
}

/// The name of a port as text.
pub fn port_name(model: &SwitchModel, ports: &Ports, slot: Slot) -> String {
    PortName::new(model, ports.cages.get(slot.cage as usize), slot).to_string()
}
