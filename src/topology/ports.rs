//! The ports of one switch: cages, how they are split, which are taken.

use num_traits::ToPrimitive as _;

use crate::base::Rational;
use crate::design::SwitchModel;

/// A port by its cage and its place in the cage, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The cage.
    pub cage: u16,
    /// The link in the cage.
    pub sub: u8,
}

/// How a cage is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Links of the cage.
    pub links: i64,
    /// Rate of each, bytes a second.
    pub rate: Rational,
    /// Whether the cage is split.
    pub split: bool,
}

/// How a cage group runs at a rate: as it is, split, or slower than it could.
pub fn mode(model: &SwitchModel, group: usize, rate: Rational) -> Option<Mode> {
    let cages = &model.cages[group];
    let native = cages.rate?.value;
    if native == rate {
        return Some(Mode { links: cages.links, rate, split: false });
    }
    if let Some((links, rate)) = cages.breakout.iter().find(|(_, r)| r.value == rate) {
        return Some(Mode { links: *links, rate: rate.value, split: true });
    }
    (native > rate).then_some(Mode { links: cages.links, rate, split: false })
}

/// The group that serves a rate: the one that runs it natively, then by a split, then slowed down.
pub fn best_group(model: &SwitchModel, rate: Rational) -> Option<usize> {
    let rank = |g: usize| {
        let mode = mode(model, g, rate)?;
        let native = model.cages[g].rate?.value;
        Some((native != rate, !mode.split && native != rate, native))
    };
    (0..model.cages.len()).filter_map(|g| Some((rank(g)?, g))).min().map(|(_, g)| g)
}

/// Links of that rate that the switch can have in all.
pub fn radix(model: &SwitchModel, rate: Rational) -> i64 {
    best_group(model, rate).and_then(|g| Some(mode(model, g, rate)?.links * model.cages[g].count)).unwrap_or(0)
}

/// The fastest link of a switch without splitting.
pub fn native_rate(model: &SwitchModel) -> Option<Rational> {
    model.cages.iter().filter_map(|c| c.rate.map(|r| r.value)).max()
}

/// Which ports are taken.
#[derive(Clone, Debug)]
pub struct Ports {
    /// For each cage: its group, its mode once one is chosen, and links taken.
    pub cages: Vec<(usize, Option<Mode>, i64)>,
    open: Option<usize>,
}

impl Ports {
    /// All free.
    pub fn new(model: &SwitchModel) -> Self {
        let cages = model.cages.iter().enumerate().flat_map(|(g, c)| std::iter::repeat_n((g, None, 0), c.count.clamp(0, 1024) as usize)).collect();
        Self { cages, open: None }
    }

    /// The lowest free port of that rate.
    pub fn take_low(&mut self, model: &SwitchModel, rate: Rational) -> Option<Slot> {
        let group = best_group(model, rate)?;
        let wanted = mode(model, group, rate)?;
        if let Some(open) = self.open
            && let (_, Some(mode), taken) = &mut self.cages[open]
            && *mode == wanted
            && *taken < mode.links
        {
            *taken += 1;
            return Some(Slot { cage: open as u16, sub: (*taken - 1) as u8 });
        }
        let cage = self.cages.iter().position(|(g, mode, _)| *g == group && mode.is_none())?;
        self.cages[cage] = (group, Some(wanted), 1);
        self.open = Some(cage);
        Some(Slot { cage: cage as u16, sub: 0 })
    }

    /// The last free cages for `count` links of that rate, in rising order; nothing if they do not fit.
    pub fn take_last(&mut self, model: &SwitchModel, rate: Rational, count: i64) -> Option<Vec<Slot>> {
        if count == 0 {
            return Some(Vec::new());
        }
        let group = best_group(model, rate)?;
        let wanted = mode(model, group, rate)?;
        let cages_needed = (count + wanted.links - 1) / wanted.links;
        let free: Vec<usize> = self.cages.iter().enumerate().filter(|(_, (g, mode, _))| *g == group && mode.is_none()).map(|(i, _)| i).collect();
        if (free.len() as i64) < cages_needed {
            return None;
        }
        let mut slots = Vec::new();
        for cage in &free[free.len() - cages_needed as usize..] {
            let links = wanted.links.min(count - slots.len() as i64);
            self.cages[*cage] = (group, Some(wanted), links);
            slots.extend((0..links).map(|sub| Slot { cage: *cage as u16, sub: sub as u8 }));
        }
        Some(slots)
    }

    /// Free cages of the group that serves a rate.
    pub fn free_cages(&self, model: &SwitchModel, rate: Rational) -> i64 {
        best_group(model, rate).map_or(0, |group| self.cages.iter().filter(|(g, mode, _)| *g == group && mode.is_none()).count() as i64)
    }
}

/// A rate as whole gigabits a second.
pub fn gbps(rate: Rational) -> u32 {
    (rate * Rational::from_integer(8) / Rational::from_integer(1_000_000_000)).round().to_integer().to_u32().unwrap_or(0)
}

/// The name of a port: `IB1/3/2` on InfiniBand, `swp3` or `swp3s1` on Cumulus.
pub fn port_name(model: &SwitchModel, ports: &Ports, slot: Slot) -> String {
    if model.link_type == "infiniband" {
        return format!("IB1/{}/{}", slot.cage + 1, slot.sub + 1);
    }
    match ports.cages.get(slot.cage as usize).and_then(|(_, mode, _)| *mode) {
        Some(mode) if mode.links > 1 => format!("swp{}s{}", slot.cage + 1, slot.sub),
        _ => format!("swp{}", slot.cage + 1),
    }
}
