//! `plan.json`: what the design came to, for programs. The contract is docs/plan.md; fields are added, never renamed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use num_traits::ToPrimitive as _;
use serde::{Serialize, Serializer};

use crate::Compilation;
use crate::base::Rational;
use crate::base::quantity::to_f64;
use crate::nodes::resources::by_claim;
use crate::nodes::{NodeTaint, PodShape, Resources, format_amount, levels};
use crate::topology::storage::figures;

/// Writes plan.json.
///
/// # Errors
/// Those of the writer.
pub fn write(compilation: &Compilation, out: &mut dyn Write) -> io::Result<()> {
    let mut buffer = io::BufWriter::with_capacity(1 << 16, out);
    serde_json::to_writer_pretty(&mut buffer, &plan(compilation))?;
    buffer.write_all(b"\n")?;
    buffer.flush()
}

/// plan.json. What is large is written while it is computed: no copy of every host stands in memory.
#[derive(Serialize)]
pub struct Plan<'a> {
    format: u32,
    cluster: Cluster<'a>,
    #[serde(serialize_with = "hosts")]
    hosts: &'a Compilation,
    pools: Vec<Pool<'a>>,
    fabrics: Vec<Fabric<'a>>,
    queues: Vec<Queue<'a>>,
    #[serde(serialize_with = "workloads")]
    workloads: &'a Compilation,
    storage: Vec<Storage<'a>>,
    volumes: Vec<Volume<'a>>,
    bill_of_materials: Vec<Material>,
    expected: Vec<Expected<'a>>,
    racks: Vec<Rack<'a>>,
    appliances: Vec<Appliance<'a>>,
}

/// A host that is no node: in no pool.
#[derive(Serialize)]
struct Appliance<'a> {
    name: &'a str,
    system: &'a str,
    rack: Option<&'a str>,
    bottom_u: Option<i64>,
    height_u: Option<i64>,
}

#[derive(Serialize)]
struct Cluster<'a> {
    name: &'a str,
    kubernetes: &'a str,
    distribution: &'a str,
}

#[derive(Serialize)]
struct Host<'a> {
    name: &'a str,
    system: &'a str,
    pool: &'a str,
    rack: Option<&'a str>,
    bottom_u: Option<i64>,
    height_u: Option<i64>,
    labels: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    taints: Vec<Taint<'a>>,
    capacity: &'a BTreeMap<String, String>,
    allocatable: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Taint<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    effect: &'a str,
}

#[derive(Serialize)]
struct Pool<'a> {
    name: &'a str,
    hosts: usize,
    gpus: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<&'a str>,
}

#[derive(Serialize)]
struct Fabric<'a> {
    name: &'a str,
    kind: &'a str,
    topology: &'a str,
    planes: i64,
    tiers: Vec<TierCount<'a>>,
    cables: Vec<Cables<'a>>,
    oversubscription: [i64; 2],
    injection_gbps: Gbps,
    max_hops: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bisection_gbps: Option<Gbps>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    domains: &'a [i64],
    ports_free: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    taper: Option<[i64; 2]>,
    /// Ways from host to host that share no cable.
    disjoint_paths: i64,
    /// For each rail: hosts that a host reaches over it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    rail_reach: &'a [i64],
    /// Hosts with one cable to the fabric.
    single_cable_hosts: i64,
    /// The worst loss of one switch, by tier.
    loss_of_a_switch: Vec<Loss<'a>>,
}

#[derive(Serialize)]
struct Loss<'a> {
    tier: &'static str,
    switch: &'a str,
    hosts_cut_off: i64,
    gpus_cut_off: i64,
    hosts_degraded: i64,
    injection_gbps: Gbps,
    #[serde(skip_serializing_if = "Option::is_none")]
    bisection_gbps: Option<Gbps>,
    switches_that_cut_off: i64,
}

#[derive(Serialize)]
struct TierCount<'a> {
    tier: &'a str,
    model: &'a str,
    switches: i64,
}

#[derive(Serialize)]
struct Cables<'a> {
    from: &'a str,
    to: &'a str,
    count: i64,
    gbps: u64,
}

/// Whole where it is whole.
#[derive(Serialize)]
#[serde(untagged)]
enum Gbps {
    Whole(i64),
    Part(f64),
}

impl From<Rational> for Gbps {
    fn from(rate: Rational) -> Self {
        let value = rate * Rational::from_integer(8) / Rational::from_integer(1_000_000_000);
        match value.to_integer().to_i64() {
            Some(whole) if value.is_integer() => Self::Whole(whole),
            _ => Self::Part(crate::base::quantity::to_f64(value)),
        }
    }
}

