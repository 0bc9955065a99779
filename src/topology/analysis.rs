//! What a fabric survives: edge-disjoint paths, single points of failure, and what the loss of any one switch or cable takes away.
//!
//! Hosts with the same leaves are one node, parallel links one edge with a count, so that 100,000 GPUs are a graph of some thousand nodes.

use std::collections::{BTreeMap, HashMap};

use petgraph::algo::{articulation_points::articulation_points, dinics};
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};

use super::fabric::Tier;
use super::ports::bytes;
use super::{End, Topology};
use crate::base::Rational;
use crate::design::Design;

/// What is known of a fabric beyond its counts.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Edge-disjoint ways between the host with the fewest links and others of its own leaves and of the farthest: so many cables may fail.
    pub disjoint_paths: i64,
    /// The worst loss of one switch, by tier, leaves first.
    pub losses: Vec<Loss>,
    /// Hosts that hang on one cable.
    pub single_cable: i64,
    /// For each rail, hosts that a host reaches over it without leaving the rail, itself included: the fewest.
    pub rail_reach: Vec<i64>,
}

/// What the loss of one switch takes away.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Its tier.
    pub tier: Tier,
    /// The switch whose loss is worst.
    pub switch: usize,
    /// Switches of the tier whose loss cuts hosts off.
    pub single_points: i64,
    /// Hosts that lose the fabric.
    pub hosts_cut: i64,
    /// Their GPUs.
    pub gpus_cut: i64,
    /// Hosts that lose some of their ports.
    pub hosts_degraded: i64,
    /// Bandwidth of attached ports that is left, bytes a second.
    pub injection: Rational,
    /// Bandwidth across the narrowest halving that is left, bytes a second, if the fabric has one.
    pub bisection: Option<Rational>,
}

/// Hosts that are on the same leaves.
#[derive(Debug)]
pub struct Group {
    /// Leaf and links of each host to it, by the switches' numbers among those of all fabrics.
    pub leaves: Vec<(u32, i64)>,
    /// The hosts, in order.
    pub hosts: Vec<u32>,
}

/// The hosts of a fabric by their leaves, in order of their first hosts.
pub fn groups(topology: &Topology, fabric: usize) -> Vec<Group> {
    let mut of_host: BTreeMap<u32, Vec<(u32, i64)>> = BTreeMap::new();
    for link in &topology.links[topology.fabrics[fabric].links.clone()] {
        if let (End::Host(port), End::Switch(leaf, _)) = (link.a, link.b) {
            let leaves = of_host.entry(port.host).or_default();
            match leaves.iter_mut().find(|(l, _)| *l == leaf) {
                Some((_, n)) => *n += 1,
                None => leaves.push((leaf, 1)),
            }
        }
    }
    let mut known: HashMap<Vec<(u32, i64)>, usize> = HashMap::new();
    let mut out: Vec<Group> = Vec::new();
    for (host, mut leaves) in of_host {
        leaves.sort_unstable();
        let id = *known.entry(leaves).or_insert_with_key(|leaves| {
            out.push(Group { leaves: leaves.clone(), hosts: Vec::new() });
            out.len() - 1
        });
        out[id].hosts.push(host);
    }
    out
}

struct Graph<'a> {
    topology: &'a Topology,
    first: u32,
    groups: Vec<Group>,
    /// GPUs of each group.
    gpus: Vec<i64>,
    /// Links between switches: lower, upper, how many; by their place in the fabric.
    trunks: Vec<(u32, u32, i64)>,
    /// Megabits a second of each switch's links to what is attached.
    host_rate: Vec<u64>,
    host_links: Vec<Vec<u32>>,
}

/// Analyses a fabric that is planned.
pub fn analyse(design: &Design, topology: &Topology, fabric: usize) -> Analysis {
    let plan = &topology.fabrics[fabric];
    if plan.fault.is_some() || plan.switches.is_empty() {
        return Analysis::default();
    }
    let graph = Graph::new(design, topology, fabric);
    let single_cable = graph.groups.iter().filter(|g| g.leaves.iter().map(|(_, n)| n).sum::<i64>() == 1).map(|g| g.hosts.len() as i64).sum();
    Analysis { disjoint_paths: graph.disjoint_paths(), losses: graph.losses(design, fabric), single_cable, rail_reach: graph.rail_reach(design, fabric) }
}

