//! Files: what they declare, what they bring in, and their parameters.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::value::{Binding, BindingKind, Declaration, Entry, Env, Lazy, Value};
use super::{Lang, stdlib, suggest};
use crate::base::{Diagnostic, FileId, Span};
use crate::schema::{self, PRODUCTS, Type};
use crate::syntax::ast::{Expr, Item, ItemKind, Name, TypeExpr};

/// A file of the program.
#[derive(Debug)]
pub struct Module {
    /// `cluster`, `hardware`, `sites.common`; empty for the entry file.
    pub name: String,
    /// Its items.
    pub items: Rc<[Item]>,
    /// Its names, in order.
    pub bindings: RefCell<Vec<Rc<Binding>>>,
    /// Names that stand under a file-level `if` or `for`.
    conditional: OnceCell<()>,
    busy: Cell<bool>,
    /// Asserts of the file.
    pub asserts: RefCell<Vec<Entry>>,
    /// Values for its parameters, from `use module { … }`.
    pub given: RefCell<Vec<(Name, Expr, Env)>>,
    /// Whether it is the standard library.
    pub std: bool,
    /// The files it brings in, in order.
    pub uses: RefCell<Vec<usize>>,
}

impl Lang<'_> {
    /// Reads the entry file and all files that it brings in.
    pub fn load_entry(&self, path: &str) {
        let std = Rc::new(Module {
            name: "std".into(),
            items: Rc::new([]),
            bindings: RefCell::default(),
            conditional: OnceCell::from(()),
            busy: Cell::new(false),
            asserts: RefCell::default(),
            given: RefCell::default(),
            std: true,
            uses: RefCell::default(),
        });
        self.modules.borrow_mut().push(std);
        self.std_module.set(0);
        let Some(text) = self.sources.read(path) else {
            let file = self.map.borrow_mut().add(path, "");
            self.error(Diagnostic::error("AIC0111", format!("there is no file {path}")).at(Span { file, start: 0, end: 0 }, "the entry file"));
            return;
        };
        self.load(path, String::new(), &text);
        self.check_set_names();
    }

    fn load(&self, path: &str, name: String, text: &str) -> usize {
        let file = self.map.borrow_mut().add(path, text);
        self.counters.borrow_mut().bytes += text.len();
        let (tree, diagnostics) = crate::syntax::parse(file, text);
        diagnostics.into_iter().for_each(|d| self.error(d));
        let entry = name.is_empty();
        let id = self.modules.borrow().len();
        let module = Rc::new(Module {
            name,
            items: tree.items.clone(),
            bindings: RefCell::default(),
            conditional: OnceCell::new(),
            busy: Cell::new(false),
            asserts: RefCell::default(),
            given: RefCell::default(),
            std: false,
            uses: RefCell::default(),
        });
        self.modules.borrow_mut().push(module.clone());
        let env = Env::module(id);
        for (at, item) in tree.items.iter().enumerate() {
            self.note_allows(item);
            match &item.kind {
                ItemKind::Use { module: path, names, parameters } => {
                    self.load_use(&module, path, names, parameters.as_ref().map(|p| p.items.clone()), &env, entry, item);
                }
                ItemKind::If { .. } | ItemKind::For { .. } => {}
                ItemKind::Assert { .. } => {
                    module.asserts.borrow_mut().push(Entry { items: tree.items.clone(), at, env: env.clone(), layer: 0, conditional: false });
                }
                _ => self.bind_item(&module, item, &env),
            }
        }
        id
    }

    fn bind_item(&self, module: &Module, item: &Item, env: &Env) {
        let docs = item.docs.clone();
        match &item.kind {
            ItemKind::Let { name, ty, value } => {
                let kind = BindingKind::Let { ty: ty.clone(), value: value.clone(), env: env.clone(), lazy: Lazy::default() };
                self.bind(module, name, docs, kind, true);
            }
            ItemKind::Param { name, ty, default } => {
                let kind = BindingKind::Param { ty: ty.clone(), default: default.clone(), lazy: Lazy::default() };
                self.bind(module, name, docs, kind, true);
            }
            ItemKind::Fn(function) => self.bind(module, &function.name, docs, BindingKind::Function(function.clone()), true),
            ItemKind::Block(block) => {
                let Some(shape) = schema::KINDS.iter().find(|k| k.name == &*block.kind.text).copied() else {
                    let kinds: Vec<&str> = schema::KINDS.iter().map(|k| k.name).collect();
                    let stray = kinds
                        .iter()
                        .find(|k| schema::kind(k).is_some_and(|k| k.field(None, &block.kind.text).is_some() || k.group(None, &block.kind.text).is_some()));
                    let mut diagnostic = suggest(
                        Diagnostic::error("AIC0106", format!("a file has no `{}`", block.kind.text)).at(block.kind.span, "not a kind of declaration"),
                        block.kind.span,
                        &block.kind.text,
                        &kinds,
                    );
                    if let Some(owner) = stray
                        && diagnostic.fixes.is_empty()
                    {
                        diagnostic = diagnostic.help(format!("`{}` stands in a {owner}", block.kind.text));
                    }
                    self.error(diagnostic);
                    let name = block.label.as_ref().unwrap_or(&block.kind);
                    self.bind(module, name, docs, BindingKind::Poison, false);
                    return;
                };
                self.named_like_kind(block);
                let name = block.label.as_ref().unwrap_or(&block.kind);
                let declaration = Declaration {
                    shape,
                    name: name.text.clone(),
                    block: block.clone(),
                    docs: docs.clone(),
                    env: env.clone(),
                    parent: None,
                    elements: RefCell::new(None),
                    product: RefCell::new(None),
                    busy: Cell::new(false),
                };
                self.bind(module, name, docs, BindingKind::Declaration(Rc::new(declaration)), false);
            }
            ItemKind::Field { key, .. } => {
                let mut diagnostic = Diagnostic::error("AIC0003", format!("the field `{}` stands outside any declaration", key.text)).at(item.span, "here");
                diagnostic = diagnostic.help(format!("`let {} = …` names a value of the file", key.text));
                self.error(diagnostic);
            }
            ItemKind::Broken { name: Some(name), kind } => {
                self.bind(module, name, docs.clone(), BindingKind::Poison, false);
                if let Some(kind) = kind {
                    self.bind(module, kind, docs, BindingKind::Poison, false);
                }
            }
            ItemKind::Broken { .. } => {}
            ItemKind::Link { .. } | ItemKind::Spread(_) => self.error(
                Diagnostic::error("AIC0003", "a file holds declarations; this stands in a body").at(item.span, "here").help("move it into a declaration"),
            ),
            _ => {}
        }
    }

    fn bind(&self, module: &Module, name: &Name, docs: Vec<String>, kind: BindingKind, watched: bool) {
        let binding = Rc::new(Binding { name: name.text.clone(), span: name.span, docs, used: Cell::new(false), kind });
        let kind_of = |b: &Binding| match &b.kind {
            BindingKind::Declaration(d) => Some(d.shape.name),
            BindingKind::Poison => Some("poison"),
            _ => None,
        };
        let clash = module.bindings.borrow().iter().find(|b| b.name == binding.name && clashes(kind_of(b), kind_of(&binding), b)).cloned();
        if let Some(before) = clash {
            let what = kind_of(&binding).map_or(String::new(), |k| format!("{k} "));
            self.error(
                Diagnostic::error("AIC0102", format!("{what}{} is declared twice", name.text))
                    .at(name.span, "again here")
                    .at(before.span, "first here")
                    .help("give one of them another name"),
            );
            return;
        }
        if watched && !module.std {
            self.watch(&binding);
        }
        module.bindings.borrow_mut().push(binding);
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one `use`")]
    fn load_use(&self, module: &Rc<Module>, path: &[Name], names: &[Name], parameters: Option<Rc<[Item]>>, env: &Env, entry: bool, item: &Item) {
        let words: Vec<&str> = path.iter().map(|n| &*n.text).collect();
        let span = path.first().map_or(item.span, |n| n.span.to(path.last().expect("not empty").span));
        if words == ["std"] {
            for name in names {
                if stdlib::find(&name.text).is_none() {
                    let known: Vec<&str> = stdlib::names().collect();
                    let mut diagnostic = suggest(
                        Diagnostic::error("AIC0101", format!("the standard library has no `{}`", name.text)).at(name.span, "here"),
                        name.span,
                        &name.text,
                        &known,
                    );
                    if diagnostic.fixes.is_empty() {
                        diagnostic = diagnostic.help("declare your own hardware in a file of the project, as docs/hardware.md shows");
                    }
                    self.error(diagnostic);
                    self.bind(module, name, Vec::new(), BindingKind::Poison, false);
                } else {
                    self.bind(module, name, Vec::new(), BindingKind::Import { module: 0, std: true }, true);
                }
            }
            return;
        }
        let key = words.join(".");
        let known = self.module_names.borrow().get(&key).copied();
        let id = match known {
            Some(id) => id,
            None => {
                let file = format!("{}.aic", words.join("/"));
                let id = self.sources.read(&file).map(|text| {
                    // Entered before it is read, so that files may use each other.
                    let next = self.modules.borrow().len();
                    self.module_names.borrow_mut().insert(key.clone(), Some(next));
                    self.load(&file, key.clone(), &text)
                });
                if id.is_none() {
                    self.error(
                        Diagnostic::error("AIC0111", format!("there is no file {file} in the project"))
                            .at(span, "brought in here")
                            .help("`use a.b.{name}` reads a/b.aic beside aic.toml (or beside the entry file); `use std.{name}` the standard library"),
                    );
                }
                self.module_names.borrow_mut().insert(key.clone(), id);
                id
            }
        };
        let Some(id) = id else {
            names.iter().for_each(|name| self.bind(module, name, Vec::new(), BindingKind::Poison, false));
            return;
        };
        module.uses.borrow_mut().push(id);
        if let Some(items) = parameters {
            self.give_parameters(id, &items, env, entry, span);
        }
        for name in names {
            self.bind(module, name, Vec::new(), BindingKind::Import { module: id, std: false }, true);
        }
    }

    fn give_parameters(&self, id: usize, items: &Rc<[Item]>, env: &Env, entry: bool, span: Span) {
        let target = self.modules.borrow()[id].clone();
        if !entry {
            self.error(
                Diagnostic::error("AIC0117", format!("only the entry file sets the parameters of {}", target.name))
                    .at(span, "set here")
                    .help("a module has one set of parameters for the whole program; set them where the program begins"),
            );
            return;
        }
        if !target.given.borrow().is_empty() {
            self.error(
                Diagnostic::error("AIC0117", format!("the parameters of {} are set twice", target.name))
                    .at(span, "again here")
                    .at(target.given.borrow()[0].0.span, "first here")
                    .help("put them into one `use`"),
            );
            return;
        }
        for item in items.iter() {
            match &item.kind {
                ItemKind::Field { key, value } => {
                    let known: Vec<Rc<str>> = parameters_of(&target).map(|b| b.name.clone()).collect();
                    if !known.contains(&key.text) {
                        let words: Vec<&str> = known.iter().map(|k| &**k).collect();
                        self.error(suggest(
                            Diagnostic::error("AIC0101", format!("{} has no parameter `{}`", target.name, key.text)).at(key.span, "set here"),
                            key.span,
                            &key.text,
                            &words,
                        ));
                        continue;
                    }
                    target.given.borrow_mut().push((key.clone(), value.clone(), env.clone()));
                }
                ItemKind::Broken { .. } => {}
                _ => {
                    self.error(Diagnostic::error("AIC0003", "only `parameter = value` stands here").at(item.span, "here").help("`use module { name = value }`"))
                }
            }
        }
    }

    /// Names that stand under a file-level `if` or `for`, once they are asked for.
    fn conditional_bindings(&self, id: usize) {
        let module = self.modules.borrow()[id].clone();
        if module.conditional.get().is_some() || module.busy.replace(true) {
            return;
        }
        let env = Env::module(id);
        for (at, item) in module.items.iter().enumerate() {
            if !matches!(item.kind, ItemKind::If { .. } | ItemKind::For { .. }) {
                continue;
            }
            let one: Rc<[Item]> = Rc::new([module.items[at].clone()]);
            let mut entries = Vec::new();
            self.flatten(&one, &env, &mut 0, true, &mut entries);
            for entry in entries {
                match &entry.item().kind {
                    ItemKind::Assert { .. } | ItemKind::For { .. } => module.asserts.borrow_mut().push(entry.clone()),
                    _ => self.bind_item(&module, entry.item(), &entry.env),
                }
            }
        }
        let _ = module.conditional.set(());
        module.busy.set(false);
    }

    /// What a name of a file means; several where kinds share it.
    pub fn module_bindings(&self, id: usize, name: &str) -> Vec<Rc<Binding>> {
        let module = self.modules.borrow()[id].clone();
        if module.std {
            return self.std_binding(name).into_iter().collect();
        }
        let find = || -> Vec<Rc<Binding>> { module.bindings.borrow().iter().filter(|b| &*b.name == name).cloned().collect() };
        let found = find();
        if !found.is_empty() || module.conditional.get().is_some() {
            return found;
        }
        self.conditional_bindings(id);
        find()
    }

    /// All bindings of a file, those under `if` and `for` included.
    pub fn all_bindings(&self, id: usize) -> Vec<Rc<Binding>> {
        self.conditional_bindings(id);
        self.modules.borrow()[id].bindings.borrow().clone()
    }

    fn std_binding(&self, name: &str) -> Option<Rc<Binding>> {
        let module = self.modules.borrow()[self.std_module.get()].clone();
        if let Some(binding) = module.bindings.borrow().iter().find(|b| &*b.name == name) {
            return Some(binding.clone());
        }
        let (file, start, end) = stdlib::find(name)?;
        let (file_name, text) = stdlib::FILES[file];
        let id: FileId = *self.std_files.borrow_mut().entry(file).or_insert_with(|| self.map.borrow_mut().add(file_name, text));
        self.counters.borrow_mut().std_bytes += end - start;
        let (tree, diagnostics) = crate::syntax::parse_part(id, &text[start..end], start as u32);
        diagnostics.into_iter().for_each(|d| self.error(d));
        tree.items.iter().for_each(|item| self.bind_item(&module, item, &Env::module(self.std_module.get())));
        module.bindings.borrow().iter().find(|b| &*b.name == name).cloned()
    }

    /// The value of a parameter: the command line's, the entry file's, or the default.
    pub fn parameter(&self, module_id: usize, binding: &Binding, ty: &TypeExpr, default: Option<&Expr>) -> Value {
        let module = self.modules.borrow()[module_id].clone();
        let expected = self.type_of(ty);
        let key = if module.name.is_empty() { binding.name.to_string() } else { format!("{}.{}", module.name, binding.name) };
        let entry_env = Env::module(1);
        if let Some((_, text)) = self.options.set.iter().rev().find(|(name, _)| *name == key) {
            let file = self.map.borrow_mut().add(format!("--set {key}"), text.as_str());
            let whole = Span { file, start: 0, end: text.len() as u32 };
            return match crate::syntax::parse_expression(file, text) {
                Some(value) => match &expected {
                    Some(ty) => self.checked(&value, &entry_env, ty),
                    None => self.eval(&value, &entry_env, None),
                },
                // A text that is no expression is taken as a text where one is expected.
                None if matches!(expected, Some(Type::String | Type::Version | Type::Image | Type::Label)) => Value::Text(text.as_str().into()),
                None => {
                    self.error(Diagnostic::error("AIC0001", format!("the value of {key} cannot be read")).at(whole, "here").at(binding.span, "the parameter"));
                    Value::Poison
                }
            };
        }
        if let Some((_, value, env)) = module.given.borrow().iter().find(|(name, ..)| name.text == binding.name) {
            return match &expected {
                Some(ty) => self.checked(value, env, ty),
                None => self.eval(value, env, None),
            };
        }
        let env = Env::module(module_id);
        match (default, &expected) {
            (Some(default), Some(ty)) => self.checked(default, &env, ty),
            (Some(default), None) => self.eval(default, &env, None),
            (None, _) => {
                let how = if module.name.is_empty() {
                    format!("`--set {key}=…`")
                } else {
                    format!("`use {} {{ {} = … }}` in the entry file, or `--set {key}=…`", module.name, binding.name)
                };
                self.error(Diagnostic::error("AIC0118", format!("parameter {key} has no value")).at(binding.span, "declared here without a default").help(how));
                Value::Poison
            }
        }
    }

    /// A `--set` of a name that is no parameter.
    fn check_set_names(&self) {
        let modules = self.modules.borrow().clone();
        let known: Vec<String> = modules
            .iter()
            .filter(|m| !m.std)
            .flat_map(|m| parameters_of(m).map(|b| if m.name.is_empty() { b.name.to_string() } else { format!("{}.{}", m.name, b.name) }).collect::<Vec<_>>())
            .collect();
        for (name, text) in &self.options.set {
            if !known.contains(name) {
                let words: Vec<&str> = known.iter().map(String::as_str).collect();
                let file = self.map.borrow_mut().add(format!("--set {name}"), text.as_str());
                let span = Span { file, start: 0, end: text.len() as u32 };
                let mut diagnostic = Diagnostic::error("AIC0101", format!("there is no parameter `{name}`")).at(span, "set on the command line");
                diagnostic = match crate::base::names::nearest(name, words.iter().copied()) {
                    Some(near) => diagnostic.help(format!("`--set {near}={text}`")),
                    None if words.is_empty() => diagnostic.help("this design has no parameters"),
                    None => diagnostic.help(format!("there is {}", words.join(", "))),
                };
                self.error(diagnostic);
            }
        }
    }

    /// Elaborates every declaration, imported files first, and numbers them in the order of the text.
    pub fn elaborate_all(&self) {
        let mut visited = Vec::new();
        if self.modules.borrow().len() > 1 {
            self.visit_module(1, &mut visited);
        }
        let mut next = 0;
        for module in &visited {
            for binding in self.all_bindings(*module) {
                if let BindingKind::Declaration(declaration) = &binding.kind {
                    if PRODUCTS.contains(&declaration.shape.name) {
                        self.product_of(declaration);
                    } else {
                        self.number_elements(declaration, &mut next);
                    }
                }
            }
        }
        self.check_clusters();
    }

    fn visit_module(&self, id: usize, visited: &mut Vec<usize>) {
        let module = self.modules.borrow()[id].clone();
        // Marked on the way down, so that files which use each other end.
        if visited.contains(&id) || module.busy.get() {
            return;
        }
        module.busy.set(true);
        let uses = module.uses.borrow().clone();
        uses.into_iter().for_each(|used| self.visit_module(used, visited));
        module.busy.set(false);
        visited.push(id);
    }

    fn number_elements(&self, declaration: &Rc<Declaration>, next: &mut usize) {
        for id in self.elements(declaration).iter() {
            self.order.borrow_mut().insert(*id, *next);
            *next += 1;
            let node = self.node_of(*id);
            for child in &node.children {
                self.number_elements(child, next);
            }
        }
    }

    fn check_clusters(&self) {
        for kind in ["cluster", "control_plane"] {
            let found = self.objects_of(kind);
            if let [first, second, ..] = found.as_slice() {
                self.error(
                    Diagnostic::error("AIC0102", format!("a program has one {}", kind.replace('_', " ")))
                        .at(second.head, "a second one")
                        .at(first.head, "the first")
                        .help("give each site an entry file of its own"),
                );
            }
        }
        if self.objects_of("cluster").is_empty() && self.modules.borrow().len() > 1 && !self.report.borrow().has_errors() {
            let file = FileId(0);
            self.error(
                Diagnostic::error("AIC0119", "the design declares no cluster")
                    .at(Span { file, start: 0, end: 0 }, "in this program")
                    .help("`cluster name { kubernetes = \"1.36\", distribution = kubeadm, … }`"),
            );
        }
    }

    /// All products of a kind: those of the standard library and the user's, which replace those of the same name.
    pub fn products(&self, kind: &str) -> Vec<Rc<super::Product>> {
        let mut found: std::collections::BTreeMap<Rc<str>, Rc<super::Product>> = std::collections::BTreeMap::new();
        let of_kind = |binding: &Binding| match &binding.kind {
            BindingKind::Declaration(d) if d.shape.name == kind => Some(d.clone()),
            _ => None,
        };
        let std: Vec<Rc<Binding>> = stdlib::names().filter(|name| stdlib::is_kind(name, kind)).filter_map(|name| self.std_binding(name)).collect();
        let own: Vec<Rc<Binding>> = (1..self.modules.borrow().len()).flat_map(|id| self.all_bindings(id)).collect();
        for declaration in std.iter().chain(&own).filter_map(|b| of_kind(b)) {
            if let Value::Product(product) = self.product_of(&declaration) {
                found.insert(product.name.clone(), product);
            }
        }
        found.into_values().collect()
    }

    /// Reads what nothing has read yet, so that a fault in it is found.
    pub fn evaluate_unread(&self) {
        let watched = self.watched.borrow().clone();
        for binding in watched {
            if let BindingKind::Let { lazy, .. } = &binding.kind
                && lazy.value.borrow().is_none()
            {
                // Being read by the checker is no use.
                let used = binding.used.get();
                self.binding_value(&binding, 0);
                binding.used.set(used);
            }
        }
    }
}

fn clashes(a: Option<&str>, b: Option<&str>, before: &Binding) -> bool {
    match (a, b) {
        (Some("poison"), _) | (_, Some("poison")) => false,
        // Names are unique per kind; a value clashes with every name of the file.
        (Some(a), Some(b)) => a == b,
        _ => !matches!(before.kind, BindingKind::Import { .. }) || a.is_none() && b.is_none(),
    }
}

fn parameters_of(module: &Module) -> impl Iterator<Item = Rc<Binding>> + use<> {
    let bindings: Vec<Rc<Binding>> = module.bindings.borrow().iter().filter(|b| matches!(b.kind, BindingKind::Param { .. })).cloned().collect();
    bindings.into_iter()
}
