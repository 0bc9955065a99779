//! GPUs of a pool: MIG layouts, slices, settings.

use super::Context;
use crate::base::{Diagnostic, Report};
use crate::design::{Mig, MigProfile, MigStrategy};

/// Whether profiles can stand on one GPU together: each needs a start with its memory slices free, and the compute slices must suffice.
fn layout_fits(profiles: &[&MigProfile], used: u64) -> bool {
    let Some((first, rest)) = profiles.split_first() else { return true };
    first.starts.iter().any(|start| {
        let mask = ((1_u64 << first.memory) - 1) << start;
        used & mask == 0 && layout_fits(rest, used | mask)
    })
}

/// AIC0801.
pub fn mig_layout(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some((gpu, host)) = pool.gpu.as_ref().zip(cx.first_host(pool)) else { continue };
        let (Some(Mig { strategy, layout }), Some(model)) = (&gpu.mig, host.system.gpu_model()) else { continue };
        let span = pool.at.field("gpu.mig.layout=");
        let mut found = Vec::new();
        for (i, name) in layout.iter().enumerate() {
            match model.mig.iter().find(|p| p.name == *name) {
                Some(profile) => found.push(profile),
                None => {
                    let known: Vec<&str> = model.mig.iter().map(|p| p.name.as_str()).collect();
                    let element = pool.at.set(&format!("gpu.mig.layout=[{i}]"));
                    let mut diagnostic = Diagnostic::error("AIC0801", format!("{} has no MIG profile {name}", model.name)).at(element.unwrap_or(span), "here");
                    diagnostic = match crate::base::names::nearest(name, known.iter().copied()) {
                        _ if known.is_empty() => diagnostic.help("this GPU has no MIG; use `sharing : time_slicing`"),
                        Some(near) => {
                            let diagnostic = diagnostic.help(format!("`\"{near}\"`")).note(format!("it has {}", known.join(", ")));
                            match element {
                                Some(element) => diagnostic.fix(element, format!("\"{near}\"")),
                                None => diagnostic,
                            }
                        }
                        None => diagnostic.help(format!("it has {}", known.join(", "))),
                    };
                    report.push(diagnostic);
                    return;
                }
            }
        }
        let compute: i64 = found.iter().map(|p| p.compute).sum();
        let most = model.mig.iter().map(|p| p.compute).max().unwrap_or(0);
        let too_many = found.iter().find(|p| found.iter().filter(|q| q.name == p.name).count() as i64 > p.max);
        // Large profiles have the fewest starts: they are placed first.
        let mut order = found.clone();
        order.sort_by_key(|p| std::cmp::Reverse(p.memory));
        if let Some(profile) = too_many {
            report.push(
                Diagnostic::error("AIC0801", format!("a {} holds at most {} of {}", model.name, profile.max, profile.name))
                    .at(span, format!("{} of them", found.iter().filter(|q| q.name == profile.name).count()))
                    .help("fewer of them"),
            );
        } else if compute > most || !layout_fits(&order, 0) {
            report.push(
                Diagnostic::error("AIC0801", format!("the MIG layout {} does not fit on a {}", layout.join(" + "), model.name))
                    .at(span, format!("{compute} compute slices of {most}, {} memory slices", found.iter().map(|p| p.memory).sum::<i64>()))
                    .why("the MIG manager fails on every host of the pool and leaves its GPUs without slices")
                    .help("a smaller layout; profiles start only at certain memory slices"),
            );
        }
        if *strategy == MigStrategy::Single && layout.windows(2).any(|w| w[0] != w[1]) {
            report.push(
                Diagnostic::error("AIC0801", format!("pool {} mixes profiles under strategy single", pool.name))
                    .at(span, layout.join(", "))
                    .at(pool.at.field("gpu.mig.strategy"), "all slices alike, named nvidia.com/gpu")
                    .help("strategy = mixed"),
            );
        }
    }
}

/// AIC0802.
pub fn slices(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let mig = pool.gpu.as_ref().and_then(|g| g.mig.as_ref());
        match (&workload.slice, mig) {
            (Some((profile, _)), None) => report.push(
                Diagnostic::error("AIC0802", format!("workload {} asks for a slice {profile}, pool {} makes no slices", workload.name, pool.name))
                    .at(workload.at.field("gpu.mig"), "asked here")
                    .at(pool.at.field("gpu"), "no `mig`")
                    .help(format!("`mig {{ layout = [\"{profile}\"] }}` in the pool, or `gpus = 1`")),
            ),
            (Some((profile, _)), Some(Mig { layout, .. })) if !layout.contains(profile) => report.push(
                Diagnostic::error("AIC0802", format!("workload {} asks for a slice {profile}, pool {} makes {}", workload.name, pool.name, layout.join(", ")))
                    .at(workload.at.field("gpu.mig"), "asked here")
                    .at(pool.at.field("gpu.mig.layout"), "made here")
                    .help(format!("`mig = \"{}\"`", layout.first().map_or("", String::as_str))),
            ),
            (None, Some(Mig { strategy, .. })) if workload.gpus > 0 && *strategy == MigStrategy::Mixed => report.push(
                Diagnostic::error("AIC0802", format!("workload {} asks for whole GPUs, all GPUs of pool {} are sliced", workload.name, pool.name))
                    .at(workload.at.field("gpus"), "asked here")
                    .at(pool.at.field("gpu.mig"), "sliced here")
                    .help("`gpu { mig = \"…\", count = 1 }`"),
            ),
            _ => {}
        }
    }
}

/// AIC0803.
pub fn settings(cx: &Context, report: &mut Report) {
    for (_, pool) in cx.pools() {
        let Some(host) = cx.first_host(pool) else { continue };
        let gpus = host.system.gpus().count();
        if gpus > 0 && pool.gpu.is_none() && pool.role == crate::design::PoolRole::Declared {
            report.push(
                Diagnostic::error("AIC0803", format!("the hosts of pool {} have {gpus} GPUs each, the pool says nothing of them", pool.name))
                    .at(pool.at.head, "without `gpu { … }`")
                    .at(pool.at.field("hosts"), format!("{} with {gpus} GPUs", host.system.name))
                    .why("no driver and no device plugin would come to them")
                    .help("gpu { driver = \"580\" }"),
            );
        }
        if gpus == 0 && pool.gpu.is_some() {
            report.push(
                Diagnostic::error("AIC0803", format!("pool {} has settings for GPUs, its hosts have none", pool.name))
                    .at(pool.at.field("gpu"), "here")
                    .at(pool.at.field("hosts"), host.system.name.clone())
                    .help("delete `gpu { … }`"),
            );
        }
        if let Some(sharing) = pool.gpu.as_ref().and_then(|g| g.sharing.as_ref())
            && sharing.replicas < 2
        {
            report.push(
                Diagnostic::error("AIC0803", format!("pool {} shares each GPU among {}", pool.name, sharing.replicas))
                    .at(pool.at.field("gpu.sharing.replicas"), "here")
                    .help("replicas = 2 or more, or no `sharing`"),
            );
        }
    }
}
