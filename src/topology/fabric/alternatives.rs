//! What would do where a fabric cannot be planned: the nearest designs that can, with their counts.

use std::sync::Arc;

use super::attach::{AttachedPorts, attached};
use super::size::{Sizes, sizes};
use super::{Switch, Tier};
use crate::base::{Dimension, Quantity, Rational};
use crate::design::{Design, Fabric, ShapeWord, SwitchModel};

/// Changes of a fabric that make it feasible, as they would be written, with the switches that they take.
pub fn alternatives(design: &Design, id: usize, switches: &[Switch], models: &[Arc<SwitchModel>]) -> Vec<String> {
    let Ok(attached) = attached(design, id, switches) else { return Vec::new() };
    let search = Search { fabric: &design.fabrics[id], attached, models };
    [search.third_tier(), search.ratio(), search.unit(), search.models()].into_iter().flatten().collect()
}

struct Search<'a> {
    fabric: &'a Fabric,
    attached: AttachedPorts,
    /// Switches that can be bought.
    models: &'a [Arc<SwitchModel>],
}

/// Ratios that people build, the mildest first.
const RATIOS: [(i128, i128); 6] = [(4, 3), (3, 2), (2, 1), (3, 1), (4, 1), (8, 1)];

impl Search<'_> {
    /// The fabric with planned counts, changed.
    fn with(&self, change: impl FnOnce(&mut Fabric)) -> Option<Sizes> {
        let mut fabric = self.fabric.clone();
        fabric.topology.forget_counts();
        change(&mut fabric);
        sizes(&fabric, &self.attached).ok()
    }

    fn counts(&self, sizes: &Sizes) -> String {
        let tiers = [Tier::Leaf, Tier::Spine, Tier::Core];
        let planes = self.fabric.planes;
        let parts: Vec<String> = tiers
            .into_iter()
            .filter(|tier| sizes.count(*tier) > 0)
            .map(|tier| {
                let n = sizes.count(tier) * planes;
                format!("{n} {}", tier.noun(n))
            })
            .collect();
        parts.join(", ")
    }

    fn third_tier(&self) -> Option<String> {
        let topology = &self.fabric.topology;
        if topology.word() == ShapeWord::LeafOnly || topology.word() == ShapeWord::RailOnly || topology.is_three_tier() {
            return None;
        }
        let spine = self.fabric.spine.clone()?;
        let core = self.fabric.core.clone().unwrap_or_else(|| spine.clone());
        let name = core.name.clone();
        let sizes = self.with(|f| {
            f.topology = f.topology.with_third_tier();
            f.core = Some(core);
        })?;
        let rails = match topology.unit().filter(|_| topology.rails()) {
            Some(unit) => format!(", unit = {unit}, rails = true"),
            None => String::new(),
        };
        Some(format!("`topology : fat_tree {{ tiers = 3{rails} }}` with `core = {name}` ({})", self.counts(&sizes)))
    }

    fn ratio(&self) -> Option<String> {
        RATIOS.iter().map(|(a, b)| Rational::new(*a, *b)).filter(|r| *r > self.fabric.oversubscription.value).find_map(|ratio| {
            let sizes = self.with(|f| f.oversubscription = Quantity::new(ratio, Dimension::Ratio))?;
            Some(format!("`oversubscription = {}:{}` ({})", ratio.numer(), ratio.denom(), self.counts(&sizes)))
        })
    }

    fn unit(&self) -> Option<String> {
        let unit = self.fabric.topology.unit().filter(|_| self.fabric.topology.rails())?;
        (unit * 3 / 4..unit).rev().chain([unit / 2, unit / 4]).filter(|n| *n > 0).find_map(|n| {
            let sizes = self.with(|f| f.topology.set_unit(n))?;
            Some(format!("`unit = {n}` ({})", self.counts(&sizes)))
        })
    }

    /// The smallest switch of the design or of the library that would do on both tiers.
    fn models(&self) -> Option<String> {
        let leaf = self.fabric.leaf.as_ref()?;
        let ports = |m: &SwitchModel| m.cages.iter().map(|c| c.count * c.links).sum::<i64>();
        let bandwidth = |m: &SwitchModel| {
            m.cages
                .iter()
                .filter_map(|c| Some(c.rate?.value * Rational::from_integer((c.count * c.links).into())))
                .fold(Rational::from_integer(0), |a, b| a + b)
        };
        let mut known: Vec<&Arc<SwitchModel>> =
            self.models.iter().filter(|m| m.link_type == leaf.link_type && m.name != leaf.name && bandwidth(m) > bandwidth(leaf)).collect();
        known.sort_by_key(|m| (bandwidth(m), ports(m)));
        let spine = self.fabric.spine.is_some();
        known.into_iter().find_map(|model| {
            let sizes = self.with(|f| {
                f.leaf = Some(model.clone());
                f.spine = f.spine.as_ref().map(|_| model.clone());
                f.core = f.core.as_ref().map(|_| model.clone());
            })?;
            let name = &model.name;
            let field = if spine { format!("`leaf = {name}, spine = {name}`") } else { format!("`leaf = {name}`") };
            Some(format!("{field} ({})", self.counts(&sizes)))
        })
    }
}
