//! Hardware as the design knows it: systems with their devices and links, switch and cable models.

use std::sync::Arc;

use serde::Serialize;

use super::{Architecture, CableMedium, DiskInterface, FormFactor, LinkMedium, LinkType, SwitchOs, SwitchedLink, TransceiverTop};
use crate::base::{Quantity, Span};

/// A server: what its data sheet says, its devices and what joins them.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct System {
    pub name: String,
    pub vendor: Option<String>,
    pub height: Option<i64>,
    pub power: Option<Quantity>,
    pub weight: Option<Quantity>,
    pub airflow: Option<Quantity>,
    pub psu: Option<Psu>,
    pub part: Option<String>,
    pub memory: Option<Quantity>,
    pub usable_memory: Option<Quantity>,
    pub instance_type: Option<String>,
    pub vcpus: Option<i64>,
    pub devices: Vec<Device>,
    pub links: Vec<Link>,
    pub cages: Vec<Cage>,
    /// Whether it is a rack whose switches join the GPUs of its hosts.
    pub rack_nvlink: bool,
    #[serde(skip)]
    pub span: Span,
}

/// Power supplies of a system.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Psu {
    pub count: i64,
    pub redundant: i64,
    pub rating: Option<Quantity>,
}

/// A device of a system.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Device {
    pub name: String,
    pub index: Option<u16>,
    pub kind: DeviceKind,
}

impl Device {
    /// `rail[3]`, `bmc`.
    pub fn label(&self) -> String {
        self.index.map_or(self.name.clone(), |i| format!("{}[{i}]", self.name))
    }

    /// `rail3`, `bmc`: as ports are called where the chassis has no name for them.
    pub fn flat(&self) -> String {
        self.index.map_or(self.name.clone(), |i| format!("{}{i}", self.name))
    }
}

/// What a device is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum DeviceKind {
    Cpu(Arc<Cpu>),
    Gpu(Arc<Gpu>),
    Nic(Arc<Nic>),
    Disk(Arc<Disk>),
    Bridge,
    NvSwitch,
    Cage,
}

/// A CPU; one a socket.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Cpu {
    pub name: String,
    pub vendor: Option<String>,
    pub cores: i64,
    pub threads_per_core: i64,
    pub numa_nodes: i64,
    pub architecture: Architecture,
}

/// A GPU.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Gpu {
    pub name: String,
    pub vendor: Option<String>,
    pub form_factor: Option<FormFactor>,
    pub memory: Quantity,
    pub memory_bandwidth: Quantity,
    /// One link, one direction, and how many.
    pub nvlink: Option<(i64, Quantity)>,
    pub compute_capability: Option<String>,
    pub product_label: Vec<String>,
    pub mig: Vec<MigProfile>,
    pub mig_driver: Option<String>,
    pub pci_id: Vec<String>,
}

/// A MIG profile.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct MigProfile {
    pub name: String,
    pub compute: i64,
    pub memory: i64,
    pub starts: Vec<i64>,
    pub max: i64,
}

/// A NIC.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Nic {
    pub name: String,
    pub vendor: Option<String>,
    pub driver: Option<String>,
    pub part_number: Option<i64>,
    pub management: bool,
    pub devices: Vec<String>,
    pub interfaces: Vec<String>,
    pub address: Vec<String>,
    pub pci_id: Vec<String>,
    pub ports: Vec<NicPort>,
}

/// A port of a NIC.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct NicPort {
    pub rate: Quantity,
    pub link_types: Vec<LinkType>,
    pub connectors: Vec<String>,
    pub breakout: Vec<(i64, Quantity)>,
}

impl NicPort {
    /// Whether it can be plugged into a switch of that kind; RoCE runs on Ethernet switches.
    pub fn speaks(&self, switch: SwitchedLink) -> bool {
        self.link_types.iter().any(|link| match link {
            LinkType::Infiniband => switch == SwitchedLink::Infiniband,
            LinkType::Ethernet => switch == SwitchedLink::Ethernet,
            LinkType::Efa => false,
        })
    }
}

/// A disk.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Disk {
    pub name: String,
    pub interface: DiskInterface,
    pub capacity: Quantity,
    pub read: Option<Quantity>,
    pub write: Option<Quantity>,
}

/// A link: each end of `a` is joined with each of `b`.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Link {
    pub a: Vec<u16>,
    pub b: Vec<u16>,
    pub medium: LinkMedium,
    pub generation: Option<i64>,
    pub lanes: Option<i64>,
    pub links: i64,
    pub numa: i64,
    #[serde(skip)]
    pub span: Span,
}

