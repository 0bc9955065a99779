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
