//! `network/README.md`: for the person who racks, cables and configures.

use std::fmt::Write as _;

use super::super::Artifacts;
use crate::Compilation;
use crate::base::names::{count_of, grouped};
use crate::base::{Dimension, Quantity};

/// Parts of file names that the page speaks of.
const PARTS: [&str; 6] = ["switches/", ".nvue.yaml", ".config_db.json", "-opensm.conf", "topology.conf", "nccl-topo"];

/// Those of the parts that the bundle has.
pub fn parts(artifacts: &Artifacts) -> Vec<&'static str> {
    PARTS.into_iter().filter(|part| artifacts.files.keys().any(|path| path.starts_with("network/") && path.contains(part))).collect()
}

/// The page.
pub fn page(c: &Compilation, parts: &[&'static str]) -> String {
    let d = &c.design;
    let has = |part: &str| parts.contains(&part);
    let mut out =
        String::from("# Network\n\n| fabric | shape | switches | links | ratio | a lost switch cuts off | picture |\n|---|---|---|---|---|---|---|\n");
    for (id, (fabric, plan)) in d.fabrics.iter().zip(&c.topology.fabrics).enumerate() {
        if plan.switches.is_empty() {
            continue;
        }
        let tiers: Vec<String> = plan.tiers.iter().map(|(tier, model, n)| format!("{} {} {}", grouped((*n).into()), model.name, tier.noun(*n))).collect();
        let links: Vec<String> = plan.cables.iter().map(|((from, to, gbps), n)| format!("{} {from}–{to} {gbps}G", grouped((*n).into()))).collect();
        let worst = c.topology.analysis(d, id).losses.iter().map(|l| l.hosts_cut).max().unwrap_or(0);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | [fabric-{}.svg](fabric-{}.svg) |",
            fabric.name,
            fabric.topology.word(),
            tiers.join(", "),
            links.join(", "),
            plan.ratio.map_or("–".into(), |r| Quantity::new(r, Dimension::Ratio).to_string()),
            if worst > 0 { count_of(worst as usize, "host") } else { "nobody".into() },
            fabric.name,
            fabric.name
        );
    }
    out += "\n## Order of work\n\n\
        1. `bom.csv`: what to buy. Cable lengths hold the way up to the tray, along the row and down, and the fabric's slack; a line without `part` is any product of that kind.\n\
        2. [racks.svg](racks.svg): what stands where; unit 1 is at the bottom.\n\
        3. `cables.csv`: a row a link with both ends by device, rack, unit and port. Rows with one `label` are one physical cable: a splitter, or a twin-port cable. Sort by `a_rack` to pull, by `label` to print.\n\
        4. `addresses.csv`: every address of hosts, switches and power units.\n";
    if has("switches/") {
        out += "5. `switches/`: a file a switch";
        let mut kinds = Vec::new();
        if has(".nvue.yaml") {
            kinds.push("`*.nvue.yaml` is `/etc/nvue.d/startup.yaml` of Cumulus Linux, then `nv config apply startup`");
        }
        if has(".config_db.json") {
            kinds.push("`*.config_db.json` is merged into `/etc/sonic/config_db.json`, then `config reload`");
        }
        if has("-opensm.conf") {
            kinds.push("`*-opensm.conf` and `*-partitions.conf` say in their first line where they go");
        }
        let _ = writeln!(out, ": {}.", kinds.join("; "));
    }
    out += "\n## Is it cabled as planned?\n\n\
        A port's description in `switches/` is the device and port at the other end, as LLDP shows it: `nv show interface --view=lldp` on Cumulus Linux, `show lldp table` on SONiC. \
        On InfiniBand, `iblinkinfo` against `ports.csv`, which has every port of every switch, used or not. A port whose peer is empty is free; on a leaf with `uplink` the last ones go to the site's own network.\n";
    if has("topology.conf") {
        out += "\n`topology.conf` is the same fabric for Slurm and topograph.\n";
    }
    if has("nccl-topo") {
        out += "\n`nccl-topo-*.xml` is a host's device graph for `NCCL_TOPO_FILE`, where a virtual machine hides the real one; its first lines say what is to be filled in.\n";
    }
    out
}
