//! Every rule against its explanation: the edits of `docs/rules/<code>.md` on `examples/atlas` must raise it, or must not.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aic::base::{Diagnostic, Severity, SourceMap};
use aic::lang::Options;

type Project = BTreeMap<String, String>;

fn atlas() -> Project {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/atlas/");
    ["cluster.aic", "hardware.aic"].iter().map(|f| ((*f).to_owned(), std::fs::read_to_string(format!("{root}{f}")).unwrap())).collect()
}

/// The edits of one section of an explanation: file, old text, new text.
fn edits(explanation: &str, section: &str) -> Vec<(String, String, String)> {
    let Some(start) = explanation.find(&format!("## {section}")) else { return Vec::new() };
    let text = &explanation[start + 3..];
    let text = &text[..text.find("\n## ").unwrap_or(text.len())];
    text.split("```edit ")
        .skip(1)
        .map(|block| {
            let block = &block[..block.find("```").unwrap()];
            let mut lines = block.lines();
            let file = lines.next().unwrap().to_owned();
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for line in lines {
                match line.split_at_checked(2) {
                    Some(("- ", rest)) => old.push(rest),
                    Some(("+ ", rest)) => new.push(rest),
                    _ if line.starts_with('-') => old.push(""),
                    _ if line.starts_with('+') => new.push(""),
                    _ => panic!("an edit has lines with - and +, not {line}"),
                }
            }
            (file, old.join("\n"), new.join("\n"))
        })
        .collect()
}

fn compile(edits: &[(String, String, String)], code: &str) -> (Vec<Diagnostic>, SourceMap) {
    let mut project = atlas();
    for (file, old, new) in edits {
        let text = project.get_mut(file).unwrap();
        assert!(text.contains(old.as_str()), "{code}: {file} has no `{old}`");
        *text = text.replacen(old.as_str(), new, 1);
    }
    let compilation = aic::compile(&project, "cluster.aic", Options::default());
    (compilation.diagnostics, compilation.sources)
}

/// Rules that one edit of atlas cannot raise are proved by designs of their own in this file.
const BY_DESIGN: &[&str] = &["AIC0503", "AIC1401"];

#[test]
fn every_rule_catches_what_its_explanation_says() {
    let mut snapshot = String::new();
    for rule in aic::rules::RULES {
        let fails = edits(rule.explanation, "Fails");
        if BY_DESIGN.contains(&rule.code) {
            continue;
        }
        assert!(!fails.is_empty(), "{} has no failing edit", rule.code);
        let (diagnostics, sources) = compile(&fails, rule.code);
        let found: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.code == rule.code).collect();
        assert!(!found.is_empty(), "{} is not raised; there is {:?}", rule.code, diagnostics.iter().map(|d| (d.code, &d.message)).collect::<Vec<_>>());
        for diagnostic in found {
            assert!(diagnostic.help.is_some(), "{} has no help", rule.code);
            assert!(!diagnostic.labels.is_empty(), "{} has no place", rule.code);
            let _ = writeln!(snapshot, "{}", aic::cli::render::human(diagnostic, &sources, false, true));
        }
    }
    insta::assert_snapshot!("rules", snapshot);
}

#[test]
fn every_rule_lets_pass_what_its_explanation_says() {
    for rule in aic::rules::RULES.iter().filter(|r| !BY_DESIGN.contains(&r.code)) {
        let passes = edits(rule.explanation, "Passes");
        assert!(!passes.is_empty(), "{} has no passing edit", rule.code);
        let (diagnostics, _) = compile(&passes, rule.code);
        let found: Vec<_> = diagnostics.iter().filter(|d| d.code == rule.code).map(|d| &d.message).collect();
        assert!(found.is_empty(), "{} is raised: {found:?}", rule.code);
    }
}

fn design(text: &str) -> Vec<Diagnostic> {
    let project = Project::from([("cluster.aic".to_owned(), text.to_owned())]);
    aic::compile(&project, "cluster.aic", Options::default()).diagnostics
}

