//! The command line: one file a command. Here alone the compiler touches the disk, the terminal and the environment.
#![allow(clippy::disallowed_methods, reason = "the command line is where input and output happen")]

mod build;
mod check;
mod diff;
pub mod explain;
mod export;
mod graph;
mod images;
mod new;
mod options;
pub mod render;
mod topo;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Exit code of a usage or I/O error.
pub const FAILED: i32 = 2;

#[derive(Parser)]
#[command(name = "aic", version, about = "The AI-cluster compiler: one typed design in, everything a cluster needs out")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks a design and writes its bundle.
    Build(build::Arguments),
    /// Checks a design.
    Check(check::Arguments),
    /// Explains a code.
    Explain {
        /// The code: AIC0401. Without it, all codes are listed.
        code: Option<String>,
    },
    /// Compares two designs or bundles, object by object and field by field.
    Diff(diff::Arguments),
    /// Makes a folder with a small design that builds.
    New {
        /// The folder.
        dir: std::path::PathBuf,
    },
    /// Writes the fabrics for other tools: NetBox, Graphviz, containerlab.
    Export(export::Arguments),
    /// Draws a fabric, racks or a system as SVG.
    Graph(graph::Arguments),
    /// Lists every image that the bundle names, and its name at the site's mirror.
    Images(images::Arguments),
    /// Prints the paths between the devices of a host, as `nvidia-smi topo -m` does.
    Topo(topo::Arguments),
    /// Runs the language server on standard input and output.
    Lsp,
    /// Prints the schema: every kind and field.
    Schema {
        /// As Markdown, the generated reference.
        #[arg(long)]
        markdown: bool,
    },
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options that all commands which compile share.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// Sets a parameter: name=value or module.name=value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Reads parameters from a TOML file.
    #[arg(long, value_name = "FILE")]
    pub params: Vec<std::path::PathBuf>,
    /// How diagnostics are printed.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Warnings fail, too.
    #[arg(long)]
    pub deny_warnings: bool,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// Prints errors only.
    #[arg(long, short)]
    pub quiet: bool,
    /// Prints counters of the work done.
    #[arg(long)]
    pub timings: bool,
}

/// Parses the command line and runs the command; gives the exit code.
pub fn main() -> i32 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { FAILED } else { 0 };
            let _ = error.print();
            return code;
        }
    };
    let result = match cli.command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Images(arguments) => images::run(&arguments),
        Command::Graph(arguments) => graph::run(&arguments),
        Command::Topo(arguments) => topo::run(&arguments),
        Command::Lsp => crate::lsp::run(),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::New { dir } => new::run(&dir),
        Command::Check(arguments) => check::run(&arguments),
        Command::Explain { code } => explain::run(code.as_deref()),
        Command::Schema { markdown: false } => print_line(&serde_json::to_string_pretty(&crate::schema::print::json()).unwrap_or_default()),
        Command::Schema { markdown: true } => print_line(crate::schema::print::markdown().trim_end()),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("aic: {message}");
            FAILED
        }
    }
}

/// Prints to standard output; a closed pipe is no error.
pub fn print_line(text: &str) -> Result<i32, String> {
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints what is made as it is printed.
pub fn print_with(make: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<i32, String> {
    match make(&mut std::io::stdout().lock()) {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(format!("cannot write to standard output: {error}")),
    }
}