#[derive(Serialize)]
struct Queue<'a> {
    name: &'a str,
    pool: Option<&'a str>,
    gpus: Option<i64>,
    borrow: i64,
    lend: i64,
    cohort: Option<&'a str>,
    namespace: &'a str,
}

#[derive(Serialize)]
struct Workload<'a> {
    name: &'a str,
    kind: &'a str,
    namespace: &'a str,
    object: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a str>,
    pods: Vec<Pods<'a>>,
}

#[derive(Serialize)]
struct Pods<'a> {
    template: &'a str,
    count: usize,
    requests: BTreeMap<String, String>,
    /// What they get by claims (DRA), under the names that quotas count it by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    claims: BTreeMap<String, String>,
    candidates: Vec<&'a str>,
    placed: Vec<&'a str>,
}

#[derive(Serialize)]
struct Storage<'a> {
    name: &'a str,
    kind: &'a str,
    raw_bytes: Option<u64>,
    usable_bytes: Option<u64>,
    read_bytes_per_s: Option<u64>,
    write_bytes_per_s: Option<u64>,
}

#[derive(Serialize)]
struct Volume<'a> {
    name: &'a str,
    on: String,
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct Material {
    class: &'static str,
    model: String,
    count: usize,
}

/// A rack's sums. Figures that no data sheet gives are missing from them: `lower_bounds` names the sums that are then too small.
#[derive(Serialize)]
struct Rack<'a> {
    name: &'a str,
    height_u: i64,
    used_u: i64,
    power_w: u64,
    heat_btu_h: u64,
    airflow_cfm: u64,
    weight_kg: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lower_bounds: Vec<&'static str>,
    feeds: i64,
    /// Load of each feed when one is lost.
    feed_w: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    feed_capacity_w: Option<u64>,
    /// Amperes of each phase then.
    #[serde(skip_serializing_if = "Option::is_none")]
    feed_amps: Option<f64>,
}

#[derive(Serialize)]
struct Expected<'a> {
    test: &'static str,
    scope: &'static str,
    target: &'a str,
    value: Number,
    unit: &'static str,
    bound: &'static str,
    tolerance: f64,
    source: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Decimal(f64),
}

fn quantities(resources: &Resources) -> BTreeMap<String, String> {
    resources.iter().map(|(name, amount)| (name.clone(), format_amount(name, *amount))).collect()
}

fn whole(value: Option<Rational>) -> Option<u64> {
    value.and_then(|v| v.floor().to_integer().to_u64())
}

/// The plan of a compilation.
pub fn plan(c: &Compilation) -> Plan<'_> {
    let d = &c.design;
    Plan {
        format: 1,
        cluster: Cluster { name: &d.cluster.name, kubernetes: &d.cluster.kubernetes, distribution: d.cluster.distribution.word() },
        hosts: c,
        pools: d
            .pools
            .iter()
            .map(|p| Pool {
                name: &p.name,
                hosts: p.hosts.len(),
                gpus: p.hosts.iter().map(|h| d.hosts[*h].system.gpus().count()).sum(),
                gpu: p.hosts.first().and_then(|h| d.hosts[*h].system.gpu_model()).map(|gpu| gpu.name.as_str()),
            })
            .collect(),
        fabrics: (0..d.fabrics.len()).map(|id| fabric(c, id)).collect(),
        queues: d
            .queues
            .iter()
            .map(|q| Queue {
                name: &q.name,
                pool: q.pools.first().map(|p| d.pools[*p].name.as_str()),
                gpus: q.gpus,
                borrow: q.borrow,
                lend: q.lend,
                cohort: q.cohort.as_deref(),
                namespace: &q.namespace,
            })
            .collect(),
        workloads: c,
        storage: d
            .storages
            .iter()
            .map(|s| {
                let f = figures(d, s);
                Storage {
                    name: &s.name,
                    kind: s.word().word(),
                    raw_bytes: whole(f.raw),
                    usable_bytes: whole(f.usable),
                    read_bytes_per_s: whole(f.read),
                    write_bytes_per_s: whole(f.write),
                }
            })
            .collect(),
        volumes: d
            .volumes
            .iter()
            .map(|v| {
                let s = &d.storages[v.storage];
                let on = v.part.and_then(|p| s.parts().get(p)).map_or(s.name.clone(), |p| format!("{}.{}", s.name, p.name));
                Volume { name: &v.name, on, bytes: v.size.whole().to_u64() }
            })
            .collect(),
        bill_of_materials: c.topology.materials(d).iter().map(|m| Material { class: m.class.word(), model: m.text(), count: m.count }).collect(),
        expected: expected(c),
        racks: racks(c),
        appliances: (0..d.hosts.len())
            .filter(|id| c.nodes.pool_of_host[*id].is_none())
            .map(|id| {
                let h = &d.hosts[id];
                Appliance {
                    name: &h.name,
                    system: &h.system.name,
                    rack: h.rack.map(|r| d.racks[r].name.as_str()),
                    bottom_u: c.topology.host_units[id],
                    height_u: h.height,
                }
            })
            .collect(),
    }
}

