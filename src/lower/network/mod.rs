//! `network/`: what a person needs to order, cable, number and configure the fabrics.

pub mod nccl;
mod readme;
mod slurm;
mod switches;
mod tables;

use std::sync::Arc;

use super::Artifacts;
use crate::Compilation;
use crate::design::PortRef;
use crate::picture;
use crate::topology::addresses::management_interface;
use crate::topology::ports::port_name;
use crate::topology::{End, LinkPlan};

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    artifacts.stream("network/cables.csv", tables::cables);
    artifacts.stream("network/ports.csv", tables::ports);
    artifacts.stream("network/addresses.csv", tables::addresses);
    artifacts.stream("network/bom.csv", tables::materials);
    for (id, fabric) in c.design.fabrics.iter().enumerate().filter(|(id, _)| !c.topology.fabrics[*id].switches.is_empty()) {
        artifacts.stream(format!("network/fabric-{}.svg", fabric.name), move |c, out| match picture::fabric::draw(c, id) {
            Some(drawing) => out.write_all(drawing.svg().as_bytes()),
            None => Ok(()),
        });
    }
    if !c.design.racks.is_empty() {
        artifacts.stream("network/racks.svg", |c, out| out.write_all(picture::rack::draw_all(c).svg().as_bytes()));
    }
    if let Some(text) = slurm::text(c) {
        artifacts.text("network/topology.conf", text);
    }
    switches::lower(c, artifacts);
    let mut seen = Vec::new();
    for host in &c.design.hosts {
        let system = &host.system;
        if !seen.iter().any(|s| Arc::ptr_eq(s, system)) {
            seen.push(system.clone());
            if let Some(graph) = c.topology.graph(system).filter(|_| system.gpus().next().is_some() && system.nics().next().is_some()) {
                artifacts.text(format!("network/nccl-topo-{}.xml", system.name.replace('_', "-")), nccl::text(system, graph));
            }
        }
    }
    if !c.design.fabrics.is_empty() {
        let parts = readme::parts(artifacts);
        artifacts.stream("network/README.md", move |c, out| out.write_all(readme::page(c, &parts).as_bytes()));
    }
}

/// Device and port of both ends of a link. With planes, a host's port has a link on each: the plane tells them apart.
pub fn ends(c: &Compilation, link: &LinkPlan) -> [(String, String); 2] {
    let (device, port) = end(c, link.a);
    let port = match plane_of(c, link) {
        Some(plane) if matches!(link.a, End::Host(_)) => format!("{port}p{plane}"),
        _ => port,
    };
    [(device, port), end(c, link.b)]
}

/// The plane of a link, where its fabric has several.
fn plane_of(c: &Compilation, link: &LinkPlan) -> Option<u8> {
    (c.design.fabrics[link.fabric as usize].planes > 1).then_some(link.plane)
}

/// Device and port of an end.
fn end(c: &Compilation, end: End) -> (String, String) {
    match end {
        End::Host(port) => (c.design.hosts[port.host as usize].name.clone(), host_port(c, port)),
        End::Switch(id, slot) => {
            let switch = &c.topology.switches[id as usize];
            (switch.name.clone(), port_name(&switch.model, &switch.ports, slot))
        }
        End::SwitchManagement(id) => {
            let switch = &c.topology.switches[id as usize];
            (switch.name.clone(), management_interface(switch.model.link_type).to_owned())
        }
        End::Pdu(rack, pdu) => (c.design.racks[rack as usize].pdu_name(pdu), "mgmt".to_owned()),
    }
}

/// A host port by its chassis' name, else `device/port`.
pub fn host_port(c: &Compilation, port: PortRef) -> String {
    let system = &c.design.hosts[port.host as usize].system;
    for cage in &system.cages {
        if let Some(position) = cage.nics.iter().position(|n| *n == port.device) {
            return format!("{}P{}", cage.name.to_uppercase(), position + 1);
        }
    }
    let device = &system.devices[port.device as usize];
    let ports = system.nics().find(|(id, ..)| *id == port.device).map_or(1, |(.., nic)| nic.ports.len());
    if ports > 1 { format!("{}/{}", device.flat(), port.port) } else { device.flat() }
}
