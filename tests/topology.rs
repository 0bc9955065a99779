//! Topology against the outside: matrices that real machines printed, published reference tables, and graph algorithms as an oracle.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use aic::Compilation;
use aic::base::Severity;
use aic::lang::Options;
use aic::topology::host::matrix;

fn compile(text: &str) -> Compilation {
    aic::compile(&BTreeMap::from([("cluster.aic".to_owned(), text.to_owned())]), "cluster.aic", Options::default())
}

/// A folder of the facts beside the repository; without it a test says that it skips.
fn facts(name: &str) -> Option<PathBuf> {
    let base = std::env::var("AIC_SCHEMAS").map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = base.join("facts").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there; AIC_SCHEMAS names the folder", path.display());
    None
}

fn system(name: &str) -> std::sync::Arc<aic::design::System> {
    let c = compile(&format!("use std.{{{name}}}\ncluster one {{ kubernetes = \"1.36\", distribution = k3s }}\nhost h : {name}\n"));
    let errors: Vec<_> = c.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    c.design.hosts[0].system.clone()
}

/// Rows by name: the cells of the devices, then CPU and NUMA affinity.
type Matrix = BTreeMap<String, (Vec<String>, Vec<String>)>;

fn read_matrix(text: &str) -> (Vec<String>, Matrix) {
    let mut lines = text.lines();
    let header = lines.find(|l| l.trim_start().starts_with("GPU0")).expect("a header");
    let columns: Vec<String> = header.split_whitespace().take_while(|w| *w != "CPU").map(str::to_owned).collect();
    let mut rows = Matrix::new();
    for line in lines.take_while(|l| !l.trim().is_empty()) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (cells, rest) = words[1..].split_at(columns.len());
        rows.insert(words[0].clone(), (cells.to_vec(), rest.to_vec()));
    }
    (columns, rows)
}

/// Every cell that the real host printed: system, sample, cells with the affinities of GPUs.
#[test]
fn matrices_are_those_of_real_hosts() {
    let Some(samples) = facts("topo-samples") else { return };
    for (name, sample, cells) in [
        ("dgx_a100", "01-dgx-a100-10nic.txt", 18 * 18 + 16),
        ("dgx_h100", "02-dgx-h100-12nic-truncated-rows.txt", 14 * 20 + 16),
        ("gb200_tray", "09-gb200-tray-all-sys.txt", 4 * 10 + 4),
    ] {
        let (columns, real) = read_matrix(&std::fs::read_to_string(samples.join(sample)).unwrap());
        let system = system(name);
        let (_, ours) = read_matrix(&matrix::text(&system, &aic::topology::DeviceGraph::new(&system)));
        let mut compared = 0;
        for (row, (paths, affinity)) in &real {
            let (own, own_affinity) = &ours[row];
            for (column, path) in paths.iter().enumerate() {
                assert_eq!(&own[column], path, "{name}: {row} x {}", columns[column]);
                compared += 1;
            }
            // The tools of some years print no NUMA node; the CPUs stand first in all.
            for (own, real) in own_affinity.iter().zip(affinity).filter(|_| row.starts_with("GPU")).take(2) {
                assert_eq!(own, real, "{name}: affinity of {row}");
                compared += 1;
            }
        }
        assert_eq!(compared, cells, "{name}");
    }
}

/// The text itself is that of the tool: a `diff` with a host's own output is empty.
#[test]
fn the_text_is_what_the_tool_prints() {
    let Some(samples) = facts("topo-samples") else { return };
    let real = std::fs::read_to_string(samples.join("01-dgx-a100-10nic.txt")).unwrap();
    let system = system("dgx_a100");
    let ours = matrix::text(&system, &aic::topology::DeviceGraph::new(&system));
    // This driver printed no column for the GPUs' own NUMA nodes.
    let old = ours.replace("\tGPU NUMA ID\n", "\n").replace("\t\tN/A\n", "\n").replace("\t\t\t\t\n", "\t\t\n");
    assert_eq!(old, real);
}