fn racks(c: &Compilation) -> Vec<Rack<'_>> {
    let loads = c.topology.loads(&c.design);
    let tenths = |v: f64| (v * 10.0).round() / 10.0;
    c.design
        .racks
        .iter()
        .zip(loads)
        .map(|(r, load)| {
            let power = to_f64(load.power.value);
            let feed = power / (r.feeds - 1).max(1) as f64;
            let sums = [("power_w", load.power), ("heat_btu_h", load.power), ("airflow_cfm", load.airflow), ("weight_kg", load.weight)];
            Rack {
                name: &r.name,
                height_u: r.height,
                used_u: load.units,
                power_w: power.round() as u64,
                heat_btu_h: load.heat().round() as u64,
                airflow_cfm: to_f64(load.airflow.value).round() as u64,
                weight_kg: tenths(to_f64(load.weight.value)),
                lower_bounds: sums.into_iter().filter(|(_, sum)| sum.at_least).map(|(name, _)| name).collect(),
                feeds: r.feeds,
                feed_w: feed.round() as u64,
                feed_capacity_w: r.supply.as_ref().map(|s| s.feed_capacity().floor() as u64),
                feed_amps: r.supply.as_ref().map(|s| tenths(s.amperes(feed))),
            }
        })
        .collect()
}

fn hosts<S: Serializer>(c: &&Compilation, serializer: S) -> Result<S::Ok, S::Error> {
    let d = &c.design;
    let nodes = &c.nodes;
    // Thousands of hosts share a shape: its amounts are formatted once.
    let shapes: Vec<_> = nodes.shapes.iter().map(|s| (quantities(&s.capacity), quantities(&s.allocatable))).collect();
    serializer.collect_seq(d.hosts.iter().enumerate().filter_map(|(id, h)| {
        let pool = nodes.pool_of_host[id]?;
        let (capacity, allocatable) = &shapes[nodes.shape_of_host[id]?];
        let mut labels: BTreeMap<Cow<str>, Cow<str>> = levels::kubelet_labels(d, &d.pools[pool], id).into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        labels.extend(nodes.labels[id].iter().map(|(k, v)| (k.into(), v.into())));
        Some(Host {
            name: &h.name,
            system: &h.system.name,
            pool: &d.pools[pool].name,
            rack: h.rack.map(|r| d.racks[r].name.as_str()),
            bottom_u: c.topology.host_units[id],
            height_u: h.height,
            labels,
            taints: nodes.taints[pool].iter().map(taint).collect(),
            capacity,
            allocatable,
        })
    }))
}

fn taint(t: &NodeTaint) -> Taint<'_> {
    Taint { key: &t.key, value: t.value.as_deref(), effect: t.effect }
}

fn fabric(c: &Compilation, id: usize) -> Fabric<'_> {
    let (f, plan) = (&c.design.fabrics[id], &c.topology.fabrics[id]);
    let analysis = c.topology.analysis(&c.design, id);
    let ratio = |r: Rational| Some([r.numer().to_i64()?, r.denom().to_i64()?]);
    Fabric {
        name: &f.name,
        kind: f.word().word(),
        topology: if f.is_planned() { f.topology.word().word() } else { "" },
        planes: f.planes,
        tiers: plan.tiers.iter().map(|(tier, model, switches)| TierCount { tier: tier.word(), model: &model.name, switches: *switches }).collect(),
        cables: plan.cables.iter().map(|((from, to, gbps), count)| Cables { from, to, count: *count, gbps: *gbps }).collect(),
        oversubscription: plan.ratio.and_then(ratio).unwrap_or([1, 1]),
        injection_gbps: plan.injection.into(),
        max_hops: plan.max_hops,
        bisection_gbps: plan.bisection.map(Gbps::from),
        domains: &plan.domains,
        ports_free: plan.ports_free,
        taper: plan.taper.and_then(ratio),
        disjoint_paths: analysis.disjoint_paths,
        rail_reach: &analysis.rail_reach,
        single_cable_hosts: analysis.single_cable,
        loss_of_a_switch: analysis
            .losses
            .iter()
            .map(|loss| Loss {
                tier: loss.tier.word(),
                switch: &c.topology.switches[loss.switch].name,
                hosts_cut_off: loss.hosts_cut,
                gpus_cut_off: loss.gpus_cut,
                hosts_degraded: loss.hosts_degraded,
                injection_gbps: loss.injection.into(),
                bisection_gbps: loss.bisection.map(Gbps::from),
                switches_that_cut_off: loss.single_points,
            })
            .collect(),
    }
}

