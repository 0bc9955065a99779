//! `aic topo`: what `nvidia-smi topo -m` would print on a host of a system.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::options::compile;
use super::{Common, print_line};
use crate::base::names::{list_of, nearest};
use crate::base::{Severity, Sources};
use crate::design::System;
use crate::lang::{Options, stdlib};
use crate::lower::network::nccl;
use crate::project;
use crate::topology::DeviceGraph;
use crate::topology::host::matrix;

#[derive(Args)]
pub struct Arguments {
    /// A system of the library or of the design, or a host of the design.
    system: String,
    /// The design; `cluster.aic` if there is one.
    file: Option<PathBuf>,
    /// Prints NCCL's topology file instead.
    #[arg(long)]
    nccl: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let system = find(&arguments.system, arguments.file.as_deref(), &arguments.common)?;
    let graph = DeviceGraph::new(&system);
    let text = if arguments.nccl { nccl::text(&system, &graph) } else { matrix::text(&system, &graph) };
    print_line(text.trim_end())
}

/// A system by its name, or by that of a host; of the design, else of the library.
pub fn find(name: &str, file: Option<&std::path::Path>, common: &Common) -> Result<Arc<System>, String> {
    if file.is_some() || std::path::Path::new("cluster.aic").is_file() || std::path::Path::new("aic.toml").is_file() {
        for target in project::targets(file)? {
            let compilation = compile(&target, common)?;
            let host = compilation.design.hosts.iter().find(|h| h.system.name == name || h.name == name);
            if let Some(host) = host {
                return Ok(host.system.clone());
            }
        }
    }
    if !stdlib::names().any(|n| n == name && stdlib::is_kind(n, "system")) {
        let known: Vec<String> = stdlib::names().filter(|n| stdlib::is_kind(n, "system")).map(str::to_owned).collect();
        let close = nearest(name, known.iter().map(String::as_str));
        let hint = close.map_or_else(|| format!("the library has {}", list_of(&known, "and")), |c| format!("did you mean {c}?"));
        return Err(format!("there is no system or host {name}; {hint}"));
    }
    library(name)
}

/// A system of the library. A rack-scale system is shown by the first of its hosts.
fn library(name: &str) -> Result<Arc<System>, String> {
    let program =
        |kind: &str, body: &str| format!("use std.{{{name}}}\ncluster one {{ kubernetes = \"1.36\", distribution = k3s }}\n{kind} h : {name} {body}\n");
    for text in [program("host", "{}"), program("rack", "{ height = 100U }")] {
        let sources: BTreeMap<String, String> = BTreeMap::from([("cluster.aic".to_owned(), text)]);
        let compilation = crate::compile(&sources as &dyn Sources, "cluster.aic", Options::default());
        let fault = compilation.diagnostics.iter().any(|d| d.severity == Severity::Error && d.code.starts_with("AIC01"));
        if let (false, Some(host)) = (fault, compilation.design.hosts.first().filter(|h| !h.system.devices.is_empty())) {
            return Ok(host.system.clone());
        }
    }
    Err(format!("system {name} of the library has no host"))
}
