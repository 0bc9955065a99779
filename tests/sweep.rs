//! The sweep: a design for each word of the closed sets that lowering reads. Each builds without an error, its objects satisfy their real schemas, and
//! what they name is there. A word without a design fails.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aic::lang::Options;
use aic::schema::words::*;
use common::bundle::Bundle;
use common::schemas::{built_in, custom, folder, objects};

/// A design: an example or design of the tests, and what is changed in it.
struct Case {
    words: &'static [&'static str],
    base: &'static str,
    edits: &'static [(&'static str, &'static str)],
}

const fn case(words: &'static [&'static str], base: &'static str, edits: &'static [(&'static str, &'static str)]) -> Case {
    Case { words, base, edits }
}

/// What each word is built by.
const CASES: &[Case] = &[
    case(
        &[
            "distribution kubeadm",
            "gitops none",
            "rdma sriov",
            "cni cilium",
            "ipam nv_ipam",
            "scheduler kueue",
            "allocation device_plugin",
            "sharing time_slicing",
        ],
        "examples/atlas",
        &[],
    ),
    case(&["gitops helmfile"], "examples/atlas", &[("distribution = kubeadm", "distribution = kubeadm\n  gitops = helmfile")]),
    case(&["gitops argocd"], "examples/atlas", &[("distribution = kubeadm", "distribution = kubeadm\n  gitops = argocd")]),
    case(&["gitops flux", "distribution rke2"], "examples/rke2", &[]),
    case(&["distribution k3s"], "examples/atlas", &[("distribution = kubeadm", "distribution = k3s")]),
    case(&["cni calico", "scheduler volcano", "rdma host_device", "gpu vendor amd", "partition spx", "partition nps1"], "examples/amd", &[]),
    case(&["cni calico, packaged"], "examples/rke2", &[("cni = cilium", "cni = calico")]),
    case(&["distribution eks", "cni aws_vpc", "rdma efa", "group managed", "capacity reserved", "capacity on_demand"], "examples/eks", &[]),
    case(&["group self"], "examples/eks", &[("group = managed, min = nodes", "group = self, min = nodes")]),
    case(&["capacity spot"], "examples/eks", &[("capacity = reserved", "capacity = spot")]),
    case(&["distribution talos", "os talos", "vip kube_vip"], "examples/talos", &[]),
    case(&["vip keepalived"], "examples/atlas", &[("endpoint = 10.10.0.10", "endpoint = 10.10.0.10, vip = keepalived")]),
    case(&["vip external"], "examples/atlas", &[("endpoint = 10.10.0.10", "endpoint = 10.10.0.10, vip = external")]),
    case(&["etcd of its own hosts"], "examples/atlas", &[("etcd {", "etcd { hosts = infra[0..3].cpu[0],")]),
    case(
        &["etcd of its own hosts, k3s"],
        "examples/atlas",
        &[("etcd {", "etcd { hosts = infra[0..3].cpu[0],"), ("distribution = kubeadm", "distribution = k3s")],
    ),
    case(&["ipam whereabouts"], "examples/atlas", &[("\"172.16.{index}.0/24\"", "\"172.16.{index}.0/24\", ipam = whereabouts")]),
    case(&["ipam dhcp"], "examples/atlas", &[("\"172.16.{index}.0/24\"", "\"172.16.{index}.0/24\", ipam = dhcp")]),
    case(
        &["ipam static"],
        "examples/atlas",
        &[
            ("\"172.16.{index}.0/24\"", "\"172.16.{index}.0/24\", ipam = static"),
            ("nodes     = 16", "nodes     = 1"),
            ("parallel  { tensor = 8, pipeline = 2, data = 8 }", "parallel  { tensor = 8 }"),
        ],
    ),
    case(&["cni none"], "examples/atlas", &[("cni = cilium", "cni = none")]),
    case(&["allocation dra", "rdma shared"], "examples/nvl72", &[]),
    case(&["rdma dra"], "examples/nvl72", &[("rdma : shared { fabric = compute, per_host = 4 }", "rdma : dra { fabric = compute }")]),
    case(&["rdma dra, device plugin"], "examples/atlas", &[("rdma : sriov { fabric = compute, vfs = 1 }", "rdma : dra { fabric = compute }")]),
    case(&["rdma shared, macvlan"], "examples/rke2", &[("rdma : sriov { fabric = compute, vfs = 1 }", "rdma : shared { fabric = compute, per_host = 16 }")]),
    case(
        &["gpu vendor nvidia", "gpu vendor intel", "sharing mps", "runtime default", "runtime kata", "partition cpx", "partition nps4"],
        "tests/data/vendors.aic",
        &[],
    ),
    case(&["runtime gvisor"], "tests/data/vendors.aic", &[("hosts = r[3].c, runtime = kata", "hosts = r[3].c, runtime = gvisor")]),
    case(&["partition dpx"], "examples/amd", &[("compute = spx", "compute = dpx")]),
    case(&["partition qpx"], "examples/amd", &[("compute = spx", "compute = qpx")]),
    case(&["mig single", "mig mixed"], "examples/inference", &[]),
];