/// A compute fabric of `units` units of `hosts` hosts; the last unit lacks `missing`. A rack a unit is no real rack: only the fabric is looked at.
struct Superpod {
    system: &'static str,
    switch: &'static str,
    units: usize,
    hosts: usize,
    missing: usize,
    /// Further fields of the fabric.
    fields: String,
    topology: &'static str,
}

impl Superpod {
    fn text(&self) -> String {
        let Self { system, switch, units, hosts, missing, fields, topology } = self;
        format!(
            "use std.{{{system}, {switch}, connectx_7}}\n\
             cluster sp {{ kubernetes = \"1.36\", distribution = k3s }}\n\
             system appliance {{ height = 1U, nic hca[2] : connectx_7 }}\n\
             rack su[{units}] {{ height = 2000U, host dgx[if index < {units} - 1 then {hosts} else {hosts} - {missing}] : {system} }}\n\
             rack sw[{}] {{ height = 2000U, if index < 2 {{ host ufm : appliance }} }}\n\
             fabric compute : {} {{ attach = su.dgx.rail, topology : {topology}, leaf = {switch}, spine = {switch}, core = {switch}, racks = sw{fields} }}\n",
            units.div_ceil(4) + 1,
            if *switch == "sn5600" { "roce" } else { "infiniband" },
        )
    }
}

/// Leaves, spines, cores, then links: host–leaf, leaf–spine, spine–core.
type Counts = [i64; 6];

fn counts(text: &str) -> Counts {
    let c = compile(text);
    let plan = &c.topology.fabrics[0];
    assert_eq!(plan.fault, None, "{text}");
    use aic::topology::Tier;
    let links = |from: &str, to: &str| plan.cables.iter().filter(|((f, t, _), _)| *f == from && *t == to).map(|(_, n)| n).sum();
    [plan.count(Tier::Leaf), plan.count(Tier::Spine), plan.count(Tier::Core), links("host", "leaf"), links("leaf", "spine"), links("spine", "core")]
}

/// Published tables, grade A of facts/superpod.md: every row of the compute fabrics. Cables of 800G that carry two planes count as two links.
#[test]
fn published_superpods_come_out_exactly() {
    // RA-11333-001 V11 (DGX H100) table 4, equal to RA-11334-001 V08 (DGX B200) table 4: units with one host less, whose ports the fabric
    // manager takes; units, leaves, spines, cables to hosts and fabric manager, cables between leaves and spines.
    for system in ["dgx_h100", "dgx_b200"] {
        for (units, leaves, spines, host, trunk) in [(1, 8, 4, 252, 256), (2, 16, 8, 508, 512), (3, 24, 16, 764, 768), (4, 32, 16, 1020, 1024)] {
            let fields = ", manager { attach = sw.ufm.hca }".to_owned();
            let pod = Superpod { system, switch: "qm9700", units, hosts: 32, missing: 1, fields, topology: "rail_optimized { unit = 32 }" };
            assert_eq!(counts(&pod.text()), [leaves, spines, 0, host, trunk, 0], "{system}, {units} units");
        }
        // Table 3: whole units, with cores from 16 units on. Misprints of the HTML edition: facts/superpod.md 2.1.
        let two = "rail_optimized { unit = 32 }";
        let three = "fat_tree { tiers = 3, unit = 32, rails = true }";
        for (units, topology, row) in [
            (2, two, [16, 8, 0, 512, 512, 0]),
            (4, two, [32, 16, 0, 1024, 1024, 0]),
            (8, two, [64, 32, 0, 2048, 2048, 0]),
            (16, three, [128, 128, 64, 4096, 4096, 4096]),
            (32, three, [256, 256, 128, 8192, 8192, 8192]),
            (64, three, [512, 512, 256, 16384, 16384, 16384]),
        ] {
            let pod = Superpod { system, switch: "qm9700", units, hosts: 32, missing: 0, fields: String::new(), topology };
            assert_eq!(counts(&pod.text()), row, "{system}, {units} units");
        }
    }
    // RA-11337-001 V01 (DGX B300 on Spectrum-X): two planes of 400G.
    for (units, leaves, spines, cables) in [(1, 16, 8, 512), (2, 32, 16, 1024), (4, 64, 32, 2048), (8, 128, 64, 4096), (16, 256, 128, 8192)] {
        let fields = ", planes = 2, link_rate = 400Gb/s".to_owned();
        let pod = Superpod { system: "dgx_b300", switch: "sn5600", units, hosts: 64, missing: 0, fields, topology: "rail_optimized { unit = 64 }" };
        assert_eq!(counts(&pod.text()), [leaves, spines, 0, 2 * cables, 2 * cables, 0], "Spectrum-X, {units} units");
    }
    // RA-11339-001 V01 (DGX B300 on Quantum-X800). Its last row prints 9,216 GPUs for 1,296 hosts: a misprint, the cables are right.
    for (units, leaves, spines, cables) in [(1, 8, 4, 576), (2, 16, 8, 1152), (4, 32, 18, 2304), (8, 64, 36, 4608), (18, 144, 72, 10368)] {
        let pod =
            Superpod { system: "dgx_b300", switch: "q3400_ra", units, hosts: 72, missing: 0, fields: String::new(), topology: "rail_optimized { unit = 72 }" };
        assert_eq!(counts(&pod.text()), [leaves, spines, 0, cables, cables, 0], "XDR, {units} units");
    }
}

