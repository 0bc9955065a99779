//! Addresses: hosts in order of declaration after what is reserved; on a management network switches follow.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::{End, Topology};
use crate::design::{Design, DeviceKind, FabricWord, Network, PortRef, Redundancy, SwitchedLink};

/// An address of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What has it.
    pub owner: Owner,
    /// Its interface.
    pub interface: String,
    /// The network.
    pub network: usize,
    /// The address.
    pub address: IpAddr,
    /// Prefix length of the interface.
    pub prefix: u8,
    /// Whether it is the one of the pods there: the port itself has none.
    pub of_pods: bool,
}

/// What has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A host.
    Host(usize),
    /// A switch.
    Switch(usize),
    /// A PDU of a rack.
    Pdu(usize, u8),
}

/// Assigns all addresses.
pub fn assign(design: &Design, topology: &mut Topology) {
    let mut out = Vec::new();
    let mut faults = Vec::new();
    let pools = design.pools_of_hosts();
    // The virtual address of the API servers is nobody's own.
    let endpoint: Option<IpAddr> = design.control_plane.as_ref().and_then(|c| c.endpoint.as_ref()?.parse().ok());
    for (id, network) in design.networks.iter().enumerate().filter(|(_, n)| n.sound) {
        let owners = match network.rail {
            Some(rail) => rail_owners(design, network, rail, &pools),
            None => host_owners(design, topology, network),
        };
        let mut numbers = free_addresses(network).filter(|ip| Some(*ip) != endpoint);
        let total = owners.len();
        for (given, (owner, interface)) in owners.into_iter().enumerate() {
            // A /31 link: the leaf has the even address, the host the odd one.
            let number = if network.is_pairs() { nth(&network.cidr, given as u128 * 2 + 1) } else { numbers.next() };
            let Some(address) = number else {
                faults.push((id, total, given));
                break;
            };
            let prefix = network.host_prefix.map_or(network.cidr.prefix_len(), |p| p.clamp(0, 128) as u8);
            let of_pods = matches!(owner, Owner::Host(host) if pods_own(design, network.fabric, pools[host]));
            out.push(Address { owner, interface, network: id, address, prefix, of_pods });
        }
    }
    topology.addresses = out;
    topology.address_faults = faults;
}

/// Addresses that may be given, in order: without network, broadcast, gateway and what is reserved.
pub fn free_addresses(network: &Network) -> impl Iterator<Item = IpAddr> + '_ {
    let start = network.reserved.map_or(1, |(_, last)| offset(network, last).map_or(1, |o| o + 1)).max(1);
    let last = network.cidr.broadcast();
    (start..).map_while(|n| nth(&network.cidr, n)).filter(move |ip| *ip != last && Some(*ip) != network.gateway)
}

fn offset(network: &Network, ip: IpAddr) -> Option<u128> {
    match (network.cidr.network(), ip) {
        (IpAddr::V4(a), IpAddr::V4(b)) => u32::from(b).checked_sub(u32::from(a)).map(u128::from),
        (IpAddr::V6(a), IpAddr::V6(b)) => u128::from(b).checked_sub(u128::from(a)),
        _ => None,
    }
}

/// How many hosts a network can number.
pub fn capacity(network: &Network) -> u128 {
    let bits = u32::from(network.cidr.max_prefix_len() - network.cidr.prefix_len());
    let all = 1_u128.checked_shl(bits).unwrap_or(u128::MAX);
    let kept = network.reserved.map_or(0, |(a, b)| offset(network, b).zip(offset(network, a)).map_or(0, |(b, a)| b - a + 1));
    all.saturating_sub(2).saturating_sub(kept)
}

