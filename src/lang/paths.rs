//! Paths: `train.h100.rail`, `ceph.shared`, `compute.bisection`.

use std::rc::Rc;

use super::entity::{Entity, ObjectId, Planned, Selection};
use super::value::{Env, Value};
use super::{Attribute, Lang};
use crate::base::names::nearest;
use crate::base::{Diagnostic, Quantity, Span};
use crate::schema::{Need, Repeat, Type};
use crate::syntax::ast::{Expr, Name};

/// What one step of a path gives for one thing.
enum Step {
    /// Things, a group of the selection that is being made; whether they are an array.
    Things(bool),
    Value(Value),
    Missing,
}

impl Lang<'_> {
    /// `base.member`.
    pub fn member(&self, base: &Expr, member: &Name, env: &Env, want: Option<&Type>) -> Value {
        let value = self.eval(base, env, None);
        match value {
            Value::Selection(selection) => self.select(&selection, member, base.span),
            Value::All if &*member.text == "management" => Value::Management,
            Value::All => {
                let hosts: Vec<Entity> = self.objects_of("host").iter().map(|h| Entity::Object(h.id)).collect();
                let has = |host: &Entity| !matches!(self.step(*host, &member.text, member.span, &mut Selection::new(false, false)), Step::Missing);
                let with: Vec<Entity> = hosts.into_iter().filter(has).collect();
                if with.is_empty() {
                    self.error(
                        Diagnostic::error("AIC0103", format!("no host has a `{}`", member.text))
                            .at(member.span, "here")
                            .help("`all.management` names the management ports"),
                    );
                    return Value::Poison;
                }
                self.select(&Selection::list(with), member, base.span)
            }
            Value::List(list) => {
                let entities: Vec<Entity> =
                    list.iter().filter_map(|v| if let Value::Selection(s) = v { Some(s.flat().collect::<Vec<_>>()) } else { None }).flatten().collect();
                if entities.is_empty() {
                    self.error(
                        Diagnostic::error("AIC0103", format!("a list has no `{}`", member.text)).at(member.span, "here").help("a list has elements: `list[0]`"),
                    );
                    return Value::Poison;
                }
                self.select(&Selection::list(entities), member, base.span)
            }
            Value::Kind(kind) => {
                let wanted = if crate::schema::PRODUCTS.contains(&kind) { Type::Product(kind) } else { Type::Ref(super::intern_words(vec![kind.to_owned()])) };
                let module = env.module_id();
                let found = self.module_bindings(module, &member.text);
                if found.is_empty() {
                    self.error(
                        Diagnostic::error("AIC0101", format!("there is no {kind} `{}`", member.text)).at(member.span, "here").help("its name as declared"),
                    );
                    return Value::Poison;
                }
                let expr = Expr { span: member.span, kind: Rc::new(crate::syntax::ast::ExprKind::Name(member.text.clone())) };
                self.eval(&expr, env, Some(&wanted))
            }
            Value::Product(product) => match self.field(&product.node, &member.text) {
                Some(value) => value,
                None if product.node.shape.field(None, &member.text).is_some() => Value::Unknown,
                None => {
                    let known: Vec<&str> = product.node.shape.fields.iter().map(|f| f.name).collect();
                    self.missing(&format!("{} {}", product.kind.name, product.name), member, &known, None);
                    Value::Poison
                }
            },
            Value::Record(record) => {
                let mut entries = Vec::new();
                self.flatten(&record.items, &record.env, &mut 0, false, &mut entries);
                let found = entries.iter().rev().find_map(|entry| match &entry.item().kind {
                    crate::syntax::ast::ItemKind::Field { key, value } if key.text == member.text => Some((value.clone(), entry.env.clone())),
                    _ => None,
                });
                match found {
                    Some((value, env)) => self.eval(&value, &env, want),
                    None => {
                        self.error(
                            Diagnostic::error("AIC0103", format!("the record has no `{}`", member.text))
                                .at(member.span, "here")
                                .help("its fields stand where it is written"),
                        );
                        Value::Poison
                    }
                }
            }
            value if value.is_quiet() => value,
            other => {
                self.error(
                    Diagnostic::error("AIC0103", format!("{} has no `{}`", other.phrase(), member.text))
                        .at(member.span, "here")
                        .at(base.span, other.phrase())
                        .help("only declarations, products and records have members"),
                );
                Value::Poison
            }
        }
    }

    fn select(&self, selection: &Selection, member: &Name, base: Span) -> Value {
        let (mut found, mut values, mut missing) = (Selection::new(false, false), Vec::new(), Vec::new());
        for entity in selection.flat() {
            match self.step(entity, &member.text, member.span, &mut found) {
                Step::Things(array) => {
                    found.array |= array;
                    if found.groups().nth(1).is_none() {
                        // Elements of an array have as many things each.
                        found.reserve(selection.flat().len() - 1);
                    }
                }
                Step::Value(Value::Poison) => return Value::Poison,
                Step::Value(value) => values.push(value),
                Step::Missing => missing.push(entity),
            }
        }
        let is_things = found.groups().next().is_some();
        if !is_things && values.is_empty() {
            if let Some(entity) = missing.first() {
                // A faulty declaration may well have had it.
                if !matches!(entity, Entity::Object(id) if self.node_of(*id).broken) {
                    self.missing_member(*entity, missing.len() > 1 || !selection.single, member);
                }
                return Value::Poison;
            }
            self.error(
                Diagnostic::error("AIC0105", format!("`{}` selects nothing", self.map.borrow().text(base.to(member.span))))
                    .at(base.to(member.span), "no element here")
                    .help("a path must name something"),
            );
            return Value::Poison;
        }
        if is_things {
            found.single = selection.single && !found.array;
            return Value::Selection(Rc::new(found));
        }
        if let ([one], true) = (values.as_slice(), selection.single) {
            return one.clone();
        }
        if values.iter().any(Value::is_quiet) {
            return Value::Unknown;
        }
        if values.iter().all(|v| matches!(v, Value::Selection(_))) {
            let flat = values.iter().filter_map(|v| if let Value::Selection(s) = v { Some(s.clone()) } else { None });
            return Value::Selection(Rc::new(Selection::list(flat.flat_map(|s| s.flat().collect::<Vec<_>>()).collect())));
        }
        // Lists are one list.
        if values.iter().all(|v| matches!(v, Value::Selection(_) | Value::List(_))) {
            let mut flat = Vec::new();
            for value in &values {
                match value {
                    Value::List(list) => flat.extend(list.iter().cloned()),
                    other => flat.push(other.clone()),
                }
            }
            return Value::List(Rc::new(flat));
        }
        Value::List(Rc::new(values))
    }

    /// The elements of an inner declaration, and whether it is an array.
    pub fn child_elements(&self, object: ObjectId, name: &str) -> Option<(Rc<Vec<ObjectId>>, bool)> {
        let child = self.child_named(object, name)?;
        Some((self.elements(&child), child.block.count.is_some()))
    }

    fn step(&self, entity: Entity, name: &str, span: Span, found: &mut Selection) -> Step {
        match entity {
            Entity::Object(id) => self.step_object(id, name, span, found),
            Entity::Device(host, device) => self.step_device(host, device, name, found),
            Entity::Part(id, part) => {
                let node = self.node_of(id);
                let Some((_, group)) = node.groups.get(part as usize) else { return Step::Missing };
                match group.shape.field(group.model, name) {
                    Some(field) if field.need == Need::Computed => {
                        Step::Value(self.planned_value(id, None, &format!("{}.{name}", group.label.as_deref().unwrap_or("")), span))
                    }
                    Some(_) => Step::Value(self.field(group, name).unwrap_or(Value::Unknown)),
                    None => Step::Missing,
                }
            }
            Entity::Planned(id, what, n) => match name {
                "gpus" if what == Planned::Domain => Step::Value(self.planned_value(id, Some((what, n)), name, span)),
                "name" | "power" | "height" if what != Planned::Domain => Step::Value(self.planned_value(id, Some((what, n)), name, span)),
                _ => Step::Missing,
            },
            Entity::Port(..) | Entity::Own(_) => Step::Missing,
        }
    }

    fn step_object(&self, id: ObjectId, name: &str, span: Span, found: &mut Selection) -> Step {
        let mut things = |things: &mut dyn Iterator<Item = Entity>, array| {
            found.push_group(things);
            Step::Things(array)
        };
        if let Some((elements, array)) = self.child_elements(id, name) {
            return things(&mut elements.iter().map(|id| Entity::Object(*id)), array);
        }
        let object = self.object(id);
        if object.shape.name == "host"
            && let Some(parts) = object.product.as_ref().and_then(|p| p.parts.as_ref())
            && let Some((first, count, array)) = parts.borrow().names.get(name).copied()
        {
            let head = object.product.as_ref().map(|p| p.span);
            self.refer(span, head, || format!("```aic\n{name}{}\n```\n\nof {}", if array { format!("[{count}]") } else { String::new() }, parts.borrow().name));
            return things(&mut (first..first + count).map(|d| Entity::Device(id, d)), array);
        }
        let node = self.node_of(id);
        if let Some(part) = node
            .groups
            .iter()
            .position(|(group, n)| n.label.as_deref() == Some(name) && node.shape.group(node.model, group).is_some_and(|g| g.repeat == Repeat::Named))
        {
            self.refer(span, Some(node.groups[part].1.head), || format!("```aic\n{} {name}\n```", node.groups[part].0));
            return things(&mut std::iter::once(Entity::Part(id, part as u16)), false);
        }
        let Some(field) = node.shape.field(node.model, name) else { return Step::Missing };
        if field.need != Need::Computed {
            if node.broken && !node.fields.contains_key(name) {
                return Step::Value(Value::Poison);
            }
            return Step::Value(self.field(&node, name).unwrap_or_else(|| self.derived_field(id, name, span)));
        }
        match (object.shape.name, name) {
            ("host", "gpus") => Step::Value(self.host_figure(id, "gpus")),
            ("host", "cpus") => Step::Value(self.host_figure(id, "cpus")),
            ("host", "memory") => Step::Value(self.host_figure(id, "memory")),
            ("pool", "gpus" | "cpus" | "memory") => Step::Value(self.pool_sum(id, name)),
            ("pool", "gpu_model") => Step::Value(self.pool_gpu_model(id)),
            ("fabric", "switches" | "leaves" | "spines" | "cores" | "domains") => match self.oracle_attribute(id, None, name, span) {
                Some(Attribute::Things(what, n)) => things(&mut (0..n).map(|i| Entity::Planned(id, what, i)), true),
                Some(Attribute::Value(value)) => Step::Value(value),
                None => Step::Value(if self.oracle.borrow().is_some() { Value::Unknown } else { Value::Poison }),
            },
            _ => Step::Value(self.planned_value(id, None, name, span)),
        }
    }

    /// A derived field that nobody set: what the design will fill in, where it can be said here.
    fn derived_field(&self, id: ObjectId, name: &str, span: Span) -> Value {
        let object = self.object(id);
        let product_field = |name: &str| object.product.as_ref().and_then(|p| self.field(&p.node, name)).unwrap_or(Value::Unknown);
        match (object.shape.name, name) {
            ("host", "hostname") => Value::Text(object.hyphenated.as_str().into()),
            ("host" | "rack", "height" | "power" | "weight") => product_field(name),
            _ if self.oracle.borrow().is_some() => self.planned_value(id, None, name, span),
            _ => Value::Unknown,
        }
    }

    fn step_device(&self, host: ObjectId, device: u16, name: &str, found: &mut Selection) -> Step {
        if name == "port" {
            let ports = self.port_count(host, device);
            if ports == 0 {
                return Step::Missing;
            }
            found.push_group((0..ports).map(|p| Entity::Port(host, device, p)));
            return Step::Things(true);
        }
        let product = self.device(host, device, |d| d.product.clone()).flatten();
        match product {
            Some(product) if product.node.shape.field(None, name).is_some() => Step::Value(self.field(&product.node, name).unwrap_or(Value::Unknown)),
            _ => Step::Missing,
        }
    }

    fn planned_value(&self, id: ObjectId, thing: Option<(Planned, u32)>, name: &str, span: Span) -> Value {
        match self.oracle_attribute(id, thing, name, span) {
            Some(Attribute::Value(value)) => value,
            Some(Attribute::Things(..)) => Value::Unknown,
            None => {
                if self.oracle.borrow().is_some() {
                    Value::Unknown
                } else {
                    Value::Poison
                }
            }
        }
    }

    fn oracle_attribute(&self, id: ObjectId, thing: Option<(Planned, u32)>, name: &str, span: Span) -> Option<Attribute> {
        let object = self.object(id);
        let Some(oracle) = self.oracle.borrow().clone() else {
            self.error(
                Diagnostic::error("AIC0115", format!("`{name}` of {} {} is known only when the design is planned", object.shape.name, object.path))
                    .at(span, "read before that")
                    .help("an `assert` may read it; counts, `if` and fields may not"),
            );
            return None;
        };
        let index = self.objects_of(object.shape.name).iter().position(|o| o.id == id)?;
        oracle.attribute(object.shape.name, index, thing, name)
    }

    /// A figure of a host's system.
    pub fn host_figure(&self, host: ObjectId, name: &str) -> Value {
        let object = self.object(host);
        let Some(product) = &object.product else { return Value::Poison };
        let Some(parts) = &product.parts else { return Value::Poison };
        let parts = parts.borrow();
        match name {
            "gpus" => Value::Int(parts.devices.iter().filter(|d| d.kind == "gpu").count() as i64),
            "memory" => self.field(&product.node, "memory").unwrap_or(Value::Unknown),
            _ => {
                if let Some(Value::Int(n)) = self.field(&product.node, "vcpus") {
                    return Value::Int(n);
                }
                let threads = parts.devices.iter().filter(|d| d.kind == "cpu").map(|d| {
                    let figure = |f| d.product.as_ref().and_then(|p| self.field(&p.node, f));
                    match (figure("cores"), figure("threads_per_core")) {
                        (Some(Value::Int(cores)), Some(Value::Int(threads))) => cores * threads,
                        _ => 0,
                    }
                });
                Value::Int(threads.sum())
            }
        }
    }

    fn pool_hosts(&self, id: ObjectId) -> Option<Vec<ObjectId>> {
        match self.field(&self.node_of(id), "hosts")? {
            Value::Selection(hosts) => Some(hosts.flat().filter_map(|e| if let Entity::Object(id) = e { Some(id) } else { None }).collect()),
            _ => None,
        }
    }

    fn pool_sum(&self, id: ObjectId, name: &str) -> Value {
        let Some(hosts) = self.pool_hosts(id) else { return Value::Poison };
        let figures: Vec<Value> = hosts.iter().map(|h| self.host_figure(*h, name)).collect();
        if let Some(quiet) = figures.iter().find(|v| v.is_quiet()) {
            return quiet.clone();
        }
        if name == "memory" {
            let total = figures.iter().filter_map(Value::number).fold(num_rational::Ratio::from_integer(0), |a, b| a + b);
            return Value::Quantity(Quantity::bytes(total));
        }
        Value::Int(figures.iter().map(|v| if let Value::Int(n) = v { *n } else { 0 }).sum())
    }

    fn pool_gpu_model(&self, id: ObjectId) -> Value {
        let Some(hosts) = self.pool_hosts(id) else { return Value::Poison };
        for host in hosts {
            let object = self.object(host);
            let Some(parts) = object.product.as_ref().and_then(|p| p.parts.as_ref()) else { continue };
            if let Some(gpu) = parts.borrow().devices.iter().find(|d| d.kind == "gpu").and_then(|d| d.product.clone()) {
                return Value::Text(gpu.name.clone());
            }
        }
        Value::Unknown
    }

    fn missing_member(&self, entity: Entity, plural: bool, member: &Name) {
        match entity {
            Entity::Object(id) => {
                let object = self.object(id);
                let node = self.node_of(id);
                let mut known: Vec<String> = node.children.iter().map(|c| c.name.to_string()).collect();
                let mut note = None;
                if let Some(parts) = object.product.as_ref().and_then(|p| p.parts.as_ref()).filter(|_| object.shape.name == "host") {
                    let parts = parts.borrow();
                    known.extend(parts.names.keys().map(ToString::to_string));
                    let mut devices: Vec<_> = parts
                        .names
                        .iter()
                        .filter(|(n, _)| !parts.devices.get(parts.names[*n].0 as usize).is_some_and(|d| matches!(d.kind, "bridge" | "cage")))
                        .collect();
                    devices.sort_by_key(|(_, (first, ..))| *first);
                    let shown: Vec<String> =
                        devices.iter().map(|(n, (_, count, array))| if *array { format!("{n}[{count}]") } else { n.to_string() }).collect();
                    note = Some(format!("{} has {}", parts.name, shown.join(", ")));
                }
                known.extend(node.shape.fields_of(node.model).map(|f| f.name.to_owned()));
                known.extend(node.groups.iter().filter_map(|(_, n)| n.label.as_ref().map(ToString::to_string)));
                let who = if plural { format!("{}s {}", object.shape.name, object.name) } else { format!("{} {}", object.shape.name, object.path) };
                let words: Vec<&str> = known.iter().map(String::as_str).collect();
                self.missing(&who, member, &words, note.map(|n| (n, plural)));
            }
            Entity::Device(host, device) => {
                let known = self
                    .device(host, device, |d| d.product.as_ref().map(|p| p.node.shape.fields.iter().map(|f| f.name).collect::<Vec<_>>()))
                    .flatten()
                    .unwrap_or_default();
                let mut known = known;
                known.push("port");
                self.missing(&self.entity_name(entity), member, &known, None);
            }
            _ => self.missing(&self.entity_name(entity), member, &[], None),
        }
    }

    fn missing(&self, who: &str, member: &Name, known: &[&str], note: Option<(String, bool)>) {
        let plural = note.as_ref().is_some_and(|(_, p)| *p) || who.contains("s ") && !who.contains('[');
        let verb = if plural { "have" } else { "has" };
        let mut diagnostic = Diagnostic::error("AIC0103", format!("{who} {verb} no `{}`", member.text)).at(member.span, "here");
        if let Some((note, _)) = &note {
            diagnostic = diagnostic.note(note);
        }
        match nearest(&member.text, known.iter().copied()) {
            Some(near) => {
                diagnostic.message = format!("{who} {verb} no `{}`; did you mean `{near}`?", member.text);
                diagnostic = diagnostic.fix(member.span, near).help(format!("`{near}`"));
            }
            None if note.is_none() => {
                diagnostic = diagnostic.help(if known.is_empty() { "it has no members".to_owned() } else { format!("there is {}", known.join(", ")) })
            }
            None => {}
        }
        self.error(diagnostic);
    }

    /// `base[index]`.
    pub fn index(&self, base: &Expr, index: &Expr, span: Span, env: &Env) -> Value {
        let (value, at) = (self.eval(base, env, None), self.eval(index, env, Some(&Type::Int)));
        if value.is_quiet() {
            return value;
        }
        if at.is_quiet() {
            return at;
        }
        match (&value, &at) {
            (Value::Selection(selection), Value::Int(n)) if selection.array => {
                let mut found = Selection::new(false, selection.groups().count() == 1);
                for group in selection.groups() {
                    match usize::try_from(*n).ok().and_then(|n| group.get(n)) {
                        Some(entity) => found.push_group([*entity]),
                        None => return self.beyond(*n, group.len(), base.span, index.span),
                    }
                }
                Value::Selection(Rc::new(found))
            }
            (Value::Selection(selection), Value::Range(a, b)) if selection.array => {
                let mut found = Selection::new(true, false);
                for group in selection.groups() {
                    match (usize::try_from(*a), usize::try_from(*b)) {
                        (Ok(a), Ok(b)) if b <= group.len() => found.push_group(group[a.min(b)..b].iter().copied()),
                        _ => return self.beyond(*b - 1, group.len(), base.span, index.span),
                    }
                }
                if found.flat().next().is_none() {
                    self.error(Diagnostic::error("AIC0105", "the path selects nothing").at(span, "an empty range").help("a path must name something"));
                    return Value::Poison;
                }
                Value::Selection(Rc::new(found))
            }
            (Value::Selection(_), _) => {
                self.error(
                    Diagnostic::error("AIC0105", format!("`{}` is no array", self.map.borrow().text(base.span)))
                        .at(index.span, "an index")
                        .help("an array is declared with a count: `host h100[4] : …`; select elements where the array is named"),
                );
                Value::Poison
            }
            (Value::List(list), Value::Int(n)) => match usize::try_from(*n).ok().and_then(|n| list.get(n)) {
                Some(value) => value.clone(),
                None => self.beyond(*n, list.len(), base.span, index.span),
            },
            (Value::List(list), Value::Range(a, b)) if *a >= 0 && *b <= list.len() as i64 => Value::List(Rc::new(list[*a as usize..*b as usize].to_vec())),
            (Value::List(list), Value::Range(_, b)) => self.beyond(*b - 1, list.len(), base.span, index.span),
            (Value::Range(a, b), Value::Int(n)) if *n >= 0 && a + n < *b => Value::Int(a + n),
            (other, at) => {
                self.error(
                    Diagnostic::error("AIC0202", format!("{} is not indexed by {}", other.phrase(), at.phrase()))
                        .at(base.span, other.phrase())
                        .at(index.span, at.phrase())
                        .help("`list[0]`, `array[0..4]`"),
                );
                Value::Poison
            }
        }
    }

    fn beyond(&self, index: i64, length: usize, base: Span, span: Span) -> Value {
        let name = self.map.borrow().text(base).to_owned();
        self.error(
            Diagnostic::error("AIC0105", format!("{name} has {}, there is no {index}", crate::base::names::count_of(length, "element")))
                .at(span, "beyond the last")
                .at(base, format!("{length} elements"))
                .help(if length == 0 { "it is empty".to_owned() } else { format!("0 to {}", length - 1) }),
        );
        Value::Poison
    }
}
