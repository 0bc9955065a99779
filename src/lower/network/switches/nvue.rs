//! NVUE of Cumulus Linux: `/etc/nvue.d/startup.yaml`. The tree is that of `nv set` (Cumulus Linux 5 documentation).

use std::fmt::Write as _;

use super::{BRIDGED, Port, View};
use crate::topology::{End, Tier};

/// Lines of a tree of maps; a key that nothing follows is an empty map.
struct Tree {
    text: String,
}

impl Tree {
    fn indent(&mut self, depth: usize) {
        const SPACES: &str = "                                ";
        self.text.push_str(&SPACES[..(depth * 2).min(SPACES.len())]);
    }

    fn key(&mut self, depth: usize, key: impl std::fmt::Display) {
        self.indent(depth);
        let _ = writeln!(self.text, "{key}:");
    }

    fn empty(&mut self, depth: usize, key: impl std::fmt::Display) {
        self.indent(depth);
        let _ = writeln!(self.text, "{key}: {{}}");
    }

    fn value(&mut self, depth: usize, key: impl std::fmt::Display, value: impl std::fmt::Display) {
        self.indent(depth);
        let _ = writeln!(self.text, "{key}: {value}");
    }

    /// An interface of the bridge.
    fn in_bridge(&mut self) {
        self.key(4, "bridge");
        self.key(5, "domain");
        self.empty(6, "br_default");
    }

    /// A text of the design's, quoted. Names of devices and ports need no escapes.
    fn quoted(&mut self, depth: usize, key: impl std::fmt::Display, value: &str) {
        if value.contains(['"', '\\']) || value.chars().any(char::is_control) {
            self.value(depth, key, serde_json::Value::from(value));
        } else {
            self.value(depth, key, format_args!("\"{value}\""));
        }
    }
}

/// `on` is a word of NVUE and a Boolean of YAML 1.1.
const ON: &str = "'on'";

/// The file of a switch.
pub fn text(view: &View) -> String {
    let ports = view.ports();
    let fabric = view.fabric();
    let mut tree = Tree {
        text: format!(
            "# {} of fabric {}, {}; install as /etc/nvue.d/startup.yaml, then `nv config apply startup`.\n",
            view.switch().name,
            fabric.name,
            view.switch().model.name
        ),
    };
    let bridged = view.routing().is_none();
    if bridged && view.c.topology.fabrics[view.switch().fabric].count(Tier::Spine) > 0 {
        let _ = writeln!(tree.text, "# {BRIDGED}");
    }
    tree.text += "- set:\n";
    tree.key(2, "system");
    tree.quoted(3, "hostname", &view.switch().name);
    interfaces(view, &ports, &mut tree);
    if bridged {
        bridge(view, &mut tree);
    }
    mlag(view, &mut tree);
    if let Some(congestion) = view.congestion() {
        tree.text += "    # PFC pauses priority 3 and RDMA packets carry DSCP 26, as on the hosts (hosts/*/roce.sh).\n";
        tree.key(2, "qos");
        tree.key(3, "roce");
        tree.value(4, "enable", ON);
        tree.value(4, "mode", "lossless");
        if congestion.adaptive_routing {
            tree.key(2, "router");
            tree.key(3, "adaptive-routing");
            tree.value(4, "enable", ON);
        }
    }
    bgp(view, &ports, &mut tree);
    tree.text
}

fn interfaces(view: &View, ports: &[Port], tree: &mut Tree) {
    let fabric = view.fabric();
    tree.key(2, "interface");
    if let Some((address, prefix, gateway)) = view.management() {
        tree.key(3, "eth0");
        tree.value(4, "type", "eth");
        tree.key(4, "ip");
        tree.value(5, "vrf", "mgmt");
        tree.key(5, "address");
        tree.empty(6, format!("{address}/{prefix}"));
        if let Some(gateway) = gateway {
            tree.key(5, "gateway");
            tree.empty(6, gateway);
        }
    }
    if let Some(loopback) = view.loopback() {
        tree.key(3, "lo");
        tree.value(4, "type", "loopback");
        tree.key(4, "ip");
        tree.key(5, "address");
        tree.empty(6, format!("{loopback}/{}", if loopback.is_ipv4() { 32 } else { 128 }));
    }
    // Cages that are split, before their ports.
    for (cage, state) in view.switch().ports.cages.iter().enumerate() {
        if let Some(mode) = state.mode.filter(|m| m.split) {
            tree.key(3, format!("swp{}", cage + 1));
            tree.value(4, "type", "swp");
            tree.key(4, "link");
            tree.key(5, "breakout");
            tree.empty(6, format!("{}x{}G", mode.links, crate::topology::ports::gbps(mode.rate)));
        }
    }
    let peer = view.peer_leaf();
    let adaptive = view.congestion().is_some_and(|c| c.adaptive_routing);
    for port in ports {
        tree.key(3, &port.name);
        tree.value(4, "type", "swp");
        tree.quoted(4, "description", &port.peer);
        tree.key(4, "link");
        tree.value(5, "mtu", fabric.mtu);
        if let Some((address, prefix)) = port.address {
            tree.key(4, "ip");
            tree.key(5, "address");
            tree.empty(6, format!("{address}/{prefix}"));
        }
        if adaptive && matches!(port.end, Some(End::Switch(..))) {
            tree.key(4, "router");
            tree.key(5, "adaptive-routing");
            tree.value(6, "enable", ON);
        }
        let bonded = peer.is_some() && (bond(view, port).is_some() || is_peer(port, peer));
        if view.routing().is_none() && !bonded {
            tree.in_bridge();
        }
    }
    let Some(peer) = peer else { return };
    for port in ports {
        if let Some(id) = bond(view, port) {
            tree.key(3, format!("bond{id}"));
            tree.value(4, "type", "bond");
            tree.quoted(4, "description", port.peer.split(' ').next().unwrap_or(""));
            tree.key(4, "bond");
            tree.key(5, "member");
            tree.empty(6, &port.name);
            tree.key(5, "mlag");
            tree.value(6, "id", id);
            tree.in_bridge();
        }
    }
    let members: Vec<&Port> = ports.iter().filter(|p| is_peer(p, Some(peer))).collect();
    if !members.is_empty() {
        tree.key(3, "peerlink");
        tree.value(4, "type", "peerlink");
        tree.key(4, "bond");
        tree.key(5, "member");
        members.iter().for_each(|p| tree.empty(6, &p.name));
        tree.in_bridge();
        tree.key(3, "peerlink.4094");
        tree.value(4, "type", "sub");
        tree.value(4, "base-interface", "peerlink");
        tree.value(4, "vlan", 4094);
    }
}