/// The closed sets that this test covers, by the name that cases use.
const SETS: &[(&str, &[&str])] = &[
    ("gitops", Gitops::WORDS),
    ("allocation", Allocation::WORDS),
    ("sharing", SharingMode::WORDS),
    ("runtime", Runtime::WORDS),
    ("gpu vendor", GpuVendor::WORDS),
    ("partition", ComputePartition::WORDS),
    ("partition", MemoryPartition::WORDS),
    ("mig", MigStrategy::WORDS),
    ("group", NodeGroupKind::WORDS),
    ("capacity", Capacity::WORDS),
    ("rdma", RdmaMode::WORDS),
    ("vip", Vip::WORDS),
    ("ipam", Ipam::WORDS),
];

fn sources(case: &Case) -> BTreeMap<String, String> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join(case.base);
    let files =
        if base.is_dir() { vec![("cluster.aic", base.join("cluster.aic")), ("hardware.aic", base.join("hardware.aic"))] } else { vec![("cluster.aic", base)] };
    let mut out = BTreeMap::new();
    for (name, path) in files {
        if let Ok(text) = std::fs::read_to_string(path) {
            out.insert(name.to_owned(), text);
        }
    }
    let text = out.get_mut("cluster.aic").unwrap();
    for (old, new) in case.edits {
        assert!(text.contains(old), "{} has no `{old}`", case.base);
        *text = text.replacen(old, new, 1);
    }
    out
}

#[test]
fn every_word_is_built() {
    let shared = folder();
    let mut wrong = Vec::new();
    for case in CASES {
        let name = case.words.join(", ");
        let compile = || aic::compile(&sources(case), "cluster.aic", Options::default());
        let c = compile();
        let errors: Vec<String> = c.diagnostics.iter().filter(|d| d.severity == aic::base::Severity::Error).map(|d| d.message.clone()).collect();
        if !errors.is_empty() {
            wrong.push(format!("{name}: {errors:?}"));
            continue;
        }
        let artifacts = match aic::lower::lower(&c) {
            Ok(artifacts) => artifacts,
            Err(faults) => {
                wrong.extend(faults.iter().map(|d| format!("{name}: {} {}", d.code, d.message)));
                continue;
            }
        };
        let texts = aic::bundle::texts(aic::bundle::render(artifacts, &c), &c);
        let applied = texts.into_iter().filter(|(path, _)| (path.starts_with("kubernetes/") || path.starts_with("install/")) && path.ends_with(".yaml"));
        let objects = objects(applied);
        if let Some(shared) = &shared {
            wrong.extend(built_in(shared, &objects).0.into_iter().chain(custom(shared, &objects).0).map(|fault| format!("{name}: {fault}")));
        }
        wrong.extend(Bundle::of(compile()).faults().into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let built: BTreeSet<&str> = CASES.iter().flat_map(|c| c.words).copied().collect();
    for (set, words) in SETS {
        let missing: Vec<&&str> = words.iter().filter(|word| !built.contains(format!("{set} {word}").as_str())).collect();
        assert!(missing.is_empty(), "no case for {set} {missing:?}");
    }
}