impl<'a> Graph<'a> {
    fn new(design: &Design, topology: &'a Topology, fabric: usize) -> Self {
        let plan = &topology.fabrics[fabric];
        let first = plan.switches.start as u32;
        let count = plan.switches.len();
        let mut trunks: Vec<(u32, u32, i64)> = Vec::new();
        let mut host_rate = vec![0; count];
        for link in &topology.links[plan.links.clone()] {
            match (link.a, link.b) {
                // Links of a pair stand together.
                (End::Switch(a, _), End::Switch(b, _)) => match trunks.last_mut() {
                    Some((x, y, n)) if (*x, *y) == (a - first, b - first) => *n += 1,
                    _ => trunks.push((a - first, b - first, 1)),
                },
                // What is injected comes from management ports and power units, too.
                (_, End::Switch(leaf, _)) => host_rate[(leaf - first) as usize] += u64::from(link.rate),
                _ => {}
            }
        }
        let mut groups = groups(topology, fabric);
        let mut host_links = vec![Vec::new(); count];
        for (id, group) in groups.iter_mut().enumerate() {
            for (leaf, _) in &mut group.leaves {
                *leaf -= first;
                host_links[*leaf as usize].push(id as u32);
            }
        }
        let gpus = groups.iter().map(|g| g.hosts.iter().map(|h| design.hosts[*h as usize].system.gpus().count() as i64).sum()).collect();
        Self { topology, first, groups, gpus, trunks, host_rate, host_links }
    }

    /// Hosts of a group.
    fn hosts(&self, group: usize) -> i64 {
        self.groups[group].hosts.len() as i64
    }

    fn switches(&self) -> usize {
        self.host_rate.len()
    }

    /// Switches and groups of hosts. Uplinks, to the site or to another fabric which joins what hangs on it, end at one more node.
    fn undirected(&self, outside: bool) -> UnGraph<(), ()> {
        let mut graph = UnGraph::with_capacity(self.switches() + self.groups.len() + 1, self.trunks.len());
        (0..self.switches() + self.groups.len()).for_each(|_| {
            graph.add_node(());
        });
        for (a, b, _) in &self.trunks {
            graph.add_edge(NodeIndex::new(*a as usize), NodeIndex::new(*b as usize), ());
        }
        for (i, group) in self.groups.iter().enumerate() {
            for (leaf, _) in &group.leaves {
                graph.add_edge(NodeIndex::new(*leaf as usize), NodeIndex::new(self.switches() + i), ());
            }
        }
        if outside {
            let site = graph.add_node(());
            for leaf in (0..self.switches()).filter(|s| self.tier(*s) == Tier::Leaf) {
                graph.add_edge(NodeIndex::new(leaf), site, ());
            }
        }
        graph
    }

    fn tier(&self, switch: usize) -> Tier {
        self.topology.switches[self.first as usize + switch].tier
    }

