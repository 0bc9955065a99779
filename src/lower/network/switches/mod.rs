//! `network/switches/`: the configuration of every Ethernet switch, and of the subnet manager of every InfiniBand fabric. Port descriptions are
//! what LLDP shows on the other side, so that a mis-cabled port is seen at once.

mod nvue;
mod opensm;
mod sonic;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use super::super::Artifacts;
use super::tables::Peers;
use crate::Compilation;
use crate::design::{Congestion, Fabric, FabricKind, FabricWord, Network, Redundancy, SwitchOs, SwitchedLink};
use crate::topology::addresses::Owner;
use crate::topology::ports::{Slot, port_name};
use crate::topology::routing::Routing;
use crate::topology::{End, Switch, Tier};

/// Whether a switch runs SONiC.
fn is_sonic(switch: &Switch) -> bool {
    switch.model.operating_system() == SwitchOs::Sonic
}

/// Lowers the folder. A large fabric has a thousand switches: their files are made while they are written, and what they share is found once.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let shared: Arc<OnceLock<Shared>> = Arc::default();
    for (id, switch) in c.topology.switches.iter().enumerate() {
        if switch.model.link_type != SwitchedLink::Ethernet {
            continue;
        }
        let shared = shared.clone();
        let (ending, sonic) = if is_sonic(switch) { ("config_db.json", true) } else { ("nvue.yaml", false) };
        artifacts.stream(format!("network/switches/{}.{ending}", switch.name), move |c, out| {
            let view = View { c, id, shared: shared.get_or_init(|| Shared::new(c)) };
            out.write_all(if sonic { sonic::text(&view) } else { nvue::text(&view) }.as_bytes())
        });
    }
    for (id, fabric) in c.design.fabrics.iter().enumerate() {
        let FabricKind::Infiniband { subnet_manager, adaptive_routing, pkey, .. } = fabric.kind else { continue };
        artifacts.text(format!("network/switches/{}-opensm.conf", fabric.name), opensm::settings(fabric, subnet_manager, adaptive_routing));
        artifacts.text(format!("network/switches/{}-partitions.conf", fabric.name), opensm::partitions(c, id, subnet_manager, pkey));
    }
}

/// What all switches look up.
struct Shared {
    peers: Peers,
    /// For each link between switches of a routed fabric its place among that fabric's numbers, and one.
    numbered: Vec<u32>,
    /// The management address of each switch.
    management: Vec<Option<usize>>,
}

impl Shared {
    fn new(c: &Compilation) -> Self {
        let mut numbered = vec![0; c.topology.links.len()];
        for routing in c.topology.routing.iter().flatten() {
            for (i, (link, ..)) in routing.links.iter().enumerate() {
                numbered[*link as usize] = i as u32 + 1;
            }
        }
        let mut management = vec![None; c.topology.switches.len()];
        for (i, address) in c.topology.addresses.iter().enumerate() {
            if let Owner::Switch(switch) = address.owner {
                management[switch].get_or_insert(i);
            }
        }
        Self { peers: Peers::new(c), numbered, management }
    }
}

/// One switch with all that its configuration is made of.
struct View<'a> {
    c: &'a Compilation,
    id: usize,
    shared: &'a Shared,
}

/// A port that is in use.
struct Port {
    name: String,
    slot: Slot,
    /// What LLDP should show: device and port.
    peer: String,
    /// Nothing where the site's own network is: its side is not in the design.
    end: Option<End>,
    /// Gigabits a second.
    gbps: u32,
    /// Own address and prefix on a routed link, and the neighbour's address and autonomous system.
    address: Option<(IpAddr, u8)>,
    neighbour: Option<(IpAddr, u32)>,
}

