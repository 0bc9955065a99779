//! Bodies: items are flattened (spreads, `if`, `for`), then sorted by the schema into fields, groups and inner declarations.

use std::cell::RefCell;
use std::rc::Rc;

use super::entity::ObjectId;
use super::value::{Binding, BindingKind, Declaration, Entry, Env, FrameKind, Lazy, Node, Slot, SlotSource, Value};
use super::{Lang, suggest};
use crate::base::{Diagnostic, Span};
use crate::schema::{self, Field, Group, Model, Models, Need, Repeat, Shape, Type};
use crate::syntax::ast::{Block, Body, Expr, Item, ItemKind, Name};

/// A group's blocks, gathered over all layers.
struct Gathered {
    group: &'static Group,
    parts: Vec<(Rc<Block>, Entry)>,
}

impl Lang<'_> {
    /// The items of a body with `if`, `for` and spreads resolved.
    pub fn flatten(&self, items: &Rc<[Item]>, env: &Env, layer: &mut u32, conditional: bool, out: &mut Vec<Entry>) {
        let lets = self.let_bindings(items, env);
        let env = if lets.is_empty() { env.clone() } else { self.body_env(items, env) };
        for at in 0..items.len() {
            match &items[at].kind {
                ItemKind::Let { .. } => {}
                ItemKind::If { condition, then, otherwise } => {
                    let body = match self.condition(condition, &env) {
                        Some(true) => Some(then),
                        Some(false) => otherwise.as_ref(),
                        None => {
                            // Not judged: what it would hold is unknown, so absence is not a fault.
                            out.push(Entry { items: broken_items(items[at].span), at: 0, env: env.clone(), layer: *layer, conditional: true });
                            None
                        }
                    };
                    if let Some(body) = body {
                        self.flatten(&body.items, &env, layer, true, out);
                    }
                }
                ItemKind::For { name, over, body } => {
                    if env.frames().any(|frame| matches!(frame, FrameKind::Module(_))) && only_asserts(&body.items) {
                        out.push(Entry { items: items.clone(), at, env: env.clone(), layer: *layer, conditional });
                        continue;
                    }
                    for value in self.iterate(over, &env) {
                        let inner = env.with(FrameKind::Variable(name.text.clone(), value));
                        self.flatten(&body.items, &inner, layer, conditional, out);
                    }
                }
                ItemKind::Spread(value) => match self.eval(value, &env, None) {
                    Value::Record(record) => {
                        *layer += 1;
                        self.flatten(&record.items, &record.env, layer, conditional, out);
                        *layer += 1;
                    }
                    value if value.is_quiet() => {
                        out.push(Entry { items: broken_items(items[at].span), at: 0, env: env.clone(), layer: *layer, conditional });
                    }
                    other => self.error(
                        Diagnostic::error("AIC0202", format!("only a record can be spread; this is {}", other.phrase()))
                            .at(value.span, "spread here")
                            .help("a record is `let defaults = { key = value }`"),
                    ),
                },
                _ => out.push(Entry { items: items.clone(), at, env: env.clone(), layer: *layer, conditional }),
            }
        }
    }

    /// A scope with the `let`s of a body, which may read each other.
    fn body_env(&self, items: &Rc<[Item]>, env: &Env) -> Env {
        // A `let` reads its siblings through the same scope: each is bound to the scope before it, so order is that of the text.
        let mut current = env.clone();
        for binding in self.let_bindings(items, env) {
            let rebound = match &binding.kind {
                BindingKind::Let { ty, value, .. } => BindingKind::Let { ty: ty.clone(), value: value.clone(), env: current.clone(), lazy: Lazy::default() },
                _ => BindingKind::Poison,
            };
            let binding =
                Rc::new(Binding { name: binding.name.clone(), span: binding.span, docs: binding.docs.clone(), used: Default::default(), kind: rebound });
            self.watch(&binding);
            current = current.with(FrameKind::Body(vec![binding]));
        }
        current
    }

    fn let_bindings(&self, items: &Rc<[Item]>, env: &Env) -> Vec<Rc<Binding>> {
        items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Let { name, ty, value } => Some(Rc::new(Binding {
                    name: name.text.clone(),
                    span: name.span,
                    docs: item.docs.clone(),
                    used: Default::default(),
                    kind: BindingKind::Let { ty: ty.clone(), value: value.clone(), env: env.clone(), lazy: Lazy::default() },
                })),
                _ => None,
            })
            .collect()
    }

    /// The entries of a body.
    pub fn entries(&self, body: Option<&Body>, env: &Env) -> Vec<Entry> {
        let mut out = Vec::new();
        if let Some(body) = body {
            self.flatten(&body.items, env, &mut 0, false, &mut out);
        }
        out
    }

    /// Sorts entries into an empty body by the schema; `object` is the declaration whose body it is, for inner declarations.
    pub(crate) fn node(&self, mut node: Node, object: Option<ObjectId>, entries: &[Entry]) -> Rc<Node> {
        let mut gathered: Vec<Gathered> = Vec::new();
        for entry in entries {
            let item = entry.item();
            self.note_allows(item);
            match &item.kind {
                ItemKind::Field { key, value } => self.set_field(&mut node, key, value, item, entry),
                ItemKind::Block(block) => self.sort_block(&mut node, &mut gathered, block, entry, object),
                ItemKind::Assert { .. } => node.asserts.push(entry.clone()),
                ItemKind::For { .. } => node.asserts.push(entry.clone()),
                ItemKind::Link { .. } if node.shape.name == "system" => {}
                ItemKind::Broken { .. } => node.broken = true,
                other => {
                    self.error(
                        Diagnostic::error("AIC0003", format!("{} cannot stand in {}", item_phrase(other), describe(&node)))
                            .at(item.span, "here")
                            .help("fields, groups, `let`, `if`, `for`, `assert` and `..record` stand in a body"),
                    );
                }
            }
        }
        for part in gathered {
            self.build_groups(&mut node, part);
        }
        self.require(&mut node);
        self.refer_head(&node);
        Rc::new(node)
    }

    /// The word of a body's head shows what holds where nothing is written.
    fn refer_head(&self, node: &Node) {
        let word = node.shape.name;
        let span = Span { end: node.head.start + word.len() as u32, ..node.head };
        if !self.record_references || !self.map.borrow().get(span.file).text.get(span.start as usize..).is_some_and(|text| text.starts_with(word)) {
            return;
        }
        let head = node.model.map_or(word.to_owned(), |model| format!("{word} : {}", model.name));
        let left_out = schema::print::left_out(node.shape, node.model, |name| node.fields.contains_key(name) || node.groups.iter().any(|(g, _)| *g == name));
        let defaults = if left_out.is_empty() { String::new() } else { format!("\n\nNot written here:\n\n{left_out}") };
        self.refer(span, None, || format!("```aic\n{head}\n```\n\n{}{defaults}", node.shape.doc));
    }

    fn set_field(&self, node: &mut Node, key: &Name, value: &Expr, item: &Item, entry: &Entry) {
        let Some(field) = node.shape.field(node.model, &key.text) else {
            self.unknown_word(node, key, false);
            return;
        };
        if field.need == Need::Computed {
            self.error(
                Diagnostic::error("AIC0114", format!("`{}` of {} is computed from the design; it cannot be set", key.text, describe(node)))
                    .at(item.span, "set here")
                    .help("delete the line; an `assert` may read it"),
            );
            return;
        }
        let source = SlotSource::Expression(value.clone(), entry.env.clone());
        self.put_slot(node, Slot { field, source, span: item.span, value_span: value.span, layer: entry.layer, lazy: Lazy::default() });
    }

    fn put_slot(&self, node: &mut Node, slot: Slot) {
        if let Some(before) = node.fields.get(slot.field.name)
            && before.layer == slot.layer
        {
            self.error(
                Diagnostic::error("AIC0110", format!("`{}` of {} is set twice", slot.field.name, describe(node)))
                    .at(slot.span, "again here")
                    .at(before.span, "first here")
                    .help("keep one of the two; only items after a spread replace those of the record"),
            );
            return;
        }
        node.fields.insert(slot.field.name, slot);
    }

    fn sort_block(&self, node: &mut Node, gathered: &mut Vec<Gathered>, block: &Rc<Block>, entry: &Entry, object: Option<ObjectId>) {
        let word = &*block.kind.text;
        if let Some(group) = node.shape.group(node.model, word)
            && !(node.shape.children.contains(&word) && block.label.is_some())
        {
            match gathered.iter_mut().find(|g| g.group.shape.name == word) {
                Some(found) => found.parts.push((block.clone(), entry.clone())),
                None => gathered.push(Gathered { group, parts: vec![(block.clone(), entry.clone())] }),
            }
        } else if node.shape.children.contains(&word) {
            // A system's devices are read by `system_parts`; other declarations become objects.
            if node.shape.name != "system" {
                self.inner_declaration(node, block, entry, object);
            }
        } else if let Some(field) = node.shape.field(node.model, word) {
            self.block_as_field(node, field, block, entry);
        } else {
            self.unknown_word(node, &block.kind, true);
        }
    }

    fn inner_declaration(&self, node: &mut Node, block: &Rc<Block>, entry: &Entry, object: Option<ObjectId>) {
        let Some(shape) = schema::inner_kind(&block.kind.text) else { return };
        let name = block.label.as_ref().unwrap_or(&block.kind);
        if let Some(before) = node.children.iter().find(|c| c.shape.name == shape.name && c.name == name.text) {
            self.error(
                Diagnostic::error("AIC0102", format!("{} {} is declared twice in {}", shape.name, name.text, describe(node)))
                    .at(name.span, "again here")
                    .at(before.block.head, "first here")
                    .help("give one of them another name"),
            );
            return;
        }
        self.named_like_kind(block);
        node.children.push(Rc::new(Declaration {
            shape,
            name: name.text.clone(),
            block: block.clone(),
            docs: entry.item().docs.clone(),
            env: entry.env.clone(),
            parent: object,
            elements: RefCell::new(None),
            product: RefCell::new(None),
            busy: Default::default(),
        }));
    }

    fn block_as_field(&self, node: &mut Node, field: &'static Field, block: &Rc<Block>, entry: &Entry) {
        if let (Type::Map(_), Some(body), None, None) = (field.ty, &block.body, &block.label, &block.model) {
            let entries = self.entries(Some(body), &entry.env);
            let slot =
                Slot { field, source: SlotSource::Entries(entries), span: entry.item().span, value_span: body.span, layer: entry.layer, lazy: Lazy::default() };
            self.put_slot(node, slot);
            return;
        }
        let mut diagnostic = Diagnostic::error("AIC0201", format!("`{}` of {} is a field, not a group", field.name, describe(node)))
            .at(block.head, "written as a group")
            .help(format!("`{} = …` ({})", field.name, field.ty.text()));
        if let (Some(model), None) = (&block.model, &block.body) {
            let text: Vec<&str> = model.iter().map(|n| &*n.text).collect();
            diagnostic = diagnostic.fix(block.head, format!("{} = {}", field.name, text.join(".")));
        }
        self.error(diagnostic);
        node.broken = true;
    }

    /// A word that the schema does not know here.
    fn unknown_word(&self, node: &mut Node, key: &Name, block: bool) {
        node.broken = true;
        let mut known: Vec<&str> = node.shape.fields_of(node.model).filter(|f| f.need != Need::Computed).map(|f| f.name).collect();
        known.extend(node.shape.groups_of(node.model).map(|g| g.shape.name));
        known.extend(node.shape.children);
        let what = describe(node);
        let mut diagnostic = Diagnostic::error("AIC0106", format!("{what} has no `{}`", key.text)).at(key.span, "not a word of the schema here");
        if let Some(group) = node.shape.group(node.model, &key.text)
            && !block
        {
            diagnostic = Diagnostic::error("AIC0201", format!("`{}` of {what} is a group, not a field", key.text))
                .at(key.span, "set like a field")
                .help(format!("`{} {{ {} }}`", key.text, group.shape.fields.iter().take(3).map(|f| f.name).collect::<Vec<_>>().join(", ")));
        } else if let Some(near) = crate::base::names::nearest(&key.text, known.iter().copied()) {
            diagnostic.message = format!("{what} has no `{}`; did you mean `{near}`?", key.text);
            diagnostic = diagnostic.fix(key.span, near).help(format!("`{near}`"));
        } else if let Some(owner) = schema::KINDS.iter().find(|k| schema::kind(&key.text).is_some_and(|s| k.children.contains(&s.name)) && k.name != "system") {
            diagnostic = diagnostic.help(format!("a {} stands in a {}; close {what} with `}}` first", key.text, owner.name));
        } else if let Some(models) = other_models(node, &key.text) {
            diagnostic = diagnostic.help(format!("only `: {models}` has `{}`", key.text));
        } else {
            diagnostic = diagnostic.help(format!("it has {}", known.join(", ")));
        }
        self.error(diagnostic);
    }

    fn build_groups(&self, node: &mut Node, gathered: Gathered) {
        let group = gathered.group;
        match group.repeat {
            Repeat::Once => {
                let mut merged: Vec<(Rc<Block>, Entry)> = Vec::new();
                for (block, entry) in gathered.parts {
                    if let Some((last, before)) = merged.last()
                        && before.layer == entry.layer
                    {
                        self.error(
                            Diagnostic::error("AIC0110", format!("`{}` of {} is set twice", group.shape.name, describe(node)))
                                .at(block.head, "again here")
                                .at(last.head, "first here")
                                .help("put the settings into one group"),
                        );
                        continue;
                    }
                    // A group of another model replaces; one without a model takes the model that is there.
                    let other =
                        merged.last().and_then(|(last, _)| Some((last.model.as_ref()?.last()?.text.clone(), block.model.as_ref()?.last()?.text.clone())));
                    if other.is_some_and(|(a, b)| a != b) {
                        merged.clear();
                    }
                    merged.push((block, entry));
                }
                let built = self.group_node(node, group, &merged, None);
                node.groups.push((group.shape.name, built));
            }
            Repeat::Many => {
                for (block, entry) in gathered.parts {
                    let built = self.group_node(node, group, &[(block, entry)], None);
                    node.groups.push((group.shape.name, built));
                }
            }
            Repeat::Named | Repeat::Array => {
                let mut kept: Vec<(Rc<Block>, Entry)> = Vec::new();
                for (block, entry) in gathered.parts {
                    let label = |b: &Block| b.label.as_ref().map(|n| n.text.clone());
                    match kept.iter_mut().find(|(b, _)| label(b) == label(&block)) {
                        Some(before) if before.1.layer != entry.layer => *before = (block, entry),
                        Some((before, _)) => self.error(
                            Diagnostic::error(
                                "AIC0102",
                                format!("{} {} of {} is declared twice", group.shape.name, label(&block).as_deref().unwrap_or(""), describe(node)),
                            )
                            .at(block.head, "again here")
                            .at(before.head, "first here")
                            .help("give one of them another name"),
                        ),
                        None => kept.push((block, entry)),
                    }
                }
                for part in kept {
                    let label = part.0.label.clone();
                    let built = self.group_node(node, group, &[part], label);
                    node.groups.push((group.shape.name, built));
                }
            }
        }
    }

    fn group_node(&self, parent: &Node, group: &'static Group, parts: &[(Rc<Block>, Entry)], label: Option<Name>) -> Rc<Node> {
        let shape = group.shape;
        let mut entries = Vec::new();
        let (mut layer, mut model_name) = (0, None);
        for (block, entry) in parts {
            if let Some(body) = &block.body {
                self.flatten(&body.items, &entry.env, &mut layer, entry.conditional, &mut entries);
            }
            layer += 1;
            if let Some(model) = &block.model {
                model_name = model.last().cloned();
            }
        }
        let block = &parts.last().expect("a group has a block").0;
        let env = &parts.last().expect("a group has a block").1.env;
        if group.repeat == Repeat::Named && label.is_none() && shape.name != "port" {
            self.error(
                Diagnostic::error("AIC0113", format!("a {} of {} needs a name", shape.name, describe(parent)))
                    .at(block.head, "here")
                    .help(format!("`{} name {{ … }}`", shape.name)),
            );
        }
        if let (Some(label), Repeat::Once | Repeat::Many) = (&block.label, group.repeat) {
            self.error(
                Diagnostic::error("AIC0113", format!("`{}` of {} has no name of its own", shape.name, describe(parent)))
                    .at(label.span, "a name")
                    .help(format!("`{} {{ … }}`", shape.name)),
            );
        }
        let count = block.count.as_ref().and_then(|count| self.count(count, env));
        let model = self.choose_model(shape, model_name.as_ref(), block.head, &parent.path);
        let mut path = format!("{}.{}", parent.path, shape.name);
        if let Some(label) = &label {
            path = format!("{}.{}", path, label.text);
        }
        let broken = matches!(model, Err(()));
        let faulty = [Entry { items: broken_items(block.head), at: 0, env: env.clone(), layer: 0, conditional: false }];
        self.node(
            Node {
                model: model.unwrap_or(None),
                model_span: model_name.as_ref().map(|n| n.span),
                label: label.map(|l| l.text),
                count,
                ..Node::empty(shape, block.head, path)
            },
            None,
            if broken { &faulty } else { &entries },
        )
    }

    /// The model of a choice; an error has been reported if there is none.
    pub(crate) fn choose_model(&self, shape: &'static Shape, name: Option<&Name>, head: Span, path: &str) -> Result<Option<&'static Model>, ()> {
        match (shape.models, name) {
            (Models::Choice(models, _), Some(name)) => match models.iter().find(|m| m.name == &*name.text) {
                Some(model) => Ok(Some(model)),
                None => {
                    let names: Vec<&str> = models.iter().map(|m| m.name).collect();
                    self.error(suggest(
                        Diagnostic::error("AIC0206", format!("there is no {} `{}`", shape.name, name.text)).at(name.span, "here"),
                        name.span,
                        &name.text,
                        &names,
                    ));
                    Err(())
                }
            },
            (Models::Choice(models, true), None) => {
                let names: Vec<&str> = models.iter().map(|m| m.name).collect();
                self.error(
                    Diagnostic::error("AIC0113", format!("{} needs a model: {}", path.replace('.', " "), names.join(", ")))
                        .at(head, "no `: model` here")
                        .help(format!("`{} : {}`", shape.name, names[0])),
                );
                Err(())
            }
            (Models::None, Some(name)) => {
                self.error(Diagnostic::error("AIC0113", format!("{} has no models", path.replace('.', " "))).at(name.span, "a model").help("delete `: …`"));
                Err(())
            }
            _ => Ok(None),
        }
    }

    fn require(&self, node: &mut Node) {
        if node.broken {
            return;
        }
        let fields = node.shape.fields_of(node.model).filter(|f| f.need == Need::Required && !node.fields.contains_key(f.name));
        let mut missing: Vec<(&str, String)> = fields.map(|f| (f.name, format!("{} = …", f.name))).collect();
        let groups = node.shape.groups_of(node.model).filter(|g| g.required && node.group(g.shape.name).is_none());
        missing.extend(groups.map(|g| (g.shape.name, format!("{} {{ … }}", g.shape.name))));
        if missing.is_empty() {
            return;
        }
        let names: Vec<String> = missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let forms: Vec<&str> = missing.iter().map(|(_, form)| form.as_str()).collect();
        self.error(
            Diagnostic::error("AIC0108", format!("{} needs {}", describe(node), crate::base::names::list_of(&names, "and")))
                .at(node.head, format!("without {}", crate::base::names::list_of(&names, "and")))
                .help(format!("add `{}`", forms.join("`, `"))),
        );
        node.broken = true;
    }

    /// A declaration that bears the name of its kind reads badly and hides the kind in paths.
    pub fn named_like_kind(&self, block: &Block) {
        if let Some(label) = &block.label
            && label.text == block.kind.text
        {
            self.error(
                Diagnostic::warning("AIC0112", format!("a {} is named like its kind", block.kind.text))
                    .at(label.span, "this name says nothing")
                    .help("name it after what it is for"),
            );
        }
    }
}