    /// What each switch's loss takes; of each tier the worst is kept.
    fn losses(&self, design: &Design, fabric: usize) -> Vec<Loss> {
        let plan = &self.topology.fabrics[fabric];
        let graph = self.undirected(design.fabrics[fabric].uplink.is_some());
        let joints: Vec<usize> = articulation_points(&graph).into_iter().map(NodeIndex::index).collect();
        let mut trunk_rate = vec![0_u64; self.switches()];
        let mut stage: BTreeMap<(Tier, Tier), u64> = BTreeMap::new();
        let rate = self.topology.links[plan.links.clone()].iter().find(|l| l.a.switch().is_some()).map_or(0, |l| u64::from(l.rate));
        for (a, b, n) in &self.trunks {
            let width = rate * *n as u64;
            trunk_rate[*a as usize] += width;
            trunk_rate[*b as usize] += width;
            *stage.entry((self.tier(*a as usize), self.tier(*b as usize))).or_default() += width;
        }
        let total: u64 = self.host_rate.iter().sum();
        let mut out: Vec<Loss> = Vec::new();
        for (switch, own) in trunk_rate.iter().enumerate() {
            let tier = self.tier(switch);
            let mut cut = (0, 0);
            let mut degraded = 0;
            for id in self.host_links[switch].iter().map(|id| *id as usize) {
                if self.groups[id].leaves.len() == 1 {
                    cut = (cut.0 + self.hosts(id), cut.1 + self.gpus[id]);
                } else {
                    degraded += self.hosts(id);
                }
            }
            if tier != Tier::Leaf && joints.contains(&switch) {
                let (hosts, gpus) = self.severed(&graph, switch);
                cut = (cut.0 + hosts, cut.1 + gpus);
            }
            // Of a stage that the switch belongs to, its own links are gone.
            let stages = stage.iter().filter(|((a, b), _)| *a == tier || *b == tier);
            let narrowest = stages.map(|(pair, width)| width - if pair.0 == pair.1 { *width } else { (*own).min(*width) }).min();
            let injection = bytes(total - self.host_rate[switch]);
            let loss = Loss {
                tier,
                switch: self.first as usize + switch,
                single_points: i64::from(cut.0 > 0),
                hosts_cut: cut.0,
                gpus_cut: cut.1,
                hosts_degraded: degraded,
                injection,
                bisection: plan.bisection.map(|b| narrowest.map_or(b, |n| b.min(bytes(n))).min(injection)),
            };
            let worse =
                |a: &Loss, b: &Loss| (a.hosts_cut, b.bisection, b.injection, a.hosts_degraded) > (b.hosts_cut, a.bisection, a.injection, b.hosts_degraded);
            match out.iter_mut().find(|l| l.tier == tier) {
                Some(known) => {
                    let points = known.single_points + loss.single_points;
                    if worse(&loss, known) {
                        *known = loss;
                    }
                    known.single_points = points;
                }
                None => out.push(loss),
            }
        }
        out.sort_by_key(|l| l.tier);
        out
    }

    /// Hosts and GPUs outside the largest part that is left without a switch.
    fn severed(&self, graph: &UnGraph<(), ()>, without: usize) -> (i64, i64) {
        let mut seen = vec![false; graph.node_count()];
        seen[without] = true;
        let mut parts: Vec<(i64, i64)> = Vec::new();
        for start in 0..graph.node_count() {
            if seen[start] {
                continue;
            }
            let (mut part, mut stack) = ((0, 0), vec![start]);
            seen[start] = true;
            while let Some(node) = stack.pop() {
                if let Some(id) = node.checked_sub(self.switches()).filter(|id| *id < self.groups.len()) {
                    part = (part.0 + self.hosts(id), part.1 + self.gpus[id]);
                }
                stack.extend(graph.neighbors(NodeIndex::new(node)).map(NodeIndex::index).filter(|n| !std::mem::replace(&mut seen[*n], true)));
            }
            parts.push(part);
        }
        let all = parts.iter().fold((0, 0), |a, p| (a.0 + p.0, a.1 + p.1));
        let largest = parts.into_iter().max().unwrap_or_default();
        (all.0 - largest.0, all.1 - largest.1)
    }

    fn disjoint_paths(&self) -> i64 {
        let degree = |g: &Group| g.leaves.iter().map(|(_, n)| n).sum::<i64>();
        let Some((weakest, _)) = self.groups.iter().enumerate().min_by_key(|(_, g)| degree(g)) else { return 0 };
        let mut others = vec![if weakest == 0 { self.groups.len() - 1 } else { 0 }, self.groups.len() - 1];
        if self.hosts(weakest) > 1 {
            others.push(weakest);
        }
        others.retain(|o| *o != weakest || self.hosts(weakest) > 1);
        others.sort_unstable();
        others.dedup();
        others.into_iter().map(|other| self.flow(&self.groups[weakest], &self.groups[other])).min().unwrap_or(0)
    }

