//! Whole designs: the examples check and build to the bundles that are committed; published fabrics come out exactly.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use aic::Compilation;
use aic::base::Severity;
use aic::lang::Options;
use aic::project::Disk;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compile(dir: &Path, entry: &str) -> Compilation {
    aic::compile(&Disk { root: dir.to_owned() }, entry, Options::default())
}

fn compile_text(text: &str) -> Compilation {
    aic::compile(&BTreeMap::from([("cluster.aic".to_owned(), text.to_owned())]), "cluster.aic", Options::default())
}

fn problems(c: &Compilation) -> Vec<String> {
    c.diagnostics.iter().filter(|d| d.severity != Severity::Advice).map(|d| format!("{} {}", d.code, d.message)).collect()
}

/// `UPDATE_BUNDLES=1 cargo test --test designs` writes the bundles anew; read the diff before you commit it.
#[test]
fn examples_build_to_the_committed_bundles() {
    for example in common::EXAMPLES {
        let dir = root().join("examples").join(example);
        let c = compile(&dir, "cluster.aic");
        assert_eq!(problems(&c), Vec::<String>::new(), "{example}");
        let artifacts = aic::lower::lower(&c).unwrap_or_else(|faults| panic!("{example}: {faults:?}"));
        let files = aic::bundle::render(artifacts, &c);
        let bundle = dir.join("build");
        if std::env::var("UPDATE_BUNDLES").is_ok() {
            aic::bundle::write(&bundle, &files, &c).unwrap();
        }
        let files = aic::bundle::texts(files, &c);
        let index = std::fs::read_to_string(bundle.join(".aic-files")).unwrap();
        let committed: Vec<&str> = index.lines().collect();
        assert_eq!(committed, files.keys().map(String::as_str).collect::<Vec<_>>(), "{example}: files");
        for (path, text) in &files {
            let old = std::fs::read_to_string(bundle.join(path)).unwrap();
            assert!(old == *text, "{example}/build/{path} differs; build the example and read the diff");
        }
    }
}

