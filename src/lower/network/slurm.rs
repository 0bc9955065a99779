//! `topology.conf`: the fabric as Slurm's tree plugin and topograph read it.
//!
//! Slurm knows one leaf a node. Where rails put a host on several leaves, those leaves together are one: the hosts under them are as close.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Compilation;
use crate::topology::{End, Tier, analysis};

/// The file, if a fabric joins GPU hosts.
pub fn text(c: &Compilation) -> Option<String> {
    let mut out = String::from("# Slurm: TopologyPlugin=topology/tree. A switch here is a group of hosts on the same leaves.\n");
    let mut placed = vec![false; c.design.hosts.len()];
    let mut tops = Vec::new();
    for (id, fabric) in c.design.fabrics.iter().enumerate().filter(|(_, f)| f.is_training()) {
        let plan = &c.topology.fabrics[id];
        if plan.fault.is_some() {
            continue;
        }
        // The first spine of a leaf names its pod.
        let mut spines_of: BTreeMap<u32, u32> = BTreeMap::new();
        for link in &c.topology.links[plan.links.clone()] {
            if let (End::Switch(leaf, _), End::Switch(spine, _)) = (link.a, link.b)
                && c.topology.switches[leaf as usize].tier == Tier::Leaf
            {
                spines_of.entry(leaf).or_insert(spine);
            }
        }
        // Hosts by their first leaf: a host that lacks a rail is still of its unit. A unit is named by its number, other groups by that leaf.
        let mut groups: BTreeMap<u32, (String, Vec<usize>)> = BTreeMap::new();
        for group in analysis::groups(&c.topology, id) {
            let first = group.leaves[0].0;
            for host in group.hosts.into_iter().map(|h| h as usize) {
                if placed[host] || c.design.hosts[host].system.gpus().next().is_none() {
                    continue;
                }
                placed[host] = true;
                let name = || plan.unit(host).map_or_else(|| c.topology.switches[first as usize].name.clone(), |unit| format!("{}-unit-{unit}", fabric.name));
                groups.entry(first).or_insert_with(|| (name(), Vec::new())).1.push(host);
            }
        }
        groups.values_mut().for_each(|(_, hosts)| hosts.sort_unstable());
        if groups.is_empty() {
            continue;
        }
        // With three tiers, the groups of a pod meet below the cores.
        let mut pods: BTreeMap<Option<u32>, Vec<String>> = BTreeMap::new();
        for (leaf, (name, hosts)) in groups {
            let hosts: Vec<&str> = hosts.iter().map(|h| c.design.hosts[*h].name.as_str()).collect();
            let _ = writeln!(out, "SwitchName={name} Nodes={}", ranges(&hosts));
            let pod = spines_of.get(&leaf).copied().filter(|_| plan.count(Tier::Core) > 0);
            pods.entry(pod).or_default().push(name);
        }
        let several = pods.len() > 1;
        for (number, names) in pods.into_values().enumerate() {
            let list = ranges(&names.iter().map(String::as_str).collect::<Vec<_>>());
            if several {
                let _ = writeln!(out, "SwitchName={}-pod-{number} Switches={list}", fabric.name);
            }
            tops.push(if several { format!("{}-pod-{number}", fabric.name) } else { list });
        }
    }
    if tops.is_empty() {
        return None;
    }
    let _ = writeln!(out, "SwitchName=top Switches={}", ranges(&tops.iter().map(String::as_str).collect::<Vec<_>>()));
    Some(out)
}

/// A list of names as Slurm writes it: `train-0-h100-[0-3],train-1-h100-[0-3]`.
fn ranges(names: &[&str]) -> String {
    let split = |name: &str| -> (String, Option<u64>) {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (head, tail) = name.split_at(name.len() - digits);
        // A number with leading zeros is another name.
        match tail.parse() {
            Ok(n) if !(tail.len() > 1 && tail.starts_with('0')) => (head.to_owned(), Some(n)),
            _ => (name.to_owned(), None),
        }
    };
    let mut out: Vec<(String, Option<(u64, u64)>)> = Vec::new();
    for name in names {
        let (head, number) = split(name);
        match (out.last_mut(), number) {
            (Some((known, Some((_, last)))), Some(n)) if *known == head && n == *last + 1 => *last = n,
            _ => out.push((head, number.map(|n| (n, n)))),
        }
    }
    let text = |(head, range): (String, Option<(u64, u64)>)| match range {
        Some((a, b)) if a == b => format!("{head}{a}"),
        Some((a, b)) => format!("{head}[{a}-{b}]"),
        None => head,
    };
    out.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn names_in_a_row_are_a_range() {
        assert_eq!(ranges(&["a-0", "a-1", "a-2", "b-0", "b-2", "c", "d-01"]), "a-[0-2],b-0,b-2,c,d-01");
    }
}
