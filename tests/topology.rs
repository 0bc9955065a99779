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
