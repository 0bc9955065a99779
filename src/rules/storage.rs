//! Storage: access, failure domains, capacity, checkpoints, GPUDirect Storage.

use num_traits::Zero as _;

use super::Context;
use crate::base::{Diagnostic, Dimension, Quantity, Rational, Report};
use crate::design::{Access, DeviceKind, PartKind, Storage, StorageKind, StorageWord};
use crate::topology::storage::{domains, figures};

fn decimal_bytes(value: Rational) -> Quantity {
    let unit = if value >= Rational::from_integer(1_000_000_000_000) { "TB" } else { "GB" };
    Quantity { unit: crate::base::quantity::find_unit(unit), ..Quantity::new(value, Dimension::Bytes) }
}

fn gbs(value: Rational) -> Quantity {
    Quantity { unit: crate::base::quantity::find_unit("GB/s"), ..Quantity::new(value, Dimension::Rate) }
}

fn seconds(value: Rational) -> Quantity {
    Quantity { unit: crate::base::quantity::find_unit("s"), ..Quantity::new(value.ceil(), Dimension::Time) }
}

/// Access modes that a storage can give; block storage cannot be shared.
fn supports(storage: &Storage, part: Option<usize>, access: Access) -> bool {
    match &storage.kind {
        StorageKind::Ceph(ceph) => part.and_then(|p| ceph.parts.get(p)).is_none_or(|p| p.kind != PartKind::Block || access != Access::ReadWriteMany),
        StorageKind::LocalNvme(_) => matches!(access, Access::ReadWriteOnce | Access::ReadWriteOncePod),
        StorageKind::External { access: offered, .. } => offered.contains(&access),
        StorageKind::Nfs(_) | StorageKind::Lustre(_) | StorageKind::Weka(_) | StorageKind::Vast(_) | StorageKind::Beegfs(_) => true,
        StorageKind::S3 { .. } => true,
    }
}

/// AIC1201.
pub fn access_mode(cx: &Context, report: &mut Report) {
    for (_, volume) in cx.volumes() {
        let storage = &cx.design.storages[volume.storage];
        if !supports(storage, volume.part, volume.access) {
            report.push(
                Diagnostic::error("AIC1201", format!("volume {} wants {}, storage {} cannot give it", volume.name, volume.access, storage.name))
                    .at(volume.at.field("access"), "asked here")
                    .at(storage.at.head, format!("{} storage", storage.word().word().replace('_', " ")))
                    .help(if storage.local().is_some() {
                        "access = read_write_once with per_host = true, or a shared file system"
                    } else {
                        "a file system that many hosts may mount"
                    }),
            );
        }
    }
    for (_, workload, _) in cx.workloads() {
        let pods = workload.nodes * workload.replicas;
        for mount in &workload.mounts {
            let volume = &cx.design.volumes[mount.volume];
            if pods > 1 && !volume.per_host && matches!(volume.access, Access::ReadWriteOnce | Access::ReadWriteOncePod) {
                report.push(
                    Diagnostic::error(
                        "AIC1201",
                        format!("workload {} mounts volume {} in {pods} pods, its access is {}", workload.name, volume.name, volume.access),
                    )
                    .at(volume.at.field("access"), "one host at a time")
                    .at(workload.at.field("mount"), format!("{pods} pods on several hosts"))
                    .why("the second pod stays in ContainerCreating with a Multi-Attach error")
                    .help("access = read_write_many on a shared file system, or per_host = true"),
                );
            }
            if !mount.read_only && volume.access == Access::ReadOnlyMany {
                report.push(
                    Diagnostic::error("AIC1201", format!("workload {} writes to volume {}, its access is read_only_many", workload.name, volume.name))
                        .at(workload.at.field("mount"), "without `read_only`")
                        .at(volume.at.field("access"), "read only")
                        .help("read_only = true"),
                );
            }
        }
    }
}

