//! aic, the AI-cluster compiler: one typed design in, everything a cluster needs out.
//!
//! The pipeline is [`compile`]: text → tree (`syntax`) → values (`schema`, `lang`) → [`design`] → [`topology`] → [`nodes`] → [`rules`]; and from
//! a design without errors `lower` makes artifacts that `bundle` writes.
#![deny(missing_docs)]

pub mod base;
pub mod bundle;
pub mod cli;
pub mod compare;
pub mod design;
pub mod export;
pub mod lang;
pub mod lower;
pub mod lsp;
pub mod nodes;
pub mod picture;
pub mod project;
pub mod rules;
pub mod schema;
pub mod schemas;
pub mod syntax;
pub mod topology;
pub mod versions;

use std::rc::Rc;
use std::sync::Arc;

use base::{Diagnostic, Report, Severity, SourceMap, Sources};
use design::Design;
use lang::{Allowed, Counters, Lang, Options, Reference};
use nodes::Nodes;
use topology::Topology;

/// Everything that is known about a program.
pub struct Compilation {
    /// All texts that were read.
    pub sources: SourceMap,
    /// What was found, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// The design; what is faulty in it is not `sound`.
    pub design: Arc<Design>,
    /// Its plan.
    pub topology: Arc<Topology>,
    /// What Kubernetes will see of it.
    pub nodes: Nodes,
    /// The `@allow`s.
    pub allowed: Vec<Allowed>,
    /// What places in the sources mean, if that was asked for.
    pub references: Vec<Reference>,
    /// Work done.
    pub counters: Counters,
}

impl Compilation {
    /// How many diagnostics have that severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    /// Whether something is wrong.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }
}

/// Compiles the program that begins at `entry`: reads, checks, plans, judges. Never fails; faults are diagnostics.
pub fn compile(sources: &dyn Sources, entry: &str, options: Options) -> Compilation {
    compile_with(sources, entry, options, false)
}

/// The same, and keeps what every place means, for an editor.
pub fn compile_with(sources: &dyn Sources, entry: &str, options: Options, references: bool) -> Compilation {
    let lang = Lang::elaborate(sources, entry, options, references);
    let design = Arc::new(design::build(&lang));
    let topology = Arc::new(Topology::plan(&design));
    let nodes = Nodes::derive(&design, &topology);
    let mut report = Report::default();
    let switch_models = if topology.fabrics.iter().any(|f| f.fault.is_some()) { design::switch_models(&lang) } else { Vec::new() };
    let context = rules::Context { design: &design, topology: &topology, nodes: &nodes, switch_models: &switch_models };
    let rules = rules::judge(&context, &mut report);
    let attributes = nodes::attributes::PlanAttributes { design: design.clone(), topology: topology.clone() };
    let mut finished = lang.finish(Rc::new(attributes));
    report.diagnostics.into_iter().for_each(|d| finished.report.push(d));
    silence(&mut finished.report, &mut finished.allowed);
    let counters = Counters { links: topology.links.len(), rules, ..finished.counters };
    Compilation {
        sources: finished.map,
        diagnostics: finished.report.finish(),
        design,
        topology,
        nodes,
        allowed: finished.allowed,
        references: finished.references,
        counters,
    }
}

/// Takes out what an `@allow` silences, and reports those that silence nothing.
fn silence(report: &mut Report, allowed: &mut [Allowed]) {
    report.diagnostics.retain(|diagnostic| {
        let rule = rules::find(diagnostic.code).is_some() || diagnostic.severity != Severity::Error;
        let inside = |allow: &Allowed| {
            diagnostic.labels.iter().any(|l| l.span.file == allow.item.file && l.span.start >= allow.item.start && l.span.end <= allow.item.end)
        };
        match allowed.iter_mut().find(|a| rule && a.code == diagnostic.code && inside(a)) {
            Some(allow) => {
                allow.used = true;
                false
            }
            None => true,
        }
    });
    for allow in allowed.iter().filter(|a| !a.used) {
        let known = rules::find(&allow.code).is_some() || lang::codes::language_code(&allow.code).is_some();
        let message = if known { format!("@allow({}) silences nothing here", allow.code) } else { format!("there is no rule {}", allow.code) };
        report.push(Diagnostic::warning("AIC0121", message).at(allow.span, "here").help("delete it"));
    }
}
