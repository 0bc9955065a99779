//! cables.csv, ports.csv, addresses.csv. A large fabric has hundreds of thousands of rows: they are written as they are made, with names that
//! are looked up and numbers that are printed without a detour over text.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::{host_port, plane_of};
use crate::Compilation;
use crate::design::{PortRef, SwitchModel, System};
use crate::topology::addresses::{Owner, management_interface};
use crate::topology::ports::{Cage, PortName, Slot, gbps};
use crate::topology::{End, cables as placing};

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 16;

/// Rows on their way out.
struct Rows<'w> {
    buffer: Vec<u8>,
    out: &'w mut dyn Write,
}

impl<'w> Rows<'w> {
    fn new(out: &'w mut dyn Write, header: &str) -> Self {
        let mut rows = Self { buffer: Vec::with_capacity(CHUNK + 1024), out };
        rows.text(header);
        rows.buffer.push(b'\n');
        rows
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.buffer.extend_from_slice(text.as_bytes());
        self
    }

    fn comma(&mut self) -> &mut Self {
        self.buffer.push(b',');
        self
    }

    fn number(&mut self, n: u32) -> &mut Self {
        self.buffer.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
        self
    }

    /// At least four digits.
    fn padded(&mut self, n: u32) -> &mut Self {
        let mut left = 1000;
        while n < left && left > 1 {
            self.buffer.push(b'0');
            left /= 10;
        }
        self.number(n)
    }

    fn optional(&mut self, n: Option<i64>) -> &mut Self {
        if let Some(n) = n {
            self.buffer.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
        }
        self
    }

    /// Metres, with as many decimals as there are.
    fn metres(&mut self, centimetres: u32) -> &mut Self {
        self.number(centimetres / 100);
        let rest = centimetres % 100;
        if rest > 0 {
            self.buffer.push(b'.');
            self.buffer.push(b'0' + (rest / 10) as u8);
            if !rest.is_multiple_of(10) {
                self.buffer.push(b'0' + (rest % 10) as u8);
            }
        }
        self
    }

    fn end(&mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Names of ends. The ports of equal hosts have equal names: they are made once a system.
struct Names<'a> {
    c: &'a Compilation,
    systems: HashMap<*const System, usize>,
    system_of_host: Vec<usize>,
    /// For each system its port names by device and port.
    ports: Vec<Vec<[Option<String>; MOST_PORTS]>>,
}

/// Ports of a card that are named ahead; no card has more.
const MOST_PORTS: usize = 8;

impl<'a> Names<'a> {
    fn new(c: &'a Compilation) -> Self {
        let mut names = Self { c, systems: HashMap::new(), system_of_host: Vec::with_capacity(c.design.hosts.len()), ports: Vec::new() };
        for host in &c.design.hosts {
            let next = names.ports.len();
            let id = *names.systems.entry(Arc::as_ptr(&host.system)).or_insert(next);
            if id == next {
                names.ports.push(host.system.devices.iter().map(|_| Default::default()).collect());
            }
            names.system_of_host.push(id);
        }
        names
    }

    /// Device of an end.
    fn device(&self, rows: &mut Rows, end: End) {
        match end {
            End::Host(port) => rows.text(&self.c.design.hosts[port.host as usize].name),
            End::Switch(id, _) | End::SwitchManagement(id) => rows.text(&self.c.topology.switches[id as usize].name),
            End::Pdu(rack, pdu) => rows.text(&self.c.design.racks[rack as usize].pdu_name(pdu)),
        };
    }

    /// Port of an end. With planes, a host's port has a link on each: the plane tells them apart.
    fn port(&mut self, rows: &mut Rows, end: End, plane: Option<u8>) {
        match end {
            End::Host(port) => {
                rows.text(self.host_port(port));
                if let Some(plane) = plane {
                    rows.text("p").number(plane.into());
                }
            }
            End::Switch(id, slot) => {
                let switch = &self.c.topology.switches[id as usize];
                switch_port(rows, &switch.model, switch.ports.cages.get(slot.cage as usize), slot);
            }
            End::SwitchManagement(id) => {
                rows.text(management_interface(self.c.topology.switches[id as usize].model.link_type));
            }
            End::Pdu(..) => {
                rows.text("mgmt");
            }
        }
    }

