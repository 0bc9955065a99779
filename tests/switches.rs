//! Configurations of switches against each other: what one says of its neighbour, the neighbour says of it.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;

use aic::lang::Options;
use serde_json::Value;

/// Atlas with a routed fabric of two vendors beside.
fn files() -> BTreeMap<String, String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/atlas/");
    let mut project: BTreeMap<String, String> =
        ["cluster.aic", "hardware.aic"].iter().map(|f| ((*f).to_owned(), std::fs::read_to_string(format!("{root}{f}")).unwrap())).collect();
    let text = project.get_mut("cluster.aic").unwrap();
    *text = text
        .replace("qm9700, sn5610}", "qm9700, sn5610, arista_7060x6_64pe}")
        .replace("power  = 20kW ", "power  = 30kW ")
        .replace(
            "fabric oob : ethernet {",
            "fabric extra : roce {\n attach = train.h100.storage.port[1]\n topology : leaf_spine { leaves = 2, spines = 2 }\n leaf = arista_7060x6_64pe\n spine = sn5610\n \
             congestion { adaptive_routing = true }\n routed { loopbacks = 10.254.0.0/24, links = 10.253.0.0/20 }\n racks = infra\n}\n\
             network extra { fabric = extra, cidr = 172.20.0.0/16, host_prefix = 31 }\nfabric oob : ethernet {",
        );
    let c = aic::compile(&project, "cluster.aic", Options::default());
    assert!(!c.has_errors(), "{:?}", c.diagnostics.iter().map(|d| &d.message).collect::<Vec<_>>());
    aic::bundle::texts(aic::bundle::render(aic::lower::lower(&c).unwrap(), &c), &c)
}

/// A switch as its configuration has it: own addresses by port, neighbours by address with their system, own system, and what each port says of its peer.
#[derive(Default)]
struct Configured {
    addresses: Vec<String>,
    neighbours: Vec<(String, u64)>,
    system: Option<u64>,
    peers: BTreeMap<String, String>,
    mtu: Vec<u64>,
}

fn nvue(text: &str) -> Configured {
    let value: Value = serde_saphyr::from_str(text).unwrap();
    let set = &value[0]["set"];
    let mut out = Configured { system: set["router"]["bgp"]["autonomous-system"].as_u64(), ..Configured::default() };
    for (name, interface) in set["interface"].as_object().unwrap() {
        let addresses = interface["ip"]["address"].as_object();
        out.addresses.extend(addresses.into_iter().flatten().map(|(a, _)| a.split('/').next().unwrap().to_owned()));
        if let Some(peer) = interface["description"].as_str().filter(|_| name.starts_with("swp")) {
            out.peers.insert(name.clone(), peer.to_owned());
            out.mtu.extend(interface["link"]["mtu"].as_u64());
        }
    }
    let neighbours = set["vrf"]["default"]["router"]["bgp"]["neighbor"].as_object();
    out.neighbours = neighbours.into_iter().flatten().map(|(address, n)| (address.clone(), n["remote-as"].as_u64().unwrap())).collect();
    out
}

fn sonic(text: &str) -> Configured {
    let value: Value = serde_json::from_str(text).unwrap();
    let number = |v: &Value| v.as_str().unwrap().parse::<u64>().unwrap();
    let mut out = Configured { system: value["DEVICE_METADATA"]["localhost"]["bgp_asn"].as_str().map(|s| s.parse().unwrap()), ..Configured::default() };
    for (name, port) in value["PORT"].as_object().unwrap() {
        out.peers.insert(name.clone(), port["description"].as_str().unwrap().to_owned());
        out.mtu.push(number(&port["mtu"]));
    }
    for table in ["INTERFACE", "LOOPBACK_INTERFACE"] {
        let keys = value[table].as_object().into_iter().flatten().filter_map(|(key, _)| key.split_once('|'));
        out.addresses.extend(keys.map(|(_, a)| a.split('/').next().unwrap().to_owned()));
    }
    out.neighbours = value["BGP_NEIGHBOR"].as_object().into_iter().flatten().map(|(a, n)| (a.clone(), number(&n["asn"]))).collect();
    out
}

