//! The devices in a host as a graph: NUMA nodes, the path between two devices, NVLink domains, GPU–NIC pairs.
//!
//! The classes are those of `nvidia-smi topo -m`.

pub mod matrix;

use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::visit::EdgeRef;
use std::collections::VecDeque;

use crate::design::{DeviceKind, FormFactor, LinkMedium, System};

/// How two devices reach each other, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// NVLink or xGMI, so many links.
    Nv(i64),
    /// One PCIe bridge.
    Pix,
    /// Several PCIe bridges.
    Pxb,
    /// Through the host bridge of one root port.
    Phb,
    /// Within one NUMA node.
    Node,
    /// Across NUMA nodes.
    Sys,
}

impl Path {
    /// As `nvidia-smi topo -m` prints it.
    pub fn text(self) -> String {
        match self {
            Path::Nv(n) => format!("NV{n}"),
            Path::Pix => "PIX".into(),
            Path::Pxb => "PXB".into(),
            Path::Phb => "PHB".into(),
            Path::Node => "NODE".into(),
            Path::Sys => "SYS".into(),
        }
    }
}

/// The graph of one system.
#[derive(Debug)]
pub struct DeviceGraph {
    graph: UnGraph<u16, (LinkMedium, i64)>,
    numa: Vec<Option<i64>>,
    cpus: Vec<bool>,
    gpus: Vec<u16>,
    switches: Vec<bool>,
    /// NVLinks of each GPU that leave the chassis for switches of the rack.
    backplane: i64,
    /// GPUs that reach each other over NVLink or xGMI, the largest set.
    pub nvlink_domain: usize,
}

/// A superchip without NVLink inside its chassis has all of it in the backplane of its rack.
fn backplane(system: &System) -> i64 {
    let inside = system.links.iter().any(|l| l.medium == LinkMedium::Nvlink);
    let links = |gpu: &crate::design::Gpu| gpu.nvlink.as_ref().filter(|_| gpu.form_factor == Some(FormFactor::Superchip)).map_or(0, |(links, _)| *links);
    if inside { 0 } else { system.gpu_model().map_or(0, |gpu| links(gpu)) }
}

impl DeviceGraph {
    /// Builds the graph of a system.
    pub fn new(system: &System) -> Self {
        let mut graph = UnGraph::new_undirected();
        let count = system.devices.len();
        for i in 0..count {
            graph.add_node(i as u16);
        }
        for link in &system.links {
            for a in &link.a {
                for b in &link.b {
                    if a != b && (*a as usize) < count && (*b as usize) < count {
                        graph.add_edge(NodeIndex::new(*a as usize), NodeIndex::new(*b as usize), (link.medium, link.links));
                    }
                }
            }
        }
        let cpus: Vec<bool> = system.devices.iter().map(|d| matches!(d.kind, DeviceKind::Cpu(_))).collect();
        let switches = system.devices.iter().map(|d| matches!(d.kind, DeviceKind::NvSwitch)).collect();
        let gpus = system.gpus().map(|(i, _)| i).collect();
        let mut made = Self { graph, numa: vec![None; count], cpus, gpus, switches, backplane: backplane(system), nvlink_domain: 0 };
        made.number_numa(system);
        made.nvlink_domain = made.largest_domain();
        made
    }

    /// What hangs below a CPU over PCIe or C2C belongs to the NUMA node that its link to the CPU names.
    fn number_numa(&mut self, system: &System) {
        let below = |medium: LinkMedium| matches!(medium, LinkMedium::Pcie | LinkMedium::NvlinkC2c | LinkMedium::Usb);
        let mut first = 0;
        for (cpu, product) in system.cpus() {
            self.numa[cpu as usize] = Some(first);
            let mut queue = VecDeque::new();
            for link in system.links.iter().filter(|l| below(l.medium)) {
                let ends = match (link.a.contains(&cpu), link.b.contains(&cpu)) {
                    (true, _) => &link.b,
                    (_, true) => &link.a,
                    _ => continue,
                };
                queue.extend(ends.iter().map(|device| (*device, first + link.numa.min(product.numa_nodes - 1))));
            }
            while let Some((device, node)) = queue.pop_front() {
                let known = device as usize >= self.numa.len() || self.cpus[device as usize] || self.numa[device as usize].is_some();
                if known {
                    continue;
                }
                self.numa[device as usize] = Some(node);
                for edge in self.graph.edges(NodeIndex::new(device as usize)) {
                    let next = if edge.source().index() == device as usize { edge.target() } else { edge.source() };
                    if below(edge.weight().0) {
                        queue.push_back((next.index() as u16, node));
                    }
                }
            }
            first += product.numa_nodes;
        }
    }

