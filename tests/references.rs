//! References inside the bundles of the examples, and of pools that share fabrics.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use aic::lang::Options;
use common::bundle::Bundle;
use serde_json::Value;

#[test]
fn everything_that_a_bundle_names_is_in_it() {
    for example in common::EXAMPLES {
        let bundle = Bundle::build(example);
        assert!(!bundle.pods().is_empty(), "{example}");
        assert_eq!(bundle.faults(), Vec::<String>::new(), "{example}");
    }
}

/// Two pools hand out the rails of the same fabric, then of two fabrics.
#[test]
fn pools_with_rdma_share_networks_or_have_their_own() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/atlas");
    let read = |name: &str| (name.to_owned(), std::fs::read_to_string(dir.join(name)).unwrap());
    let sources = BTreeMap::from([read("cluster.aic"), read("hardware.aic")]);
    let cut = |text: &str| {
        let text = text.replace("power  = 20kW", "power  = 30kW");
        text.replace("hosts     = train.h100", "hosts     = train[0..6].h100")
            .replace("gpus = 192, borrow = 64", "gpus = 128, borrow = 64")
            .replace("hosts = train.h100, disks", "hosts = train[0..6].h100, disks")
            .lines()
            .filter(|line| !line.starts_with("assert"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let workload = "workload other : training { pool = more, namespace = \"other\", image = \"registry.example.com/other:1\", nodes = 2, cpu = 64, memory = 512GiB, place { within = rack } }\n";
    let same =
        cut(&sources["cluster.aic"]) + "pool more { hosts = train[6..8].h100, gpu { driver = \"580\" }, rdma : sriov { fabric = compute } }\n" + workload;
    let apart = cut(&sources["cluster.aic"]).replace("attach           = train.h100.rail", "attach           = train[0..6].h100.rail")
        + "fabric second : infiniband { attach = train[6..8].h100.rail, topology : rail_optimized { unit = 8 }, leaf = qm9700, spine = qm9700, racks = infra }\n"
        + "network second_rail[8] { fabric = second, rail = index, cidr = \"172.17.{index}.0/24\" }\n"
        + "pool more { hosts = train[6..8].h100, gpu { driver = \"580\" }, rdma : sriov { fabric = second } }\n"
        + workload;
    for (text, networks) in [(same, 8), (apart, 16)] {
        let mut sources = sources.clone();
        sources.insert("cluster.aic".to_owned(), text);
        let bundle = Bundle::of(aic::compile(&sources, "cluster.aic", Options::default()));
        assert_eq!(bundle.faults(), Vec::<String>::new());
        assert_eq!(bundle.objects.iter().filter(|o| o["kind"] == "SriovIBNetwork").count(), networks);
        // A gang that no queue places is kept together by the scheduler.
        let job = bundle.named("JobSet", Some("other"), "other").unwrap().to_string();
        assert!(job.contains("podAffinity") && job.contains("topology.aic.local/rack"), "{job}");
    }
}

/// Each kind of reference is walked: a bundle without the object it names has a fault.
#[test]
fn a_missing_object_is_missed() {
    let whole = Bundle::build("atlas");
    let kinds = [
        "Namespace",
        "RuntimeClass",
        "PriorityClass",
        "ServiceAccount",
        "PersistentVolumeClaim",
        "StorageClass",
        "LocalQueue",
        "ClusterQueue",
        "ResourceFlavor",
        "Topology",
        "Cohort",
        "WorkloadPriorityClass",
        "SriovIBNetwork",
        "SriovNetworkNodePolicy",
        "IPPool",
        "Role",
        "JobSet",
    ];
    for kind in kinds {
        let mut bundle = whole.clone();
        bundle.objects.retain(|o| o["kind"] != kind);
        assert!(bundle.objects.len() < whole.objects.len(), "atlas has no {kind}");
        // Nothing of the bundle names a JobSet: its pods are what is checked.
        assert_eq!(bundle.faults().is_empty(), kind == "JobSet", "{kind}");
    }
    type Spoil = fn(&mut Value);
    let spoils: [(&str, Spoil); 3] = [
        ("taint", |host| host["taints"] = serde_json::json!([{ "key": "other", "effect": "NoSchedule" }])),
        ("label", |host| host["labels"] = serde_json::json!({})),
        ("resource", |host| host["allocatable"] = serde_json::json!({})),
    ];
    for (what, spoil) in spoils {
        let mut bundle = whole.clone();
        bundle.plan["hosts"].as_array_mut().unwrap().iter_mut().for_each(spoil);
        assert!(!bundle.faults().is_empty(), "{what}");
    }
}