/// RA-11333-001 tables 7 and 8, the lines of the compute fabric: 127 hosts, all links over fibre.
#[test]
fn the_bill_of_a_superpod_is_the_published_one() {
    let fields = ", manager { attach = sw.ufm.hca }, cables { prefer = [fibre] }".to_owned();
    let pod = Superpod { system: "dgx_h100", switch: "qm9700", units: 4, hosts: 32, missing: 1, fields, topology: "rail_optimized { unit = 32 }" };
    let c = compile(&pod.text());
    let bill = aic::topology::materials::list(&c.design, &c.topology);
    let sum = |class: &str, model: &str| bill.iter().filter(|m| m.class.word() == class && m.model == model).map(|m| m.count).sum::<usize>();
    assert_eq!(sum("switch", "qm9700"), 48);
    assert_eq!(sum("system", "dgx_h100"), 127);
    // 2,040 = 127 x 8 + 1,024 between hosts, leaves and spines; here the fabric manager's four are NDR, too.
    assert_eq!(sum("cable", "mfp7e10"), 2040 + 4);
    assert_eq!(sum("transceiver", "osfp_finned"), 1536);
    assert_eq!(sum("transceiver", "osfp_flat"), 508);
    // Four transceivers of the fabric manager.
    assert_eq!(sum("transceiver", "osfp 400G"), 4);
}

