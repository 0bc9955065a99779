//! Values to expected types. A field's declared type is the expectation of its expression.

use std::net::IpAddr;
use std::rc::Rc;

use super::entity::Entity;
use super::value::{Node, Value};
use super::{Lang, intern_type, intern_words, suggest};
use crate::base::{Diagnostic, Dimension, Quantity, Rational, Span};
use crate::schema::{self, Type};
use crate::syntax::ast::TypeExpr;

impl Lang<'_> {
    /// The value as the expected type, or poison with one diagnostic.
    pub fn convert(&self, value: Value, ty: &Type, span: Span) -> Value {
        if value.is_quiet() {
            return value;
        }
        match (ty, value) {
            (Type::Bool, v @ Value::Bool(_)) | (Type::Int, v @ Value::Int(_)) | (Type::Float, v @ Value::Float(_)) => v,
            (Type::Float, Value::Int(n)) => Value::Float(Rational::from_integer(n.into())),
            (Type::Int, Value::Float(r)) if !r.is_integer() => {
                self.error(
                    Diagnostic::error("AIC0208", format!("a whole number is expected, this is {}", crate::base::quantity::decimal(r, 4)))
                        .at(span, "not whole")
                        .help("`floor`, `ceil` or `round` makes it whole"),
                );
                Value::Poison
            }
            (Type::Int, Value::Float(r)) => i64::try_from(r.to_integer()).map_or(Value::Poison, Value::Int),
            (Type::Quantity(dimension), Value::Quantity(q)) if q.dimension == *dimension => Value::Quantity(q),
            (Type::Quantity(Dimension::Ratio), Value::Int(n)) => Value::Quantity(Quantity::new(Rational::from_integer(n.into()), Dimension::Ratio)),
            (Type::Quantity(Dimension::Ratio), Value::Float(r)) => Value::Quantity(Quantity::new(r, Dimension::Ratio)),
            (Type::Amount, v @ Value::Int(_)) => v,
            (Type::Amount, Value::Quantity(q)) if q.dimension == Dimension::Bytes => Value::Quantity(q),
            (Type::String, v @ Value::Text(_)) => v,
            (Type::String | Type::Label, Value::Ip(ip)) => Value::Text(ip.to_string().into()),
            (Type::Label, Value::Text(text)) => self.label(text, span),
            (Type::Version, Value::Text(text)) => self.version(text, span),
            (Type::Image, Value::Text(text)) => self.image(text, span),
            (Type::Ip, v @ Value::Ip(_)) => v,
            (Type::Ip, Value::Text(text)) => match text.parse::<IpAddr>() {
                Ok(ip) => Value::Ip(ip),
                Err(_) => self.bad_text(&text, "an address", "`10.10.0.10`", span),
            },
            (Type::Cidr, Value::Cidr(cidr)) => self.network(cidr, span),
            (Type::Cidr, Value::Text(text)) => match text.parse::<ipnet::IpNet>() {
                Ok(cidr) => self.network(cidr, span),
                Err(_) => self.bad_text(&text, "an address range", "`10.20.0.0/22`", span),
            },
            (Type::IpRange, v @ Value::IpRange(..)) => v,
            (Type::IpRange, Value::Ip(ip)) => Value::IpRange(ip, ip),
            (Type::Word(_) | Type::AnyWord | Type::Device | Type::Sibling(_), v @ Value::Word(_)) => v,
            (Type::Word(words), Value::Text(text)) => {
                let mut diagnostic = Diagnostic::error("AIC0202", "a bare word is expected, not a text in quotes").at(span, "a text");
                if words.contains(&&*text) {
                    diagnostic = diagnostic.fix(span, &*text);
                }
                self.error(diagnostic.help(format!("one of {}", words.join(", "))));
                Value::Poison
            }
            (Type::Map(_), v @ Value::Map(_)) => v,
            (Type::Map(_), Value::Record(record)) => self.record_as_map(&record, ty),
            (Type::Product(kind), Value::Product(product)) if product.kind.name == *kind => Value::Product(product),
            (Type::Product(kind), Value::Product(product)) => {
                self.error(
                    Diagnostic::error("AIC0202", format!("a {kind} is expected, {} is a {}", product.name, product.kind.name))
                        .at(span, format!("a {}", product.kind.name))
                        .at(product.span, "declared here")
                        .help(format!("name a {kind}")),
                );
                Value::Poison
            }
            (Type::Record(shape), Value::Record(record)) => {
                let mut entries = Vec::new();
                self.flatten(&record.items, &record.env, &mut 0, false, &mut entries);
                let node = self.node(Node::empty(shape, span, shape.name.into()), None, &entries);
                let fields: Vec<(Rc<str>, Value)> = shape.fields.iter().filter_map(|f| Some((f.name.into(), self.field(&node, f.name)?))).collect();
                if fields.iter().any(|(_, v)| v.is_quiet()) { Value::Poison } else { Value::Map(Rc::new(fields)) }
            }
            (Type::List(element @ (Type::Ref(_) | Type::Port)), value) => self.convert_things(element, value, span),
            (Type::List(element), value) => self.convert_list(element, value, span),
            (Type::Port, Value::Management) => Value::Management,
            (Type::Ref(_) | Type::Port, Value::Selection(selection)) => self.convert_selection(ty, &selection, span),
            (_, value) => self.mismatch(&value, ty, span),
        }
    }

    fn convert_list(&self, element: &'static Type, value: Value, span: Span) -> Value {
        match value {
            Value::List(list) => {
                let mut out = Vec::new();
                for inner in list.iter() {
                    // A list of ranges is one flat list.
                    let expected = if matches!(inner, Value::Range(..)) { intern_type(Type::List(element)) } else { element };
                    match self.convert(inner.clone(), expected, span) {
                        Value::List(inner) => out.extend(inner.iter().cloned()),
                        value if value.is_quiet() => return value,
                        value => out.push(value),
                    }
                }
                Value::List(Rc::new(out))
            }
            Value::Range(a, b) => self.convert_list(element, Value::List(Rc::new((a..b).map(Value::Int).collect())), span),
            one => match self.convert(one, element, span) {
                value if value.is_quiet() => value,
                value => Value::List(Rc::new(vec![value])),
            },
        }
    }

    /// A list of things is one selection, whatever was listed; a list, where all management ports are among them.
    fn convert_things(&self, element: &'static Type, value: Value, span: Span) -> Value {
        let (mut things, mut management) = (Vec::new(), false);
        let values = match value {
            Value::List(list) => list,
            one => Rc::new(vec![one]),
        };
        for value in values.iter() {
            match value {
                Value::Selection(selection) => {
                    things.reserve(selection.flat().len());
                    if !selection.flat().all(|entity| self.fit_entity(element, entity, span, &mut things)) {
                        return Value::Poison;
                    }
                }
                Value::Management if matches!(element, Type::Port) => management = true,
                quiet if quiet.is_quiet() => return quiet.clone(),
                other => return self.mismatch(other, element, span),
            }
        }
        let things = Value::named(things, true);
        if management { Value::List(Rc::new(vec![Value::Management, things])) } else { things }
    }

    fn convert_selection(&self, ty: &Type, selection: &super::Selection, span: Span) -> Value {
        let mut flat = selection.flat();
        match (flat.next(), flat.next()) {
            (Some(entity), None) => {
                if self.fit_entity(ty, entity, span, &mut Vec::new()) {
                    Value::one(entity)
                } else {
                    Value::Poison
                }
            }
            _ => {
                let count = selection.flat().count();
                self.error(
                    Diagnostic::error("AIC0202", format!("one {} is expected, this names {count}", ty.text()))
                        .at(span, format!("{count} of them"))
                        .help("select one with `[index]`"),
                );
                Value::Poison
            }
        }
    }

    /// Adds the entity as what is expected, where a NIC stands for its ports; says so where it is something else.
    fn fit_entity(&self, ty: &Type, entity: Entity, span: Span, out: &mut Vec<Entity>) -> bool {
        let kind = self.entity_kind(entity);
        if let (Type::Port, "nic", Entity::Device(host, device)) = (ty, kind, entity) {
            out.extend((0..self.port_count(host, device)).map(|port| Entity::Port(host, device, port)));
            return true;
        }
        let fits = match ty {
            Type::Ref(kinds) => kinds.contains(&kind),
            Type::Port => matches!(entity, Entity::Port(..)) || kind == "gpu",
            _ => false,
        };
        if fits {
            out.push(entity);
            return true;
        }
        let name = self.entity_name(entity);
        let expected = match ty {
            Type::Port => "NICs or ports of hosts (GPUs for nvlink)".to_owned(),
            other => format!("a {}", other.text()),
        };
        let mut diagnostic =
            Diagnostic::error("AIC0202", format!("{expected} {} expected, {name} is a {kind}", if matches!(ty, Type::Port) { "are" } else { "is" }))
                .at(span, format!("a {kind}"));
        diagnostic = match (ty, kind) {
            (Type::Port, "host") => diagnostic.help("name a NIC of the hosts: `train.h100.rail`"),
            (Type::Ref(["host"]), "rack") => diagnostic.help("name the hosts in the rack: `rack.host`"),
            _ => diagnostic.help(format!("name {expected}")),
        };
        self.error(diagnostic);
        false
    }

    fn label(&self, text: Rc<str>, span: Span) -> Value {
        let sound = text.len() <= 63
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            && (text.is_empty() || text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.ends_with(|c: char| c.is_ascii_alphanumeric()));
        if sound {
            return Value::Text(text);
        }
        self.bad_text(&text, "a Kubernetes label value", "at most 63 letters, digits, `-`, `_` and `.`", span)
    }

    fn version(&self, text: Rc<str>, span: Span) -> Value {
        let sound = !text.is_empty()
            && text.trim_start_matches('v').split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            && text.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        if sound { Value::Text(text) } else { self.bad_text(&text, "a version", "`\"1.36\"`", span) }
    }

    fn image(&self, text: Rc<str>, span: Span) -> Value {
        let sound = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c)) && !text.ends_with([':', '/', '@']);
        if sound { Value::Text(text) } else { self.bad_text(&text, "a container image", "`\"registry.example.com/team/name:tag\"`", span) }
    }

    fn network(&self, cidr: ipnet::IpNet, span: Span) -> Value {
        if cidr.addr() == cidr.network() {
            return Value::Cidr(cidr);
        }
        let right = ipnet::IpNet::new(cidr.network(), cidr.prefix_len()).unwrap_or(cidr);
        self.error(
            Diagnostic::error("AIC0204", format!("{cidr} has bits behind its prefix: the range is {right}"))
                .at(span, "here")
                .help(format!("`{right}`"))
                .fix(span, right.to_string()),
        );
        Value::Poison
    }

    fn bad_text(&self, text: &str, what: &str, help: &str, span: Span) -> Value {
        self.error(Diagnostic::error("AIC0204", format!("`{text}` is not {what}")).at(span, "here").help(help));
        Value::Poison
    }

    fn mismatch(&self, value: &Value, ty: &Type, span: Span) -> Value {
        let shown = value.text().map_or(String::new(), |t| format!(" ({t})"));
        let (expected, help) = match ty {
            Type::Quantity(dimension) => (dimension.phrase().to_owned(), format!("such as {}", dimension.example())),
            Type::Word(words) => (format!("one of {}", words.join(", ")), format!("one of {}", words.join(", "))),
            Type::Bool => ("true or false".into(), "`true` or `false`".into()),
            Type::Int => ("a whole number".into(), "without a unit".into()),
            Type::Ref(kinds) => (format!("a {}", kinds.join(" or ")), format!("name a {}", kinds.join(" or "))),
            Type::Product(kind) => (format!("a {kind}"), format!("name a {kind}, brought in with `use`")),
            Type::Device => ("the name of a device".into(), "the bare name, such as `data`".into()),
            Type::Port => ("NICs or ports".into(), "`train.h100.rail`".into()),
            other => (format!("a value of type {}", other.text()), other.text()),
        };
        let field = {
            let map = self.map.borrow();
            // `power = 44kB`: the field's name makes the sentence.
            let text = &map.get(span.file).text;
            let before = text.get(..span.start as usize).unwrap_or("");
            let line = before.rsplit(['\n', ',', '{', '(']).next().unwrap_or("");
            line.split_once('=')
                .map(|(name, rest)| (name.trim().to_owned(), rest.trim().is_empty()))
                .filter(|(n, empty)| *empty && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
                .map(|(n, _)| n)
        };
        let map = self.map.borrow();
        let written = map.text(span).to_owned();
        drop(map);
        let written = if written.len() <= 40 && !written.contains('\n') && !written.is_empty() { written } else { shown };
        let message = match field {
            Some(field) if !field.is_empty() => format!("`{field}` is {expected}, {written} is {}", value.phrase()),
            _ => format!("{expected} is expected, {written} is {}", value.phrase()),
        };
        let mut diagnostic = Diagnostic::error("AIC0202", message).at(span, value.phrase()).help(help);
        // `44kB` for a power: the same number with the unit that was meant.
        if let (Type::Quantity(dimension), Value::Quantity(q)) = (ty, value)
            && let Some(unit) = q.unit
            && let Some(meant) = crate::base::quantity::UNITS
                .iter()
                .find(|u| u.dimension == *dimension && u.name.chars().next() == unit.name.chars().next() && u.name.len() == unit.name.len())
        {
            let number = written.trim_end_matches(unit.name).to_owned();
            diagnostic = diagnostic.help(format!("{number}{}", meant.name)).fix(span, format!("{number}{}", meant.name));
        } else if let (Type::Quantity(dimension), Value::Int(n)) = (ty, value) {
            let unit = dimension.example().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            diagnostic = diagnostic.help(format!("give it a unit, such as {n}{unit}"));
        }
        self.error(diagnostic);
        Value::Poison
    }

    /// The type that is written; nothing (with a diagnostic) if there is none.
    pub fn type_of(&self, ty: &TypeExpr) -> Option<Type> {
        match ty {
            TypeExpr::List(inner, _) => Some(Type::List(intern_type(self.type_of(inner)?))),
            TypeExpr::Choice(words, _) => Some(Type::Word(intern_words(words.iter().map(|w| w.text.to_string()).collect()))),
            TypeExpr::Record(..) => None,
            TypeExpr::Named(name) => {
                let simple = match &*name.text {
                    "Bool" => Some(Type::Bool),
                    "Int" => Some(Type::Int),
                    "Float" => Some(Type::Float),
                    "String" => Some(Type::String),
                    "Version" => Some(Type::Version),
                    "Image" => Some(Type::Image),
                    "Ip" => Some(Type::Ip),
                    "Cidr" => Some(Type::Cidr),
                    "Label" => Some(Type::Label),
                    "Port" => Some(Type::Port),
                    "Device" => Some(Type::Device),
                    other => Dimension::ALL.iter().find(|d| d.type_name() == other).map(|d| Type::Quantity(*d)),
                };
                let kinds = schema::KINDS.iter().map(|k| (capitalised(k.name), k.name));
                let found = simple.or_else(|| {
                    let (_, kind) = kinds.clone().find(|(capital, _)| *capital == *name.text)?;
                    Some(if schema::PRODUCTS.contains(&kind) { Type::Product(kind) } else { Type::Ref(intern_words(vec![kind.to_owned()])) })
                });
                if found.is_none() && self.judged.borrow_mut().insert(name.span) {
                    let mut known: Vec<String> =
                        ["Bool", "Int", "Float", "String", "Version", "Image", "Ip", "Cidr", "Label", "Port", "Device"].map(str::to_owned).to_vec();
                    known.extend(Dimension::ALL.iter().map(|d| d.type_name().to_owned()));
                    known.extend(kinds.map(|(capital, _)| capital));
                    let words: Vec<&str> = known.iter().map(String::as_str).collect();
                    self.error(suggest(
                        Diagnostic::error("AIC0209", format!("there is no type `{}`", name.text)).at(name.span, "here"),
                        name.span,
                        &name.text,
                        &words,
                    ));
                }
                found
            }
        }
    }
}

/// `control_plane` as `ControlPlane`.
fn capitalised(kind: &str) -> String {
    kind.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
