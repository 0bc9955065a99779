//! `storage/plan.md`: layout, capacity and throughput, each as a sum.

use std::fmt::Write as _;

use super::Artifacts;
use crate::Compilation;
use crate::base::quantity::{decimal, find_unit};
use crate::base::{Dimension, Quantity, Rational};
use crate::design::{Design, FailureDomain, Storage};
use crate::topology::storage::{domains, figures, usable_share, without_largest};

fn shown(value: Option<Rational>, dimension: Dimension, unit: &str) -> String {
    value.map_or("unknown".into(), |v| Quantity { unit: find_unit(unit), ..Quantity::new(v, dimension) }.to_string())
}

/// Whether what `fill` allows still heals when the largest host or rack is lost.
fn heal_rows(d: &Design, storage: &Storage, raw: Option<Rational>, out: &mut String) {
    let (Some(raw), Some(ceph)) = (raw.filter(|r| *r > Rational::from_integer(0)), storage.ceph()) else { return };
    let filled = raw * ceph.fill.value;
    let percent = |share: Rational| decimal(share * Rational::from_integer(100), 1);
    let _ = writeln!(
        out,
        "| filled to {} % (fill) | raw × {} % | {} |",
        percent(ceph.fill.value),
        percent(ceph.fill.value),
        shown(Some(filled), Dimension::Bytes, "TB")
    );
    for domain in [FailureDomain::Host, FailureDomain::Rack] {
        let domains = domains(d, storage, domain);
        if domains.len() < 2 {
            continue;
        }
        let (largest, left) = without_largest(&domains);
        let verdict = if left >= filled { "heals by itself".to_owned() } else { format!("heals by itself below {} % only", percent(left / raw)) };
        let _ = writeln!(
            out,
            "| one {domain} lost | (raw − {}) × 95 %, Ceph's full ratio | {}: {verdict} |",
            shown(Some(largest), Dimension::Bytes, "TB"),
            shown(Some(left), Dimension::Bytes, "TB")
        );
    }
}

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let d = &c.design;
    if d.storages.is_empty() {
        return;
    }
    let mut out = format!(
        "# Storage of {}\n\nSums over data sheets: what a disk's sheet does not give is unknown. Rates are ceilings; acceptance measures the real ones.\n",
        d.cluster.name
    );
    for storage in &d.storages {
        let f = figures(d, storage);
        let _ = write!(out, "\n## {} ({})\n\n| | sum | value |\n|---|---|---|\n", storage.name, storage.word());
        let hosts = storage.hosts().len();
        let disks = if hosts > 0 { format!("{hosts} hosts × {} disks", f.counts.0 / hosts.max(1)) } else { "declared".into() };
        let _ = writeln!(out, "| raw | {disks} | {} |", shown(f.raw, Dimension::Bytes, "TB"));
        heal_rows(d, storage, f.raw, &mut out);
        for (part, usable) in storage.parts().iter().zip(&f.parts) {
            let share = usable_share(d, storage, part);
            let (n, m) = part.factor();
            let what = part.erasure.map_or(format!("{} replicas", part.replicas), |(k, m)| format!("{k} + {m}"));
            let _ = writeln!(
                out,
                "| {} {} ({what}) | raw × {} % × {m} / {n}, if it had all of it | {} |",
                part.kind,
                part.name,
                decimal(share * Rational::from_integer(100), 2),
                shown(Some(*usable), Dimension::Bytes, "TB")
            );
            let have = domains(d, storage, part.failure_domain).len() as i64;
            let _ =
                writeln!(out, "| failure domains of {} | {} {}s of {have} | {} to spare |", part.name, part.width(), part.failure_domain, have - part.width());
        }
        let disks = shown(f.disk_read, Dimension::Rate, "GB/s");
        let sum = match f.ports {
            Some(ports) => format!("the narrower of disks {disks} and ports {}", shown(Some(ports), Dimension::Rate, "GB/s")),
            None => format!("disks {disks}"),
        };
        let _ = writeln!(out, "| read | {sum} | {} |", shown(f.read, Dimension::Rate, "GB/s"));
        match storage.parts().first() {
            Some(part) => {
                let (n, m) = part.factor();
                let _ = writeln!(
                    out,
                    "| write to {} | the narrower of disks and ports, each byte {} times | {} |",
                    part.name,
                    decimal(Rational::new(n, m), 2),
                    shown(f.write, Dimension::Rate, "GB/s")
                );
            }
            None => {
                let _ = writeln!(out, "| write | disks | {} |", shown(f.write, Dimension::Rate, "GB/s"));
            }
        }
        if storage.local().is_some() {
            out.push_str("\nA lost disk loses the volumes that touch it: not for what must be kept.\n");
        }
    }
    if !d.volumes.is_empty() {
        out.push_str("\n## Volumes\n\n| volume | on | size | raw, with copies | access |\n|---|---|---|---|---|\n");
        for volume in &d.volumes {
            let storage = &d.storages[volume.storage];
            let factor = volume.part.and_then(|p| storage.parts().get(p)).or(storage.parts().first()).map_or(Rational::from_integer(1), |part| {
                let (n, m) = part.factor();
                Rational::new(n, m)
            });
            let raw = shown(Some(volume.size.value * factor), Dimension::Bytes, "TB");
            let _ = writeln!(out, "| {} | {} | {} | {raw} | {} |", volume.name, storage.name, volume.size, volume.access);
        }
    }
    for workload in &d.workloads {
        let Some(checkpoint) = &workload.checkpoint() else { continue };
        let f = figures(d, &d.storages[d.volumes[checkpoint.volume].storage]);
        let time = |rate: Option<Rational>, bytes: Rational| rate.map_or("unknown".to_owned(), |r| format!("{} s", decimal(bytes / r, 1)));
        let readers = checkpoint.size.value * Rational::from_integer(checkpoint.readers.into());
        let _ = write!(
            out,
            "\n## Checkpoints of {}: {} every {}\n\n| | sum | value |\n|---|---|---|\n| write | {} / write rate | {} |\n| restore | {} readers × {} / read rate | {} |\n| kept | ({} + 1) × {} | {} of {} |\n",
            workload.name,
            checkpoint.size,
            checkpoint.every,
            checkpoint.size,
            time(f.write, checkpoint.size.value),
            checkpoint.readers,
            checkpoint.size,
            time(f.read, readers),
            checkpoint.keep,
            checkpoint.size,
            Quantity { value: checkpoint.size.value * Rational::from_integer((checkpoint.keep + 1).into()), ..checkpoint.size },
            d.volumes[checkpoint.volume].size,
        );
    }
    artifacts.text("storage/plan.md", out);
}