/// Grade B of facts/superpod.md, and what follows from the closed form.
#[test]
fn other_published_fabrics_come_out() {
    // 2.6: one unit of GB200 built flat, as the dump of a real fabric shows: 32 leaves of 18 down and 18 up, nine spines.
    let nvl = |units: usize| {
        format!(
            "use std.{{gb200_nvl72, qm9700}}\ncluster sp {{ kubernetes = \"1.36\", distribution = k3s }}\n\
             rack nvl[{}] : gb200_nvl72 {{ height = 48U }}\nrack sw[8] {{ height = 2000U }}\n",
            units * 8
        )
    };
    let fabric = |rails: &str, topology: &str| {
        format!(
            "fabric compute : infiniband {{ attach = nvl.tray.{rails}, topology : {topology}, leaf = qm9700, spine = qm9700, core = qm9700, racks = sw }}\n"
        )
    };
    assert_eq!(counts(&(nvl(1) + &fabric("rail", "rail_optimized { unit = 18 }"))), [32, 9, 0, 576, 576, 0]);
    // 2.6: four units with rail groups (a third-party design tool): a rail has 32 leaves in pods of eight under six spines with three links a
    // pair, tapered 4:3 to nine cores with two links a spine. Four rails: 2,304 + 2,304 + 1,728 links.
    let rail = counts(&(nvl(4) + &fabric("rail[0]", "fat_tree { tiers = 3, unit = 18, rails = true, pod = 8, taper = 4:3 }")));
    assert_eq!(rail, [32, 24, 9, 2304 / 4, 2304 / 4, 1728 / 4]);
    // 3: 512 hosts of H100 are 16 units: 128 leaves, 128 spines, 64 cores, in all 320 switches. The limit of two tiers is 256 hosts.
    let h100 = |units, topology| Superpod { system: "dgx_h100", switch: "qm9700", units, hosts: 32, missing: 0, fields: String::new(), topology }.text();
    assert_eq!(counts(&h100(16, "fat_tree { tiers = 3, unit = 32, rails = true }"))[..3].iter().sum::<i64>(), 320);
    let c = compile(&h100(9, "rail_optimized { unit = 32 }"));
    assert_eq!(c.topology.fabrics[0].fault, Some(aic::topology::Fault::TooManyLeaves(72, 64)));
    // 3: Asterfusion, 64 hosts of four GPUs on 64 ports of 800G run as 128 of 400G: four leaves, two spines.
    let small = "use std.{h100_sxm, xeon_8470, connectx_7, sn5600}\ncluster sp { kubernetes = \"1.36\", distribution = k3s }\n\
        system four { height = 4U, memory = 1TiB, cpu[2] : xeon_8470, gpu[4] : h100_sxm, nic rail[4] : connectx_7,\n\
          for i in 0..4 { link cpu[floor(i / 2)] -- [gpu[i], rail[i]] : pcie } }\n\
        rack r[8] { height = 60U, host h[8] : four }\nrack sw { height = 60U }\n\
        fabric compute : roce { attach = r.h.rail, topology : rail_optimized { unit = 64 }, leaf = sn5600, spine = sn5600, link_rate = 400Gb/s, racks = sw }\n";
    assert_eq!(counts(small), [4, 2, 0, 256, 256, 0]);
    // 2.8: BasePOD of eight DGX H100: two switches of 32 down and 32 links between them; of four, 16 each.
    for (hosts, links, between) in [(4, 32, 16), (8, 64, 32)] {
        let text = format!(
            "use std.{{dgx_h100, qm9700}}\ncluster sp {{ kubernetes = \"1.36\", distribution = k3s }}\nrack r[{hosts}] {{ height = 48U, host dgx : dgx_h100 }}\n\
             rack sw {{ height = 48U }}\nfabric compute : infiniband {{ attach = r.dgx.rail, topology : leaf_only {{ leaves = 2 }}, leaf = qm9700, racks = sw }}\n"
        );
        let c = compile(&text);
        let plan = &c.topology.fabrics[0];
        assert_eq!(plan.fault, None);
        assert_eq!(plan.cables.values().copied().collect::<Vec<_>>(), [links, between], "{hosts} hosts");
    }
}

/// Shapes beside the published ones: rails without spines, a tree a rail, tapered and partial trees, declared counts.
#[test]
fn every_shape_is_planned() {
    let h100 = |units, missing, topology| Superpod { system: "dgx_h100", switch: "qm9700", units, hosts: 32, missing, fields: String::new(), topology }.text();
    assert_eq!(counts(&h100(1, 4, "rail_only { unit = 32 }")), [8, 0, 0, 224, 0, 0]);
    // Two units: each rail is a tree of two leaves under one spine of its own.
    assert_eq!(counts(&h100(2, 0, "rail_only { unit = 32 }")), [16, 8, 0, 512, 512, 0]);
    // 40 leaves: a full pod of 32 leaves and spines, and eight leaves under eight spines. 20 cores would carry it; 32 spread each spine's 32 links evenly.
    assert_eq!(counts(&h100(5, 0, "fat_tree { tiers = 3, unit = 32, rails = true }")), [40, 40, 32, 1280, 1280, 1280]);
    // 3:1 at the spine: 48 down and 16 up of 64, in pods of 48 leaves.
    assert_eq!(counts(&h100(6, 0, "fat_tree { tiers = 3, unit = 32, rails = true, taper = 3:1 }")), [48, 32, 8, 1536, 1536, 512]);
    assert_eq!(counts(&h100(2, 0, "rail_optimized { unit = 32, spines = 16 }")), [16, 16, 0, 512, 512, 0]);
    let c = compile(&h100(4, 0, "rail_optimized { unit = 32, spines = 8 }"));
    assert_eq!(c.topology.fabrics[0].fault, Some(aic::topology::Fault::Count(aic::topology::Tier::Spine, 8, 16)));
}

