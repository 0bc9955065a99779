//! netplan: the network of a host.

use std::collections::BTreeMap;

use super::parts;

parts! {
    Netplan { network: Network }
    Network {
        version: u8,
        renderer: &'static str,
        ethernets: Option<BTreeMap<String, Link>>,
        bonds: Option<BTreeMap<String, Link>>,
        vlans: Option<BTreeMap<String, Link>>,
    }
    /// A port, a bond or a VLAN.
    Link {
        id: Option<i64>,
        link: Option<String>,
        dhcp4: Option<bool>,
        dhcp6: Option<bool>,
        interfaces: Option<Vec<String>>,
        mtu: Option<i64>,
        parameters: Option<Bond>,
        addresses: Option<Vec<String>>,
        routes: Option<Vec<Route>>,
        nameservers: Option<Nameservers>,
    }
    Route { to: &'static str, via: String }
    Nameservers { addresses: Vec<String> }
}

/// Parameters of a bond, spelled with dashes.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Bond {
    pub mode: &'static str,
    pub lacp_rate: &'static str,
    pub mii_monitor_interval: i64,
    pub transmit_hash_policy: &'static str,
}