/// `pool training`, `cpu of pool training`, `the compute rack`.
pub fn describe(node: &Node) -> String {
    let words: Vec<&str> = node.path.split('.').collect();
    match words.as_slice() {
        [kind] => (*kind).to_owned(),
        ["host", rest @ ..] => format!("host {}", rest.join(".")),
        [kind, name] => format!("{kind} {name}"),
        [kind, name, rest @ ..] => format!("{} of {kind} {name}", rest.join(" ")),
        [] => "this".into(),
    }
}

fn other_models(node: &Node, word: &str) -> Option<String> {
    let Models::Choice(models, _) = node.shape.models else { return None };
    let having: Vec<&str> =
        models.iter().filter(|m| m.fields.iter().any(|f| f.name == word) || m.groups.iter().any(|g| g.shape.name == word)).map(|m| m.name).collect();
    (!having.is_empty()).then(|| having.join("`, `: "))
}

fn item_phrase(kind: &ItemKind) -> &'static str {
    match kind {
        ItemKind::Use { .. } => "`use`",
        ItemKind::Param { .. } => "`param`",
        ItemKind::Fn(_) => "`fn`",
        ItemKind::Link { .. } => "`link`",
        _ => "this",
    }
}

/// An item that stands for something that is not judged.
fn broken_items(span: Span) -> Rc<[Item]> {
    Rc::new([Item { span, docs: Vec::new(), allows: Vec::new(), kind: ItemKind::Broken { kind: None, name: None } }])
}

/// Whether a `for` holds asserts only, so that it may run over what the plan made.
fn only_asserts(items: &[Item]) -> bool {
    !items.is_empty() && items.iter().all(|item| matches!(item.kind, ItemKind::Assert { .. } | ItemKind::Broken { .. }))
}