#[test]
fn aic1401_counts_nodes() {
    let text = |racks: usize| {
        format!(
            "use std.{{cpu_1u}}\ncluster big {{ kubernetes = \"1.36\", distribution = k3s }}\nrack r[{racks}] {{\n  height = 48U\n  host h[40] : cpu_1u\n}}\npool all_hosts {{ hosts = r.h }}\n"
        )
    };
    assert!(design(&text(126)).iter().any(|d| d.code == "AIC1401"), "5,040 nodes");
    assert!(!design(&text(125)).iter().any(|d| d.code == "AIC1401"), "5,000 nodes");
}

#[test]
fn aic0503_compares_the_real_ratio_with_the_declared_one() {
    let text = |links: usize, ratio: &str| {
        format!(
            "use std.{{dgx_h100, qm9700}}\ncluster pair {{ kubernetes = \"1.36\", distribution = k3s }}\nrack r[2] {{\n  height = 48U\n  host h[4] : dgx_h100\n}}\n\
             fabric f : infiniband {{ attach = r.h.rail, topology : leaf_only {{ leaves = 2 }}, leaf = qm9700, racks = r, inter_leaf = {links}, oversubscription = {ratio} }}\n"
        )
    };
    // 64 ports: 32 down on each leaf.
    let found = design(&text(8, "1:1"));
    assert!(found.iter().any(|d| d.code == "AIC0503" && d.message.contains("4:1")), "{found:?}");
    assert!(!design(&text(8, "4:1")).iter().any(|d| d.code == "AIC0503"));
    assert!(!design(&text(32, "1:1")).iter().any(|d| d.code == "AIC0503"));
}

/// The fix replaces the one profile that is wrong, not the list.
#[test]
fn aic0801_offers_the_nearest_profile() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/inference/cluster.aic")).unwrap().replacen("\"2g.20gb\"", "\"2g.20g\"", 1);
    let sources = std::collections::BTreeMap::from([("cluster.aic".to_owned(), text.clone())]);
    let c = aic::compile(&sources, "cluster.aic", aic::lang::Options::default());
    let fault = c.diagnostics.iter().find(|d| d.code == "AIC0801").unwrap();
    let (span, new) = &fault.fixes[0].edits[0];
    assert_eq!((&text[span.start as usize..span.end as usize], new.as_str()), ("\"2g.20g\"", "\"2g.20gb\""));
}

/// A fabric that cannot be planned has no units; that a job asked for one is not said on top.
#[test]
fn a_fabric_without_a_plan_is_said_once() {
    let mut project = atlas();
    let text = project.get_mut("cluster.aic").unwrap();
    *text = text.replace("rail_optimized { unit = 32 }", "rail_optimized { unit = 48 }");
    let c = aic::compile(&project, "cluster.aic", Options::default());
    let errors: Vec<&str> = c.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
    assert_eq!(errors, ["AIC0504"]);
}

/// What a platform lacks is said at the field that asks for it, each by an edit of atlas.
#[test]
fn aic1406_says_what_a_platform_lacks() {
    let asked = [
        ("cni = cilium", "cni = aws_vpc", "the VPC's pod network exists on eks"),
        ("\"172.16.{index}.0/24\"", "\"172.16.{index}.0/24\", ipam = static", "the pods of workload llama have one template"),
        ("cni = cilium", "cni = gke", "GKE's pod network exists on gke"),
        ("cni = cilium", "cni = calico, encapsulation = geneve", "no Geneve"),
        ("allocation = device_plugin", "allocation = dra, mig { strategy = single, layout = [\"1g.10gb\"] }", "claims its GPUs and cuts or shares them"),
        ("allocation = device_plugin", "partition { compute = cpx }", "partitions, which GPUs of nvidia do not have"),
        ("gpu       { driver", "nodes     { group = managed }\n  gpu       { driver", "kubeadm has no node groups"),
        ("distribution = kubeadm", "distribution = eks\n  region = \"r\"", "pool training on eks is no node group"),
    ];
    for (old, new, message) in asked {
        let (diagnostics, _) = compile(&[("cluster.aic".to_owned(), old.to_owned(), new.to_owned())], "AIC1406");
        assert!(diagnostics.iter().any(|d| d.code == "AIC1406" && d.message.contains(message)), "{new}: {diagnostics:?}");
    }
}
