//! `netplan.yaml`: the network of each host of a pool.

use std::collections::BTreeMap;

use super::super::kinds::host::{Bond, Link, Nameservers, Netplan, Network, Route};
use super::super::object::Document;
use crate::Compilation;
use crate::base::parallel;
use crate::design::Pool;
use crate::topology::addresses::interface;

/// A document a host: bonds over the ports of a fabric, VLANs for its networks.
pub fn netplan(c: &Compilation, pool: &Pool) -> Vec<Document> {
    of_hosts(c, &pool.hosts)
}

/// A document for each of some hosts.
pub fn of_hosts(c: &Compilation, hosts: &[usize]) -> Vec<Document> {
    let d = &c.design;
    let one = |host: &usize| {
        let h = &d.hosts[*host];
        let network = network_of_host(c, *host);
        Document::file(&Netplan { network }, &h.at.source, h.at.head).because("", format!("host: {}; install as /etc/netplan/10-aic.yaml, mode 0600", h.name))
    };
    parallel::parts(hosts, MANY, |part| part.iter().map(one).collect::<Vec<_>>()).into_iter().flatten().collect()
}

/// Hosts from which on their files are worth more than one thread.
const MANY: usize = 500;

/// The network of a host, as netplan names its parts; other systems translate it.
pub fn network_of_host(c: &Compilation, host: usize) -> Network {
    let d = &c.design;
    let quiet = |mtu| Link { dhcp4: Some(false), dhcp6: Some(false), mtu: Some(mtu), ..Default::default() };
    let (mut ethernets, mut bonds, mut vlans): (BTreeMap<String, Link>, BTreeMap<String, Link>, BTreeMap<String, Link>) = Default::default();
    for address in c.topology.addresses_of_host(host) {
        let network = &d.networks[address.network];
        let fabric = &d.fabrics[network.fabric];
        if fabric.management {
            continue; // the service processor has its own configuration
        }
        let ports: Vec<String> = c.topology.ports_of_host(network.fabric, host).iter().map(|p| interface(d, *p)).collect();
        let base = address.interface.split('.').next().unwrap_or("").to_owned();
        if address.of_pods {
            // Up, so that its functions are; the address is the pod's.
            ethernets.entry(base).or_insert_with(|| quiet(fabric.mtu));
            continue;
        }
        let node = Some(address.network) == d.node_network();
        // The only default route is on the hosts' own network.
        let settings = Link {
            mtu: Some(network.mtu),
            addresses: Some(vec![format!("{}/{}", address.address, address.prefix)]),
            routes: network.gateway.filter(|_| node).map(|gateway| vec![Route { to: "default", via: gateway.to_string() }]),
            nameservers: (node && !d.cluster.dns.is_empty()).then(|| Nameservers { addresses: d.cluster.dns.iter().map(ToString::to_string).collect() }),
            ..Default::default()
        };
        let bonded = base == "bond0";
        if bonded {
            for port in &ports {
                ethernets.insert(port.clone(), quiet(fabric.mtu));
            }
            bonds.entry(base.clone()).or_insert_with(|| Link { interfaces: Some(ports), mtu: Some(fabric.mtu), parameters: Some(BOND), ..Default::default() });
        }
        match network.vlan {
            Some(vlan) => {
                if !bonded {
                    ethernets.entry(base.clone()).or_insert_with(|| quiet(fabric.mtu));
                }
                vlans.insert(address.interface.clone(), Link { id: Some(vlan), link: Some(base), ..settings });
            }
            None => match bonds.get_mut(&base) {
                Some(bond) => *bond = Link { interfaces: bond.interfaces.take(), parameters: bond.parameters.take(), ..settings },
                None => {
                    ethernets.insert(base, Link { dhcp4: Some(false), ..settings });
                }
            },
        }
    }
    let some = |map: BTreeMap<String, Link>| Some(map).filter(|m| !m.is_empty());
    Network { version: 2, renderer: "networkd", ethernets: some(ethernets), bonds: some(bonds), vlans: some(vlans) }
}

/// LACP over both members; the hash over ports keeps one flow on one link.
const BOND: Bond = Bond { mode: "802.3ad", lacp_rate: "fast", mii_monitor_interval: 100, transmit_hash_policy: "layer3+4" };
