//! `plan.json`: what the design came to, for programs. The contract is docs/plan.md; fields are added, never renamed.

use std::collections::BTreeMap;

use num_traits::ToPrimitive as _;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Compilation;
use crate::base::Rational;
use crate::nodes::{Resources, format_amount, levels, resources};
use crate::topology::storage::figures;

/// The text of plan.json.
pub fn text(compilation: &Compilation) -> String {
    serde_json::to_string_pretty(&plan(compilation)).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct Host<'a> {
    name: &'a str,
    system: &'a str,
    pool: &'a str,
    rack: Option<&'a str>,
    bottom_u: Option<i64>,
    height_u: Option<i64>,
    labels: BTreeMap<String, String>,
    taints: Vec<Value>,
    capacity: BTreeMap<String, String>,
    allocatable: BTreeMap<String, String>,
}

fn quantities(resources: &Resources) -> BTreeMap<String, String> {
    resources.iter().map(|(name, amount)| (name.clone(), format_amount(name, *amount))).collect()
}

fn gbps(rate: Rational) -> Value {
    let value = rate * Rational::from_integer(8) / Rational::from_integer(1_000_000_000);
    if value.is_integer() { value.to_integer().to_i64().map_or(Value::Null, Value::from) } else { json!(crate::base::quantity::to_f64(value)) }
}

fn whole(value: Option<Rational>) -> Value {
    value.and_then(|v| v.floor().to_integer().to_u64()).map_or(Value::Null, Value::from)
}

/// plan.json as a value.
pub fn plan(c: &Compilation) -> Value {
    let d = &c.design;
    json!({
        "format": 1,
        "cluster": { "name": d.cluster.name, "kubernetes": d.cluster.kubernetes, "distribution": d.cluster.distribution },
        "hosts": hosts(c),
        "pools": d.pools.iter().map(|p| {
            let gpus: usize = p.hosts.iter().map(|h| d.hosts[*h].system.gpus().count()).sum();
            let mut pool = json!({ "name": p.name, "hosts": p.hosts.len(), "gpus": gpus });
            if let Some(gpu) = p.hosts.first().and_then(|h| d.hosts[*h].system.gpu_model()) {
                pool["gpu"] = gpu.name.as_str().into();
            }
            pool
        }).collect::<Vec<_>>(),
        "fabrics": fabrics(c),
        "queues": d.queues.iter().map(|q| json!({
            "name": q.name, "pool": q.pools.first().map(|p| d.pools[*p].name.clone()), "gpus": q.gpus, "borrow": q.borrow, "lend": q.lend,
            "cohort": q.cohort, "namespace": q.namespace,
        })).collect::<Vec<_>>(),
        "workloads": workloads(c),
        "storage": d.storages.iter().map(|s| {
            let f = figures(d, s);
            json!({ "name": s.name, "kind": s.kind, "raw_bytes": whole(f.raw), "usable_bytes": whole(f.usable), "read_bytes_per_s": whole(f.read), "write_bytes_per_s": whole(f.write) })
        }).collect::<Vec<_>>(),
        "volumes": d.volumes.iter().map(|v| {
            let s = &d.storages[v.storage];
            let on = v.part.and_then(|p| s.parts.get(p)).map_or(s.name.clone(), |p| format!("{}.{}", s.name, p.name));
            json!({ "name": v.name, "on": on, "bytes": v.size.whole().to_u64() })
        }).collect::<Vec<_>>(),
        "bill_of_materials": materials(c),
        "expected": expected(c),
    })
}

fn hosts(c: &Compilation) -> Vec<Value> {
    let d = &c.design;
    let nodes = &c.nodes;
    d.hosts
        .iter()
        .enumerate()
        .filter_map(|(id, h)| {
            let pool = nodes.pool_of_host[id]?;
            let shape = &nodes.shapes[nodes.shape_of_host[id]?];
            let mut labels = levels::kubelet_labels(d, &d.pools[pool], id);
            labels.extend(nodes.labels[id].clone());
            let host = Host {
                name: &h.name,
                system: &h.system.name,
                pool: &d.pools[pool].name,
                rack: h.rack.map(|r| d.racks[r].name.as_str()),
                bottom_u: c.topology.host_units[id],
                height_u: h.height,
                labels,
                taints: nodes.taints[pool]
                    .iter()
                    .map(|t| match &t.value {
                        Some(value) => json!({ "key": t.key, "value": value, "effect": t.effect }),
                        None => json!({ "key": t.key, "effect": t.effect }),
                    })
                    .collect(),
                capacity: quantities(&shape.capacity),
                allocatable: quantities(&shape.allocatable),
            };
            serde_json::to_value(host).ok()
        })
        .collect()
}

