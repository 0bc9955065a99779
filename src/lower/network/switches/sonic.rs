//! SONiC: `config_db.json` (SONiC configuration database manual).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{BRIDGED, Port, View};
use crate::topology::{End, Tier};

type Rows = BTreeMap<String, BTreeMap<String, String>>;

fn row<const N: usize>(fields: [(&str, String); N]) -> BTreeMap<String, String> {
    fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// The file of a switch.
pub fn text(view: &View) -> String {
    let ports = view.ports();
    let switch = view.switch();
    let mut tables: Map<String, Value> = Map::new();
    let mut add = |name: &str, rows: Rows| {
        if !rows.is_empty() {
            tables.insert(name.to_owned(), serde_json::to_value(rows).unwrap_or_default());
        }
    };
    let mut metadata = row([("hostname", switch.name.clone()), ("type", if switch.tier == Tier::Leaf { "LeafRouter" } else { "SpineRouter" }.to_owned())]);
    if view.routing().is_none() && view.c.topology.fabrics[switch.fabric].count(Tier::Spine) > 0 {
        metadata.insert("comment".into(), BRIDGED.into());
    }
    metadata.extend(view.autonomous_system().map(|system| ("bgp_asn".to_owned(), system.to_string())));
    add("DEVICE_METADATA", Rows::from([("localhost".to_owned(), metadata)]));
    if let Some((address, prefix, gateway)) = view.management() {
        let fields = gateway.map(|g| ("gwaddr".to_owned(), g.to_string())).into_iter().collect();
        add("MGMT_INTERFACE", Rows::from([(format!("eth0|{address}/{prefix}"), fields)]));
    }
    add("PORT", ports.iter().map(|p| (p.name.clone(), port(view, p))).collect());
    if let Some(loopback) = view.loopback() {
        let prefix = if loopback.is_ipv4() { 32 } else { 128 };
        add("LOOPBACK_INTERFACE", Rows::from([("Loopback0".to_owned(), BTreeMap::new()), (format!("Loopback0|{loopback}/{prefix}"), BTreeMap::new())]));
    }
    let mut interfaces = Rows::new();
    let mut neighbours = Rows::new();
    for port in &ports {
        if let Some((address, prefix)) = port.address {
            interfaces.insert(port.name.clone(), BTreeMap::new());
            interfaces.insert(format!("{}|{address}/{prefix}", port.name), BTreeMap::new());
        }
        if let Some(((address, system), (own, _))) = port.neighbour.zip(port.address) {
            neighbours.insert(
                address.to_string(),
                row([("asn", system.to_string()), ("local_addr", own.to_string()), ("name", port.peer.split(' ').next().unwrap_or("").to_owned())]),
            );
        }
    }
    add("INTERFACE", interfaces);
    add("BGP_NEIGHBOR", neighbours);
    if view.routing().is_none() {
        let vlans = view.vlans();
        let all = if vlans.is_empty() { vec![1] } else { vlans.clone() };
        add("VLAN", all.iter().map(|v| (format!("Vlan{v}"), row([("vlanid", v.to_string())]))).collect());
        let mode = if vlans.is_empty() { "untagged" } else { "tagged" };
        add(
            "VLAN_MEMBER",
            all.iter().flat_map(|v| ports.iter().map(move |p| (format!("Vlan{v}|{}", p.name), row([("tagging_mode", mode.to_owned())])))).collect(),
        );
    }
    if let Some(congestion) = view.congestion() {
        let (priority, dscp) = (congestion.pfc_priority, congestion.dscp);
        let lossless = priority.to_string();
        add(
            "DSCP_TO_TC_MAP",
            Rows::from([("ROCE".to_owned(), (0..64).map(|d| (d.to_string(), if d == dscp { lossless.clone() } else { "0".to_owned() })).collect())]),
        );
        add("TC_TO_QUEUE_MAP", Rows::from([("ROCE".to_owned(), (0..8).map(|tc: i64| (tc.to_string(), tc.to_string())).collect())]));
        add(
            "TC_TO_PRIORITY_GROUP_MAP",
            Rows::from([("ROCE".to_owned(), (0..8).map(|tc: i64| (tc.to_string(), if tc == priority { lossless.clone() } else { "0".to_owned() })).collect())]),
        );
        let map = || {
            row([
                ("dscp_to_tc_map", "ROCE".to_owned()),
                ("tc_to_queue_map", "ROCE".to_owned()),
                ("tc_to_pg_map", "ROCE".to_owned()),
                ("pfc_enable", lossless.clone()),
                ("pfcwd_sw_enable", lossless.clone()),
            ])
        };
        add("PORT_QOS_MAP", ports.iter().map(|p| (p.name.clone(), map())).collect());
        if congestion.ecn {
            add("WRED_PROFILE", Rows::from([("ROCE".to_owned(), row([("ecn", "ecn_all".to_owned())]))]));
            add("QUEUE", ports.iter().map(|p| (format!("{}|{priority}", p.name), row([("wred_profile", "ROCE".to_owned())]))).collect());
        }
        // The watchdog frees a queue that a faulty host keeps paused.
        add(
            "PFC_WD",
            ports
                .iter()
                .filter(|p| matches!(p.end, Some(End::Host(_))))
                .map(|p| (p.name.clone(), row([("action", "drop".to_owned()), ("detection_time", "200".to_owned()), ("restoration_time", "200".to_owned())])))
                .collect(),
        );
    }
    serde_json::to_string_pretty(&tables).unwrap_or_default() + "\n"
}

/// A port's row. Lanes are counted over the front, eight a cage of OSFP or QSFP-DD, as the port's name is.
fn port(view: &View, port: &Port) -> BTreeMap<String, String> {
    let switch = view.switch();
    let mut out = row([
        ("admin_status", "up".to_owned()),
        ("description", port.peer.clone()),
        ("mtu", view.fabric().mtu.to_string()),
        ("speed", (port.gbps * 1000).to_string()),
        ("index", (port.slot.cage + 1).to_string()),
    ]);
    if let Some(cage) = switch.ports.cages.get(port.slot.cage as usize) {
        let lanes = crate::topology::ports::lanes(switch.model.cages[cage.group as usize].connector.as_deref());
        let own = lanes / cage.mode.map_or(1, |m| u32::from(m.links)).max(1);
        let first = u32::from(port.slot.cage) * lanes + u32::from(port.slot.sub) * own.max(1) + 1;
        out.insert("lanes".into(), (first..first + own.max(1)).map(|l| l.to_string()).collect::<Vec<_>>().join(","));
        if lanes > 1 {
            out.insert("fec".into(), "rs".into());
        }
    }
    out
}
