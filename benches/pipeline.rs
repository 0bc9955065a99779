//! Check, plan and lower at three sizes. `cargo bench`; machines are noisy, so compare ratios within a run.

use std::collections::BTreeMap;

use aic::lang::Options;

fn main() {
    divan::main();
}

/// Hosts in racks of four under units of 32, with rail-optimised InfiniBand and an Ethernet pair for the rest.
fn design(hosts: usize) -> BTreeMap<String, String> {
    let racks = hosts / 4;
    let shape = if hosts > 256 { "fat_tree { tiers = 3, unit = 32, rails = true }" } else { "rail_optimized { unit = 32 }" };
    let text = format!(
        "use std.{{dgx_h100, cpu_1u, qm9700}}\n\
         @allow(AIC1401, \"a benchmark\")\n\
         cluster bench {{ kubernetes = \"1.36\", distribution = k3s }}\n\
         rack gpu[{racks}] {{ height = 48U, power = 44kW, host h100[4] : dgx_h100 }}\n\
         rack net[{}] {{ height = 60U }}\n\
         fabric compute : infiniband {{ attach = gpu.h100.rail, topology : {shape}, leaf = qm9700, spine = qm9700, core = qm9700, racks = net }}\n\
         pool training {{ hosts = gpu.h100, gpu {{ driver = \"580\" }}, rdma : sriov {{ fabric = compute }} }}\n\
         queue q {{ pool = training, gpus = {} }}\n",
        racks.max(4),
        hosts * 8,
    );
    BTreeMap::from([("cluster.aic".to_owned(), text)])
}

#[divan::bench(args = [32, 256, 1000, 12_500], sample_count = 5)]
fn check(bencher: divan::Bencher, hosts: usize) {
    let project = design(hosts);
    bencher.bench(|| {
        let compilation = aic::compile(&project, "cluster.aic", Options::default());
        assert!(!compilation.has_errors());
        compilation
    });
}

#[divan::bench(args = [32, 256, 1000, 12_500], sample_count = 5)]
fn plan(bencher: divan::Bencher, hosts: usize) {
    let compilation = aic::compile(&design(hosts), "cluster.aic", Options::default());
    bencher.bench_local(|| aic::lower::plan::text(&compilation));
}

#[divan::bench]
fn lower_atlas(bencher: divan::Bencher) {
    let project = BTreeMap::from([
        ("cluster.aic".to_owned(), include_str!("../examples/atlas/cluster.aic").to_owned()),
        ("hardware.aic".to_owned(), include_str!("../examples/atlas/hardware.aic").to_owned()),
    ]);
    let compilation = aic::compile(&project, "cluster.aic", Options::default());
    bencher.bench_local(|| aic::bundle::render(&aic::lower::lower(&compilation).unwrap(), &compilation.sources));
}