    fn host_port(&mut self, port: PortRef) -> &str {
        let known = &mut self.ports[self.system_of_host[port.host as usize]][port.device as usize];
        let last = known.len() - 1;
        known[(port.port as usize).min(last)].get_or_insert_with(|| host_port(self.c, port))
    }
}

/// Without a detour over text.
fn switch_port(rows: &mut Rows, model: &SwitchModel, cage: Option<&Cage>, slot: Slot) {
    match PortName::new(model, cage, slot) {
        PortName::Infiniband(cage, link) => rows.text("IB1/").number(cage).text("/").number(link),
        PortName::Swp(cage) => rows.text("swp").number(cage),
        PortName::Split(cage, link) => rows.text("swp").number(cage).text("s").number(link),
        PortName::Ethernet(lane) => rows.text("Ethernet").number(lane),
    };
}

/// `network/cables.csv`: a row a link.
pub fn cables(c: &Compilation, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, "cable,fabric,plane,a_device,a_rack,a_u,a_port,b_device,b_rack,b_u,b_port,speed_gbps,medium,length_m,label");
    let mut numbers: Vec<u32> = vec![0; c.design.fabrics.len()];
    let labels: Vec<String> = c.design.fabrics.iter().map(|f| f.name.to_uppercase()).collect();
    let mut names = Names::new(c);
    for link in &c.topology.links {
        let id = link.fabric as usize;
        let fabric = &c.design.fabrics[id].name;
        numbers[id] += 1;
        rows.text(fabric).text("-").padded(numbers[id]).comma().text(fabric).comma().number(link.plane.into());
        for (end, plane) in [(link.a, plane_of(c, link)), (link.b, None)] {
            let (rack, unit) = placing::place(&c.design, &c.topology, end);
            names.device(rows.comma(), end);
            rows.comma().text(rack.map_or("", |r| c.design.racks[r].name.as_str())).comma().optional(unit).comma();
            names.port(&mut rows, end, plane);
        }
        rows.comma().number(gbps(link.rate)).comma().text(link.medium.word()).comma().metres(link.centimetres);
        rows.comma().text(&labels[id]).text("-").padded(link.cable).end()?;
    }
    rows.flush()
}

/// Which link ends at each port of each switch.
pub struct Peers {
    /// The first cage of each switch among all cages.
    first: Vec<usize>,
    /// Links that a cage can have.
    stride: usize,
    /// A link's number and one, by cage and place in it.
    links: Vec<u32>,
    management: HashMap<u32, usize>,
}

impl Peers {
    /// Of all switches.
    pub fn new(c: &Compilation) -> Self {
        let slot = |end: End| if let End::Switch(_, slot) = end { usize::from(slot.sub) + 1 } else { 1 };
        let stride = c.topology.links.iter().map(|l| slot(l.a).max(slot(l.b))).max().unwrap_or(1);
        let mut cages = 0;
        let mut first = Vec::with_capacity(c.topology.switches.len());
        for switch in &c.topology.switches {
            first.push(cages);
            cages += switch.ports.cages.len();
        }
        let mut peers = Self { first, stride, links: vec![0; cages * stride], management: HashMap::new() };
        for (i, link) in c.topology.links.iter().enumerate() {
            for end in [link.a, link.b] {
                match end {
                    End::Switch(id, slot) => {
                        let at = peers.at(id, slot);
                        peers.links[at] = i as u32 + 1;
                    }
                    End::SwitchManagement(id) => {
                        peers.management.insert(id, i);
                    }
                    _ => {}
                }
            }
        }
        peers
    }

    fn at(&self, switch: u32, slot: Slot) -> usize {
        (self.first[switch as usize] + usize::from(slot.cage)) * self.stride + usize::from(slot.sub)
    }

    /// The link at a port; cages may have more ports than any link uses.
    pub fn link(&self, switch: u32, slot: Slot) -> Option<usize> {
        let known = if usize::from(slot.sub) < self.stride { self.links[self.at(switch, slot)] } else { 0 };
        (known as usize).checked_sub(1)
    }
}

