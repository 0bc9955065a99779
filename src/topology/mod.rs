//! Graphs derived from the design: the devices in a host, the switches and cables of fabrics, where things stand, and their addresses.

pub mod addresses;
pub mod analysis;
pub mod cables;
pub mod fabric;
pub mod host;
pub mod materials;
pub mod ports;
pub mod racks;
pub mod routing;
pub mod storage;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::design::{Design, PortRef, System};

pub use addresses::Address;
pub use fabric::{End, FabricPlan, Fault, LinkPlan, Medium, Switch, Tier};
pub use host::DeviceGraph;

/// Everything that follows from the design by planning.
#[derive(Debug, Default)]
pub struct Topology {
    /// A plan for each fabric, in design order.
    pub fabrics: Vec<FabricPlan>,
    /// All switches of all fabrics.
    pub switches: Vec<Switch>,
    /// All links, a row of cables.csv each.
    pub links: Vec<LinkPlan>,
    /// The lowest unit of each host.
    pub host_units: Vec<Option<i64>>,
    /// Links that no medium of their fabric reaches.
    pub too_long: Vec<cables::TooLong>,
    /// Racks in which things do not fit.
    pub rack_faults: Vec<racks::RackFault>,
    /// All addresses of hosts and switches.
    pub addresses: Vec<Address>,
    /// Networks whose range is too small: network, needed, available.
    pub address_faults: Vec<(usize, usize, usize)>,
    /// Numbers of the routed fabrics.
    pub routing: Vec<Option<routing::Routing>>,
    /// Ranges of routed fabrics that are too small.
    pub routing_faults: Vec<routing::Short>,
    /// What each fabric survives, once somebody asks.
    analyses: Vec<OnceLock<analysis::Analysis>>,
    materials: OnceLock<Vec<materials::Material>>,
    loads: OnceLock<Vec<racks::Load>>,
    graphs: HashMap<usize, DeviceGraph>,
    /// For each host the indices of its addresses.
    host_addresses: Vec<Vec<u32>>,
    /// For each fabric its attached ports, by host; those of one host in the order of `attach`.
    attached: Vec<Vec<PortRef>>,
}

impl Topology {
    /// Plans a design.
    pub fn plan(design: &Design) -> Self {
        let mut topology = Topology::default();
        for host in &design.hosts {
            let key = Arc::as_ptr(&host.system) as usize;
            topology.graphs.entry(key).or_insert_with(|| DeviceGraph::new(&host.system));
        }
        fabric::plan_all(design, &mut topology);
        topology.analyses = design.fabrics.iter().map(|_| OnceLock::new()).collect();
        racks::place(design, &mut topology);
        cables::measure(design, &mut topology);
        addresses::assign(design, &mut topology);
        for fabric in 0..design.fabrics.len() {
            let numbered = routing::number(design, &topology, fabric).transpose();
            topology.routing.push(numbered.unwrap_or_else(|short| {
                topology.routing_faults.push(short);
                None
            }));
        }
        topology.attached = design.fabrics.iter().map(|f| f.attach.clone()).collect();
        topology.attached.iter_mut().for_each(|ports| ports.sort_by_key(|p| p.host));
        topology.host_addresses = vec![Vec::new(); design.hosts.len()];
        for (id, address) in topology.addresses.iter().enumerate() {
            if let addresses::Owner::Host(host) = address.owner {
                topology.host_addresses[host].push(id as u32);
            }
        }
        topology
    }

    /// The device graph of a system of the design.
    pub fn graph(&self, system: &Arc<System>) -> Option<&DeviceGraph> {
        self.graphs.get(&(Arc::as_ptr(system) as usize))
    }

    /// The ports of a host on a fabric, in the order of `attach`.
    pub fn ports_of_host(&self, fabric: usize, host: usize) -> &[PortRef] {
        let Some(ports) = self.attached.get(fabric) else { return &[] };
        let first = ports.partition_point(|p| (p.host as usize) < host);
        let count = ports[first..].partition_point(|p| p.host as usize == host);
        &ports[first..first + count]
    }

    /// The addresses of a host, on all networks.
    pub fn addresses_of_host(&self, host: usize) -> impl Iterator<Item = &Address> {
        self.host_addresses.get(host).into_iter().flatten().map(|id| &self.addresses[*id as usize])
    }

    /// The address of a host on a network.
    pub fn address_on(&self, host: usize, network: usize) -> Option<&Address> {
        self.addresses_of_host(host).find(|a| a.network == network)
    }

    /// Addresses of hosts on the network that carries node addresses.
    pub fn node_addresses(&self, design: &Design, hosts: &[usize]) -> Vec<String> {
        let Some(network) = design.node_network() else { return Vec::new() };
        hosts.iter().filter_map(|h| self.address_on(*h, network)).map(|a| a.address.to_string()).collect()
    }

    /// The interfaces that carry node addresses, sorted: one, where it is the same on all hosts.
    pub fn node_interfaces(&self, design: &Design) -> Vec<String> {
        let network = design.node_network();
        let mut out: Vec<String> = self.addresses.iter().filter(|a| Some(a.network) == network).map(|a| a.interface.clone()).collect();
        out.sort();
        out.dedup();
        out
    }

    /// What a fabric survives.
    pub fn analysis(&self, design: &Design, fabric: usize) -> &analysis::Analysis {
        self.analyses[fabric].get_or_init(|| analysis::analyse(design, self, fabric))
    }

    /// What the equipment of each rack draws, weighs and blows.
    pub fn loads(&self, design: &Design) -> &[racks::Load] {
        self.loads.get_or_init(|| racks::loads(design, self))
    }

    /// What has to be bought.
    pub fn materials(&self, design: &Design) -> &[materials::Material] {
        self.materials.get_or_init(|| materials::list(design, self))
    }

    /// The unit of a host in a fabric, if that groups hosts into units.
    pub fn unit_of(&self, fabric: usize, host: usize) -> Option<usize> {
        self.fabrics.get(fabric)?.unit(host)
    }
}
