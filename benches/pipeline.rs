//! Parse, check, plan, lower and write at three sizes. `cargo bench`; machines are noisy, so compare ratios within a run.
#![allow(clippy::disallowed_methods, reason = "writing is measured")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aic::Compilation;
use aic::lang::Options;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Where bundles are written. They are removed at the end: a file system is slow for seconds after a removal, and that is not what is measured.
static SCRATCH: OnceLock<PathBuf> = OnceLock::new();

fn main() {
    let scratch = tempfile::tempdir().expect("a folder");
    SCRATCH.get_or_init(|| scratch.path().to_owned());
    divan::main();
}

/// A folder that does not exist yet.
fn folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    SCRATCH.get().expect("set by main").join(NEXT.fetch_add(1, Ordering::Relaxed).to_string())
}

/// The sizes: a small cluster, a middle one, 100,000 GPUs.
const HOSTS: [usize; 3] = [32, 1000, 12_500];

/// Hosts in racks of four, rails 0–3 on one InfiniBand tree and 4–7 on another, an Ethernet fabric for the rest, a control plane, a queue and a job.
fn design(hosts: usize) -> BTreeMap<String, String> {
    let racks = hosts / 4;
    let shape = if hosts > 256 { "fat_tree { tiers = 3, unit = 32, rails = true }" } else { "rail_optimized { unit = 32 }" };
    let text = format!(
        r#"use std.{{dgx_h100, management_server, qm9700, sn5610}}
{allowed}
cluster bench {{
  kubernetes = "1.36"
  distribution = kubeadm
  pods     {{ cni = cilium, network = inband, cidr = 10.128.0.0/9, host_prefix = 25, mtu = 8950 }}
  services {{ cidr = 10.96.0.0/16 }}
}}
rack hall[{racks}] {{ height = 48U, power = 44kW, host h100[4] : dgx_h100 }}
rack core[{switch_racks}] {{
  height = 60U
  power  = 80kW
  if index < 3 {{ host cp : management_server }}
}}
fabric left   : infiniband {{ attach = hall.h100.rail[0..4], topology : {shape}, leaf = qm9700, spine = qm9700, core = qm9700, racks = core }}
fabric right  : infiniband {{ attach = hall.h100.rail[4..8], topology : {shape}, leaf = qm9700, spine = qm9700, core = qm9700, racks = core }}
fabric inband : ethernet   {{ attach = [hall.h100.storage.port[0], core.cp.data], topology : {ethernet}, leaf = sn5610, spine = sn5610, core = sn5610, oversubscription = 3:1, mtu = 9000, racks = core }}
network inband  {{ fabric = inband, cidr = 10.0.0.0/17, reserved = 10.0.0.1..=10.0.0.31 }}
network rail[8] {{ fabric = if index < 4 then left else right, rail = index, cidr = subnet(172.16.0.0/14, 18, index) }}
control_plane {{ hosts = core.cp, endpoint = 10.0.0.10 }}
pool training {{ hosts = hall.h100, gpu {{ driver = "580" }}, rdma : sriov {{ fabric = [left, right] }} }}
queue q {{ pool = training, gpus = {gpus} }}
workload job : training {{ queue = q, image = "registry.example.com/job:1", nodes = 32, gpus = 8, cpu = 64, memory = 512GiB }}
"#,
        allowed = if hosts > 5000 { "@allow(AIC1401, \"a benchmark\")" } else { "" },
        ethernet = if hosts > 256 { "fat_tree { tiers = 3 }" } else { "leaf_spine" },
        switch_racks = racks.div_ceil(4).max(8),
        gpus = hosts * 8,
    );
    BTreeMap::from([("cluster.aic".to_owned(), text)])
}

fn compile(hosts: usize) -> Compilation {
    let compilation = aic::compile(&design(hosts), "cluster.aic", Options::default());
    let errors: Vec<String> =
        compilation.diagnostics.iter().filter(|d| d.severity == aic::base::Severity::Error).map(|d| format!("{} {}", d.code, d.message)).collect();
    assert!(errors.is_empty(), "{errors:?}");
    compilation
}

#[divan::bench(args = HOSTS)]
fn parse(bencher: divan::Bencher, hosts: usize) {
    let text = design(hosts).remove("cluster.aic").unwrap_or_default();
    bencher.bench(|| aic::syntax::parse(aic::base::FileId::default(), &text));
}

#[divan::bench(args = HOSTS, sample_count = 5)]
fn check(bencher: divan::Bencher, hosts: usize) {
    bencher.bench(|| compile(hosts));
}

#[divan::bench(args = HOSTS, sample_count = 5)]
fn plan(bencher: divan::Bencher, hosts: usize) {
    let compilation = compile(hosts);
    bencher.bench_local(|| aic::lower::plan::write(&compilation, &mut std::io::sink()));
}

#[divan::bench(args = HOSTS, sample_count = 5)]
fn lower(bencher: divan::Bencher, hosts: usize) {
    let compilation = compile(hosts);
    bencher.bench_local(|| aic::lower::lower(&compilation));
}

#[divan::bench(args = HOSTS, sample_count = 5)]
fn render(bencher: divan::Bencher, hosts: usize) {
    let compilation = compile(hosts);
    bencher.with_inputs(|| aic::lower::lower(&compilation).unwrap_or_default()).bench_local_values(|artifacts| aic::bundle::render(artifacts, &compilation));
}

/// With what is made while it is written: the CSV files and plan.json.
#[divan::bench(args = HOSTS, sample_count = 5)]
fn write(bencher: divan::Bencher, hosts: usize) {
    let compilation = compile(hosts);
    let files = aic::bundle::render(aic::lower::lower(&compilation).unwrap_or_default(), &compilation);
    bencher.with_inputs(folder).bench_local_values(|dir| aic::bundle::write(&dir, &files, &compilation).map_err(|e| panic!("{e}")));
}

/// The same bytes to the same files, and nothing else: what writing is held against.
#[divan::bench(args = HOSTS, sample_count = 5)]
fn write_raw(bencher: divan::Bencher, hosts: usize) {
    let compilation = compile(hosts);
    let files = aic::bundle::render(aic::lower::lower(&compilation).unwrap_or_default(), &compilation);
    let files = aic::bundle::texts(files, &compilation);
    bencher.with_inputs(folder).bench_local_values(|dir| {
        for (path, text) in &files {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).and_then(|()| std::fs::write(path, text)).expect("written");
        }
    });
}
