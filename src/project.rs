//! A project on the disk: its root, `aic.toml`, its sites. The command line and the language server both begin here.
#![allow(clippy::disallowed_methods, reason = "a project's files are read here")]

use std::path::{Component, Path, PathBuf};

use crate::base::{Diagnostic, Severity, Sources};

/// Reads files below a root, and nothing outside it.
#[derive(Debug, Clone)]
pub struct Disk {
    /// The root.
    pub root: PathBuf,
}

impl Sources for Disk {
    fn read(&self, path: &str) -> Option<String> {
        let relative = Path::new(path);
        if relative.components().any(|c| !matches!(c, Component::Normal(_))) {
            return None;
        }
        std::fs::read_to_string(self.root.join(relative)).ok()
    }
}

/// `aic.toml`.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    #[serde(default)]
    project: ProjectTable,
    #[serde(default)]
    build: BuildTable,
    #[serde(default)]
    lint: LintTable,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectTable {
    #[allow(dead_code, reason = "a name for people")]
    name: Option<String>,
    aic: Option<String>,
    #[serde(default)]
    sites: Vec<String>,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildTable {
    out: Option<String>,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LintTable {
    #[serde(default)]
    deny: Vec<String>,
}

/// One program to compile.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where its files are.
    pub disk: Disk,
    /// Its entry file, relative to the root.
    pub entry: String,
    /// Where its bundle goes by default.
    pub out: PathBuf,
    /// Codes whose warnings are errors.
    pub deny: Vec<String>,
}

/// The programs that a command names: a file, or all sites of the project of this folder.
pub fn targets(file: Option<&Path>) -> Result<Vec<Target>, String> {
    let start = match file {
        Some(file) if !file.is_file() => return Err(format!("there is no file {}", file.display())),
        Some(file) => file.parent().map_or_else(|| PathBuf::from("."), |p| if p.as_os_str().is_empty() { PathBuf::from(".") } else { p.to_owned() }),
        None => PathBuf::from("."),
    };
    let absolute = std::path::absolute(&start).map_err(|e| format!("{}: {e}", start.display()))?;
    let root = absolute.ancestors().find(|dir| dir.join("aic.toml").is_file()).map(Path::to_owned);
    let Some(root) = root else {
        let entry = file.map_or_else(|| PathBuf::from("cluster.aic"), Path::to_owned);
        if !entry.is_file() {
            return Err(format!("there is no {} here; name a file, or make a design with `aic new DIR`", entry.display()));
        }
        let name = entry.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        return Ok(vec![Target { disk: Disk { root: start }, entry: name, out: PathBuf::from("build"), deny: Vec::new() }]);
    };
    let text = std::fs::read_to_string(root.join("aic.toml")).map_err(|e| format!("aic.toml: {e}"))?;
    let project: ProjectFile = toml::from_str(&text).map_err(|e| format!("aic.toml: {e}"))?;
    check_version(project.project.aic.as_deref())?;
    let entries = match file {
        Some(file) => {
            let absolute = std::path::absolute(file).map_err(|e| e.to_string())?;
            vec![absolute.strip_prefix(&root).map_err(|_| format!("{} is outside the project", file.display()))?.to_string_lossy().replace('\\', "/")]
        }
        None if project.project.sites.is_empty() => vec!["cluster.aic".to_owned()],
        None => sites(&root, &project.project.sites)?,
    };
    Ok(entries
        .into_iter()
        .map(|entry| {
            let site = Path::new(&entry).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let out = project.build.out.as_deref().map_or_else(|| PathBuf::from("build"), |out| root.join(out.replace("{site}", &site)));
            Target { disk: Disk { root: root.clone() }, entry, out, deny: project.lint.deny.clone() }
        })
        .collect())
}

fn check_version(wanted: Option<&str>) -> Result<(), String> {
    let Some(wanted) = wanted else { return Ok(()) };
    let numbers = |text: &str| -> Vec<u32> { text.split('.').filter_map(|n| n.trim().parse().ok()).collect() };
    let own = numbers(env!("CARGO_PKG_VERSION"));
    let minimum = numbers(wanted.trim_start_matches([' ', '>', '=']));
    if minimum > own { Err(format!("aic.toml asks for aic {wanted}, this is {}", env!("CARGO_PKG_VERSION"))) } else { Ok(()) }
}

/// The entry files of the project with that root.
pub fn entries(root: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(root.join("aic.toml")).map_err(|e| format!("aic.toml: {e}"))?;
    let project: ProjectFile = toml::from_str(&text).map_err(|e| format!("aic.toml: {e}"))?;
    if project.project.sites.is_empty() { Ok(vec!["cluster.aic".to_owned()]) } else { sites(root, &project.project.sites) }
}

/// Entry files that match the patterns, sorted; a `*` stands for any part of a file's name.
fn sites(root: &Path, patterns: &[String]) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for pattern in patterns {
        let (dir, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let (before, after) = name.split_once('*').unwrap_or((name, ""));
        let entries = std::fs::read_dir(root.join(dir)).map_err(|e| format!("aic.toml sites {pattern}: {e}"))?;
        for entry in entries.flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let fits =
                if name.contains('*') { file.len() >= before.len() + after.len() && file.starts_with(before) && file.ends_with(after) } else { file == name };
            if fits {
                out.push(if dir == "." { file } else { format!("{dir}/{file}") });
            }
        }
    }
    out.sort();
    out.dedup();
    if out.is_empty() { Err("aic.toml names sites, no file matches".into()) } else { Ok(out) }
}

/// Makes errors of the warnings that the project denies.
pub fn deny(diagnostics: &mut [Diagnostic], codes: &[String]) {
    diagnostics.iter_mut().filter(|d| codes.iter().any(|c| c == d.code)).for_each(|d| d.severity = Severity::Error);
}