    /// The NUMA node of a device.
    pub fn numa(&self, device: u16) -> Option<i64> {
        self.numa.get(device as usize).copied().flatten()
    }

    /// GPUs on each NUMA node, by node.
    pub fn gpus_by_numa(&self) -> std::collections::BTreeMap<i64, usize> {
        let mut out = std::collections::BTreeMap::new();
        for gpu in &self.gpus {
            *out.entry(self.numa(*gpu).unwrap_or(0)).or_default() += 1;
        }
        out
    }

    fn direct_links(&self, a: u16, b: u16) -> i64 {
        let fast = |m: LinkMedium| matches!(m, LinkMedium::Nvlink | LinkMedium::Xgmi);
        let sum = |from: u16, to: u16| -> i64 {
            self.graph.edges_connecting(NodeIndex::new(from as usize), NodeIndex::new(to as usize)).filter(|e| fast(e.weight().0)).map(|e| e.weight().1).sum()
        };
        let through: i64 = (0..self.switches.len() as u16).filter(|s| self.switches[*s as usize]).map(|s| sum(a, s).min(sum(b, s))).sum();
        sum(a, b) + through + self.backplane
    }

    fn largest_domain(&self) -> usize {
        let mut seen = vec![false; self.gpus.len()];
        let mut largest = 0;
        for start in 0..self.gpus.len() {
            let (mut size, mut queue) = (0, VecDeque::from([start]));
            while let Some(i) = queue.pop_front() {
                if std::mem::replace(&mut seen[i], true) {
                    continue;
                }
                size += 1;
                queue.extend((0..self.gpus.len()).filter(|j| !seen[*j] && self.direct_links(self.gpus[i], self.gpus[*j]) > 0));
            }
            largest = largest.max(size);
        }
        largest
    }

    /// How two devices reach each other.
    pub fn path(&self, a: u16, b: u16) -> Path {
        let links = self.direct_links(a, b);
        if links > 0 && self.gpus.contains(&a) && self.gpus.contains(&b) {
            return Path::Nv(links);
        }
        // A GPU on NVLink-C2C has no PCIe path to anything: nvidia-smi prints SYS even for the NIC on the same socket.
        if !self.on_pcie(a) || !self.on_pcie(b) {
            return Path::Sys;
        }
        match self.bridges_between(a, b) {
            Some(0 | 1) => Path::Pix,
            Some(_) => Path::Pxb,
            None if self.numa(a).is_some() && self.numa(a) == self.numa(b) => {
                if self.root(a) == self.root(b) {
                    Path::Phb
                } else {
                    Path::Node
                }
            }
            None => Path::Sys,
        }
    }

    /// Bridges on the shortest PCIe path without a CPU.
    fn bridges_between(&self, a: u16, b: u16) -> Option<usize> {
        let mut distance = vec![usize::MAX; self.cpus.len()];
        distance[a as usize] = 0;
        let mut queue = VecDeque::from([a]);
        while let Some(device) = queue.pop_front() {
            if device == b {
                return Some(distance[b as usize] - 1);
            }
            for next in self.pcie_neighbours(device) {
                if !self.cpus[next as usize] && distance[next as usize] == usize::MAX {
                    distance[next as usize] = distance[device as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn on_pcie(&self, device: u16) -> bool {
        self.graph.edges(NodeIndex::new(device as usize)).any(|e| e.weight().0 == LinkMedium::Pcie)
    }

    fn pcie_neighbours(&self, device: u16) -> Vec<u16> {
        self.graph
            .edges(NodeIndex::new(device as usize))
            .filter(|e| e.weight().0 == LinkMedium::Pcie)
            .map(|e| if e.source().index() == device as usize { e.target() } else { e.source() }.index() as u16)
            .collect()
    }

    /// The device under the CPU through which `device` hangs.
    pub fn root(&self, device: u16) -> u16 {
        let mut seen = vec![false; self.cpus.len()];
        let mut queue = VecDeque::from([device]);
        while let Some(d) = queue.pop_front() {
            if std::mem::replace(&mut seen[d as usize], true) {
                continue;
            }
            let next = self.pcie_neighbours(d);
            if next.iter().any(|n| self.cpus[*n as usize]) {
                return d;
            }
            queue.extend(next.into_iter().filter(|n| !self.cpus[*n as usize]));
        }
        device
    }
}
