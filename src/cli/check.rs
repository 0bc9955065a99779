//! `aic check`.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;

use super::options::compile;
use super::{Color, Common, Format, render};
use crate::Compilation;
use crate::base::{Severity, names};
use crate::project::{self, Target};

#[derive(Args)]
pub struct Arguments {
    /// The entry file; `cluster.aic`, or all sites of aic.toml.
    file: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    let targets = project::targets(arguments.file.as_deref())?;
    let mut compilations = Vec::new();
    for target in targets {
        let compilation = compile(&target, &arguments.common)?;
        compilations.push((target, compilation));
    }
    report(&compilations, &arguments.common)?;
    if arguments.common.format == Format::Human && !arguments.common.quiet {
        for (target, compilation) in &compilations {
            super::print_line(&format!("{}: {}", target.entry, verdict(compilation)))?;
        }
    }
    Ok(exit_code(&compilations, &arguments.common))
}

/// `no errors, 2 warnings`.
pub fn verdict(compilation: &Compilation) -> String {
    let count = |severity, noun: &str| match compilation.count(severity) {
        0 => format!("no {noun}s"),
        n => names::count_of(n, noun),
    };
    let advice = match compilation.count(Severity::Advice) {
        0 => String::new(),
        n => format!(", {n} pieces of advice"),
    };
    format!("{}, {}{}", count(Severity::Error, "error"), count(Severity::Warning, "warning"), advice.replace("1 pieces", "1 piece"))
}

/// 1 with errors, or with warnings that are denied.
pub fn exit_code(compilations: &[(Target, Compilation)], common: &Common) -> i32 {
    let failed = |c: &Compilation| c.has_errors() || common.deny_warnings && c.count(Severity::Warning) > 0;
    i32::from(compilations.iter().any(|(_, c)| failed(c)))
}

/// Prints the diagnostics of all programs.
pub fn report(compilations: &[(Target, Compilation)], common: &Common) -> Result<(), String> {
    if common.format == Format::Json {
        let report = render::json(compilations.iter().map(|(_, c)| (c.diagnostics.as_slice(), &c.sources)));
        super::print_line(&serde_json::to_string_pretty(&report).map_err(|e| e.to_string())?)?;
        return Ok(());
    }
    let color = match common.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    for (_, compilation) in compilations {
        for diagnostic in compilation.diagnostics.iter().filter(|d| !common.quiet || d.severity == Severity::Error) {
            eprintln!("{}", render::human(diagnostic, &compilation.sources, color, true));
        }
        if common.timings {
            let c = compilation.counters;
            eprintln!(
                "parsed {} bytes and {} of the standard library, evaluated {} expressions, planned {} links, ran {} rules",
                c.bytes, c.std_bytes, c.expressions, c.links, c.rules
            );
        }
    }
    Ok(())
}