/// A cage of the chassis.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Cage {
    pub name: String,
    pub connector: Option<String>,
    pub links: i64,
    /// Devices behind it, in the order of its ports.
    pub nics: Vec<u16>,
}

/// A switch as it is bought.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct SwitchModel {
    pub name: String,
    pub vendor: Option<String>,
    pub link_type: SwitchedLink,
    pub managed: bool,
    pub height: Option<i64>,
    pub power: Option<Quantity>,
    pub power_typical: Option<Quantity>,
    pub weight: Option<Quantity>,
    pub cages: Vec<CageGroup>,
    pub management_port: bool,
    pub part: Option<String>,
    pub os: Option<SwitchOs>,
    pub chips: Vec<i64>,
    #[serde(skip)]
    pub span: Span,
}

/// Equal cages of a switch.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct CageGroup {
    pub name: Option<String>,
    pub count: i64,
    pub connector: Option<String>,
    pub links: i64,
    pub rate: Option<Quantity>,
    pub breakout: Vec<(i64, Quantity)>,
}

/// A cable as it is bought.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct CableModel {
    pub name: String,
    pub medium: CableMedium,
    pub connector: String,
    pub links: i64,
    pub rate: Quantity,
    pub reach: Option<Quantity>,
    pub lengths: Vec<Quantity>,
    pub part: Option<String>,
}

/// A transceiver as it is bought.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct TransceiverModel {
    pub name: String,
    pub cage: String,
    pub top: Option<TransceiverTop>,
    pub links: i64,
    pub rate: Quantity,
    pub reach: Option<Quantity>,
    pub part: Option<String>,
}

impl SwitchModel {
    /// What runs on it: as the product says, else Cumulus on NVIDIA's Ethernet switches and SONiC on others'.
    pub fn operating_system(&self) -> SwitchOs {
        match (self.os, self.vendor.as_deref()) {
            (Some(os), _) => os,
            (None, Some("nvidia") | None) => SwitchOs::Cumulus,
            (None, Some(_)) => SwitchOs::Sonic,
        }
    }
}

impl System {
    /// GPUs of the system.
    pub fn gpus(&self) -> impl Iterator<Item = (u16, &Arc<Gpu>)> {
        self.devices.iter().enumerate().filter_map(|(i, d)| if let DeviceKind::Gpu(gpu) = &d.kind { Some((i as u16, gpu)) } else { None })
    }

    /// NICs of the system.
    pub fn nics(&self) -> impl Iterator<Item = (u16, &Device, &Arc<Nic>)> {
        self.devices.iter().enumerate().filter_map(|(i, d)| if let DeviceKind::Nic(nic) = &d.kind { Some((i as u16, d, nic)) } else { None })
    }

    /// CPUs of the system.
    pub fn cpus(&self) -> impl Iterator<Item = (u16, &Arc<Cpu>)> {
        self.devices.iter().enumerate().filter_map(|(i, d)| if let DeviceKind::Cpu(cpu) = &d.kind { Some((i as u16, cpu)) } else { None })
    }

    /// Disks of that name.
    pub fn disks(&self, name: &str) -> impl Iterator<Item = &Arc<Disk>> {
        self.devices.iter().filter(move |d| d.name == name).filter_map(|d| if let DeviceKind::Disk(disk) = &d.kind { Some(disk) } else { None })
    }

    /// The first GPU's model.
    pub fn gpu_model(&self) -> Option<&Arc<Gpu>> {
        self.gpus().next().map(|(_, gpu)| gpu)
    }

    /// Threads that the kernel sees.
    pub fn threads(&self) -> i64 {
        self.vcpus.unwrap_or_else(|| self.cpus().map(|(_, cpu)| cpu.cores * cpu.threads_per_core).sum())
    }

    /// Threads of a core.
    pub fn threads_per_core(&self) -> i64 {
        self.cpus().next().map_or(1, |(_, cpu)| cpu.threads_per_core.max(1))
    }

    /// NUMA nodes.
    pub fn numa_nodes(&self) -> i64 {
        self.cpus().map(|(_, cpu)| cpu.numa_nodes).sum::<i64>().max(1)
    }

    /// `amd64` or `arm64`.
    pub fn architecture(&self) -> Architecture {
        self.cpus().next().map_or(Architecture::Amd64, |(_, cpu)| cpu.architecture)
    }
}
