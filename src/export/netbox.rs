//! CSV for NetBox' bulk import, in the order of the file names: racks, devices, interfaces, cables. Manufacturers, device types, roles and the site
//! must be there before; `README` names them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::Compilation;
use crate::design::SwitchedLink;
use crate::lower::network::ends;
use crate::topology::ports::{PortName, Slot, gbps, mbps};
use crate::topology::{End, Medium};

/// The interface type of a port: a slug of NetBox' choices (choices.py, as the switch facts cite it). A twin-port cage is two interfaces.
fn interface_type(link_type: SwitchedLink, connector: Option<&str>, rate: u32) -> &'static str {
    match (link_type, connector, rate) {
        (SwitchedLink::Infiniband, _, 800) => "infiniband-xdr-4x",
        (SwitchedLink::Infiniband, _, 400) => "infiniband-ndr-4x",
        (SwitchedLink::Infiniband, _, 200) => "infiniband-hdr",
        (SwitchedLink::Infiniband, ..) => "infiniband-edr",
        (_, Some("osfp"), 800) => "800gbase-x-osfp",
        (_, Some("osfp"), 400) => "400gbase-x-osfp",
        (_, Some("qsfp112"), _) => "400gbase-x-qsfp112",
        (_, Some("qsfp_dd"), 400) => "400gbase-x-qsfpdd",
        (_, Some("qsfp56"), 200) => "200gbase-x-qsfp56",
        (_, Some("qsfp28"), 100) => "100gbase-x-qsfp28",
        (_, Some("sfp28"), _) => "25gbase-x-sfp28",
        (_, Some("rj45"), 10) => "10gbase-t",
        (_, Some("rj45"), _) | (_, None, 1) => "1000base-t",
        _ => "other",
    }
}

/// The files.
pub fn files(c: &Compilation) -> BTreeMap<String, String> {
    let d = &c.design;
    let site = &d.cluster.name;
    let mut racks = String::from("site,name,status,u_height\n");
    for rack in &d.racks {
        let _ = writeln!(racks, "{site},{},active,{}", rack.name, rack.height);
    }
    let mut devices = String::from("name,role,manufacturer,device_type,site,rack,position,face,status\n");
    let mut needed: BTreeSet<String> = BTreeSet::new();
    let mut device = |name: &str, role: &str, vendor: Option<&String>, model: &str, rack: Option<usize>, unit: Option<i64>| {
        let vendor = vendor.map_or("unknown", String::as_str);
        needed.insert(format!("device type {model} of manufacturer {vendor}"));
        needed.insert(format!("device role {role}"));
        let place = rack.map_or(String::new(), |r| d.racks[r].name.clone());
        let position = unit.map_or(String::new(), |u| u.to_string());
        let face = if unit.is_some() { "front" } else { "" };
        let _ = writeln!(devices, "{name},{role},{vendor},{model},{site},{place},{position},{face},active");
    };
    for (id, host) in d.hosts.iter().enumerate() {
        device(&host.name, "server", host.system.vendor.as_ref(), &host.system.name, host.rack, c.topology.host_units[id]);
    }
    for switch in &c.topology.switches {
        device(&switch.name, switch.tier.word(), switch.model.vendor.as_ref(), &switch.model.name, switch.rack, switch.unit);
    }
    for (id, rack) in d.racks.iter().enumerate() {
        for pdu in 0..rack.pdus.clamp(0, 64) {
            device(&rack.pdu_name(pdu as u8), "pdu", None, "pdu", Some(id), None);
        }
    }
    let (interfaces, cables) = interfaces_and_cables(c);
    let mut readme = format!(
        "Import in this order: 1-racks.csv, 2-devices.csv, 3-interfaces.csv, 4-cables.csv (NetBox 4.6.9 or newer: infiniband-ndr-4x).\n\nBefore that NetBox needs site {site} and\n\n"
    );
    needed.iter().for_each(|thing| readme += &format!("- {thing}\n"));
    BTreeMap::from([
        ("1-racks.csv".to_owned(), racks),
        ("2-devices.csv".to_owned(), devices),
        ("3-interfaces.csv".to_owned(), interfaces),
        ("4-cables.csv".to_owned(), cables),
        ("README".to_owned(), readme),
    ])
}

fn interfaces_and_cables(c: &Compilation) -> (String, String) {
    let mut interfaces = String::from("device,name,type,enabled,mgmt_only,speed,mtu,description\n");
    for switch in &c.topology.switches {
        let fabric = &c.design.fabrics[switch.fabric];
        for (number, cage) in switch.ports.cages.iter().enumerate() {
            let group = &switch.model.cages[cage.group as usize];
            let Some(rate) = cage.mode.map(|m| m.rate).or(group.rate.map(mbps)) else { continue };
            let links = cage.mode.map_or(group.links, |m| m.links.into()).clamp(0, 255) as u8;
            for sub in 0..links {
                let name = PortName::new(&switch.model, Some(cage), Slot { cage: number as u16, sub });
                let kind = interface_type(switch.model.link_type, group.connector.as_deref(), gbps(rate));
                let enabled = sub < cage.taken;
                let _ = writeln!(interfaces, "{},{name},{kind},{enabled},false,{},{},fabric {}", switch.name, u64::from(rate) * 1000, fabric.mtu, fabric.name);
            }
        }
    }
    let mut cables = String::from("side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,label,length,length_unit\n");
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    let connector = |end| if let End::Host(port) = end { c.design.nic_port(port)?.connectors.first().map(String::as_str) } else { None };
    for link in &c.topology.links {
        let fabric = &c.design.fabrics[link.fabric as usize];
        let [a, b] = ends(c, link);
        for (side, (device, name)) in [(link.a, &a), (link.b, &b)] {
            let management = matches!(side, End::SwitchManagement(_) | End::Pdu(..));
            if (management || matches!(side, End::Host(_))) && known.insert((device.clone(), name.clone())) {
                let link_type = if fabric.is_infiniband() { SwitchedLink::Infiniband } else { SwitchedLink::Ethernet };
                let kind = if management { "1000base-t" } else { interface_type(link_type, connector(side), gbps(link.rate)) };
                let _ = writeln!(interfaces, "{device},{name},{kind},true,{management},{},{},fabric {}", u64::from(link.rate) * 1000, fabric.mtu, fabric.name);
            }
        }
        let kind = match link.medium {
            Medium::Dac => "dac-passive",
            Medium::Acc => "dac-active",
            Medium::Aoc => "aoc",
            Medium::Fibre => "smf",
            Medium::Copper => "cat6",
        };
        let _ = writeln!(
            cables,
            "{},dcim.interface,{},{},dcim.interface,{},{kind},planned,{}-{:04},{},m",
            a.0,
            a.1,
            b.0,
            b.1,
            fabric.name.to_uppercase(),
            link.cable,
            f64::from(link.centimetres) / 100.0
        );
    }
    (interfaces, cables)
}
