//! The matrix that `nvidia-smi topo -m` prints, derived from a system's links.

use super::{DeviceGraph, Path};
use crate::design::{DeviceKind, LinkMedium, System};

/// A column of the matrix that is not a GPU: one RDMA device.
#[derive(Clone, Debug)]
pub struct NicPort {
    /// Its device.
    pub device: u16,
    /// Its port of the device.
    pub port: u8,
    /// The name that the driver gives it, else its place in the design.
    pub name: String,
}

/// Drivers that make RDMA devices; the cards of others are no columns.
const RDMA_DRIVERS: [&str; 4] = ["mlx5_core", "bnxt_en", "ionic", "efa"];

/// The RDMA devices of a system in the order in which the kernel numbers them: by name where the system names them, else by device and port.
pub fn nic_ports(system: &System) -> Vec<NicPort> {
    let mut out = Vec::new();
    for (device, entry, nic) in system.nics() {
        let rdma = nic.driver.as_deref().is_some_and(|d| RDMA_DRIVERS.contains(&d));
        if nic.management || !rdma && nic.devices.is_empty() {
            continue;
        }
        for port in 0..nic.ports.len() as u8 {
            let own = if nic.ports.len() > 1 { format!("{}.port[{port}]", entry.label()) } else { entry.label() };
            out.push(NicPort { device, port, name: nic.devices.get(port as usize).cloned().unwrap_or(own) });
        }
    }
    if out.iter().all(|nic| number(&nic.name).is_some()) {
        out.sort_by_key(|nic| number(&nic.name));
    }
    out
}

/// The number at the end of `mlx5_10`.
fn number(name: &str) -> Option<u32> {
    name.rsplit('_').next().filter(|n| *n != name)?.parse().ok()
}

/// The CPUs of a NUMA node as the kernel lists them: its cores, then their second threads.
pub fn cpu_affinity(system: &System, node: i64) -> String {
    let mut first = 0;
    let total: i64 = system.cpus().map(|(_, cpu)| cpu.cores).sum();
    let mut nodes = 0;
    for (_, cpu) in system.cpus() {
        let (count, cores) = (cpu.numa_nodes.max(1), cpu.cores);
        if node < nodes + count {
            let each = cores / count;
            let start = first + (node - nodes) * each;
            let range = |thread: i64| format!("{}-{}", start + thread * total, start + each - 1 + thread * total);
            return (0..cpu.threads_per_core.max(1)).map(range).collect::<Vec<_>>().join(",");
        }
        nodes += count;
        first += cores;
    }
    String::new()
}

/// The matrix in the format of `nvidia-smi topo -m`: columns apart by tabs, the legend below.
pub fn text(system: &System, graph: &DeviceGraph) -> String {
    let gpus: Vec<u16> = system.gpus().map(|(id, _)| id).collect();
    let nics = nic_ports(system);
    let names: Vec<String> = (0..gpus.len()).map(|i| format!("GPU{i}")).chain((0..nics.len()).map(|i| format!("NIC{i}"))).collect();
    let devices: Vec<u16> = gpus.iter().copied().chain(nics.iter().map(|nic| nic.device)).collect();
    let mut out = format!("\t{}\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n", names.join("\t"));
    for (row, a) in devices.iter().enumerate() {
        out += &names[row];
        for (column, b) in devices.iter().enumerate() {
            out.push('\t');
            // Two ports of one card are behind one bridge.
            let path = if a == b { Path::Pix } else { graph.path(*a, *b) };
            out += &if row == column { " X ".to_owned() } else { path.text() };
        }
        match graph.numa(*a).filter(|_| row < gpus.len()) {
            Some(node) => out += &format!("\t{}\t{node}\t\tN/A", cpu_affinity(system, node)),
            None => out += "\t\t\t\t",
        }
        out.push('\n');
    }
    out += LEGEND;
    if !nics.is_empty() {
        out += "\nNIC Legend:\n\n";
        for (i, nic) in nics.iter().enumerate() {
            out += &format!("  NIC{i}: {}\n", nic.name);
        }
    }
    out
}

/// Word for word what the tool prints, so that a `diff` with a real host shows paths alone.
const LEGEND: &str = "
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
";

/// PCIe uplinks that carry less than the NICs below them: the bridge, the NIC ports, what they could move and what the uplink carries, in Gb/s.
pub fn narrow_uplinks(system: &System, graph: &DeviceGraph, wanted: impl Fn(u16) -> bool) -> Vec<Narrow> {
    let mut out: Vec<Narrow> = Vec::new();
    for link in &system.links {
        if link.medium != LinkMedium::Pcie {
            continue;
        }
        let Some(capacity) = link.generation.zip(link.lanes).and_then(|(generation, lanes)| pcie_gbps(generation, lanes)) else { continue };
        let cpu = |ends: &[u16]| ends.iter().any(|d| matches!(system.devices[*d as usize].kind, DeviceKind::Cpu(_)));
        let below = match (cpu(&link.a), cpu(&link.b)) {
            (true, false) => &link.b,
            (false, true) => &link.a,
            _ => continue,
        };
        for bridge in below.iter().filter(|d| matches!(system.devices[**d as usize].kind, DeviceKind::Bridge)) {
            let nics: Vec<u16> = system.nics().map(|(id, ..)| id).filter(|id| wanted(*id) && graph.root(*id) == *bridge).collect();
            let demand: f64 = nics
                .iter()
                .filter_map(|id| if let DeviceKind::Nic(nic) = &system.devices[*id as usize].kind { Some(nic) } else { None })
                .flat_map(|nic| &nic.ports)
                .map(|port| crate::base::quantity::to_f64(port.rate.value) * 8e-9)
                .sum();
            if nics.len() > 1 && demand > capacity {
                out.push(Narrow { nics, demand, capacity, generation: link.generation.unwrap_or(0), lanes: link.lanes.unwrap_or(0), span: link.span });
            }
        }
    }
    out
}

/// A PCIe uplink that several NICs share and overfill.
#[derive(Clone, Debug)]
pub struct Narrow {
    /// The NICs below it.
    pub nics: Vec<u16>,
    /// What their ports could move, Gb/s.
    pub demand: f64,
    /// What the uplink carries, Gb/s.
    pub capacity: f64,
    /// PCIe generation.
    pub generation: i64,
    /// Lanes.
    pub lanes: i64,
    /// Where the link is declared.
    pub span: crate::base::Span,
}

/// Gigabits a second of a PCIe link, one direction: transfers a second of a lane times its coding (PCI Express base specification: 8b/10b up to
/// generation 2, 128b/130b up to 5, flits from 6).
pub fn pcie_gbps(generation: i64, lanes: i64) -> Option<f64> {
    let lane = match generation {
        1 => 2.5 * 0.8,
        2 => 5.0 * 0.8,
        3 => 8.0 * 128.0 / 130.0,
        4 => 16.0 * 128.0 / 130.0,
        5 => 32.0 * 128.0 / 130.0,
        6 => 64.0 * 242.0 / 256.0,
        _ => return None,
    };
    Some(lane * lanes as f64)
}
