//! Names to types to values. Modules are read, names resolved on demand, bodies sorted by the schema and checked; every fault is one
//! diagnostic and a poisoned value, over which everything is quiet.

pub mod builtins;
pub mod codes;
mod convert;
pub mod entity;
mod eval;
mod modules;
pub mod node;
mod object;
mod paths;
pub mod stdlib;
pub mod value;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

pub use entity::{Entity, ObjectId, Planned, Selection};
pub use object::Object;
use value::{Binding, Entry};
pub use value::{Node, Product, Value};

use crate::base::{Diagnostic, FileId, Report, SourceMap, Sources, Span};
use crate::schema::Type;
use crate::syntax::ast::Item;
use modules::Module;

/// What the command line sets.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--set name=value`, `--set module.name=value`; later ones win.
    pub set: Vec<(String, String)>,
}

/// A value that the plan knows.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// A number, a quantity, a text.
    Value(Value),
    /// So many things of that sort.
    Things(Planned, u32),
}

/// Answers what only the plan knows: `compute.bisection`, `ceph.usable`. `kind` and `index` name the declaration as the design counts it.
pub trait Attributes {
    /// The attribute, or nothing if it cannot be known.
    fn attribute(&self, kind: &str, index: usize, thing: Option<(Planned, u32)>, name: &str) -> Option<Attribute>;
}

/// An `@allow`.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// The rule.
    pub code: String,
    /// The reason.
    pub reason: String,
    /// The annotation.
    pub span: Span,
    /// The item that it stands before.
    pub item: Span,
    /// Whether it has silenced something.
    pub used: bool,
}

/// What a place in a source means, for hover and go to definition.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The place.
    pub span: Span,
    /// Where the thing is declared.
    pub target: Option<Span>,
    /// What hover shows, as Markdown.
    pub hover: String,
}

/// How much work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of the standard library that were parsed.
    pub std_bytes: usize,
    /// Bytes of the user's files that were parsed.
    pub bytes: usize,
    /// Expressions evaluated.
    pub expressions: usize,
    /// Links planned.
    pub links: usize,
    /// Rules run.
    pub rules: usize,
}

/// The state of one elaboration.
pub struct Lang<'a> {
    sources: &'a dyn Sources,
    options: Options,
    /// All texts read so far.
    pub map: RefCell<SourceMap>,
    report: RefCell<Report>,
    modules: RefCell<Vec<Rc<Module>>>,
    module_names: RefCell<BTreeMap<String, Option<usize>>>,
    objects: RefCell<Vec<Rc<Object>>>,
    watched: RefCell<Vec<Rc<Binding>>>,
    allowed: RefCell<BTreeMap<(Span, String), Allowed>>,
    defaults: RefCell<HashMap<usize, Value>>,
    calls: RefCell<Vec<Span>>,
    std_files: RefCell<HashMap<usize, FileId>>,
    std_module: Cell<usize>,
    oracle: RefCell<Option<Rc<dyn Attributes>>>,
    order: RefCell<HashMap<ObjectId, usize>>,
    references: RefCell<BTreeMap<Span, Reference>>,
    record_references: bool,
    judged: RefCell<BTreeSet<Span>>,
    /// Work done so far.
    pub counters: RefCell<Counters>,
}

impl<'a> Lang<'a> {
    /// Reads the program that begins at `entry` and elaborates its declarations.
    pub fn elaborate(sources: &'a dyn Sources, entry: &str, options: Options, record_references: bool) -> Self {
        let lang = Lang {
            sources,
            options,
            map: RefCell::default(),
            report: RefCell::default(),
            modules: RefCell::default(),
            module_names: RefCell::default(),
            objects: RefCell::default(),
            watched: RefCell::default(),
            allowed: RefCell::default(),
            defaults: RefCell::default(),
            calls: RefCell::default(),
            std_files: RefCell::default(),
            std_module: Cell::new(usize::MAX),
            oracle: RefCell::new(None),
            order: RefCell::default(),
            references: RefCell::default(),
            record_references,
            judged: RefCell::default(),
            counters: RefCell::default(),
        };
        lang.load_entry(entry);
        lang.elaborate_all();
        lang
    }

    /// Adds a diagnostic.
    pub fn error(&self, diagnostic: Diagnostic) {
        self.report.borrow_mut().push(diagnostic);
    }

    /// Judges all asserts, reads what nothing has read yet, and reports what is unused.
    pub fn finish(self, oracle: Rc<dyn Attributes>) -> Finished {
        *self.oracle.borrow_mut() = Some(oracle);
        self.judge_asserts();
        self.evaluate_unread();
        self.report_unused();
        Finished {
            map: self.map.into_inner(),
            report: self.report.into_inner(),
            allowed: self.allowed.into_inner().into_values().collect(),
            references: self.references.into_inner().into_values().collect(),
            counters: self.counters.into_inner(),
        }
    }

    /// Remembers a name of the user's, to report it if nothing reads it.
    fn watch(&self, binding: &Rc<Binding>) {
        let file = binding.span.file;
        if self.std_files.borrow().values().any(|std| *std == file) {
            return;
        }
        self.watched.borrow_mut().push(binding.clone());
    }

