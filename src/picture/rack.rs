//! Racks in elevation, unit 1 at the bottom; racks that hold the same in the same places are drawn once.

use super::Drawing;
use crate::Compilation;
use crate::base::names::count_of;
use crate::base::quantity::to_f64;
use crate::topology::racks::Load;

const UNIT: f64 = 16.0;
const WIDTH: f64 = 220.0;
const LEFT: f64 = 34.0;
const TOP: f64 = 46.0;
const FOOT: f64 = 40.0;

/// One thing in a rack: lowest unit, height, class, name and model.
type Item = (i64, i64, &'static str, String, String);

fn items(c: &Compilation) -> Vec<Vec<Item>> {
    let mut out: Vec<Vec<Item>> = vec![Vec::new(); c.design.racks.len()];
    for (id, host) in c.design.hosts.iter().enumerate() {
        if let (Some(rack), Some(unit)) = (host.rack, c.topology.host_units[id]) {
            let class = if host.system.gpus().next().is_some() { "c" } else { "" };
            out[rack].push((unit, host.height.unwrap_or(1).max(1), class, host.name.clone(), host.system.name.clone()));
        }
    }
    for switch in &c.topology.switches {
        if let (Some(rack), Some(unit)) = (switch.rack, switch.unit) {
            let class = match switch.tier {
                crate::topology::Tier::Leaf => "a",
                crate::topology::Tier::Spine => "b",
                crate::topology::Tier::Core => "d",
            };
            out[rack].push((unit, switch.model.height.unwrap_or(1).max(1), class, switch.name.clone(), switch.model.name.clone()));
        }
    }
    out
}

/// One rack.
pub fn draw(c: &Compilation, rack: usize) -> Drawing {
    one(c, rack, &items(c)[rack], &c.topology.loads(&c.design)[rack], &c.design.racks[rack].name)
}

/// Distinct racks that one picture shows before it stops.
const MOST: usize = 60;

/// All racks, those that are alike once.
pub fn draw_all(c: &Compilation) -> Drawing {
    let items = items(c);
    let loads = c.topology.loads(&c.design);
    // Alike: of one declaration, with the same models in the same places.
    let mut kinds: Vec<(usize, usize, usize)> = Vec::new();
    let shape = |rack: usize| -> Vec<(i64, i64, &str)> { items[rack].iter().map(|(unit, height, _, _, model)| (*unit, *height, model.as_str())).collect() };
    let mut known = std::collections::HashMap::new();
    for (id, rack) in c.design.racks.iter().enumerate() {
        let kind = *known.entry((rack.declaration.clone(), shape(id))).or_insert_with(|| {
            kinds.push((id, id, 0));
            kinds.len() - 1
        });
        kinds[kind].1 = id;
        kinds[kind].2 += 1;
    }
    let left = kinds.len().saturating_sub(MOST);
    let mut drawings: Vec<Drawing> = kinds
        .iter()
        .take(MOST)
        .map(|(first, last, n)| {
            let name = &c.design.racks[*first].name;
            let title = if *n > 1 { format!("{name} … {} ({n})", c.design.racks[*last].name) } else { name.clone() };
            one(c, *first, &items[*first], &loads[*first], &title)
        })
        .collect();
    if left > 0 {
        let mut more = Drawing { width: LEFT + WIDTH, height: 60.0, ..Drawing::default() };
        more.text(16.0, 30.0, "", &format!("… {} more", count_of(left, "kind")));
        drawings.push(more);
    }
    Drawing::flow(drawings, 6.0 * (LEFT + WIDTH + 16.0))
}

fn one(c: &Compilation, id: usize, items: &[Item], load: &Load, title: &str) -> Drawing {
    let rack = &c.design.racks[id];
    let height = rack.height.clamp(1, 100);
    let full = height as f64 * UNIT;
    let mut out = Drawing { width: LEFT + WIDTH + 16.0, height: TOP + full + FOOT + 12.0, ..Drawing::default() };
    out.text(LEFT, 22.0, "title", &super::fit(title, WIDTH + 8.0, 15.0));
    out.text(LEFT, 38.0, "soft", &format!("{} of {height}U used", load.units));
    out.rect(LEFT, TOP, WIDTH, full, "none");
    let y = |unit: i64| TOP + (height - unit) as f64 * UNIT;
    for unit in (1..=height).filter(|u| *u == 1 || u % 4 == 0) {
        out.text(LEFT - 6.0, y(unit) + 11.0, "soft end", &unit.to_string());
    }
    for (unit, tall, class, name, model) in items {
        if *unit < 1 || unit + tall - 1 > height {
            continue;
        }
        let top = y(unit + tall - 1);
        let tall = *tall as f64 * UNIT;
        if tall < 3.0 * UNIT {
            out.node(LEFT + 2.0, top + 1.0, WIDTH - 4.0, tall - 2.0, class, [&format!("{name} · {model}"), ""]);
        } else {
            out.node(LEFT + 2.0, top + 1.0, WIDTH - 4.0, tall - 2.0, class, [name, model]);
        }
    }
    let at_least = if load.power.at_least { "≥ " } else { "" };
    let budget = rack.power.map_or(String::new(), |p| format!(" of {p}"));
    let power = to_f64(load.power.value) / 1000.0;
    out.text(LEFT, TOP + full + 18.0, "", &format!("{at_least}{power:.1} kW{budget}"));
    let weight = to_f64(load.weight.value);
    let heavy = if weight > 0.0 { format!(" · {}{weight:.0} kg", if load.weight.at_least { "≥ " } else { "" }) } else { String::new() };
    out.text(LEFT, TOP + full + 34.0, "soft", &format!("{:.0} BTU/h{heavy}", load.heat()));
    out
}
