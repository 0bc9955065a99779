//! `nccl-topo-<system>.xml`: the device graph as NCCL reads it from `NCCL_TOPO_FILE`, where a virtual machine hides the real one.
//!
//! NCCL finds devices by bus address. An address that the design does not know is one of domain `ffff`, as clouds write virtual switches.

use std::fmt::Write as _;

use crate::design::{Architecture, DeviceKind, LinkMedium, LinkType, System};
use crate::topology::DeviceGraph;
use crate::topology::host::matrix::nic_ports;

/// PCI classes: bridge, 3D controller, Ethernet and InfiniBand controller; NVSwitches are bridges of another kind.
const BRIDGE: &str = "0x060400";
const GPU: &str = "0x030200";
const ETHERNET: &str = "0x020000";
const INFINIBAND: &str = "0x020700";
const NVSWITCH: &str = "0x068000";

/// The file of a system.
pub fn text(system: &System, graph: &DeviceGraph) -> String {
    let writer = Writer { system, graph };
    let unknown = system.gpus().count();
    let mut out = format!("<!-- {}: device graph of the design, by aic. -->\n", system.name);
    if unknown > 0 {
        out += "<!-- NCCL matches devices by busid. Those of domain ffff are not in the design: put the addresses of `lspci -D` in their place. -->\n";
    }
    out += "<system version=\"1\">\n";
    let mut node = 0;
    for (cpu, product) in system.cpus() {
        for own in 0..product.numa_nodes.max(1) {
            let arch = if product.architecture == Architecture::Arm64 { "arm64" } else { "x86_64" };
            let vendor = match (arch, writer.vendor(cpu)) {
                ("arm64", _) => "ARM",
                (_, Some("amd")) => "AuthenticAMD",
                (_, Some("intel")) => "GenuineIntel",
                _ => "",
            };
            let vendor = if vendor.is_empty() { String::new() } else { format!(" vendor=\"{vendor}\"") };
            let _ = writeln!(out, "  <cpu numaid=\"{node}\" affinity=\"{}\" arch=\"{arch}\"{vendor}>", mask(system, node));
            for device in writer.below(cpu, None, own) {
                writer.device(&mut out, device, cpu, 2);
            }
            out += "  </cpu>\n";
            node += 1;
        }
    }
    out + "</system>\n"
}

struct Writer<'a> {
    system: &'a System,
    graph: &'a DeviceGraph,
}