/// AIC1202.
pub fn failure_domains(cx: &Context, report: &mut Report) {
    for (_, storage) in cx.storages().filter(|(_, s)| s.ceph().is_some()) {
        for part in storage.parts() {
            let have = domains(cx.design, storage, part.failure_domain).len() as i64;
            let need = part.width();
            let what = part.erasure.map_or(format!("{} replicas", part.replicas), |(k, m)| format!("{k} + {m} chunks"));
            let field = if part.erasure.is_some() { format!("{}.erasure", part.key) } else { format!("{}.replicas", part.key) };
            if have < need {
                report.push(
                    Diagnostic::error(
                        "AIC1202",
                        format!("{} {} of storage {} spreads {what} over {}s, there are {have}", part.kind, part.name, storage.name, part.failure_domain),
                    )
                    .at(storage.at.field(&field), format!("{need} needed"))
                    .at(storage.at.field("hosts"), format!("{have} {}s", part.failure_domain))
                    .why("placement groups stay undersized: nothing can be written, or one failure loses data")
                    .help(format!("failure_domain = host, or {need} {}s and one to repair into", part.failure_domain)),
                );
            }
            if part.erasure.is_none() && part.replicas < 2 || part.erasure.is_some_and(|(_, m)| m < 1) {
                report.push(
                    Diagnostic::error("AIC1202", format!("{} {} of storage {} loses data with its first disk", part.kind, part.name, storage.name))
                        .at(storage.at.field(&field), what)
                        .help("replicas = 3, or erasure { data = 4, parity = 2 }"),
                );
            }
        }
        let Some(ceph) = storage.ceph() else { continue };
        if ceph.monitors % 2 == 0 || ceph.monitors < 1 {
            report.push(
                Diagnostic::error(
                    "AIC1202",
                    format!("{} monitors of storage {} lose their quorum with as few failures as {}", ceph.monitors, storage.name, ceph.monitors - 1),
                )
                .at(storage.at.field("monitors"), "an even number")
                .help("monitors = 3 or 5"),
            );
        } else if ceph.monitors > storage.hosts().len() as i64 {
            report.push(
                Diagnostic::error("AIC1202", format!("storage {} wants {} monitors on {} hosts", storage.name, ceph.monitors, storage.hosts().len()))
                    .at(storage.at.field("monitors"), "each on a host of its own")
                    .at(storage.at.field("hosts"), format!("{} hosts", storage.hosts().len()))
                    .help("more hosts, or fewer monitors"),
            );
        }
    }
    for (_, storage) in cx.storages() {
        let Some((hosts, disks)) = storage.on_disks() else { continue };
        let Some(first) = hosts.first() else { continue };
        if let Some(host) = storage.hosts().iter().map(|h| cx.host(*h)).find(|h| h.system.disks(disks).next().is_none()) {
            let known: Vec<&str> = cx.host(*first).system.devices.iter().filter(|d| matches!(d.kind, DeviceKind::Disk(_))).map(|d| d.name.as_str()).collect();
            report.push(
                Diagnostic::error("AIC1202", format!("host {} has no disks called {disks}", host.name))
                    .at(storage.at.field("disks"), "asked here")
                    .at(storage.at.field("hosts"), format!("{} has {}", host.system.name, known.join(", ")))
                    .help("the name of its disks as the system declares it"),
            );
        }
    }
}

/// AIC1203.
pub fn volume_size(cx: &Context, report: &mut Report) {
    for (id, storage) in cx.storages() {
        let f = figures(cx.design, storage);
        let volumes: Vec<_> = cx.volumes().filter(|(_, v)| v.storage == id).map(|(_, v)| v).collect();
        if volumes.is_empty() {
            continue;
        }
        if storage.local().is_some() {
            let per_host = f.raw.map(|r| r / Rational::from_integer(storage.hosts().len().max(1) as i128));
            let asked: Rational = volumes.iter().map(|v| v.size.value).fold(Rational::zero(), |a, b| a + b);
            if let Some(have) = per_host.filter(|h| asked > *h) {
                report.push(
                    Diagnostic::error(
                        "AIC1203",
                        format!("volumes take {} of each host, storage {} has {}", decimal_bytes(asked), storage.name, decimal_bytes(have)),
                    )
                    .at(volumes[0].at.field("size"), "asked here")
                    .at(storage.at.field("disks"), format!("{} a host", decimal_bytes(have)))
                    .help("a smaller volume, or more disks"),
                );
            }
            continue;
        }
        let (Some(raw), share) = (f.raw, f.share) else { continue };
        // Parts share the disks: what each volume takes of them counts with its part's factor.
        let taken: Rational = volumes
            .iter()
            .map(|v| {
                let (n, d) = v.part.and_then(|p| storage.parts().get(p)).map_or((1, 1), |p| p.factor());
                v.size.value * Rational::new(n, d)
            })
            .fold(Rational::zero(), |a, b| a + b);
        if taken > raw * share {
            let mut diagnostic = Diagnostic::error(
                "AIC1203",
                format!("volumes take {} of the disks of storage {}, {} may be filled", decimal_bytes(taken), storage.name, decimal_bytes(raw * share)),
            );
            for volume in &volumes {
                diagnostic = diagnostic.at(volume.at.field("size"), format!("{}", volume.size));
            }
            let percent = crate::base::quantity::decimal(share * Rational::from_integer(100), 1);
            report.push(
                diagnostic
                    .at(storage.at.head, format!("{} raw", decimal_bytes(raw)))
                    .note(format!(
                        "{} raw × {percent} % = {} that may be filled: a lost failure domain must heal into the rest",
                        decimal_bytes(raw),
                        decimal_bytes(raw * share)
                    ))
                    .help("smaller volumes, or more disks"),
            );
        }
    }
}