    /// Edge-disjoint ways between a host of one group and a host of another. What is two steps above their leaves suffices: no shorter detour
    /// leads over another pod.
    fn flow(&self, a: &Group, b: &Group) -> i64 {
        let mut graph: DiGraph<(), u64> = DiGraph::new();
        let mut nodes: HashMap<u32, NodeIndex> = HashMap::new();
        let (source, sink) = (graph.add_node(()), graph.add_node(()));
        let mut near: Vec<bool> = vec![false; self.switches()];
        a.leaves.iter().chain(&b.leaves).for_each(|(leaf, _)| near[*leaf as usize] = true);
        for _ in 0..2 {
            let reached: Vec<u32> = self.trunks.iter().filter(|(low, ..)| near[*low as usize]).map(|(_, up, _)| *up).collect();
            reached.into_iter().for_each(|up| near[up as usize] = true);
        }
        for (low, up, n) in self.trunks.iter().filter(|(low, up, _)| near[*low as usize] && near[*up as usize]) {
            let low = *nodes.entry(*low).or_insert_with(|| graph.add_node(()));
            let up = *nodes.entry(*up).or_insert_with(|| graph.add_node(()));
            graph.add_edge(low, up, *n as u64);
            graph.add_edge(up, low, *n as u64);
        }
        for (leaf, n) in &a.leaves {
            let leaf = *nodes.entry(*leaf).or_insert_with(|| graph.add_node(()));
            graph.add_edge(source, leaf, *n as u64);
        }
        for (leaf, n) in &b.leaves {
            let leaf = *nodes.entry(*leaf).or_insert_with(|| graph.add_node(()));
            graph.add_edge(leaf, sink, *n as u64);
        }
        dinics(&graph, source, sink).0 as i64
    }

    /// Hosts that share a leaf of each rail, or a tree of it.
    fn rail_reach(&self, design: &Design, fabric: usize) -> Vec<i64> {
        let f = &design.fabrics[fabric];
        let plan = &self.topology.fabrics[fabric];
        if !f.topology.rails() || plan.rails < 1 {
            return Vec::new();
        }
        let hosts: i64 = (0..self.groups.len()).map(|id| self.hosts(id)).sum();
        let joined = plan.count(Tier::Spine) > 0;
        let mut out = vec![hosts; plan.rails as usize];
        if !joined {
            // Leaves of a plane stand by unit, then by rail.
            for (leaf, groups) in self.host_links.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
                let on_leaf = groups.iter().map(|id| self.hosts(*id as usize)).sum();
                let rail = &mut out[leaf % plan.rails as usize];
                *rail = (*rail).min(on_leaf);
            }
        }
        out
    }
}

/// The bandwidth that crosses between two halves of the hosts, by maximum flow: slow, and independent of how the planner counts. Mb/s, one direction.
pub fn cut_by_flow(topology: &Topology, fabric: usize, upper_half: impl Fn(u32) -> bool) -> u64 {
    let plan = &topology.fabrics[fabric];
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let (source, sink) = (graph.add_node(()), graph.add_node(()));
    let switches: Vec<NodeIndex> = plan.switches.clone().map(|_| graph.add_node(())).collect();
    let node = |id: u32| switches[id as usize - plan.switches.start];
    for link in &topology.links[plan.links.clone()] {
        let rate = u64::from(link.rate);
        match (link.a, link.b) {
            (End::Host(port), End::Switch(leaf, _)) if upper_half(port.host) => {
                graph.add_edge(node(leaf), sink, rate);
            }
            (End::Host(_), End::Switch(leaf, _)) => {
                graph.add_edge(source, node(leaf), rate);
            }
            (End::Switch(a, _), End::Switch(b, _)) => {
                graph.add_edge(node(a), node(b), rate);
                graph.add_edge(node(b), node(a), rate);
            }
            _ => {}
        }
    }
    dinics(&graph, source, sink).0
}
