//! Graphviz: switches by tier, links between two as one edge with their number, hosts on the same leaves as one node.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Compilation;
use crate::topology::analysis::groups;
use crate::topology::{End, Tier};

/// The graph of all fabrics.
pub fn text(c: &Compilation) -> String {
    let mut out = String::from("graph fabrics {\n  rankdir = BT;\n  node [shape = box, fontname = \"sans-serif\"];\n");
    for (id, fabric) in c.design.fabrics.iter().enumerate() {
        let plan = &c.topology.fabrics[id];
        if plan.switches.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph \"cluster_{}\" {{\n    label = \"{}\";", fabric.name, fabric.name);
        for tier in [Tier::Leaf, Tier::Spine, Tier::Core] {
            let names: Vec<String> = c.topology.switches[plan.switches.clone()].iter().filter(|s| s.tier == tier).map(|s| format!("\"{}\"", s.name)).collect();
            if !names.is_empty() {
                let _ = writeln!(out, "    {{ rank = same; {}; }}", names.join("; "));
            }
        }
        for (number, group) in groups(&c.topology, id).into_iter().enumerate() {
            let hosts = group.hosts.len();
            let first = &c.design.hosts[group.hosts[0] as usize].name;
            let label = if hosts == 1 { first.clone() } else { format!("{hosts} hosts\\n{first} …") };
            let _ = writeln!(out, "    \"{}-hosts-{number}\" [shape = ellipse, label = \"{label}\"];", fabric.name);
            for (leaf, links) in &group.leaves {
                let leaf = &c.topology.switches[*leaf as usize].name;
                let _ = writeln!(out, "    \"{}-hosts-{number}\" -- \"{leaf}\" [label = \"{}\"];", fabric.name, *links as usize * hosts);
            }
        }
        let mut edges: BTreeMap<(u32, u32), (usize, u32)> = BTreeMap::new();
        for link in &c.topology.links[plan.links.clone()] {
            if let (End::Switch(a, _), End::Switch(b, _)) = (link.a, link.b) {
                edges.entry((a, b)).or_insert((0, link.rate)).0 += 1;
            }
        }
        for ((a, b), (n, rate)) in edges {
            let name = |s: u32| &c.topology.switches[s as usize].name;
            let _ = writeln!(out, "    \"{}\" -- \"{}\" [label = \"{n}×{}G\"];", name(a), name(b), crate::topology::ports::gbps(rate));
        }
        out += "  }\n";
    }
    out + "}\n"
}