fn workloads<S: Serializer>(c: &&Compilation, serializer: S) -> Result<S::Ok, S::Error> {
    let d = &c.design;
    serializer.collect_seq(d.workloads.iter().zip(&c.nodes.pods).map(|(w, pods)| {
        Workload {
            name: &w.name,
            kind: w.word().word(),
            namespace: &w.namespace,
            object: pods.object,
            queue: w.queue.map(|queue| d.queues[queue].name.as_str()),
            pods: pods
                .shapes
                .iter()
                .flat_map(|shape| {
                    // The first pod of a LeaderWorkerSet's group is its leader, which has a template of its own.
                    if pods.object == "LeaderWorkerSet" && w.roles().is_empty() {
                        vec![template(c, w, shape, "leader", |pod| pod % shape.gang == 0), template(c, w, shape, "worker", |pod| pod % shape.gang != 0)]
                    } else {
                        vec![template(c, w, shape, &shape.template, |_| true)]
                    }
                })
                .collect(),
        }
    }))
}

/// The pods of a shape that one template makes, by their place in it.
fn template<'a>(c: &'a Compilation, workload: &crate::design::Workload, shape: &'a PodShape, name: &'a str, makes: impl Fn(usize) -> bool) -> Pods<'a> {
    let d = &c.design;
    let name_of = |host: &usize| d.hosts[*host].name.as_str();
    let pool = d.pool_of(workload).map(|id| &d.pools[id]);
    let claimed = |name: &String| pool.is_some_and(|pool| by_claim(d, pool, name));
    let (claims, requests) = quantities(&shape.requests).into_iter().partition(|(name, _)| claimed(name));
    Pods {
        template: name,
        count: (0..shape.count).filter(|pod| makes(*pod)).count(),
        requests,
        claims,
        candidates: shape.candidates.iter().map(name_of).collect(),
        placed: shape.placed.iter().enumerate().filter(|(pod, _)| makes(*pod)).map(|(_, host)| name_of(host)).collect(),
    }
}

/// Published floors of an all-reduce over the GPUs of one host, GB/s of bus bandwidth: GPU model, GPUs, floor, where it is published.
const ALL_REDUCE: &[(&str, usize, f64, &str)] = &[("h100_sxm", 8, 460.0, "Azure node health checks: H100 x8 floor 460 GB/s, 16 GiB, NVLS")];

/// What acceptance must measure. Floors are published results, not sums.
fn expected(c: &Compilation) -> Vec<Expected<'_>> {
    let d = &c.design;
    let mut out = Vec::new();
    for pool in d.pools.iter().filter(|p| p.gpu.is_some()) {
        let Some(system) = pool.hosts.first().map(|h| &d.hosts[*h].system) else { continue };
        let known = ALL_REDUCE.iter().find(|(gpu, count, ..)| system.gpu_model().is_some_and(|g| g.name == *gpu) && system.gpus().count() == *count);
        out.extend(known.map(|(.., floor, source)| Expected {
            test: "nccl_all_reduce",
            scope: "host",
            target: &pool.name,
            value: Number::Decimal(*floor),
            unit: "GB/s",
            bound: "min",
            tolerance: 0.05,
            source,
        }));
    }
    for (f, plan) in d.fabrics.iter().zip(&c.topology.fabrics).filter(|(f, _)| f.is_training()) {
        let rate = plan.host_gbps();
        out.extend(rate.map(|rate| Expected {
            test: "ib_write_bw",
            scope: "port",
            target: &f.name,
            value: Number::Whole(rate),
            unit: "Gb/s",
            bound: "min",
            tolerance: 0.1,
            source: "NVIDIA ngc_multinode_perf: pass at 90 % of the port's rate",
        }));
    }
    if d.control_plane.as_ref().is_some_and(|c| !c.managed) {
        out.push(Expected {
            test: "etcd_fsync_p99",
            scope: "host",
            target: "control-plane",
            value: Number::Decimal(10.0),
            unit: "ms",
            bound: "max",
            tolerance: 0.0,
            source: "etcd documentation: wal_fsync p99 below 10 ms",
        });
    }
    out
}