#[test]
fn neighbours_agree() {
    let files = files();
    let mut switches: BTreeMap<String, Configured> = BTreeMap::new();
    for (path, text) in &files {
        let Some(file) = path.strip_prefix("network/switches/") else { continue };
        if let Some(name) = file.strip_suffix(".nvue.yaml") {
            switches.insert(name.to_owned(), nvue(text));
        } else if let Some(name) = file.strip_suffix(".config_db.json") {
            switches.insert(name.to_owned(), sonic(text));
        }
    }
    assert_eq!(switches.len(), 8);
    let (mut sessions, mut cables) = (0, 0);
    for (name, switch) in &switches {
        for (address, system) in &switch.neighbours {
            let peer = switches.values().find(|s| s.addresses.contains(address)).unwrap_or_else(|| panic!("{name}: nobody has {address}"));
            assert_eq!(peer.system, Some(*system), "{name}: {address}");
            assert_ne!(peer.system, switch.system, "{name}: eBGP");
            assert!(peer.neighbours.iter().any(|(back, _)| switch.addresses.contains(back)), "{address} does not peer back");
            sessions += 1;
        }
        for (port, peer) in &switch.peers {
            let (device, other) = peer.split_once(' ').unwrap_or((peer, ""));
            if let Some(other_switch) = switches.get(device).filter(|_| other != "eth0") {
                assert_eq!(other_switch.peers.get(other), Some(&format!("{name} {port}")), "LLDP of {name} {port}");
                cables += 1;
            }
        }
    }
    // Two leaves with 16 links to each of two spines, seen from both sides; the pair's four links, too.
    assert_eq!((sessions, cables), (64, 64 + 8));
    // Hosts and switches have one MTU, and the hosts one mark and one paused priority.
    assert!(switches.iter().filter(|(name, _)| name.starts_with("extra")).all(|(_, s)| s.mtu.iter().all(|m| *m == 9000)));
    let qos: Value = serde_json::from_str(&files["network/switches/extra-leaf-0.config_db.json"]).unwrap();
    assert_eq!(qos["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "3");
    assert_eq!(qos["DSCP_TO_TC_MAP"]["ROCE"]["26"], "3");
}

/// Whoever is on a /31 with a leaf finds the leaf at the address before its own.
#[test]
fn hosts_are_neighbours_of_their_leaves() {
    let files = files();
    let leaves: Vec<Configured> = ["extra-leaf-0", "extra-leaf-1"].iter().map(|n| sonic(&files[&format!("network/switches/{n}.config_db.json")])).collect();
    let mut hosts = 0;
    for row in files["network/addresses.csv"].lines().filter(|r| r.contains(",extra,")) {
        let address: std::net::Ipv4Addr = row.split(',').nth(3).unwrap().parse().unwrap();
        let leaf = std::net::Ipv4Addr::from(u32::from(address) - 1).to_string();
        assert!(leaves.iter().any(|l| l.addresses.contains(&leaf)), "{row}");
        hosts += 1;
    }
    assert_eq!(hosts, 64);
}

/// Eight rails on two routed planes: what pods of a host get is the other half of the pair that its leaf has on that port.
#[test]
fn pods_are_neighbours_of_their_leaves_on_every_plane() {
    let design = |functions: usize| {
        let text = include_str!("data/planes.aic").replace("vfs = 1", &format!("vfs = {functions}"));
        aic::compile(&BTreeMap::from([("cluster.aic".to_owned(), text)]), "cluster.aic", Options::default())
    };
    let c = design(1);
    assert!(!c.has_errors(), "{:?}", c.diagnostics.iter().map(|d| &d.message).collect::<Vec<_>>());
    let files = aic::bundle::texts(aic::bundle::render(aic::lower::lower(&c).unwrap(), &c), &c);

    // The leaf's own address by what stands at the other end of its port.
    let mut leaf_has: BTreeMap<String, String> = BTreeMap::new();
    for text in files.iter().filter(|(path, _)| path.starts_with("network/switches/compute-leaf")).map(|(_, text)| text) {
        let value: Value = serde_saphyr::from_str(text).unwrap();
        for interface in value[0]["set"]["interface"].as_object().unwrap().values() {
            if let (Some(peer), Some(addresses)) = (interface["description"].as_str(), interface["ip"]["address"].as_object()) {
                leaf_has.insert(peer.to_owned(), addresses.keys().next().unwrap().clone());
            }
        }
    }
    let pools: Vec<Value> = serde_saphyr::from_multiple(&files["kubernetes/network/ippools.yaml"]).unwrap();
    assert_eq!(pools.len(), 16);
    let mut given = 0;
    for pool in &pools {
        let name = pool["metadata"]["name"].as_str().unwrap();
        for allocation in pool["spec"]["staticAllocations"].as_array().unwrap() {
            let (host, gateway) = (allocation["nodeName"].as_str().unwrap(), allocation["gateway"].as_str().unwrap());
            assert_eq!(leaf_has.get(&format!("{host} {name}")), Some(&format!("{gateway}/31")), "{host} {name}");
            assert_eq!(allocation["prefix"], format!("{gateway}/31"));
            given += 1;
        }
    }
    assert_eq!(given, 8 * 16);
    // A plane reaches all its rails and no other plane's.
    assert_eq!(pools[0]["spec"]["routes"], serde_json::json!([{ "dst": "172.16.0.0/21" }, { "dst": "172.16.0.0/18" }]));
    assert_eq!(pools[1]["spec"]["routes"], serde_json::json!([{ "dst": "172.16.64.0/21" }, { "dst": "172.16.64.0/18" }]));
    // The port is up and has no address of its own; the pod asks for a port of each rail on each plane, attached in that order.
    assert!(files["hosts/training/netplan.yaml"].contains("    rail0p1:\n      dhcp4: false\n      dhcp6: false\n      mtu: 9216\n    rail1p0:"));
    let job = files.iter().find(|(path, _)| path.starts_with("kubernetes/workloads/") && path.contains("job")).expect("the job").1;
    assert!(job.contains("default/rail0p0, default/rail0p1, default/rail1p0"), "{job}");
    assert!((0..8).all(|rail| (0..2).all(|plane| job.contains(&format!("nvidia.com/rail{rail}p{plane}: \"1\"")))), "{job}");

    let messages: Vec<String> = design(2).diagnostics.iter().filter(|d| d.code == "AIC0603").map(|d| d.message.clone()).collect();
    assert_eq!(messages, ["pool training has 2 virtual functions a port, network a-0 has one address for them"]);
}