/// AIC1204.
pub fn checkpoint_size(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let Some(checkpoint) = &workload.checkpoint() else { continue };
        let volume = &cx.design.volumes[checkpoint.volume];
        // While the newest is written, all that are kept are still there.
        let needed = checkpoint.size.value * Rational::from_integer((checkpoint.keep + 1).into());
        if needed > volume.size.value {
            let like = |v| Quantity { value: v, ..checkpoint.size };
            report.push(
                Diagnostic::error(
                    "AIC1204",
                    format!(
                        "{} checkpoints of workload {} and the one being written are {}, volume {} has {}",
                        checkpoint.keep,
                        workload.name,
                        like(needed),
                        volume.name,
                        volume.size
                    ),
                )
                .at(workload.at.field("checkpoint.keep"), format!("{} × {}", checkpoint.keep + 1, checkpoint.size))
                .at(volume.at.field("size"), format!("{}", volume.size))
                .why("the write of the newest fails when the disk is full, and the job dies with it")
                .help(super::at_most("keep", ((volume.size.value / checkpoint.size.value).floor().to_integer() - 1).max(0))),
            );
        }
    }
}

/// AIC1207.
pub fn checkpoint_ephemeral(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let Some(checkpoint) = &workload.checkpoint() else { continue };
        let volume = &cx.design.volumes[checkpoint.volume];
        let storage = &cx.design.storages[volume.storage];
        if storage.local().is_some() || volume.per_host {
            let durable = cx.storages().find(|(_, s)| s.local().is_none() && s.word() != StorageWord::S3);
            let help = durable.map_or("a storage that outlives a host: ceph, nfs, lustre".to_owned(), |(_, s)| {
                format!("storage = {}{}", s.name, s.parts().iter().find(|p| p.kind == PartKind::Filesystem).map_or(String::new(), |p| format!(".{}", p.name)))
            });
            report.push(
                Diagnostic::error(
                    "AIC1207",
                    format!("checkpoints of {} go to volume {} on storage {}, which dies with its host", workload.name, volume.name, storage.name),
                )
                .at(volume.at.field("storage"), format!("{}: the disks of each host", storage.word()))
                .at(workload.at.field("checkpoint.volume"), "read again after a host is lost")
                .help(help),
            );
        }
        if !workload.mounts.iter().any(|m| m.volume == checkpoint.volume) {
            report.push(
                Diagnostic::error("AIC1207", format!("workload {} writes checkpoints to volume {}, which it does not mount", workload.name, volume.name))
                    .at(workload.at.field("checkpoint.volume"), "written here")
                    .at(workload.at.head, "no `mount` of it")
                    .why("the program writes into its container: the checkpoints go with the pod")
                    .help(format!("mount {{ volume = {}, path = \"/ckpt\" }}", volume.name)),
            );
        }
    }
}

/// AIC1208.
pub fn gds_path(cx: &Context, report: &mut Report) {
    // File systems with a GPUDirect Storage path of their own: cuFile's list (facts/perf.md; CephFS and plain NFS over TCP are not in it).
    const SUPPORTED: [StorageWord; 5] = [StorageWord::Lustre, StorageWord::Weka, StorageWord::Vast, StorageWord::Beegfs, StorageWord::LocalNvme];
    for (_, storage) in cx.storages().filter(|(_, s)| s.gds) {
        if !SUPPORTED.contains(&storage.word()) {
            report.push(
                Diagnostic::error("AIC1208", format!("storage {} claims GPUDirect Storage, {} has no path for it", storage.name, storage.word()))
                    .at(storage.at.field("gds"), "claimed here")
                    .at(storage.at.head, "the first link that breaks: the file system")
                    .why("cuFile falls back to copies through the CPU's memory in silence")
                    .help("gds = false; NVMe or RDMA under a file system does not make it GPUDirect Storage"),
            );
        }
    }
}