    fn note_allows(&self, item: &Item) {
        for allow in &item.allows {
            if allow.reason.trim().is_empty() {
                self.error(
                    Diagnostic::error("AIC0116", format!("`@allow({})` has no reason", allow.code.text))
                        .at(allow.span, "here")
                        .help("the reason is printed in the report: `@allow(AIC0401, \"why it is right here\")`"),
                );
            }
            let allowed = Allowed { code: allow.code.text.to_string(), reason: allow.reason.clone(), span: allow.span, item: item.span, used: false };
            self.allowed.borrow_mut().insert((allow.span, allowed.code.clone()), allowed);
        }
    }

    fn refer(&self, span: Span, target: Option<Span>, hover: impl FnOnce() -> String) {
        if self.record_references {
            self.references.borrow_mut().entry(span).or_insert_with(|| Reference { span, target, hover: hover() });
        }
    }

    /// Reports names that nothing reads.
    fn report_unused(&self) {
        let mut used: BTreeMap<Span, (bool, Rc<Binding>)> = BTreeMap::new();
        for binding in self.watched.borrow().iter() {
            let entry = used.entry(binding.span).or_insert_with(|| (false, binding.clone()));
            // What is faulty has been reported; that nothing reads it is no second fault.
            let faulty = matches!(&binding.kind, value::BindingKind::Let { lazy, .. } if matches!(*lazy.value.borrow(), Some(Value::Poison)));
            entry.0 |= binding.used.get() || faulty;
        }
        // What could not be read may well have used it.
        let unread: BTreeSet<FileId> =
            self.report.borrow().diagnostics.iter().filter(|d| d.code.starts_with("AIC000")).filter_map(|d| Some(d.span()?.file)).collect();
        for (span, (used, binding)) in used {
            if !used && !unread.contains(&span.file) && !binding.name.starts_with('_') {
                let what = match binding.kind {
                    value::BindingKind::Param { .. } => "param",
                    value::BindingKind::Function(_) => "fn",
                    value::BindingKind::Import { .. } => "import",
                    _ => "let",
                };
                self.error(
                    Diagnostic::warning("AIC0107", format!("{what} {} is never used", binding.name))
                        .at(span, "here")
                        .help("delete it, or begin its name with `_`"),
                );
            }
        }
    }

    /// Asserts of all bodies, files first.
    fn judge_asserts(&self) {
        let modules = self.modules.borrow().clone();
        for module in &modules {
            let asserts: Vec<Entry> = module.asserts.borrow().clone();
            asserts.iter().for_each(|entry| self.judge(entry));
        }
        let objects = self.objects.borrow().clone();
        for object in &objects {
            if let Some(node) = object.built() {
                self.judge_node(&node);
            }
        }
    }

    fn judge_node(&self, node: &Node) {
        node.asserts.iter().for_each(|entry| self.judge(entry));
        node.groups.iter().for_each(|(_, group)| self.judge_node(group));
    }

    /// The elements of a declared kind in the design's order, which is that of the text, imports first.
    pub fn objects_of(&self, kind: &str) -> Vec<Rc<Object>> {
        let mut found: Vec<Rc<Object>> = self.objects.borrow().iter().filter(|o| o.shape.name == kind).cloned().collect();
        let order = self.order.borrow();
        found.sort_by_key(|object| order.get(&object.id).copied().unwrap_or(usize::MAX));
        found
    }
}

/// What an elaboration leaves when all is read.
pub struct Finished {
    /// All texts.
    pub map: SourceMap,
    /// All diagnostics of the language.
    pub report: Report,
    /// All `@allow`s.
    pub allowed: Vec<Allowed>,
    /// What places mean.
    pub references: Vec<Reference>,
    /// Work done.
    pub counters: Counters,
}

/// Adds "did you mean" and a fix, or the list of what there is.
fn suggest(mut diagnostic: Diagnostic, span: Span, word: &str, known: &[&str]) -> Diagnostic {
    if let Some(near) = crate::base::names::nearest(word, known.iter().copied()) {
        diagnostic.message = format!("{}; did you mean `{near}`?", diagnostic.message);
        diagnostic.fix(span, near).help(format!("`{near}`"))
    } else if known.is_empty() {
        diagnostic
    } else {
        let shown: Vec<&str> = known.iter().take(24).copied().collect();
        diagnostic.help(format!("there is {}{}", shown.join(", "), if known.len() > 24 { " and more" } else { "" }))
    }
}

/// Types that a program makes up (`a | b`), kept for good, each once.
fn intern_type(ty: Type) -> &'static Type {
    static TYPES: std::sync::Mutex<BTreeMap<String, &'static Type>> = std::sync::Mutex::new(BTreeMap::new());
    let mut types = TYPES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    types.entry(format!("{ty:?}")).or_insert_with(|| Box::leak(Box::new(ty)))
}

fn intern_words(words: Vec<String>) -> &'static [&'static str] {
    static WORDS: std::sync::Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> = std::sync::Mutex::new(BTreeMap::new());
    let mut known = WORDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.entry(words.clone()).or_insert_with(|| {
        let leaked: Vec<&'static str> = words.into_iter().map(|word| &*Box::leak(word.into_boxed_str())).collect();
        Box::leak(leaked.into_boxed_slice())
    })
}
