//! The parameters of the command line, and a compilation with them.

use super::Common;
use crate::Compilation;
use crate::lang::Options;
use crate::project::{Target, deny};

/// The parameters of the command line; those of `--set` win over files.
pub fn options(common: &Common) -> Result<Options, String> {
    let mut set = Vec::new();
    for file in &common.params {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let table: toml::Table = text.parse().map_err(|e| format!("{}: {e}", file.display()))?;
        flatten("", &table, &mut set);
    }
    for pair in &common.set {
        let Some((name, value)) = pair.split_once('=') else { return Err(format!("--set takes name=value, not {pair}")) };
        set.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(Options { set })
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&name, inner, out),
            // A text is taken as an expression (`"44kW"`, `"dgx_h200"`), and as a text where that is expected.
            toml::Value::String(text) => out.push((name, text.clone())),
            other => out.push((name, other.to_string())),
        }
    }
}

/// Compiles a target; denied warnings become errors.
pub fn compile(target: &Target, common: &Common) -> Result<Compilation, String> {
    let mut compilation = crate::compile(&target.disk, &target.entry, options(common)?);
    deny(&mut compilation.diagnostics, &target.deny);
    Ok(compilation)
}