fn fabrics(c: &Compilation) -> Vec<Value> {
    c.design
        .fabrics
        .iter()
        .zip(&c.topology.fabrics)
        .map(|(f, plan)| {
            let ratio = plan.ratio.map(|r| json!([r.numer().to_i64(), r.denom().to_i64()])).unwrap_or(json!([1, 1]));
            let mut value = json!({
                "name": f.name, "kind": f.kind, "topology": f.topology.shape, "planes": f.planes,
                "tiers": plan.tiers.iter().map(|(t, m, n)| json!({ "tier": t.word(), "model": m.name, "switches": n })).collect::<Vec<_>>(),
                "cables": plan.cables.iter().map(|((from, to, gbps), n)| json!({ "from": from, "to": to, "count": n, "gbps": gbps })).collect::<Vec<_>>(),
                "oversubscription": ratio, "injection_gbps": gbps(plan.injection), "max_hops": plan.max_hops,
            });
            if let Some(bisection) = plan.bisection {
                value["bisection_gbps"] = gbps(bisection);
            }
            if !plan.domains.is_empty() {
                value["domains"] = json!(plan.domains);
            }
            value
        })
        .collect()
}

fn workloads(c: &Compilation) -> Vec<Value> {
    let d = &c.design;
    let names = |hosts: &[usize]| hosts.iter().map(|h| d.hosts[*h].name.as_str()).collect::<Vec<_>>();
    d.workloads
        .iter()
        .zip(&c.nodes.pods)
        .map(|(w, pods)| {
            let mut value = json!({ "name": w.name, "kind": w.kind, "namespace": w.namespace, "object": pods.object });
            if let Some(queue) = w.queue {
                value["queue"] = d.queues[queue].name.as_str().into();
            }
            value["pods"] = pods
                .shapes
                .iter()
                .map(|s| json!({ "template": s.template, "count": s.count, "requests": quantities(&s.requests), "candidates": names(&s.candidates), "placed": names(&s.placed) }))
                .collect();
            value
        })
        .collect()
}

fn materials(c: &Compilation) -> Vec<Value> {
    let mut counts: BTreeMap<(u8, &str, String), usize> = BTreeMap::new();
    for host in &c.design.hosts {
        *counts.entry((0, "system", host.system.name.clone())).or_default() += 1;
        for (_, gpu) in host.system.gpus() {
            *counts.entry((2, "gpu", gpu.name.clone())).or_default() += 1;
        }
        for (_, _, nic) in host.system.nics() {
            *counts.entry((3, "nic", nic.name.clone())).or_default() += 1;
        }
    }
    for switch in &c.topology.switches {
        *counts.entry((1, "switch", switch.model.name.clone())).or_default() += 1;
    }
    let mut cables: BTreeMap<(u16, u32), (i64, &str, u32)> = BTreeMap::new();
    for link in &c.topology.links {
        cables.entry((link.fabric, link.cable)).or_insert((resources::gbps(link.rate), link.medium, link.centimetres));
    }
    for (gbps, medium, centimetres) in cables.into_values() {
        *counts.entry((4, "cable", format!("{medium} {gbps}G {}m", f64::from(centimetres) / 100.0))).or_default() += 1;
    }
    counts.into_iter().map(|((_, class, model), count)| json!({ "class": class, "model": model, "count": count })).collect()
}

/// What acceptance must measure. Floors are published results, not sums.
fn expected(c: &Compilation) -> Vec<Value> {
    let d = &c.design;
    let mut out = Vec::new();
    for pool in d.pools.iter().filter(|p| p.gpu.is_some()) {
        let Some(system) = pool.hosts.first().map(|h| &d.hosts[*h].system) else { continue };
        if system.gpu_model().is_some_and(|g| g.name == "h100_sxm") && system.gpus().count() == 8 {
            out.push(json!({
                "test": "nccl_all_reduce", "scope": "host", "target": pool.name, "value": 460.0, "unit": "GB/s", "bound": "min", "tolerance": 0.05,
                "source": "Azure node health checks: H100 x8 floor 460 GB/s, 16 GiB, NVLS",
            }));
        }
    }
    for (f, plan) in d.fabrics.iter().zip(&c.topology.fabrics).filter(|(f, _)| matches!(f.kind.as_str(), "infiniband" | "roce")) {
        if let Some(rate) = plan.cables.keys().find(|(from, ..)| *from == "host").map(|(.., g)| *g) {
            out.push(json!({
                "test": "ib_write_bw", "scope": "port", "target": f.name, "value": rate, "unit": "Gb/s", "bound": "min", "tolerance": 0.1,
                "source": "NVIDIA ngc_multinode_perf: pass at 90 % of the port's rate",
            }));
        }
    }
    if d.control_plane.as_ref().is_some_and(|c| !c.managed) {
        out.push(json!({
            "test": "etcd_fsync_p99", "scope": "host", "target": "control-plane", "value": 10.0, "unit": "ms", "bound": "max", "tolerance": 0.0,
            "source": "etcd documentation: wal_fsync p99 below 10 ms",
        }));
    }
    out
}
