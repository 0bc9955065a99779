//! Expressions to values.

use std::net::IpAddr;
use std::rc::Rc;

use super::entity::Entity;
use super::value::{Binding, BindingKind, Entry, Env, FrameKind, Node, RecordValue, Slot, SlotSource, Value};
use super::{Lang, suggest};
use crate::base::quantity::{ArithmeticFault, arithmetic, combine, find_unit};
use crate::base::{Diagnostic, Dimension, Quantity, Rational, Span};
use crate::schema::{self, Field, Need, Type};
use crate::syntax::ast::{Expr, ExprKind, ItemKind, Operator, Piece};

/// Longer ranges than any design runs over.
const LONGEST_RANGE: i64 = 1_000_000;
/// More elements than any array of a design has.
const MOST_ELEMENTS: i64 = 50_000;

impl Lang<'_> {
    /// The value of an expression, of the expected type if there is one.
    pub fn checked(&self, expr: &Expr, env: &Env, ty: &Type) -> Value {
        let value = self.eval(expr, env, Some(ty));
        self.convert(value, ty, expr.span)
    }

    /// The value of an expression. `want` helps to resolve bare words; it is not enforced.
    pub fn eval(&self, expr: &Expr, env: &Env, want: Option<&Type>) -> Value {
        self.counters.borrow_mut().expressions += 1;
        match &*expr.kind {
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Int(n) => Value::Int(*n),
            ExprKind::Float(r) => Value::Float(*r),
            ExprKind::Quantity(number, unit) => self.quantity(*number, unit, expr.span),
            ExprKind::Ratio(r) => Value::Quantity(Quantity::new(*r, Dimension::Ratio)),
            ExprKind::Address(text) => self.address(text, expr.span),
            ExprKind::Text(pieces) => self.text(pieces, env),
            ExprKind::Name(name) => self.name(name, expr.span, env, want),
            ExprKind::Member(base, member) => self.member(base, member, env, want),
            ExprKind::Index(base, index) => self.index(base, index, expr.span, env),
            ExprKind::Call(function, arguments) => self.call(function, arguments, expr.span, env),
            ExprKind::List(elements) => self.list(elements, env, want),
            ExprKind::Record(body) => Value::Record(Rc::new(RecordValue { items: body.items.clone(), env: env.clone() })),
            ExprKind::Group(inner) => self.eval(inner, env, want.filter(|ty| !matches!(ty, Type::Word(_) | Type::AnyWord | Type::Device))),
            ExprKind::Choose(condition, then, otherwise) => match self.condition(condition, env) {
                Some(true) => self.eval(then, env, want),
                Some(false) => self.eval(otherwise, env, want),
                None => Value::Poison,
            },
            ExprKind::Unary(operator, value) => self.unary(*operator, value, expr.span, env),
            ExprKind::Binary(operator, a, b, place) => self.binary(*operator, a, b, *place, env),
            ExprKind::Broken => Value::Poison,
        }
    }

    fn quantity(&self, number: Rational, unit: &str, span: Span) -> Value {
        let Some(found) = find_unit(unit) else {
            let names: Vec<&str> = crate::base::quantity::UNITS.iter().map(|u| u.name).collect();
            let mut diagnostic = Diagnostic::error("AIC0201", format!("there is no unit `{unit}`")).at(span, "here");
            let same_letters = names.iter().copied().find(|n| n.eq_ignore_ascii_case(unit));
            let unit_span = Span { start: span.end - unit.len() as u32, ..span };
            if let Some(near) = same_letters.or_else(|| crate::base::names::nearest(unit, names.iter().copied())) {
                diagnostic.message = format!("there is no unit `{unit}`; did you mean `{near}`?");
                diagnostic = diagnostic.fix(unit_span, near).help(format!("`{near}`"));
            } else {
                diagnostic = diagnostic.help("data is B kB … KiB MiB GiB TiB or b Gb, rates end in /s; power W kW; time s min h d; length m; height U");
            }
            self.error(diagnostic);
            return Value::Poison;
        };
        match arithmetic(number, '*', Rational::new(found.factor.0, found.factor.1)) {
            Ok(value) => Value::Quantity(Quantity { value, dimension: found.dimension, unit: Some(found) }),
            Err(_) => {
                self.error(Diagnostic::error("AIC0207", "this quantity is too large").at(span, "here").help("choose a larger unit"));
                Value::Poison
            }
        }
    }

    fn address(&self, text: &str, span: Span) -> Value {
        if text.contains('/') {
            if let Ok(cidr) = text.parse::<ipnet::IpNet>() {
                return Value::Cidr(cidr);
            }
        } else if let Ok(ip) = text.parse::<IpAddr>() {
            return Value::Ip(ip);
        }
        self.error(
            Diagnostic::error("AIC0204", format!("{text} is no address"))
                .at(span, "here")
                .help("octets go from 0 to 255, prefixes to 32 (128 with IPv6): `10.20.0.0/22`"),
        );
        Value::Poison
    }

    fn text(&self, pieces: &[Piece], env: &Env) -> Value {
        let mut out = String::new();
        let mut quiet = None;
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(hole, width) => {
                    let value = self.eval(hole, env, None);
                    if value.is_quiet() {
                        quiet = Some(value);
                        continue;
                    }
                    match (&value, value.text()) {
                        (Value::Int(n), _) if *width > 0 => out.push_str(&format!("{n:0width$}")),
                        (_, Some(text)) if *width == 0 => out.push_str(&text),
                        (Value::Selection(selection), _) if selection.single => out.extend(selection.flat().map(|entity| self.entity_name(entity))),
                        _ => {
                            self.error(
                                Diagnostic::error("AIC0202", format!("{} cannot stand in a text", value.phrase()))
                                    .at(hole.span, "here")
                                    .help("holes take numbers, texts, quantities, addresses, words and the names of declarations"),
                            );
                            quiet = Some(Value::Poison);
                        }
                    }
                }
            }
        }
        quiet.unwrap_or_else(|| Value::Text(out.into()))
    }

    fn list(&self, elements: &[(bool, Expr)], env: &Env, want: Option<&Type>) -> Value {
        let want = match want {
            Some(Type::List(element)) => Some(*element),
            _ => None,
        };
        let mut out = Vec::new();
        for (spread, element) in elements {
            let value = self.eval(element, env, want);
            match value {
                Value::Poison => return Value::Poison,
                Value::List(inner) if *spread => out.extend(inner.iter().cloned()),
                Value::Range(a, b) if *spread => out.extend((a..b).map(Value::Int)),
                Value::Selection(things) if *spread => out.extend(things.flat().map(Value::one)),
                value => out.push(value),
            }
        }
        Value::List(Rc::new(out))
    }

    /// What a bare name means here.
    fn name(&self, name: &Rc<str>, span: Span, env: &Env, want: Option<&Type>) -> Value {
        // Where an enum is expected a bare word is one of its words first.
        let element = match want {
            Some(Type::List(element)) => Some(*element),
            other => other,
        };
        match element {
            Some(Type::Word(words)) if words.contains(&&**name) => return Value::Word(name.clone()),
            Some(Type::AnyWord | Type::Device | Type::Sibling(_)) => return Value::Word(name.clone()),
            _ => {}
        }
        if let Some(value) = self.lookup(name, span, env, want) {
            return value;
        }
        match &**name {
            "all" => return Value::All,
            word if schema::KINDS.iter().any(|k| k.name == word) => {
                return Value::Kind(schema::kind(word).expect("it is one").name);
            }
            _ => {}
        }
        self.unknown_name(name, span, env, element);
        Value::Poison
    }

    /// The value of a name from the inside outward.
    fn lookup(&self, name: &str, span: Span, env: &Env, want: Option<&Type>) -> Option<Value> {
        for frame in env.frames() {
            match frame {
                FrameKind::Variable(variable, value) if &**variable == name => return Some(value.clone()),
                FrameKind::Body(bindings) => {
                    if let Some(binding) = bindings.iter().find(|b| &*b.name == name) {
                        return Some(self.read_binding(binding, span, 0));
                    }
                }
                FrameKind::Element { index: Some(index), .. } if name == "index" => return Some(Value::Int(*index)),
                FrameKind::Element { parent: Some(parent), .. } if name == "parent" => {
                    return Some(Value::one(Entity::Object(*parent)));
                }
                FrameKind::Element { object: Some(object), .. } if self.may_hold(*object, name, want) => {
                    if let Some((elements, array)) = self.child_elements(*object, name) {
                        return Some(Value::named(elements.iter().map(|id| Entity::Object(*id)).collect(), array));
                    }
                }
                FrameKind::System(parts) if !matches!(want, Some(Type::Product(_))) => {
                    if let Some((first, count, array)) = parts.borrow().names.get(name).copied() {
                        return Some(Value::named((first..first + count).map(Entity::Own).collect(), array));
                    }
                }
                FrameKind::Module(module) => {
                    let found = self.module_bindings(*module, name);
                    if !found.is_empty() {
                        return Some(self.choose_binding(&found, name, span, *module, want));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the member of that name can be what is expected: `host box : box` means the system outside.
    fn may_hold(&self, object: super::ObjectId, name: &str, want: Option<&Type>) -> bool {
        let kinds = wanted_kinds(want);
        kinds.is_empty() || self.child_named(object, name).is_some_and(|child| kinds.contains(&child.shape.name)) && !matches!(want, Some(Type::Product(_)))
    }

    /// Several kinds may share a name: the expected one is meant.
    fn choose_binding(&self, found: &[Rc<Binding>], name: &str, span: Span, module: usize, want: Option<&Type>) -> Value {
        let mut candidates: Vec<(Rc<Binding>, usize)> = Vec::new();
        for binding in found {
            match &binding.kind {
                BindingKind::Import { module: from, .. } => {
                    binding.used.set(true);
                    let inner = self.module_bindings(*from, name);
                    if inner.is_empty() {
                        self.unknown_import(*from, name, binding.span);
                        return Value::Poison;
                    }
                    candidates.extend(inner.into_iter().map(|b| (b, *from)));
                }
                _ => candidates.push((binding.clone(), module)),
            }
        }
        if candidates.len() > 1 {
            // A cluster has no members that a path could mean: it does not compete with the rack of its name.
            let is_cluster = |b: &Binding| matches!(&b.kind, BindingKind::Declaration(d) if d.shape.name == "cluster");
            if want.is_none() && candidates.iter().any(|(b, _)| !is_cluster(b)) {
                candidates.retain(|(b, _)| !is_cluster(b));
            }
        }
        if candidates.len() > 1 {
            let kinds = wanted_kinds(want);
            let fitting: Vec<_> =
                candidates.iter().filter(|(b, _)| matches!(&b.kind, BindingKind::Declaration(d) if kinds.contains(&d.shape.name))).cloned().collect();
            if !fitting.is_empty() {
                candidates = fitting;
            } else if candidates.iter().any(|(b, _)| matches!(b.kind, BindingKind::Poison)) {
                return Value::Poison;
            } else {
                let what: Vec<String> = candidates.iter().map(|(b, _)| binding_phrase(b)).collect();
                let mut diagnostic =
                    Diagnostic::error("AIC0109", format!("`{name}` may be {}", crate::base::names::list_of(&what, "or"))).at(span, "which one?");
                for (binding, _) in &candidates {
                    diagnostic = diagnostic.at(binding.span, binding_phrase(binding));
                }
                self.error(diagnostic.help(format!("put the kind in front: `{}.{name}`", what[0].split(' ').next().unwrap_or("fabric"))));
                return Value::Poison;
            }
        }
        let (binding, module) = &candidates[0];
        self.read_binding(binding, span, *module)
    }

    fn unknown_import(&self, module: usize, name: &str, span: Span) {
        if self.judged.borrow_mut().insert(span) {
            let target = self.modules.borrow()[module].clone();
            let words: Vec<String> = self.all_bindings(module).iter().map(|b| b.name.to_string()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.error(suggest(
                Diagnostic::error("AIC0101", format!("{}.aic declares no `{name}`", target.name.replace('.', "/"))).at(span, "here"),
                span,
                name,
                &words,
            ));
        }
    }

    fn read_binding(&self, binding: &Rc<Binding>, span: Span, module: usize) -> Value {
        binding.used.set(true);
        let value = self.binding_value(binding, module);
        self.refer(span, Some(binding.span), || self.describe_binding(binding, &value));
        value
    }

    fn describe_binding(&self, binding: &Binding, value: &Value) -> String {
        let head = match &binding.kind {
            BindingKind::Declaration(d) => {
                let model = d.block.model.as_ref().map_or(String::new(), |m| format!(" : {}", m.iter().map(|n| &*n.text).collect::<Vec<_>>().join(".")));
                format!("{} {}{model}", d.shape.name, d.name)
            }
            BindingKind::Param { .. } => format!("param {}", binding.name),
            BindingKind::Function(_) => format!("fn {}", binding.name),
            _ => format!("let {}", binding.name),
        };
        let mut text = format!("```aic\n{head}{}\n```", value.text().map_or(String::new(), |v| format!(" = {v}")));
        if let Value::Selection(selection) = value
            && !selection.single
        {
            text.push_str(&format!("\n\n{} elements", selection.flat().count()));
        }
        if !binding.docs.is_empty() {
            text.push_str(&format!("\n\n{}", binding.docs.join("\n")));
        }
        text
    }

    /// The value of a name, computed once.
    pub fn binding_value(&self, binding: &Binding, module: usize) -> Value {
        match &binding.kind {
            BindingKind::Let { ty, value, env, lazy } => self.lazily(lazy, &binding.name, binding.span, || match ty {
                Some(ty) => match self.type_of(ty) {
                    Some(ty) => self.checked(value, env, &ty),
                    None => self.eval(value, env, None),
                },
                None => self.eval(value, env, None),
            }),
            BindingKind::Param { ty, default, lazy } => {
                self.lazily(lazy, &binding.name, binding.span, || self.parameter(module, binding, ty, default.as_ref()))
            }
            BindingKind::Function(function) => Value::Function(function.clone(), Env::module(module)),
            BindingKind::Declaration(declaration) => {
                if schema::PRODUCTS.contains(&declaration.shape.name) {
                    return self.product_of(declaration);
                }
                let elements = self.elements(declaration);
                let array = declaration.block.count.is_some();
                if elements.is_empty() && !array {
                    return Value::Poison;
                }
                Value::named(elements.iter().map(|id| Entity::Object(*id)).collect(), array)
            }
            BindingKind::Import { .. } | BindingKind::Poison => Value::Poison,
        }
    }

    /// Computes a value once; a value that needs itself is a cycle.
    pub fn lazily(&self, lazy: &super::value::Lazy, name: &str, span: Span, compute: impl FnOnce() -> Value) -> Value {
        if let Some(value) = &*lazy.value.borrow() {
            return value.clone();
        }
        if lazy.busy.replace(true) {
            self.cycle(name, span);
            return Value::Poison;
        }
        self.calls.borrow_mut().push(span);
        let value = compute();
        self.calls.borrow_mut().pop();
        lazy.busy.set(false);
        // What the plan will know is asked for again when it is there.
        if !matches!(value, Value::Unknown) || self.oracle.borrow().is_some() {
            *lazy.value.borrow_mut() = Some(value.clone());
        }
        value
    }

    /// Reports a cycle with its whole path, once.
    pub fn cycle(&self, name: &str, span: Span) {
        let calls = self.calls.borrow();
        let from = calls.iter().position(|call| *call == span).unwrap_or(0);
        let mut path: Vec<Span> = calls[from..].to_vec();
        path.dedup();
        let key = path.iter().min().copied().unwrap_or(span);
        if !self.judged.borrow_mut().insert(Span { end: key.start, ..key }) {
            return;
        }
        let map = self.map.borrow();
        let names: Vec<String> = path.iter().map(|s| map.text(*s).lines().next().unwrap_or("").trim().to_owned()).collect();
        let mut diagnostic = Diagnostic::error("AIC0104", format!("`{name}` needs itself")).at(span, "begins here");
        for place in path.iter().skip(1) {
            diagnostic = diagnostic.at(*place, "goes on here");
        }
        drop(map);
        drop(calls);
        let shown: Vec<String> = names.iter().map(|n| n.split(['=', '{', ':']).next().unwrap_or(n).trim().to_owned()).collect();
        self.error(diagnostic.note(format!("{} → {}", shown.join(" → "), shown.first().map_or(name, |s| s))).help("give one of them a value of its own"));
    }

    fn unknown_name(&self, name: &str, span: Span, env: &Env, want: Option<&Type>) {
        let mut known: Vec<String> = Vec::new();
        if let Some(Type::Word(words)) = want {
            let mut diagnostic = Diagnostic::error("AIC0205", format!("`{name}` is none of {}", words.join(", "))).at(span, "here");
            diagnostic = match crate::base::names::nearest(name, words.iter().copied()) {
                Some(near) => {
                    diagnostic.message = format!("`{name}` is none of {}; did you mean `{near}`?", words.join(", "));
                    diagnostic.fix(span, near).help(format!("`{near}`"))
                }
                None => diagnostic.help(format!("one of {}", words.join(", "))),
            };
            self.error(diagnostic);
            return;
        }
        for frame in env.frames() {
            match frame {
                FrameKind::Variable(variable, _) => known.push(variable.to_string()),
                FrameKind::Body(bindings) => known.extend(bindings.iter().map(|b| b.name.to_string())),
                FrameKind::System(parts) => known.extend(parts.borrow().names.keys().map(ToString::to_string)),
                FrameKind::Module(module) => known.extend(self.modules.borrow()[*module].bindings.borrow().iter().map(|b| b.name.to_string())),
                FrameKind::Element { .. } => {}
            }
        }
        let words: Vec<&str> = known.iter().map(String::as_str).collect();
        let mut diagnostic = suggest(Diagnostic::error("AIC0101", format!("nothing here is called `{name}`")).at(span, "here"), span, name, &words);
        let in_std = super::stdlib::find(name).is_some() && !self.modules.borrow()[env.module_id()].std;
        if in_std {
            diagnostic.message = format!("nothing here is called `{name}`");
            diagnostic.fixes.clear();
            diagnostic = diagnostic.help(format!("`use std.{{{name}}}` brings it in"));
        }
        self.error(diagnostic);
    }

    /// A condition that can be judged.
    pub fn condition(&self, expr: &Expr, env: &Env) -> Option<bool> {
        match self.eval(expr, env, Some(&Type::Bool)) {
            Value::Bool(b) => Some(b),
            value if value.is_quiet() => None,
            other => {
                self.error(
                    Diagnostic::error("AIC0202", format!("a condition is true or false; this is {}", other.phrase()))
                        .at(expr.span, "here")
                        .help("compare it: `x == 3`, `count(list) > 0`"),
                );
                None
            }
        }
    }

    /// What a `for` runs over.
    pub fn iterate(&self, expr: &Expr, env: &Env) -> Vec<Value> {
        match self.eval(expr, env, None) {
            Value::Range(a, b) => (a..b).map(Value::Int).collect(),
            Value::List(list) => list.to_vec(),
            Value::Selection(selection) => selection.flat().map(Value::one).collect(),
            value if value.is_quiet() => Vec::new(),
            other => {
                self.error(
                    Diagnostic::error("AIC0202", format!("a `for` runs over a range, a list or declared things; this is {}", other.phrase()))
                        .at(expr.span, "here")
                        .help("`for i in 0..8 { … }`"),
                );
                Vec::new()
            }
        }
    }

    /// A count: a whole number that is not negative and not beyond reason.
    pub fn count(&self, expr: &Expr, env: &Env) -> Option<i64> {
        let limit = MOST_ELEMENTS;
        match self.checked(expr, env, &Type::Int) {
            Value::Int(n) if (0..=limit).contains(&n) => Some(n),
            Value::Int(n) => {
                self.error(
                    Diagnostic::error("AIC0208", format!("a count goes from 0 to {limit}; this is {n}")).at(expr.span, "here").help("a positive whole number"),
                );
                None
            }
            _ => None,
        }
    }

    fn unary(&self, operator: Operator, value: &Expr, span: Span, env: &Env) -> Value {
        let inner = self.eval(value, env, None);
        match (operator, inner) {
            (_, value) if value.is_quiet() => value,
            (Operator::Not, Value::Bool(b)) => Value::Bool(!b),
            (Operator::Negate, Value::Int(n)) => n.checked_neg().map_or_else(|| self.overflow(span), Value::Int),
            (Operator::Negate, Value::Float(r)) => Value::Float(-r),
            (Operator::Negate, Value::Quantity(q)) => Value::Quantity(Quantity { value: -q.value, ..q }),
            (operator, other) => {
                self.error(
                    Diagnostic::error("AIC0202", format!("`{}` does not apply to {}", operator.text(), other.phrase()))
                        .at(value.span, other.phrase())
                        .help(if operator == Operator::Not { "`not` takes a condition" } else { "`-` takes a number or a quantity" }),
                );
                Value::Poison
            }
        }
    }

    fn overflow(&self, span: Span) -> Value {
        self.error(Diagnostic::error("AIC0207", "the result is too large").at(span, "here").help("an Int has 63 bits, other numbers 127 a part"));
        Value::Poison
    }

    fn binary(&self, operator: Operator, a: &Expr, b: &Expr, place: Span, env: &Env) -> Value {
        use Operator::*;
        if matches!(operator, And | Or) {
            let Some(left) = self.condition(a, env) else {
                // The other side may still decide: `false and unknown` is false.
                return match self.condition(b, env) {
                    Some(right) if right == (operator == Or) => Value::Bool(right),
                    _ => Value::Unknown,
                };
            };
            if left == (operator == Or) {
                return Value::Bool(left);
            }
            return self.condition(b, env).map_or(Value::Unknown, Value::Bool);
        }
        let left = self.eval(a, env, None);
        // A bare word on the right of a comparison with a word is that word.
        let right = match (&left, &*b.kind) {
            (Value::Word(_), ExprKind::Name(name)) => Value::Word(name.clone()),
            _ => self.eval(b, env, None),
        };
        if left.is_quiet() {
            return left;
        }
        if right.is_quiet() {
            return right;
        }
        let whole = a.span.to(b.span);
        match operator {
            Range | RangeInclusive => self.range(&left, &right, operator == RangeInclusive, whole),
            In => self.contains(&left, &right, a, b),
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => self.compare(operator, &left, &right, a, b, place),
            _ => self.calculate(operator, &left, &right, a, b, place),
        }
    }

    fn range(&self, a: &Value, b: &Value, inclusive: bool, span: Span) -> Value {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => {
                let end = if inclusive { b.saturating_add(1) } else { *b };
                if end.saturating_sub(*a) > LONGEST_RANGE {
                    self.error(Diagnostic::error("AIC0208", format!("a range has at most {LONGEST_RANGE} elements")).at(span, "here").help("narrow it"));
                    return Value::Poison;
                }
                Value::Range(*a, end.max(*a))
            }
            (Value::Ip(a), Value::Ip(b)) if inclusive && a.is_ipv4() == b.is_ipv4() => {
                if a > b {
                    self.error(
                        Diagnostic::error("AIC0204", format!("the range {a}..={b} ends before it begins")).at(span, "here").help(format!("`{b}..={a}`")),
                    );
                    return Value::Poison;
                }
                Value::IpRange(*a, *b)
            }
            (Value::Ip(_), Value::Ip(_)) => {
                self.error(Diagnostic::error("AIC0204", "a range of addresses names its last: `..=`").at(span, "here").help("`10.0.0.1..=10.0.0.31`"));
                Value::Poison
            }
            (a, b) => {
                self.error(
                    Diagnostic::error("AIC0202", format!("a range goes between whole numbers or addresses, not {} and {}", a.phrase(), b.phrase()))
                        .at(span, "here")
                        .help("`0..8`, `0..=7`, `10.0.0.1..=10.0.0.31`"),
                );
                Value::Poison
            }
        }
    }

    fn contains(&self, a: &Value, b: &Value, left: &Expr, right: &Expr) -> Value {
        match (a, b) {
            (Value::Int(n), Value::Range(from, to)) => Value::Bool((*from..*to).contains(n)),
            (Value::Ip(ip), Value::Cidr(cidr)) => Value::Bool(cidr.contains(ip)),
            (Value::Cidr(inner), Value::Cidr(outer)) => Value::Bool(outer.contains(inner)),
            (Value::Ip(ip), Value::IpRange(from, to)) => Value::Bool(from <= ip && ip <= to),
            (Value::Selection(one), Value::Selection(many)) => Value::Bool(one.flat().all(|entity| many.flat().any(|e| e == entity))),
            (value, Value::List(list)) => Value::Bool(list.iter().any(|e| same(value, e) == Some(true))),
            (a, b) => {
                self.error(
                    Diagnostic::error("AIC0202", format!("`in` does not look for {} in {}", a.phrase(), b.phrase()))
                        .at(left.span, a.phrase())
                        .at(right.span, b.phrase())
                        .help("it takes an address or a range in a range, a number in `a..b`, a value in a list"),
                );
                Value::Poison
            }
        }
    }

    fn compare(&self, operator: Operator, a: &Value, b: &Value, left: &Expr, right: &Expr, place: Span) -> Value {
        use std::cmp::Ordering;
        let dimension = |v: &Value| if let Value::Quantity(q) = v { Some(q.dimension) } else { None };
        let plain = |v: &Value| matches!(v, Value::Int(_) | Value::Float(_));
        let ordering = match (a.number(), b.number()) {
            (Some(x), Some(y)) if dimension(a) == dimension(b) => Some(x.cmp(&y)),
            (Some(x), Some(y)) if plain(a) && dimension(b) == Some(Dimension::Ratio) || plain(b) && dimension(a) == Some(Dimension::Ratio) => Some(x.cmp(&y)),
            _ => match (a, b) {
                (Value::Text(x), Value::Text(y)) => Some(x.cmp(y)),
                (Value::Ip(x), Value::Ip(y)) => Some(x.cmp(y)),
                _ => None,
            },
        };
        let result = match (operator, ordering) {
            (Operator::Equal | Operator::NotEqual, None) => same(a, b).map(|s| s == (operator == Operator::Equal)),
            (_, None) => None,
            (Operator::Equal, Some(o)) => Some(o == Ordering::Equal),
            (Operator::NotEqual, Some(o)) => Some(o != Ordering::Equal),
            (Operator::Less, Some(o)) => Some(o == Ordering::Less),
            (Operator::LessEqual, Some(o)) => Some(o != Ordering::Greater),
            (Operator::Greater, Some(o)) => Some(o == Ordering::Greater),
            (_, Some(o)) => Some(o != Ordering::Less),
        };
        match result {
            Some(result) => Value::Bool(result),
            None => {
                let list = matches!(a, Value::List(_)) != matches!(b, Value::List(_));
                let help = if list { "reduce the list first: `all`, `any`, `min`, `max`, `sum`, `count`" } else { "compare values of one type" };
                self.error(
                    Diagnostic::error(
                        if dimension(a).is_some() && dimension(b).is_some() { "AIC0203" } else { "AIC0202" },
                        format!("{} does not compare with {}", a.phrase(), b.phrase()),
                    )
                    .at(place, format!("`{}`", operator.text()))
                    .at(left.span, a.phrase())
                    .at(right.span, b.phrase())
                    .help(help),
                );
                Value::Poison
            }
        }
    }

    fn calculate(&self, operator: Operator, a: &Value, b: &Value, left: &Expr, right: &Expr, place: Span) -> Value {
        let op = match operator {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            _ => '/',
        };
        if let (Value::Ip(ip), Value::Int(n), '+' | '-') = (a, b, op) {
            return match super::builtins::move_address(*ip, if op == '+' { i128::from(*n) } else { -i128::from(*n) }) {
                Some(ip) => Value::Ip(ip),
                None => self.overflow(place),
            };
        }
        if let (Value::Ip(x), Value::Ip(y), '-') = (a, b, op)
            && let (IpAddr::V4(x), IpAddr::V4(y)) = (x, y)
        {
            return Value::Int(i64::from(u32::from(*x)) - i64::from(u32::from(*y)));
        }
        let (Some(x), Some(y)) = (a.number(), b.number()) else {
            self.error(
                Diagnostic::error("AIC0202", format!("`{op}` does not apply to {} and {}", a.phrase(), b.phrase()))
                    .at(left.span, a.phrase())
                    .at(right.span, b.phrase())
                    .help(if op == '+' { "`concat(a, b)` joins lists, `\"{a}{b}\"` texts" } else { "it takes numbers and quantities" }),
            );
            return Value::Poison;
        };
        let dimension = |v: &Value| if let Value::Quantity(q) = v { Some(q.dimension) } else { None };
        let result = combine(dimension(a), op, dimension(b)).and_then(|d| Ok((d, arithmetic(x, op, y)?)));
        match result {
            Ok((None, value)) if op != '/' && value.is_integer() && matches!((a, b), (Value::Int(_), Value::Int(_))) => {
                i64::try_from(value.to_integer()).map_or_else(|_| self.overflow(place), Value::Int)
            }
            Ok((None, value)) => Value::Float(value),
            Ok((Some(dimension), value)) => {
                let mut quantity = Quantity::new(value, dimension);
                for side in [a, b] {
                    if let Value::Quantity(q) = side
                        && q.dimension == dimension
                        && quantity.unit.is_none()
                    {
                        quantity = quantity.like(q);
                    }
                }
                Value::Quantity(quantity)
            }
            Err(ArithmeticFault::Overflow) => self.overflow(place),
            Err(ArithmeticFault::DivisionByZero) => {
                self.error(Diagnostic::error("AIC0207", "division by zero").at(right.span, "this is 0").help("guard it with `if`"));
                Value::Poison
            }
            Err(ArithmeticFault::Dimensions) => {
                let verb = match op {
                    '+' => "add to",
                    '-' => "subtract from",
                    '*' => "multiply with",
                    _ => "divide by",
                };
                self.error(
                    Diagnostic::error("AIC0203", format!("{} does not {verb} {}", a.phrase(), b.phrase()))
                        .at(place, format!("`{op}`"))
                        .at(left.span, a.phrase())
                        .at(right.span, b.phrase())
                        .help("data ÷ time is a rate, rate × time is data, power × time is an energy; only like adds to like"),
                );
                Value::Poison
            }
        }
    }

    /// Judges an assert (or a `for` that holds some).
    pub fn judge(&self, entry: &Entry) {
        let item = entry.item();
        match &item.kind {
            ItemKind::Assert { condition, message } => {
                let holds = self.eval(condition, &entry.env, Some(&Type::Bool));
                match holds {
                    Value::Bool(true) => {}
                    Value::Bool(false) => {
                        let text = message.as_ref().and_then(|m| self.eval(m, &entry.env, None).text());
                        let mut diagnostic =
                            Diagnostic::error("AIC0120", text.unwrap_or_else(|| "this assert does not hold".into())).at(condition.span, "this is false");
                        if let ExprKind::Binary(_, a, b, _) = &*condition.kind {
                            for side in [a, b] {
                                if let Some(value) = self.eval(side, &entry.env, None).text()
                                    && self.map.borrow().text(side.span) != value
                                {
                                    diagnostic = diagnostic.note(format!("{} = {value}", self.map.borrow().text(side.span)));
                                }
                            }
                        }
                        self.error(diagnostic.help("change the design, or what was agreed"));
                    }
                    value if value.is_quiet() => {}
                    other => self.error(
                        Diagnostic::error("AIC0202", format!("an assert is true or false; this is {}", other.phrase()))
                            .at(condition.span, "here")
                            .help("compare it"),
                    ),
                }
            }
            ItemKind::For { name, over, body } => {
                for value in self.iterate(over, &entry.env) {
                    let env = entry.env.with(FrameKind::Variable(name.text.clone(), value));
                    for at in 0..body.items.len() {
                        self.judge(&Entry { items: body.items.clone(), at, env: env.clone(), layer: 0, conditional: false });
                    }
                }
            }
            _ => {}
        }
    }

    /// The value of a field: what is set, else the default; nothing where it is absent.
    pub fn field(&self, node: &Node, name: &str) -> Option<Value> {
        if let Some(slot) = node.fields.get(name) {
            return Some(self.slot(slot));
        }
        let field = node.shape.field(node.model, name)?;
        match field.need {
            Need::Default(text) => Some(self.default_value(field, text)),
            Need::Required => Some(Value::Poison),
            _ => None,
        }
    }

    fn slot(&self, slot: &Slot) -> Value {
        self.lazily(&slot.lazy, slot.field.name, slot.span, || match &slot.source {
            SlotSource::Expression(expr, env) => {
                let value = self.bounded(self.checked(expr, env, &slot.field.ty), slot);
                let name_span = Span { end: slot.span.start + slot.field.name.len() as u32, ..slot.span };
                self.refer(name_span, None, || {
                    let shown = value.text().map_or(String::new(), |v| format!(" = {v}"));
                    format!("```aic\n{} : {}{shown}\n```\n\n{}", slot.field.name, slot.field.ty.text(), slot.field.doc)
                });
                value
            }
            SlotSource::Entries(entries) => self.map_entries(entries, &slot.field.ty),
        })
    }

    /// A number within what its field may hold, or poison with one diagnostic.
    fn bounded(&self, value: Value, slot: &Slot) -> Value {
        let name = slot.field.name;
        let fault = match (&value, &slot.field.ty) {
            (Value::Int(n), Type::Int) => {
                let (least, most) = schema::bounds(name);
                let grouped = |n: i64| crate::base::names::grouped(n.into());
                if *n < least {
                    Some((format!("`{name}` is {n}, it must be at least {least}"), format!("{name} = {least} or more")))
                } else if *n > most {
                    Some((format!("`{name}` is {}, it can be at most {}", grouped(*n), grouped(most)), format!("{name} = {most} or less")))
                } else {
                    None
                }
            }
            (Value::Quantity(q), Type::Quantity(_)) => {
                let zero = Rational::from_integer(0);
                let huge = Rational::from_integer(10_i128.pow(21));
                if q.value < zero || q.value == zero && !schema::may_be_zero(name) {
                    Some((format!("`{name}` is {q}, it must be more than 0"), "a positive amount".to_owned()))
                } else if q.value > huge || *q.value.denom() > 10_i128.pow(12) {
                    Some((format!("`{name}` is beyond what any cluster has"), "check the unit".to_owned()))
                } else {
                    None
                }
            }
            _ => None,
        };
        match fault {
            Some((message, help)) => {
                self.error(Diagnostic::error("AIC0210", message).at(slot.value_span, "here").help(help));
                Value::Poison
            }
            None => value,
        }
    }

    fn map_entries(&self, entries: &[Entry], ty: &Type) -> Value {
        let Type::Map(element) = ty else { return Value::Poison };
        let mut map: Vec<(Rc<str>, Value)> = Vec::new();
        for entry in entries {
            match &entry.item().kind {
                ItemKind::Field { key, value } => {
                    let value = self.checked(value, &entry.env, element);
                    map.retain(|(name, _)| *name != key.text);
                    map.push((key.text.clone(), value));
                }
                ItemKind::Broken { .. } => {}
                _ => self.error(Diagnostic::error("AIC0003", "a map holds `key = value` only").at(entry.item().span, "here").help("`\"KEY\" = \"value\"`")),
            }
        }
        Value::Map(Rc::new(map))
    }

    /// A record where a map is expected.
    pub fn record_as_map(&self, record: &RecordValue, ty: &Type) -> Value {
        let mut entries = Vec::new();
        self.flatten(&record.items, &record.env, &mut 0, false, &mut entries);
        self.map_entries(&entries, ty)
    }

    fn default_value(&self, field: &'static Field, text: &str) -> Value {
        let key = std::ptr::from_ref(field) as usize;
        if let Some(value) = self.defaults.borrow().get(&key) {
            return value.clone();
        }
        let file = crate::base::FileId(0);
        let value = match crate::syntax::parse_expression(file, text) {
            Some(expr) => self.checked(&expr, &Env::module(self.std_module.get()), &field.ty),
            None => Value::Poison,
        };
        self.defaults.borrow_mut().insert(key, value.clone());
        value
    }
}

/// Equality of values that are not numbers; nothing where they do not compare.
fn same(a: &Value, b: &Value) -> Option<bool> {
    Some(match (a, b) {
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Text(x) | Value::Word(x), Value::Text(y) | Value::Word(y)) => x == y,
        (Value::Cidr(x), Value::Cidr(y)) => x == y,
        (Value::Ip(x), Value::Ip(y)) => x == y,
        (Value::Selection(x), Value::Selection(y)) => x.flat().eq(y.flat()),
        (Value::Product(x), Value::Product(y)) => Rc::ptr_eq(x, y),
        (Value::List(x), Value::List(y)) => x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| same(a, b) == Some(true)),
        (a, b) if a.number().is_some() && b.number().is_some() => a.number() == b.number(),
        _ => return None,
    })
}

/// The kinds that the expected type names.
fn wanted_kinds(want: Option<&Type>) -> Vec<&'static str> {
    match want {
        Some(Type::List(element)) => wanted_kinds(Some(element)),
        Some(Type::Ref(kinds)) => kinds.to_vec(),
        Some(Type::Product(kind)) => vec![kind],
        _ => Vec::new(),
    }
}

fn binding_phrase(binding: &Binding) -> String {
    match &binding.kind {
        BindingKind::Declaration(d) => format!("{} {}", d.shape.name, d.name),
        _ => format!("value {}", binding.name),
    }
}
