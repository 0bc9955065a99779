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
    case(&["distribution kubeadm", "gitops none", "rdma sriov", "cni cilium", "ipam nv_ipam", "scheduler kueue"], "atlas", &[]),
    case(&["gitops helmfile"], "atlas", &[("distribution = kubeadm", "distribution = kubeadm\n  gitops = helmfile")]),
    case(&["gitops argocd"], "atlas", &[("distribution = kubeadm", "distribution = kubeadm\n  gitops = argocd")]),
    case(&["gitops flux"], "atlas", &[("distribution = kubeadm", "distribution = kubeadm\n  gitops = flux")]),
    case(&["distribution k3s"], "atlas", &[("distribution = kubeadm", "distribution = k3s")]),
    case(&["distribution rke2"], "atlas", &[("distribution = kubeadm", "distribution = rke2")]),
    case(&["cni calico"], "atlas", &[("cni = cilium", "cni = calico")]),
    case(&["cni calico, packaged"], "atlas", &[("distribution = kubeadm", "distribution = rke2"), ("cni = cilium", "cni = calico")]),
    case(&["cni none"], "atlas", &[("cni = cilium", "cni = none")]),
    case(&["rdma shared"], "atlas", &[("rdma : sriov { fabric = compute, vfs = 1 }", "rdma : shared { fabric = compute, per_host = 16 }")]),
    case(&["rdma host_device"], "atlas", &[("rdma : sriov { fabric = compute, vfs = 1 }", "rdma : host_device { fabric = compute }")]),
];

/// The closed sets, by the name that cases use.
fn all_words() -> Vec<(&'static str, &'static [&'static str])> {
    vec![("gitops", Gitops::WORDS)]
}

fn sources(case: &Case) -> BTreeMap<String, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(case.base);
    let mut out = BTreeMap::new();
    for name in ["cluster.aic", "hardware.aic"] {
        if let Ok(text) = std::fs::read_to_string(dir.join(name)) {
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
    for (set, words) in all_words() {
        let missing: Vec<&&str> = words.iter().filter(|word| !built.contains(format!("{set} {word}").as_str())).collect();
        assert!(missing.is_empty(), "no case for {set} {missing:?}");
    }
}