/// Hosts on a network without rails, each with one interface; on management networks switches and PDUs follow.
fn host_owners(design: &Design, topology: &Topology, network: &Network) -> Vec<(Owner, String)> {
    let fabric = &design.fabrics[network.fabric];
    let mut ports: BTreeMap<u32, Vec<PortRef>> = BTreeMap::new();
    let mut others: Vec<(Owner, String)> = Vec::new();
    if fabric.management {
        for link in topology.links.iter().filter(|l| l.fabric as usize == network.fabric) {
            match link.a {
                End::Host(port) => ports.entry(port.host).or_default().push(port),
                End::SwitchManagement(id) => {
                    others.push((Owner::Switch(id as usize), management_interface(topology.switches[id as usize].model.link_type).to_owned()))
                }
                End::Pdu(rack, pdu) => others.push((Owner::Pdu(rack as usize, pdu), "mgmt".into())),
                End::Switch(..) => {}
            }
        }
    } else {
        fabric.attach.iter().for_each(|p| ports.entry(p.host).or_default().push(*p));
    }
    // A /31 joins one port with its leaf: every port has one.
    if network.is_pairs() {
        let named = |port: PortRef| (Owner::Host(port.host as usize), port_interface(design, fabric, port, network.plane.unwrap_or(0) as u8));
        return fabric.attach.iter().map(|port| named(*port)).collect();
    }
    let mut out: Vec<(Owner, String)> = ports
        .into_iter()
        .map(|(host, ports)| {
            let base = if ports.len() > 1 && fabric.word() == FabricWord::Ethernet && fabric.redundancy() != Redundancy::None {
                "bond0".to_owned()
            } else {
                interface(design, ports[0])
            };
            (Owner::Host(host as usize), network.vlan.map_or(base.clone(), |vlan| format!("{base}.{vlan}")))
        })
        .collect();
    out.extend(others);
    out
}

/// Whether the pods of a pool take the addresses of its hosts' ports on a fabric.
fn pods_own(design: &Design, fabric: usize, pool: Option<usize>) -> bool {
    let rdma = pool.and_then(|p| design.pools[p].rdma.as_ref()).filter(|r| r.fabrics.contains(&fabric));
    rdma.is_some_and(|r| r.mode.by_network_operator())
}

/// NICs on a rail's network. Where pods own the functions of a port, it has no address itself, and that of a /31 is the pod's.
fn rail_owners(design: &Design, network: &Network, rail: i64, pools: &[Option<usize>]) -> Vec<(Owner, String)> {
    let fabric = &design.fabrics[network.fabric];
    let mut ordinals: HashMap<u32, i64> = HashMap::new();
    let first_rail = first_rail(design, network);
    let mut out = Vec::new();
    for port in &fabric.attach {
        let ordinal = ordinals.entry(port.host).or_default();
        let own = *ordinal + first_rail;
        *ordinal += 1;
        if own != rail {
            continue;
        }
        if !network.is_pairs() && pods_own(design, network.fabric, pools[port.host as usize]) {
            continue;
        }
        let name = port_interface(design, fabric, *port, network.plane.unwrap_or(0) as u8);
        out.push((Owner::Host(port.host as usize), network.vlan.map_or(name.clone(), |vlan| format!("{name}.{vlan}"))));
    }
    out
}

/// Rails are numbered over all fabrics of a pool: the lowest rail that any network of this fabric has is its first port's.
pub fn first_rail(design: &Design, network: &Network) -> i64 {
    design.networks.iter().filter(|n| n.fabric == network.fabric).filter_map(|n| n.rail).min().unwrap_or(0)
}

/// The Linux name of a port: the product's, else the device's.
pub fn interface(design: &Design, port: PortRef) -> String {
    let device = &design.hosts[port.host as usize].system.devices[port.device as usize];
    let DeviceKind::Nic(nic) = &device.kind else { return device.flat() };
    if let Some(name) = nic.interfaces.get(port.port as usize) {
        return name.clone();
    }
    if nic.ports.len() > 1 { format!("{}p{}", device.flat(), port.port) } else { device.flat() }
}

/// The Linux name of a port on a plane of a fabric.
pub fn port_interface(design: &Design, fabric: &crate::design::Fabric, port: PortRef, plane: u8) -> String {
    let name = interface(design, port);
    if fabric.planes > 1 { format!("{name}p{plane}") } else { name }
}

/// The management interface of a switch's operating system.
pub fn management_interface(link_type: SwitchedLink) -> &'static str {
    if link_type == SwitchedLink::Ethernet { "eth0" } else { "mgmt0" }
}

/// The n-th address of a range.
pub fn nth(range: &ipnet::IpNet, n: u128) -> Option<IpAddr> {
    let address = match range.network() {
        IpAddr::V4(ip) => IpAddr::V4(u32::from(ip).checked_add(u32::try_from(n).ok()?)?.into()),
        IpAddr::V6(ip) => IpAddr::V6(u128::from(ip).checked_add(n)?.into()),
    };
    range.contains(&address).then_some(address)
}