/// `network/ports.csv`: every port of every switch, used or not.
pub fn ports(c: &Compilation, out: &mut dyn Write) -> io::Result<()> {
    let peers = Peers::new(c);
    let mut names = Names::new(c);
    let mut rows = Rows::new(out, "device,model,port,speed_gbps,fabric,plane,peer_device,peer_port");
    for (id, switch) in c.topology.switches.iter().enumerate() {
        let id = id as u32;
        let fabric = &c.design.fabrics[switch.fabric].name;
        let native: Vec<Option<u32>> = switch.model.cages.iter().map(|cages| cages.rate.map(|r| gbps(crate::topology::ports::mbps(r)))).collect();
        let peer = |rows: &mut Rows, names: &mut Names, i: usize| {
            let link = &c.topology.links[i];
            let own = |end: End| matches!(end, End::Switch(s, _) | End::SwitchManagement(s) if s == id);
            let other = if own(link.a) { link.b } else { link.a };
            names.device(rows, other);
            names.port(rows.comma(), other, plane_of(c, link));
        };
        for (number, cage) in switch.ports.cages.iter().enumerate() {
            let links = cage.mode.map_or(switch.model.cages[cage.group as usize].links, |m| m.links.into());
            // A cage without a rate is a service port.
            let Some(speed) = cage.mode.map(|m| gbps(m.rate)).or(native[cage.group as usize]) else { continue };
            for sub in 0..links.clamp(0, 255) {
                let slot = Slot { cage: number as u16, sub: sub as u8 };
                rows.text(&switch.name).comma().text(&switch.model.name).comma();
                switch_port(&mut rows, &switch.model, Some(cage), slot);
                let link = peers.link(id, slot);
                // The far end of another fabric's uplink is a port of that fabric.
                let (fabric, plane) = match link.map(|i| &c.topology.links[i]).filter(|l| l.fabric as usize != switch.fabric) {
                    Some(link) => (&c.design.fabrics[link.fabric as usize].name, u32::from(link.plane)),
                    None => (fabric, switch.plane.max(0) as u32),
                };
                rows.comma().number(speed).comma().text(fabric).comma().number(plane).comma();
                match link {
                    Some(link) => peer(&mut rows, &mut names, link),
                    None => {
                        rows.comma();
                    }
                }
                rows.end()?;
            }
        }
        if let Some(link) = peers.management.get(&id) {
            let on = &c.design.fabrics[c.topology.links[*link].fabric as usize].name;
            rows.text(&switch.name).comma().text(&switch.model.name).comma().text(management_interface(switch.model.link_type));
            rows.text(",1,").text(on).text(",0,");
            peer(&mut rows, &mut names, *link);
            rows.end()?;
        }
    }
    rows.flush()
}

/// `network/addresses.csv`.
pub fn addresses(c: &Compilation, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, "device,interface,network,address,prefix_length,gateway,vlan");
    for address in &c.topology.addresses {
        let network = &c.design.networks[address.network];
        match address.owner {
            Owner::Host(host) => rows.text(&c.design.hosts[host].name),
            Owner::Switch(id) => rows.text(&c.topology.switches[id].name),
            Owner::Pdu(rack, pdu) => rows.text(&c.design.racks[rack].pdu_name(pdu)),
        };
        rows.comma().text(&address.interface).comma().text(&network.name).comma();
        write!(rows.buffer, "{}", address.address)?;
        rows.comma().number(address.prefix.into()).comma();
        if let Some(gateway) = network.gateway {
            write!(rows.buffer, "{gateway}")?;
        }
        rows.comma().optional(network.vlan).end()?;
    }
    for (id, fabric) in c.design.fabrics.iter().enumerate() {
        let Some(routing) = &c.topology.routing[id] else { continue };
        for (switch, loopback) in c.topology.switches[c.topology.fabrics[id].switches.clone()].iter().zip(&routing.loopbacks) {
            rows.text(&switch.name).text(",lo,").text(&fabric.name).text("-loopbacks,");
            write!(rows.buffer, "{loopback},{},,", if loopback.is_ipv4() { 32 } else { 128 })?;
            rows.end()?;
        }
        for (link, low, high) in &routing.links {
            let link = &c.topology.links[*link as usize];
            for (end, address) in [(link.a, low), (link.b, high)] {
                let End::Switch(id, slot) = end else { continue };
                let switch = &c.topology.switches[id as usize];
                rows.text(&switch.name).comma();
                switch_port(&mut rows, &switch.model, switch.ports.cages.get(slot.cage as usize), slot);
                rows.comma().text(&fabric.name).text("-links,");
                write!(rows.buffer, "{address},31,,")?;
                rows.end()?;
            }
        }
    }
    rows.flush()
}

/// `network/bom.csv`: what has to be bought.
pub fn materials(c: &Compilation, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, "class,model,medium,length_m,side,part,count");
    for line in c.topology.materials(&c.design) {
        rows.text(line.class.word()).comma().text(&line.model).comma().text(line.medium().map_or("", |m| m.word())).comma();
        if line.length > 0 {
            rows.metres(line.length);
        }
        rows.comma().text(line.side).comma().text(line.part.as_deref().unwrap_or("")).comma().number(line.count as u32).end()?;
    }
    rows.flush()
}