fn is_peer(port: &Port, peer: Option<usize>) -> bool {
    peer.is_some() && port.end.and_then(End::switch).map(|s| s as usize) == peer
}

/// The bond of a host that is on both leaves of a pair: the same number on both.
fn bond(view: &View, port: &Port) -> Option<u32> {
    let Some(End::Host(host)) = port.end else { return None };
    (view.c.topology.ports_of_host(view.switch().fabric, host.host as usize).len() > 1).then_some(host.host + 1)
}

fn bridge(view: &View, tree: &mut Tree) {
    tree.key(2, "bridge");
    tree.key(3, "domain");
    tree.key(4, "br_default");
    let vlans = view.vlans();
    if view.networks().any(|n| n.vlan.is_none()) || vlans.is_empty() {
        tree.value(5, "untagged", 1);
    }
    if !vlans.is_empty() {
        tree.key(5, "vlan");
        vlans.iter().for_each(|vlan| tree.empty(6, format!("'{vlan}'")));
    }
}

fn mlag(view: &View, tree: &mut Tree) {
    let Some(peer) = view.peer_leaf() else { return };
    // Without links between the two there is nothing to agree over.
    if !view.ports().iter().any(|p| is_peer(p, Some(peer))) {
        return;
    }
    // The lower of the two, so that no two pairs of the site have one address.
    let pair = view.id.min(peer);
    tree.key(2, "mlag");
    tree.value(3, "enable", ON);
    // The range that Cumulus Linux keeps for pairs.
    tree.quoted(3, "mac-address", &format!("44:38:39:be:{:02x}:{:02x}", pair / 256 % 256, pair % 256));
    tree.value(3, "peer-ip", "linklocal");
    tree.value(3, "priority", if view.number().is_multiple_of(2) { 1000 } else { 2000 });
    let other = View { c: view.c, id: peer, shared: view.shared };
    if let Some((address, ..)) = other.management() {
        tree.key(3, "backup");
        tree.key(4, address);
        tree.value(5, "vrf", "mgmt");
    }
}

fn bgp(view: &View, ports: &[Port], tree: &mut Tree) {
    let Some((system, loopback)) = view.autonomous_system().zip(view.loopback()) else { return };
    if !view.congestion().is_some_and(|c| c.adaptive_routing) {
        tree.key(2, "router");
    }
    tree.key(3, "bgp");
    tree.value(4, "enable", ON);
    tree.value(4, "autonomous-system", system);
    tree.value(4, "router-id", loopback);
    tree.key(2, "vrf");
    tree.key(3, "default");
    tree.key(4, "router");
    tree.key(5, "bgp");
    tree.value(6, "enable", ON);
    tree.key(6, "address-family");
    tree.key(7, "ipv4-unicast");
    tree.value(8, "enable", ON);
    tree.key(8, "redistribute");
    tree.key(9, "connected");
    tree.value(10, "enable", ON);
    // Leaves have systems of their own: equal paths over different ones count as equal.
    tree.key(6, "path-selection");
    tree.key(7, "multipath");
    tree.value(8, "aspath-ignore", ON);
    tree.key(6, "neighbor");
    for (port, (address, system)) in ports.iter().filter_map(|p| Some((p, p.neighbour?))) {
        tree.key(7, address);
        tree.quoted(8, "description", &port.peer);
        tree.value(8, "type", "numbered");
        tree.value(8, "remote-as", system);
    }
}