/// Maximum flow between two halves of the hosts, against the planner's closed forms.
#[test]
fn bisections_are_maximum_flows() {
    let h100 = |units, missing, topology| Superpod { system: "dgx_h100", switch: "qm9700", units, hosts: 32, missing, fields: String::new(), topology }.text();
    for text in [
        h100(2, 0, "rail_optimized { unit = 32 }"),
        h100(4, 0, "rail_optimized { unit = 32, spines = 32 }"),
        h100(8, 0, "fat_tree { tiers = 3, unit = 32, rails = true }"),
        h100(6, 0, "fat_tree { tiers = 3, unit = 32, rails = true, taper = 3:1, pod = 24 }"),
        h100(6, 0, "leaf_spine").replace("racks = sw", "racks = sw, oversubscription = 3:1"),
    ] {
        let c = compile(&text);
        let plan = &c.topology.fabrics[0];
        assert_eq!(plan.fault, None, "{text}");
        let half = c.design.hosts.iter().filter(|h| h.name.starts_with("su-")).count() / 2;
        let hosts: Vec<u32> = (0..c.design.hosts.len() as u32).filter(|h| c.design.hosts[*h as usize].name.starts_with("su-")).collect();
        let boundary = hosts[half];
        let flow = aic::topology::analysis::cut_by_flow(&c.topology, 0, |host| host >= boundary);
        assert_eq!(plan.bisection, Some(aic::topology::ports::bytes(2 * flow)), "{text}");
    }
}

#[test]
fn losses_are_what_the_graph_loses() {
    let h100 = |units, topology| Superpod { system: "dgx_h100", switch: "qm9700", units, hosts: 32, missing: 0, fields: String::new(), topology }.text();
    let c = compile(&h100(2, "rail_optimized { unit = 32 }"));
    let analysis = c.topology.analysis(&c.design, 0);
    // Eight cables from each host, and eight leaves with 32 ways up.
    assert_eq!(analysis.disjoint_paths, 8);
    let [leaf, spine] = analysis.losses.as_slice() else { panic!("two tiers") };
    // A leaf: 32 hosts lose one of eight ports, none is cut off. A spine of eight: an eighth of the trunks.
    assert_eq!((leaf.hosts_cut, leaf.hosts_degraded, leaf.single_points), (0, 32, 0));
    assert_eq!((spine.hosts_cut, spine.hosts_degraded), (0, 0));
    let all = c.topology.fabrics[0].bisection.unwrap();
    assert_eq!(spine.bisection.unwrap() / all, aic::base::Rational::new(7, 8));
    assert_eq!(analysis.rail_reach, [64; 8]);
    // Without spines a rail ends with its unit; each host still has eight ways to the others of its unit.
    let c = compile(&h100(1, "rail_only { unit = 32 }"));
    assert_eq!(c.topology.analysis(&c.design, 0).rail_reach, [32; 8]);
    assert_eq!(c.topology.analysis(&c.design, 0).disjoint_paths, 8);
    // On a management fabric ports of switches and power units count as those of hosts do: a leaf takes its half, and leaves the other.
    let text = "use std.{dgx_h100, qm9700, sn2201}\ncluster sp { kubernetes = \"1.36\", distribution = k3s }\nrack r[4] { height = 60U, pdus = 2, host h[4] : dgx_h100 }\nrack sw { height = 60U }\n\
        fabric compute : infiniband { attach = r.h.rail, topology : leaf_only { leaves = 4 }, leaf = qm9700, racks = sw, uplink { links = 2 } }\n\
        fabric oob : ethernet { attach = all.management, topology : leaf_only { leaves = 2 }, leaf = sn2201, racks = sw, uplink { links = 2 } }\n";
    let c = compile(text);
    let oob = c.design.fabrics.iter().position(|f| f.name == "oob").unwrap();
    let all = c.topology.fabrics[oob].injection;
    assert_eq!(all, aic::topology::ports::bytes(1000 * (16 + 4 + 8)));
    assert_eq!(c.topology.analysis(&c.design, oob).losses[0].injection, all / aic::base::Rational::from_integer(2));
    // Storage servers on one port: their leaf is a single point of failure, and so is the only spine.
    let text = "use std.{cpu_1u, sn5610}\ncluster sp { kubernetes = \"1.36\", distribution = k3s }\nrack r { height = 400U, host h[200] : cpu_1u }\nrack sw { height = 60U }\n\
        fabric data : ethernet { attach = r.h.data.port[0], topology : leaf_spine { leaves = 4, spines = 1 }, leaf = sn5610, spine = sn5610, racks = sw }\n";
    let c = compile(text);
    assert_eq!(c.topology.fabrics[0].fault, None);
    let analysis = c.topology.analysis(&c.design, 0);
    assert_eq!((analysis.disjoint_paths, analysis.single_cable), (1, 200));
    assert_eq!(analysis.losses.iter().map(|l| (l.hosts_cut, l.single_points)).collect::<Vec<_>>(), [(50, 4), (150, 1)]);
}