/// The narrowest part of the way from a storage to the hosts of a workload.
fn narrowest(cx: &Context, storage: &Storage, hosts: &[usize], nodes: i64) -> Option<(Rational, String)> {
    let f = figures(cx.design, storage);
    let mut parts: Vec<(Rational, String)> = Vec::new();
    if let Some(disks) = f.disk_read {
        parts.push((disks, format!("{} disks", f.counts.0)));
    } else if let Some(read) = f.read {
        parts.push((read, format!("storage {}", storage.name)));
    }
    if let (Some(ports), Some(network)) = (f.ports, storage.network()) {
        let fabric = &cx.design.fabrics[cx.design.networks[network].fabric];
        parts.push((ports, format!("{} ports of the storage hosts on fabric {}", f.counts.1, fabric.name)));
        let client: Rational = fabric
            .attach
            .iter()
            .filter(|p| hosts.first() == Some(&(p.host as usize)))
            .filter_map(|p| Some(cx.design.nic_port(*p)?.rate.value))
            .fold(Rational::zero(), |a, b| a + b);
        if !client.is_zero() {
            parts.push((client * Rational::from_integer(nodes.into()), format!("the ports of {nodes} hosts on fabric {}", fabric.name)));
        }
    }
    parts.into_iter().min_by(|a, b| a.0.cmp(&b.0))
}

/// AIC1211.
pub fn restore_time(cx: &Context, report: &mut Report) {
    for (_, workload, pool) in cx.workloads() {
        let Some((checkpoint, bound)) = workload.checkpoint().and_then(|c| Some((c, c.restore_within?))) else { continue };
        let storage = &cx.design.storages[cx.design.volumes[checkpoint.volume].storage];
        let Some((rate, what)) = narrowest(cx, storage, &pool.hosts, workload.nodes) else { continue };
        let bytes = checkpoint.size.value * Rational::from_integer(checkpoint.readers.into());
        let time = bytes / rate;
        if time > bound.value {
            report.push(
                Diagnostic::warning("AIC1211", format!("restoring {} takes {} at best, more than {bound}", workload.name, seconds(time)))
                    .at(workload.at.field("checkpoint.restore_within"), "bound")
                    .at(storage.at.head, format!("read at {} at best", gbs(rate)))
                    .note(format!(
                        "{} readers × {} = {}; the narrowest part of the path is the {what} at {}",
                        checkpoint.readers,
                        checkpoint.size,
                        Quantity { value: bytes, ..checkpoint.size },
                        gbs(rate)
                    ))
                    .help(format!("restore_within = {} or more, fewer readers, or faster storage", seconds(time))),
            );
        }
    }
}

/// AIC1212.
pub fn checkpoint_interval(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        let Some(checkpoint) = &workload.checkpoint() else { continue };
        let storage = &cx.design.storages[cx.design.volumes[checkpoint.volume].storage];
        let Some(rate) = figures(cx.design, storage).write else { continue };
        let time = checkpoint.size.value / rate;
        // Half of the interval is the most that leaves room for a slow write.
        if time * Rational::from_integer(2) > checkpoint.every.value {
            report.push(
                Diagnostic::warning(
                    "AIC1212",
                    format!("writing a checkpoint of {} takes {} at best, the interval is {}", workload.name, seconds(time), checkpoint.every),
                )
                .at(workload.at.field("checkpoint.every"), "interval")
                .at(storage.at.head, format!("writes {} at best", gbs(rate)))
                .why("the job spends its time writing, or the next checkpoint begins before the last is safe")
                .help("a longer interval, smaller checkpoints, or faster storage"),
            );
        }
    }
}

/// AIC1501.
pub fn no_checkpoint(cx: &Context, report: &mut Report) {
    for (_, workload, _) in cx.workloads() {
        if workload.is_training() && workload.checkpoint().is_none() && workload.nodes > 1 {
            report.push(
                Diagnostic::advice("AIC1501", format!("workload {} has no checkpoint: a lost host costs all of its work", workload.name))
                    .at(workload.at.head, format!("{} hosts", workload.nodes))
                    .help("checkpoint { volume = …, size = …, every = 30min, restore_within = 10min }"),
            );
        }
    }
}
