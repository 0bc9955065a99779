//! A system's device graph: sockets above their PCIe trees, GPUs below joined by NVLink.

use std::collections::{BTreeMap, HashMap};

use super::{Drawing, RAILS};
use crate::design::{DeviceKind, LinkMedium, System};
use crate::topology::DeviceGraph;

const WIDTH: f64 = 98.0;
const HEIGHT: f64 = 34.0;
const GAP: f64 = 8.0;
const ROW: f64 = 84.0;
const MARGIN: f64 = 20.0;

/// Where each device stands: left edge of its box, and its row.
#[derive(Default)]
struct Layout {
    places: BTreeMap<u16, (f64, usize)>,
    next: f64,
    deepest: usize,
}

struct Tree<'a> {
    system: &'a System,
    children: HashMap<u16, Vec<u16>>,
}

impl Tree<'_> {
    /// Children side by side, the parent over their middle.
    fn place(&self, layout: &mut Layout, device: u16, row: usize) -> f64 {
        layout.deepest = layout.deepest.max(row);
        let children = self.children.get(&device).cloned().unwrap_or_default();
        let x = if children.is_empty() {
            let x = layout.next;
            layout.next += WIDTH + GAP;
            x
        } else {
            let xs: Vec<f64> = children.iter().map(|c| self.place(layout, *c, row + 1)).collect();
            (xs[0] + xs[xs.len() - 1]) / 2.0
        };
        layout.places.insert(device, (x, row));
        x
    }
}

/// The picture of a system.
pub fn draw(system: &System, graph: &DeviceGraph) -> Drawing {
    // The PCIe tree: from each socket downwards, disks left out.
    let mut children: HashMap<u16, Vec<u16>> = HashMap::new();
    let mut seen: Vec<bool> = vec![false; system.devices.len()];
    let shown = |d: u16| matches!(system.devices[d as usize].kind, DeviceKind::Bridge | DeviceKind::Gpu(_) | DeviceKind::Nic(_));
    let roots: Vec<u16> = system.cpus().map(|(id, _)| id).collect();
    let mut queue: std::collections::VecDeque<u16> = roots.iter().copied().collect();
    roots.iter().for_each(|r| seen[*r as usize] = true);
    while let Some(device) = queue.pop_front() {
        for link in system.links.iter().filter(|l| matches!(l.medium, LinkMedium::Pcie | LinkMedium::NvlinkC2c | LinkMedium::Usb)) {
            let others = match (link.a.contains(&device), link.b.contains(&device)) {
                (true, _) => &link.b,
                (_, true) => &link.a,
                _ => continue,
            };
            for other in others {
                if (*other as usize) < seen.len() && shown(*other) && !std::mem::replace(&mut seen[*other as usize], true) {
                    children.entry(device).or_default().push(*other);
                    queue.push_back(*other);
                }
            }
        }
    }
    let tree = Tree { system, children };
    let mut layout = Layout { next: MARGIN, ..Layout::default() };
    for root in &roots {
        tree.place(&mut layout, *root, 0);
        layout.next += 2.0 * GAP;
    }
    let switches: Vec<u16> = (0..system.devices.len() as u16).filter(|d| matches!(system.devices[*d as usize].kind, DeviceKind::NvSwitch)).collect();
    let top = 70.0;
    let y = |row: usize| top + row as f64 * ROW;
    let total = layout.next - MARGIN - 2.0 * GAP - GAP;
    let bottom = layout.deepest + 1;
    for (i, switch) in switches.iter().enumerate() {
        let step = total / switches.len() as f64;
        layout.places.insert(*switch, (MARGIN + step * (i as f64 + 0.5) - WIDTH / 2.0, bottom));
    }
    let rows = if switches.is_empty() { bottom } else { bottom + 1 };
    let mut out = Drawing { width: (total + 2.0 * MARGIN).max(560.0), height: y(rows - 1) + HEIGHT + MARGIN, ..Drawing::default() };
    lines(&mut out, &tree, &layout, y);
    let nics: Vec<u16> = system.nics().filter(|(.., nic)| !nic.management).map(|(id, ..)| id).collect();
    for (device, (x, row)) in &layout.places {
        let entry = &system.devices[*device as usize];
        let second = match &entry.kind {
            DeviceKind::Cpu(cpu) => format!("NUMA {}", numa_range(graph.numa(*device).unwrap_or(0), cpu.numa_nodes)),
            DeviceKind::Gpu(gpu) => gpu.name.clone(),
            DeviceKind::Nic(nic) => nic.name.clone(),
            _ => String::new(),
        };
        let class = match &entry.kind {
            DeviceKind::Cpu(_) => "a",
            DeviceKind::Gpu(_) => "c",
            DeviceKind::Nic(_) if nics.contains(device) => "b",
            DeviceKind::NvSwitch => "d",
            _ => "",
        };
        out.node(*x, y(*row), WIDTH, HEIGHT, class, [&entry.label(), &second]);
    }
    out.text(MARGIN, 26.0, "title", &format!("system {}", system.name));
    let mut words = Vec::new();
    words.extend(system.gpu_model().map(|gpu| format!("{} × {}", system.gpus().count(), gpu.name)));
    if graph.nvlink_domain > 1 {
        words.push(format!("NVLink joins {} GPUs", graph.nvlink_domain));
    }
    words.push(crate::base::names::count_of(system.numa_nodes() as usize, "NUMA node"));
    out.text(MARGIN, 46.0, "soft", &words.join(" · "));
    out
}

fn numa_range(first: i64, count: i64) -> String {
    if count > 1 { format!("{first}–{}", first + count - 1) } else { first.to_string() }
}

fn lines(out: &mut Drawing, tree: &Tree, layout: &Layout, y: impl Fn(usize) -> f64) {
    let system = tree.system;
    let centre = |device: u16| layout.places.get(&device).map(|(x, row)| (x + WIDTH / 2.0, y(*row)));
    for link in system.links.iter().filter(|l| matches!(l.medium, LinkMedium::Nvlink | LinkMedium::Xgmi)) {
        for (n, a) in link.a.iter().enumerate() {
            for b in &link.b {
                let (Some(a_at), Some(b_at)) = (centre(*a), centre(*b)) else { continue };
                let (gpu, other) = if system.gpus().any(|(id, _)| id == *a) { (*a, b_at) } else { (*b, a_at) };
                let from = if gpu == *a { a_at } else { b_at };
                let rail = system.gpus().position(|(id, _)| id == gpu).unwrap_or(n) % RAILS;
                if (from.1 - other.1).abs() < 1.0 {
                    continue; // GPU to GPU: all of them, said in the heading
                }
                out.line((from.0, from.1 + HEIGHT), (other.0, other.1), &format!("faint r{rail}"));
            }
        }
    }
    for (parent, children) in &tree.children.iter().collect::<BTreeMap<_, _>>() {
        let Some(from) = centre(**parent) else { continue };
        for child in *children {
            if let Some(to) = centre(*child) {
                out.line((from.0, from.1 + HEIGHT), to, "");
            }
        }
    }
    // The link between sockets.
    let roots: Vec<u16> = system.cpus().map(|(id, _)| id).collect();
    for pair in roots.windows(2) {
        if let (Some(a), Some(b)) = (centre(pair[0]), centre(pair[1])) {
            out.line((a.0 + WIDTH / 2.0, a.1 + HEIGHT / 2.0), (b.0 - WIDTH / 2.0, b.1 + HEIGHT / 2.0), "");
        }
    }
}
