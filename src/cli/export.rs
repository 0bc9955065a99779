//! `aic export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::check::{exit_code, report};
use super::options::compile;
use super::{Common, print_line};
use crate::export;
use crate::project;

#[derive(Args)]
pub struct Arguments {
    /// The format.
    #[arg(value_enum)]
    format_of_export: Format,
    /// The design; `cluster.aic`, or all sites of aic.toml.
    file: Option<PathBuf>,
    /// The folder; without it a format of one file is printed.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// CSV files for NetBox' import.
    Netbox,
    /// Graphviz.
    Dot,
    /// A containerlab topology of the Ethernet fabrics.
    Containerlab,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let format = match arguments.format_of_export {
        Format::Netbox => export::Format::Netbox,
        Format::Dot => export::Format::Dot,
        Format::Containerlab => export::Format::Containerlab,
    };
    let targets = project::targets(arguments.file.as_deref())?;
    let several = targets.len() > 1;
    for target in targets {
        let compilation = compile(&target, &arguments.common)?;
        let files = export::files(&compilation, format);
        let site = std::path::Path::new(&target.entry).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let compilations = [(target, compilation)];
        let code = exit_code(&compilations, &arguments.common);
        if code != 0 {
            report(&compilations, &arguments.common)?;
            return Ok(code);
        }
        match &arguments.out {
            None if files.len() == 1 && !several => {
                files.values().try_for_each(|text| print_line(text.trim_end()).map(|_| ()))?;
            }
            None => return Err("this format has several files: name a folder with -o".into()),
            Some(dir) => {
                let dir = if several { dir.join(site) } else { dir.clone() };
                std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
                for (name, text) in &files {
                    let path = dir.join(name);
                    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
                }
                print_line(&format!("{} in {}", crate::base::names::count_of(files.len(), "file"), dir.display()))?;
            }
        }
    }
    Ok(0)
}
