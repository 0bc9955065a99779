//! OpenSM: settings and partitions of an InfiniBand fabric. UFM and managed switches run the same subnet manager.

use crate::Compilation;
use crate::design::{Fabric, ShapeWord, SubnetManager};

fn place(manager: SubnetManager, file: &str) -> String {
    match manager {
        SubnetManager::Ufm => format!("merge into /opt/ufm/files/conf/opensm/{file} of the fabric manager"),
        SubnetManager::Opensm => format!("install as /etc/opensm/{file} on both hosts that run opensm"),
        SubnetManager::Switch => "the managed switches run the subnet manager: set the same by their command line, on two of them".to_owned(),
    }
}

/// `opensm.conf`, what differs from the defaults.
pub fn settings(fabric: &Fabric, manager: SubnetManager, adaptive_routing: bool) -> String {
    let engine = if adaptive_routing {
        "ar_updn"
    } else if fabric.topology.word() == ShapeWord::LeafOnly {
        "minhop"
    } else {
        "ftree"
    };
    format!(
        "# Subnet manager of fabric {}: {}.\n\
         # Routing: {}.\n\
         routing_engine {engine}\n\
         # Virtual functions have ports and GUIDs of their own.\n\
         virt_enabled 2\n\
         # A partition that a port is not in is refused at the switch, too.\n\
         partition_enforce both\n",
        fabric.name,
        place(manager, "opensm.conf"),
        if adaptive_routing { "adaptive, over the fat tree's up and down ways" } else { "one way a pair, spread over the tree" },
    )
}

/// MTU as the subnet manager codes it (InfiniBand architecture specification, PortInfo).
fn mtu_code(mtu: i64) -> u8 {
    match mtu {
        ..=256 => 1,
        257..=512 => 2,
        513..=1024 => 3,
        1025..=2048 => 4,
        _ => 5,
    }
}

/// `partitions.conf`: the default partition, and one for each key that a network declares.
pub fn partitions(c: &Compilation, id: usize, manager: SubnetManager, pkey: Option<i64>) -> String {
    let fabric = &c.design.fabrics[id];
    let mtu = mtu_code(fabric.mtu);
    let mut out = format!("# Partitions of fabric {}: {}.\n", fabric.name, place(manager, "partitions.conf"));
    out += &format!("Default=0x7fff, ipoib, mtu={mtu} : ALL=full, SELF=full ;\n");
    let keys = pkey.map(|key| (fabric.name.clone(), key)).into_iter();
    for (name, key) in keys.chain(c.design.networks.iter().filter(|n| n.fabric == id).filter_map(|n| Some((n.name.clone(), n.pkey?)))) {
        out += &format!("{name}=0x{:04x}, ipoib, mtu={mtu} : ALL=full ;\n", key & 0x7fff);
    }
    out
}