/// What the language accepts and this version does not emit: said at the field, by `build` and not by `check`.
#[test]
fn nothing_that_is_asked_for_is_dropped_in_silence() {
    let asked = [
        ("oversubscription = 1:1", "oversubscription = 1:1, sharp = true"),
        ("oversubscription = 1:1", "oversubscription = 1:1, pkey = 5"),
        ("access = read_write_many }", "access = read_write_many, snapshots { every = 1h, keep = 3 } }"),
        ("disks = data }", "disks = data, raid = raid0 }"),
        ("{ within = unit }", "{ within = unit, spread = rack }"),
        ("replicas = 6\n", "replicas = 6\n  autoscale { min = 2, max = 4, metric = requests, target = 10 }\n"),
    ];
    let mut missing = Vec::new();
    for (old, new) in asked {
        let mut files = sources("atlas");
        let text = files["cluster.aic"].clone();
        if !text.contains(old) {
            missing.push(format!("atlas has no `{old}`"));
            continue;
        }
        files.insert("cluster.aic".to_owned(), text.replacen(old, new, 1));
        let c = aic::compile(&files, "cluster.aic", Options::default());
        let faults = if c.has_errors() { c.diagnostics.clone() } else { aic::lower::lower(&c).err().unwrap_or_default() };
        match faults.iter().find(|d| d.severity == Severity::Error) {
            Some(fault) if fault.code == "AIC1490" => {
                let span = fault.span().expect("a place");
                let line = c.sources.get(span.file).text[..span.start as usize].lines().count();
                assert!(line > 0, "{new}");
            }
            other => missing.push(format!("{new}: {:?}", other.map(|d| format!("{} {}", d.code, d.message)))),
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn replicas_spread_over_what_the_design_names() {
    let mut files = sources("atlas");
    let text = files["cluster.aic"].replacen("replicas = 2, cpu = 8", "replicas = 2, place { spread = rack }, cpu = 8", 1);
    files.insert("cluster.aic".to_owned(), text);
    let deployment = &build(&files)["kubernetes/workloads/gateway/deployment.yaml"];
    let constraint = deployment.split("- labelSelector").find(|part| part.contains("topologyKey: topology.aic.local/rack")).unwrap();
    assert!(constraint.contains("whenUnsatisfiable: DoNotSchedule"), "{constraint}");
}

type Files = BTreeMap<String, String>;

fn bundle(c: &Compilation) -> Files {
    assert_eq!(problems(c), Vec::<String>::new());
    aic::bundle::texts(aic::bundle::render(aic::lower::lower(c).unwrap(), c), c)
}

/// The sources of an example, as they would lie in another folder.
fn sources(example: &str) -> Files {
    let dir = root().join("examples").join(example);
    let read = |name: &str| Some((name.to_owned(), std::fs::read_to_string(dir.join(name)).ok()?));
    ["cluster.aic", "hardware.aic", "aic.toml"].into_iter().filter_map(read).collect()
}

fn build(sources: &Files) -> Files {
    bundle(&aic::compile(sources, "cluster.aic", Options::default()))
}

fn changed<'a>(old: &'a Files, new: &Files) -> Vec<&'a str> {
    old.iter().filter(|(path, text)| new.get(*path).is_some_and(|t| t != *text)).map(|(path, _)| path.as_str()).collect()
}

#[test]
fn a_build_is_the_same_twice_and_in_another_folder() {
    let dir = root().join("examples/atlas");
    let once = bundle(&compile(&dir, "cluster.aic"));
    assert!(once == bundle(&compile(&dir, "cluster.aic")));
    assert!(once == build(&sources("atlas")), "a build depends on the folder");
}

#[test]
fn a_comment_changes_no_manifest() {
    let old = sources("atlas");
    let mut new = old.clone();
    let text = &new["cluster.aic"];
    let commented = format!("// a line more\n{}", text.replacen("\nworkload ", "\n// said by the way\n\nworkload ", 1));
    new.insert("cluster.aic".to_owned(), commented);
    let (old, new) = (build(&old), build(&new));
    assert_eq!(changed(&old, &new), ["aic.map.json"]);
}

#[test]
fn a_workload_takes_its_files_and_no_others_with_it() {
    let old = sources("atlas");
    let mut new = old.clone();
    let text = &new["cluster.aic"];
    let start = text.find("workload chat").unwrap();
    let end = start + text[start..].find("\n}\n").unwrap() + 3;
    new.insert("cluster.aic".to_owned(), format!("{}{}", &text[..start], &text[end..]));
    let (old, new) = (build(&old), build(&new));
    let gone: Vec<&str> = old.keys().filter(|p| !new.contains_key(*p)).map(String::as_str).collect();
    insta::assert_debug_snapshot!((gone, changed(&old, &new)));
    assert!(new.keys().all(|p| old.contains_key(p)));
}

#[test]
fn every_pod_of_the_examples_has_a_host() {
    for example in common::EXAMPLES {
        let c = compile(&root().join("examples").join(example), "cluster.aic");
        for (workload, pods) in c.design.workloads.iter().zip(&c.nodes.pods) {
            for shape in &pods.shapes {
                assert_eq!(shape.placed.len(), shape.count, "{example}: {}", workload.name);
                assert!(shape.placed.iter().all(|h| shape.candidates.contains(h)));
            }
        }
        let atlas_job = c.design.workloads.iter().position(|w| w.name == "llama");
        if let Some(job) = atlas_job {
            let units: std::collections::BTreeSet<_> = c.nodes.pods[job].shapes[0].placed.iter().map(|h| c.topology.unit_of(0, *h)).collect();
            assert_eq!(units.len(), 1, "`within = unit`");
        }
    }
}

/// Work is counted, so that a change in cost is a diff and not noise. At most 25 KB of the library is parsed for a design.
#[test]
fn the_work_for_the_examples_is_what_it_was() {
    let mut counted = BTreeMap::new();
    for example in common::EXAMPLES {
        let c = compile(&root().join("examples").join(example), "cluster.aic");
        assert!(c.counters.std_bytes <= 25_000, "{example}");
        let documents = aic::lower::lower(&c).unwrap().documents();
        counted.insert(example, (c.counters, documents));
    }
    insta::assert_debug_snapshot!(counted);
}

/// The design documents hold designs of many shapes; a checkout without them skips, and says so.
#[test]
fn designs_beside_the_repository_check_without_a_fault() {
    let designs = std::env::var("AIC_DESIGNS").map_or_else(|_| root().join("../shared/designs"), Into::into);
    if !designs.is_dir() {
        println!("skipped: {} is not there; set AIC_DESIGNS", designs.display());
        return;
    }
    let entries = [
        ("atlas", "cluster.aic"),
        ("lab", "cluster.aic"),
        ("eks_p5", "cluster.aic"),
        ("inference", "cluster.aic"),
        ("mi300x_roce", "cluster.aic"),
        ("nvl72", "cluster.aic"),
        ("scale_100k", "cluster.aic"),
        ("superpod_b300_spectrumx", "cluster.aic"),
        ("superpod_b300_xdr", "cluster.aic"),
        ("superpod_h100_4su", "cluster.aic"),
        ("org", "sites/osaka.aic"),
        ("org", "sites/oslo.aic"),
    ];
    for (dir, entry) in entries {
        let c = compile(&designs.join(dir), entry);
        assert_eq!(problems(&c), Vec::<String>::new(), "{dir}/{entry}");
    }
}

#[test]
fn every_system_of_the_library_is_sound() {
    let systems: Vec<&str> = aic::lang::stdlib::names().filter(|n| aic::lang::stdlib::is_kind(n, "system")).collect();
    for system in systems {
        let text = format!("use std.{{{system}}}\ncluster one {{ kubernetes = \"1.36\", distribution = k3s }}\nhost h : {system}\n");
        let text = if system == "gb200_nvl72" { text.replace("host h :", "rack h :").replace("gb200_nvl72\n", "gb200_nvl72 { height = 48U }\n") } else { text };
        let c = compile_text(&text);
        assert!(!c.has_errors(), "{system}: {:?}", problems(&c));
        assert!(!c.design.hosts.is_empty(), "{system}");
        for host in &c.design.hosts {
            let graph = c.topology.graph(&host.system).unwrap();
            for (gpu, _) in host.system.gpus() {
                assert!(graph.numa(gpu).is_some(), "{system}: a GPU hangs on no CPU");
            }
        }
    }
}

#[test]
fn the_graph_of_a_dgx_h100_is_what_nvidia_smi_prints() {
    use aic::topology::host::Path;
    let c = compile_text("use std.{dgx_h100}\ncluster one { kubernetes = \"1.36\", distribution = k3s }\nhost h : dgx_h100\n");
    let system = &c.design.hosts[0].system;
    let graph = c.topology.graph(system).unwrap();
    let device = |name: &str, i: u16| system.devices.iter().position(|d| d.name == name && d.index == Some(i)).unwrap() as u16;
    assert_eq!(graph.path(device("gpu", 0), device("gpu", 7)), Path::Nv(18));
    assert_eq!(graph.path(device("gpu", 3), device("rail", 3)), Path::Pxb);
    assert_eq!(graph.path(device("gpu", 0), device("rail", 1)), Path::Node);
    assert_eq!(graph.path(device("gpu", 0), device("rail", 7)), Path::Sys);
    assert_eq!(graph.nvlink_domain, 8);
}

/// Source: facts/topo-samples 01 and 23: NUMA affinity 3, 1, 7, 5 by pairs of GPUs, SYS between quadrants of one socket.
#[test]
fn a_dgx_a100_has_eight_numa_nodes() {
    use aic::topology::host::Path;
    let c = compile_text("use std.{dgx_a100}\ncluster one { kubernetes = \"1.36\", distribution = k3s }\nhost h : dgx_a100\n");
    let system = &c.design.hosts[0].system;
    let graph = c.topology.graph(system).unwrap();
    let device = |name: &str, i: u16| system.devices.iter().position(|d| d.name == name && d.index == Some(i)).unwrap() as u16;
    let numa: Vec<_> = (0..8).map(|i| graph.numa(device("gpu", i)).unwrap()).collect();
    assert_eq!(numa, [3, 3, 1, 1, 7, 7, 5, 5]);
    assert_eq!((0..8).map(|i| graph.numa(device("rail", i)).unwrap()).collect::<Vec<_>>(), numa);
    assert_eq!(graph.path(device("gpu", 0), device("rail", 1)), Path::Pxb);
    assert_eq!(graph.path(device("gpu", 0), device("rail", 2)), Path::Sys);
    let wrong = compile_text(
        "use std.{epyc_7742, a100_40_sxm}\nsystem s { memory = 1GiB, cpu : epyc_7742, gpu : a100_40_sxm, link cpu -- gpu : pcie { numa = 4 } }\ncluster one { kubernetes = \"1.36\", distribution = k3s }\nhost h : s\n",
    );
    assert!(problems(&wrong).iter().any(|p| p.starts_with("AIC0210") && p.contains("the CPU has 4")), "{:?}", problems(&wrong));
}

/// With a mirror no reference of the bundle leaves the site, and the list says what to copy there.
#[test]
fn images_go_through_the_mirror() {
    for (distribution, file) in [("kubeadm", "hosts/training/hosts.toml"), ("rke2", "control-plane/registries.yaml")] {
        let mut files = sources("atlas");
        let text = files["cluster.aic"].replacen(
            "distribution = kubeadm",
            &format!("distribution = {distribution}\n  images {{ mirror = \"mirror.example/all\" }}"),
            1,
        );
        files.insert("cluster.aic".to_owned(), text);
        let bundle = build(&files);
        assert!(bundle[file].contains("mirror.example"), "{}", bundle[file]);
        let images = &bundle["images.csv"];
        assert!(images.contains("nvcr.io/nvidia/driver:580.126.20,mirror.example/all/nvidia/driver:580.126.20"), "{images}");
        assert!(images.contains("helm template"), "{images}");
        for (path, text) in bundle.iter().filter(|(path, _)| path.ends_with(".yaml")) {
            for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("image: ") || line.starts_with("repository: ")) {
                assert!(!line.contains('/') || line.contains("mirror.example/all/"), "{path}: {line}");
            }
        }
    }
}
