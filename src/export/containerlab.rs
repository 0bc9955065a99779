//! A containerlab topology of the Ethernet fabrics: switches as Cumulus VX or SONiC, hosts as Linux, links as cabled.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Compilation;
use crate::design::SwitchOs;
use crate::topology::End;
use crate::topology::ports::{Cage, PortName, Slot};

/// The topology file.
pub fn text(c: &Compilation) -> String {
    let d = &c.design;
    let mut out = format!(
        "# Ethernet fabrics of {}: `containerlab deploy -t fabric.clab.yaml`.\n# Configurations: network/switches of the bundle.\nname: {}\ntopology:\n  kinds:\n    cumulus_cvx:\n      image: networkop/cx:5.3.0\n    sonic-vs:\n      image: docker-sonic-vs:latest\n    linux:\n      image: alpine:3\n  nodes:\n",
        d.cluster.name, d.cluster.name
    );
    let ethernet = |fabric: usize| d.fabrics[fabric].is_ethernet() && !d.fabrics[fabric].management;
    for switch in c.topology.switches.iter().filter(|s| ethernet(s.fabric)) {
        let kind = if switch.model.operating_system() == SwitchOs::Sonic { "sonic-vs" } else { "cumulus_cvx" };
        let _ = writeln!(out, "    {}:\n      kind: {kind}\n      group: {}", switch.name, switch.tier.word());
    }
    let mut interfaces: BTreeMap<u32, usize> = BTreeMap::new();
    let mut links = String::from("  links:\n");
    for link in c.topology.links.iter().filter(|l| ethernet(l.fabric as usize)) {
        let mut endpoint = |side: End| match side {
            End::Host(port) => {
                let n = interfaces.entry(port.host).or_insert(0);
                *n += 1;
                Some(format!("{}:eth{n}", d.hosts[port.host as usize].name))
            }
            End::Switch(id, slot) => Some(format!("{}:{}", c.topology.switches[id as usize].name, lab_port(c, id, slot))),
            // Management ports and power units are on management fabrics alone.
            End::SwitchManagement(_) | End::Pdu(..) => None,
        };
        let (Some(a), Some(b)) = (endpoint(link.a), endpoint(link.b)) else { continue };
        let _ = writeln!(links, "    - endpoints: [\"{a}\", \"{b}\"]");
    }
    for host in interfaces.into_keys() {
        let _ = writeln!(out, "    {}:\n      kind: linux\n      group: host", d.hosts[host as usize].name);
    }
    out + &links
}

/// Ports as the virtual switches have them: SONiC in containers knows `ethN` alone, counted over all lanes of the front.
fn lab_port(c: &Compilation, id: u32, slot: Slot) -> String {
    let switch = &c.topology.switches[id as usize];
    let cage: Option<&Cage> = switch.ports.cages.get(slot.cage as usize);
    match PortName::new(&switch.model, cage, slot) {
        PortName::Ethernet(lane) => format!("eth{}", lane + 1),
        other => other.to_string(),
    }
}