impl<'a> View<'a> {
    fn switch(&self) -> &'a Switch {
        &self.c.topology.switches[self.id]
    }

    fn fabric(&self) -> &'a Fabric {
        &self.c.design.fabrics[self.switch().fabric]
    }

    fn routing(&self) -> Option<&'a Routing> {
        self.c.topology.routing[self.switch().fabric].as_ref()
    }

    /// Its number within the fabric.
    fn number(&self) -> usize {
        self.id - self.c.topology.fabrics[self.switch().fabric].switches.start
    }

    fn loopback(&self) -> Option<IpAddr> {
        self.routing().map(|r| r.loopbacks[self.number()])
    }

    fn autonomous_system(&self) -> Option<u32> {
        self.routing().map(|r| r.systems[self.number()])
    }

    fn networks(&self) -> impl Iterator<Item = &'a Network> {
        let fabric = self.switch().fabric;
        self.c.design.networks.iter().filter(move |n| n.fabric == fabric && n.sound)
    }

    fn vlans(&self) -> Vec<i64> {
        let mut vlans: Vec<i64> = self.networks().filter_map(|n| n.vlan).collect();
        vlans.sort_unstable();
        vlans.dedup();
        vlans
    }

    fn congestion(&self) -> Option<&'a Congestion> {
        self.fabric().congestion()
    }

    /// Its address, prefix length and gateway on the management network.
    fn management(&self) -> Option<(IpAddr, u8, Option<IpAddr>)> {
        let address = &self.c.topology.addresses[self.shared.management[self.id]?];
        Some((address.address, address.prefix, self.c.design.networks[address.network].gateway))
    }

    /// The other leaf of its pair, if hosts are on both.
    fn peer_leaf(&self) -> Option<usize> {
        let switch = self.switch();
        if switch.tier != Tier::Leaf
            || self.fabric().word() != FabricWord::Ethernet
            || self.fabric().redundancy() != Redundancy::Mlag
            || self.fabric().routed().is_some()
        {
            return None;
        }
        let other = self.c.topology.fabrics[switch.fabric].switches.start + (self.number() ^ 1);
        let peer = self.c.topology.switches.get(other)?;
        (peer.fabric == switch.fabric && peer.tier == Tier::Leaf).then_some(other)
    }

    /// Ports that are in use, in order.
    fn ports(&self) -> Vec<Port> {
        let switch = self.switch();
        let mut out = Vec::new();
        for (cage, state) in switch.ports.cages.iter().enumerate() {
            let Some(mode) = state.mode else { continue };
            for sub in 0..mode.links {
                let slot = Slot { cage: cage as u16, sub };
                match self.shared.peers.link(self.id as u32, slot) {
                    Some(link) => out.push(self.port(link, slot, mode.rate)),
                    None if sub < state.taken => out.push(self.site(slot, mode.rate)),
                    None => {}
                }
            }
        }
        out
    }

    /// A port that is kept for the site's own network.
    fn site(&self, slot: Slot, rate: u32) -> Port {
        let switch = self.switch();
        let name = port_name(&switch.model, &switch.ports, slot);
        Port { name, slot, peer: "site".into(), end: None, gbps: crate::topology::ports::gbps(rate), address: None, neighbour: None }
    }

    fn port(&self, id: usize, slot: Slot, rate: u32) -> Port {
        let c = self.c;
        let link = &c.topology.links[id];
        let upper = link.b.switch() == Some(self.id as u32);
        let end = if upper { link.a } else { link.b };
        let [a, b] = super::ends(c, link);
        let (device, port) = if upper { a } else { b };
        let switch = self.switch();
        let mut made = Port {
            name: port_name(&switch.model, &switch.ports, slot),
            slot,
            peer: format!("{device} {port}"),
            end: Some(end),
            gbps: crate::topology::ports::gbps(rate),
            address: None,
            neighbour: None,
        };
        if let Some(routing) = self.routing() {
            match end {
                End::Switch(other, _) => {
                    if let Some((_, low, high)) = self.shared.numbered[id].checked_sub(1).map(|i| &routing.links[i as usize]) {
                        let (own, theirs) = if upper { (high, low) } else { (low, high) };
                        let other = other as usize - c.topology.fabrics[switch.fabric].switches.start;
                        made.address = Some((*own, 31));
                        made.neighbour = routing.systems.get(other).map(|system| (*theirs, *system));
                    }
                }
                End::Host(port) => {
                    // The leaf has the even address of the pair, the host the odd one.
                    let name = crate::topology::addresses::port_interface(&c.design, self.fabric(), port, link.plane);
                    let own = |a: &&crate::topology::Address| a.prefix == 31 && c.design.networks[a.network].fabric == switch.fabric && a.interface == name;
                    let address = c.topology.addresses_of_host(port.host as usize).find(own);
                    made.address = address.and_then(|a| before(a.address)).map(|own| (own, 31));
                }
                _ => {}
            }
        }
        made
    }
}

fn before(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(ip) => u32::from(ip).checked_sub(1).map(|n| IpAddr::V4(n.into())),
        IpAddr::V6(ip) => u128::from(ip).checked_sub(1).map(|n| IpAddr::V6(n.into())),
    }
}

/// Why a bridged fabric of several tiers is a poor one; a comment of its configurations.
const BRIDGED: &str = "This fabric is bridged over several tiers: spanning tree leaves one way and blocks the others. `routed { … }` uses them all.";
