//! `aic build`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::check::{exit_code, report, verdict};
use super::options::compile;
use super::{Common, Format};
use crate::base::names::{count_of, grouped};
use crate::project;
use crate::{Compilation, bundle, lower, schemas};

#[derive(Args)]
pub struct Arguments {
    /// The entry file; `cluster.aic`, or all sites of aic.toml.
    file: Option<PathBuf>,
    /// Where the bundle goes.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Prints JSON on standard output and writes nothing.
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Holds every object against the CustomResourceDefinitions in this folder (`kubectl get crd -o yaml > DIR/crds.yaml`).
    #[arg(long, value_name = "DIR")]
    schemas: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The design as plain data.
    Design,
    /// plan.json.
    Plan,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let common = &arguments.common;
    let targets = project::targets(arguments.file.as_deref())?;
    let several = targets.len() > 1;
    let mut compilations = Vec::new();
    for target in targets {
        let compilation = compile(&target, common)?;
        compilations.push((target, compilation));
    }
    if let Some(emit) = arguments.emit {
        return self::emit(emit, compilations, common);
    }
    let mut definitions = Vec::new();
    if let Some(dir) = &arguments.schemas {
        read(dir, &mut definitions).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let mut artifacts = Vec::new();
    if exit_code(&compilations, common) == 0 {
        for (_, compilation) in &mut compilations {
            match lower::lower(compilation) {
                Ok(made) => {
                    if arguments.schemas.is_some() {
                        compilation.diagnostics.extend(schemas::check(&made, &definitions)?);
                    }
                    artifacts.push(made);
                }
                Err(faults) => compilation.diagnostics.extend(faults),
            }
        }
    }
    report(&compilations, common)?;
    let code = exit_code(&compilations, common);
    if code != 0 || artifacts.len() != compilations.len() {
        if common.format == Format::Human && !common.quiet {
            for (target, compilation) in &compilations {
                eprintln!("{}: {}; nothing is written", target.entry, verdict(compilation));
            }
        }
        return Ok(code.max(1));
    }
    for ((target, compilation), artifacts) in compilations.iter().zip(artifacts) {
        let mut dir = arguments.out.clone().unwrap_or_else(|| target.out.clone());
        if let (Some(out), true) = (&arguments.out, several) {
            dir = out.join(std::path::Path::new(&target.entry).file_stem().unwrap_or_default());
        }
        if common.timings {
            eprintln!("emitted {} documents in {} files", artifacts.documents(), artifacts.files.len());
        }
        let files = bundle::render(artifacts, compilation);
        let written = bundle::write(&dir, &files, compilation)?;
        if common.format == Format::Human && !common.quiet {
            super::print_line(&summary(compilation, &dir, written, files.len()))?;
        }
    }
    Ok(0)
}

/// All definitions below a folder, by path.
fn read(dir: &Path, out: &mut Vec<(String, String)>) -> std::io::Result<()> {
    let mut paths = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            out.push((path.display().to_string(), std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

fn emit(emit: Emit, compilations: Vec<(project::Target, Compilation)>, common: &Common) -> Result<i32, String> {
    let code = exit_code(&compilations, common);
    if code != 0 {
        report(&compilations, common)?;
        return Ok(code);
    }
    for (_, compilation) in &compilations {
        match emit {
            Emit::Design => super::print_line(&serde_json::to_string_pretty(&*compilation.design).map_err(|e| e.to_string())?)?,
            Emit::Plan => super::print_with(|out| lower::plan::write(compilation, out))?,
        };
    }
    Ok(0)
}

/// What a person wants to see when a build is done.
fn summary(c: &Compilation, dir: &std::path::Path, written: bundle::Written, files: usize) -> String {
    let d = &c.design;
    let gpus: usize = d.hosts.iter().map(|h| h.system.gpus().count()).sum();
    let mut lines = vec![format!("{}: {}, {}", d.cluster.name, count_of(d.hosts.len(), "host"), count_of(gpus, "GPU"))];
    for pool in &d.pools {
        let gpu = pool.hosts.first().and_then(|h| d.hosts[*h].system.gpu_model());
        let n: usize = pool.hosts.iter().map(|h| d.hosts[*h].system.gpus().count()).sum();
        let what = gpu.map_or(String::new(), |g| format!(", {} × {}", grouped(n as i128), g.name));
        lines.push(format!("  pool {:<16} {}{what}", pool.name, count_of(pool.hosts.len(), "host")));
    }
    for (fabric, plan) in d.fabrics.iter().zip(&c.topology.fabrics) {
        let switches: i64 = plan.tiers.iter().map(|(.., n)| n).sum();
        let cables: i64 = plan.cables.values().sum();
        let ratio = plan.ratio.map_or(String::new(), |r| format!(", {}", crate::base::Quantity::new(r, crate::base::Dimension::Ratio)));
        lines.push(format!(
            "  fabric {:<14} {}, {}{ratio}",
            fabric.name,
            count_of(switches.max(0) as usize, "switch").replace("switchs", "switches"),
            count_of(cables.max(0) as usize, "link")
        ));
    }
    for queue in &d.queues {
        let queued: i128 = d
            .workloads
            .iter()
            .zip(&c.nodes.pods)
            .filter(|(w, _)| w.queue.is_some_and(|q| d.queues[q].name == queue.name))
            .flat_map(|(_, p)| &p.shapes)
            .map(|s| s.requests.iter().filter(|(n, _)| n.ends_with("/gpu")).map(|(_, a)| a).sum::<i128>() * s.count as i128)
            .sum();
        lines.push(format!("  queue {:<15} {} of its {} GPUs asked for", queue.name, grouped(queued), grouped(queue.gpus.unwrap_or(0).into())));
    }
    lines.push(format!("  {}", verdict(c)));
    lines.push(format!(
        "{} files in {} ({} new or changed, {} removed); read {} next",
        files,
        dir.display(),
        written.changed,
        written.removed,
        dir.join("README.md").display()
    ));
    lines.join("\n")
}
