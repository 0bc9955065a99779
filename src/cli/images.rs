//! `aic images`.

use std::path::PathBuf;

use clap::Args;

use super::check::{exit_code, report};
use super::options::compile;
use super::{Common, Format};
use crate::lower::{self, images};
use crate::project;

#[derive(Args)]
pub struct Arguments {
    /// The entry file; `cluster.aic`, or all sites of aic.toml.
    file: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Prints each image that the bundle names and its name at the mirror: `images { mirror = … }`.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let common = &arguments.common;
    let mut compilations = Vec::new();
    let mut lines = std::collections::BTreeSet::new();
    for target in project::targets(arguments.file.as_deref())? {
        let mut compilation = compile(&target, common)?;
        if !compilation.has_errors() {
            match lower::unmirrored(&compilation) {
                Ok(artifacts) => {
                    let mirror = compilation.design.cluster.mirror.clone();
                    let name = |image: &String| mirror.as_ref().map_or_else(|| image.clone(), |mirror| images::mirrored(image, mirror));
                    lines.extend(images::list(&artifacts).keys().map(|image| (image.clone(), name(image))));
                }
                Err(faults) => compilation.diagnostics.extend(faults),
            }
        }
        compilations.push((target, compilation));
    }
    let code = exit_code(&compilations, common);
    if code != 0 {
        report(&compilations, common)?;
        return Ok(code);
    }
    let text = match common.format {
        Format::Human => lines.iter().map(|(image, name)| format!("{image}\t{name}")).collect::<Vec<_>>().join("\n"),
        Format::Json => {
            serde_json::to_string_pretty(&lines.iter().map(|(image, name)| serde_json::json!({ "image": image, "mirror": name })).collect::<Vec<_>>())
                .map_err(|e| e.to_string())?
        }
    };
    super::print_line(&text)?;
    Ok(0)
}
