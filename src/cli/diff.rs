//! `aic diff`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::options::compile;
use super::{Common, Format};
use crate::compare::{Side, compare, markdown, object_name, text};
use crate::project;
use crate::{bundle, lower};

#[derive(Args)]
pub struct Arguments {
    /// A design or a bundle.
    old: PathBuf,
    /// A design or a bundle.
    new: PathBuf,
    /// As Markdown, for a pull request.
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the command; a difference is no failure.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let mut sides = Vec::new();
    for path in [&arguments.old, &arguments.new] {
        match side(path, &arguments.common)? {
            Ok(side) => sides.push(side),
            Err(code) => return Ok(code),
        }
    }
    let (new, old) = (sides.pop().unwrap_or_default(), sides.pop().unwrap_or_default());
    let differences = compare(&old, &new);
    if arguments.common.format == Format::Json {
        let value: Vec<Value> = differences
            .iter()
            .map(|d| serde_json::json!({ "file": d.file, "object": d.object, "change": format!("{:?}", d.change).split(['(', ' ']).next().unwrap_or("").to_lowercase() }))
            .collect();
        return super::print_line(&serde_json::to_string_pretty(&value).map_err(|e| e.to_string())?);
    }
    super::print_line(if arguments.markdown { markdown(&differences) } else { text(&differences) }.trim_end())
}

fn side(path: &Path, common: &Common) -> Result<Result<Side, i32>, String> {
    if path.is_dir() && path.join(".aic-files").is_file() {
        return read_bundle(path).map(Ok);
    }
    let file = if path.is_dir() { path.join("cluster.aic") } else { path.to_owned() };
    let mut targets = project::targets(Some(&file))?;
    let target = targets.pop().ok_or("no design")?;
    let mut compilation = compile(&target, common)?;
    let made = if compilation.has_errors() { None } else { Some(lower::lower(&compilation)) };
    match made {
        Some(Ok(artifacts)) => {
            let mut side = Side::default();
            let mut written: Vec<String> = Vec::new();
            for (path, content) in &artifacts.files {
                match content {
                    lower::Content::Documents(documents) => documents.iter().enumerate().for_each(|(i, d)| add(&mut side, path, i, d.value.clone())),
                    lower::Content::Stream(_) => written.push(path.clone()),
                    lower::Content::Text(_) => {}
                }
            }
            side.files = bundle::texts(bundle::render(artifacts, &compilation), &compilation);
            for path in written {
                let text = side.files.get(&path).cloned().unwrap_or_default();
                parse(&mut side, &path, &text)?;
            }
            Ok(Ok(side))
        }
        other => {
            if let Some(Err(faults)) = other {
                compilation.diagnostics.extend(faults);
            }
            super::check::report(&[(target, compilation)], common)?;
            Ok(Err(1))
        }
    }
}

fn add(side: &mut Side, path: &str, index: usize, value: Value) {
    let mut name = object_name(&value);
    if value["kind"].is_null() {
        // Values of a chart, netplan of a host: documents without a name are told apart by their place.
        name = format!("document {index}");
    }
    side.objects.insert((path.to_owned(), name), value);
}

/// The documents of a file, if it is YAML.
fn parse(side: &mut Side, path: &str, text: &str) -> Result<(), String> {
    if path.ends_with(".yaml") {
        let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|e| format!("{path}: {e}"))?;
        documents.into_iter().enumerate().for_each(|(i, value)| add(side, path, i, value));
    }
    Ok(())
}

fn read_bundle(dir: &Path) -> Result<Side, String> {
    let index = std::fs::read_to_string(dir.join(".aic-files")).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut side = Side::default();
    for path in index.lines() {
        let Ok(text) = std::fs::read_to_string(dir.join(path)) else { continue };
        parse(&mut side, path, &text)?;
        side.files.insert(path.to_owned(), text);
    }
    Ok(side)
}