impl Writer<'_> {
    fn vendor(&self, cpu: u16) -> Option<&str> {
        match &self.system.devices[cpu as usize].kind {
            DeviceKind::Cpu(cpu) => cpu.vendor.as_deref(),
            _ => None,
        }
    }

    /// What hangs on a device by PCIe or C2C, without where one came from; at a CPU, on that of its NUMA nodes.
    fn below(&self, device: u16, from: Option<u16>, numa: i64) -> Vec<u16> {
        let cpu = matches!(self.system.devices[device as usize].kind, DeviceKind::Cpu(_));
        let mut out: Vec<u16> = Vec::new();
        for link in self.system.links.iter().filter(|l| matches!(l.medium, LinkMedium::Pcie | LinkMedium::NvlinkC2c)) {
            let others = match (link.a.contains(&device), link.b.contains(&device)) {
                (true, _) => &link.b,
                (_, true) => &link.a,
                _ => continue,
            };
            if !cpu || link.numa == numa {
                out.extend(others.iter().filter(|d| Some(**d) != from));
            }
        }
        out.retain(|d| matches!(self.system.devices[*d as usize].kind, DeviceKind::Bridge | DeviceKind::Gpu(_) | DeviceKind::Nic(_)));
        out
    }

    fn device(&self, out: &mut String, device: u16, from: u16, depth: usize) {
        let indent = "  ".repeat(depth);
        let entry = &self.system.devices[device as usize];
        let speed = self.speed(from, device);
        match &entry.kind {
            DeviceKind::Bridge => {
                let _ = writeln!(out, "{indent}<pci busid=\"{}\" class=\"{BRIDGE}\"{speed}>", self.address(device, 0));
                for next in self.below(device, Some(from), 0) {
                    self.device(out, next, device, depth + 1);
                }
                let _ = writeln!(out, "{indent}</pci>");
            }
            DeviceKind::Gpu(gpu) => {
                let index = self.system.gpus().position(|(id, _)| id == device).unwrap_or(0);
                let sm = gpu.compute_capability.as_deref().map_or(String::new(), |c| format!(" sm=\"{}\"", c.replace('.', "")));
                let _ = writeln!(out, "{indent}<pci busid=\"{}\" class=\"{GPU}\"{}{speed}>", self.address(device, 0), ids(&gpu.pci_id));
                let _ = writeln!(out, "{indent}  <gpu dev=\"{index}\"{sm} gdr=\"1\">");
                for (target, count) in self.nvlinks(device) {
                    let class = if matches!(self.system.devices[target as usize].kind, DeviceKind::NvSwitch) { NVSWITCH } else { GPU };
                    let _ = writeln!(out, "{indent}    <nvlink target=\"{}\" count=\"{count}\" tclass=\"{class}\"/>", self.address(target, 0));
                }
                let _ = writeln!(out, "{indent}  </gpu>\n{indent}</pci>");
            }
            DeviceKind::Nic(nic) if !nic.management => {
                let infiniband = nic.ports.first().is_some_and(|p| p.link_types.contains(&LinkType::Infiniband));
                let class = if infiniband { INFINIBAND } else { ETHERNET };
                let ports: Vec<_> = nic_ports(self.system).into_iter().enumerate().filter(|(_, p)| p.device == device).collect();
                let _ = writeln!(out, "{indent}<pci busid=\"{}\" class=\"{class}\"{}{speed}>\n{indent}  <nic>", self.address(device, 0), ids(&nic.pci_id));
                for (dev, port) in ports {
                    let megabits = nic.ports.get(port.port as usize).map_or(0.0, |p| crate::base::quantity::to_f64(p.rate.value) * 8e-6);
                    let named = if nic.devices.is_empty() { String::new() } else { format!(" name=\"{}\"", port.name) };
                    let _ = writeln!(out, "{indent}    <net{named} dev=\"{dev}\" speed=\"{megabits:.0}\" port=\"1\" gdr=\"1\"/>");
                }
                let _ = writeln!(out, "{indent}  </nic>\n{indent}</pci>");
            }
            _ => {}
        }
    }

    /// Speed and width of the link between two devices, in the kernel's words.
    fn speed(&self, a: u16, b: u16) -> String {
        let joins = |x: &[u16], y: &[u16]| x.contains(&a) && y.contains(&b);
        let Some(link) = self.system.links.iter().find(|l| l.medium == LinkMedium::Pcie && (joins(&l.a, &l.b) || joins(&l.b, &l.a))) else {
            return String::new();
        };
        let transfers = match link.generation {
            Some(1) => "2.5",
            Some(2) => "5.0",
            Some(3) => "8.0",
            Some(4) => "16.0",
            Some(5) => "32.0",
            Some(6) => "64.0",
            _ => return String::new(),
        };
        link.lanes.map_or(String::new(), |lanes| format!(" link_speed=\"{transfers} GT/s PCIe\" link_width=\"{lanes}\""))
    }

    fn nvlinks(&self, gpu: u16) -> Vec<(u16, i64)> {
        let mut out = Vec::new();
        for link in self.system.links.iter().filter(|l| l.medium == LinkMedium::Nvlink) {
            let others = match (link.a.contains(&gpu), link.b.contains(&gpu)) {
                (true, _) => &link.b,
                (_, true) => &link.a,
                _ => continue,
            };
            out.extend(others.iter().filter(|d| **d != gpu).map(|d| (*d, link.links)));
        }
        out
    }

    fn address(&self, device: u16, port: usize) -> String {
        match &self.system.devices[device as usize].kind {
            DeviceKind::Nic(nic) if nic.address.get(port).is_some() => nic.address[port].clone(),
            _ => format!("ffff:{:02x}:{:02x}.0", self.graph.numa(device).unwrap_or(255), device),
        }
    }
}

/// `15b3:1021` as attributes.
fn ids(pci: &[String]) -> String {
    match pci.first().and_then(|id| id.split_once(':')) {
        Some((vendor, device)) => format!(" vendor=\"0x{vendor}\" device=\"0x{device}\""),
        None => String::new(),
    }
}

/// The CPUs of a NUMA node as the kernel's mask: words of 32 bits, the highest first.
fn mask(system: &System, node: i64) -> String {
    let list = crate::topology::host::matrix::cpu_affinity(system, node);
    let total = system.threads().max(1) as usize;
    let mut words = vec![0_u32; total.div_ceil(32)];
    for range in list.split(',') {
        let Some((first, last)) = range.split_once('-').and_then(|(a, b)| Some((a.parse::<usize>().ok()?, b.parse::<usize>().ok()?))) else { continue };
        for cpu in first..=last {
            if let Some(word) = words.get_mut(cpu / 32) {
                *word |= 1 << (cpu % 32);
            }
        }
    }
    words.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(",")
}