/// A unit's leaves stand in its racks, from the unit that is named; what is taken there is a fault at the place where it is written.
#[test]
fn switches_stand_where_they_are_put() {
    let design = |placement: &str| {
        compile(&format!(
            r#"use std.{{dgx_h100, qm9700}}
cluster c {{ kubernetes = "1.36", distribution = kubeadm }}
rack train[4] {{ height = 48U, power = 60kW, host h100[4] : dgx_h100 }}
rack core[2]  {{ height = 48U, power = 60kW }}
fabric compute : infiniband {{
  attach = train.h100.rail, topology : rail_optimized {{ unit = 8 }}, leaf = qm9700, spine = qm9700, racks = core
  {placement}
}}
"#
        ))
    };
    let stands = |c: &Compilation, name: &str| {
        let switch = c.topology.switches.iter().find(|s| s.name == name).expect(name);
        (c.design.racks[switch.rack.expect("a rack")].name.clone(), switch.unit.expect("a unit"))
    };
    let faults = |c: &Compilation| c.diagnostics.iter().filter(|d| d.code == "AIC0402").map(|d| d.message.clone()).collect::<Vec<_>>();
    let at = |rack: &str, unit| (rack.to_owned(), unit);

    let c = design("");
    assert_eq!(
        [stands(&c, "compute-leaf-0"), stands(&c, "compute-leaf-1"), stands(&c, "compute-leaf-2")],
        [at("core-0", 48), at("core-1", 48), at("core-0", 47)]
    );

    let c = design("placement { leaf { racks = train, position = 40U }, spine { position = 20U } }");
    assert_eq!(faults(&c), [""; 0]);
    // Two units of eight leaves in four racks: unit 0 is in racks 0 and 1.
    let leaves = [0, 3, 4, 7, 8, 15].map(|n| stands(&c, &format!("compute-leaf-{n}")));
    assert_eq!(leaves, [at("train-0", 40), at("train-0", 37), at("train-1", 40), at("train-1", 37), at("train-2", 40), at("train-3", 37)]);
    assert_eq!([stands(&c, "compute-spine-0"), stands(&c, "compute-spine-1")], [at("core-0", 20), at("core-1", 20)]);

    // Hosts of 4 x 8U reach up to 32U.
    let c = design("placement { leaf { racks = train, position = 32U } }");
    assert_eq!(faults(&c)[0], "switch compute-leaf-0 does not fit at 32U of rack train-0");
    let c = design("placement { spine { position = 49U } }");
    assert_eq!(faults(&c), ["switch compute-spine-0 does not fit at 49U of rack core-0"]);
    // Sixteen leaves in one rack that has room for ten below 10U: what finds no place is said, too.
    let c = design("placement { leaf { racks = core[0], position = 10U } }");
    assert_eq!(faults(&c), ["switch compute-leaf-10 of fabric compute finds no place in its racks"]);
}
