//! Built-in functions, and the user's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;

use ipnet::IpNet;

use super::value::{Env, FrameKind, Value};
use super::{Lang, suggest};
use crate::base::quantity::arithmetic;
use crate::base::{Diagnostic, Quantity, Rational, Span};
use crate::syntax::ast::{Expr, ExprKind, Function};

/// Every built-in function with its form and meaning; the reference and hover read it.
pub const BUILTINS: &[(&str, &str, &str)] = &[
    ("count", "count(list)", "How many elements a list or a path has."),
    ("len", "len(list)", "The same, or the characters of a text."),
    ("sum", "sum(list)", "The sum of numbers or quantities."),
    ("min", "min(list) or min(a, b, …)", "The smallest."),
    ("max", "max(list) or max(a, b, …)", "The largest."),
    ("any", "any(list)", "Whether one of the conditions holds."),
    ("all", "all(list)", "Whether all conditions hold."),
    ("floor", "floor(x)", "The largest whole number that is not above x."),
    ("ceil", "ceil(x)", "The smallest whole number that is not below x."),
    ("round", "round(x)", "The nearest whole number."),
    ("div", "div(a, b)", "How often b goes into a."),
    ("mod", "mod(a, b)", "What is left of a after div(a, b)."),
    ("concat", "concat(a, b, …)", "Lists, one after the other."),
    ("subnet", "subnet(cidr, prefix, n)", "The n-th range of that prefix length in a range."),
    ("nth", "nth(cidr, n)", "The n-th address of a range."),
    ("range", "range(n)", "The list 0, 1, … n-1."),
];

/// The address `by` further on.
pub fn move_address(ip: IpAddr, by: i128) -> Option<IpAddr> {
    match ip {
        IpAddr::V4(ip) => {
            let moved = i128::from(u32::from(ip)).checked_add(by)?;
            u32::try_from(moved).ok().map(|n| IpAddr::V4(Ipv4Addr::from(n)))
        }
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            let moved = if by >= 0 { bits.checked_add(by.unsigned_abs())? } else { bits.checked_sub(by.unsigned_abs())? };
            Some(IpAddr::V6(Ipv6Addr::from(moved)))
        }
    }
}

impl Lang<'_> {
    /// The value of a call.
    pub fn call(&self, function: &Expr, arguments: &[Expr], span: Span, env: &Env) -> Value {
        let ExprKind::Name(name) = &*function.kind else {
            self.error(Diagnostic::error("AIC0202", "only functions are called").at(function.span, "not a function").help("`floor(x)`, or a `fn` of the file"));
            return Value::Poison;
        };
        let own = env.frames().find_map(|frame| match frame {
            FrameKind::Module(module) => self.module_bindings(*module, name).first().cloned().map(|b| (b, *module)),
            FrameKind::Body(bindings) => bindings.iter().find(|b| b.name == *name).cloned().map(|b| (b, 0)),
            _ => None,
        });
        if let Some((binding, _)) = own {
            return match self.eval(function, env, None) {
                Value::Function(callee, home) => self.call_own(&callee, arguments, span, env, &home),
                value if value.is_quiet() => value,
                _ => {
                    self.error(
                        Diagnostic::error("AIC0202", format!("{name} is no function"))
                            .at(function.span, "called here")
                            .at(binding.span, "declared here")
                            .help("leave out the parentheses"),
                    );
                    Value::Poison
                }
            };
        }
        if !BUILTINS.iter().any(|(builtin, ..)| *builtin == &**name) {
            let known: Vec<&str> = BUILTINS.iter().map(|(builtin, ..)| *builtin).collect();
            self.error(suggest(Diagnostic::error("AIC0101", format!("there is no function `{name}`")).at(function.span, "here"), function.span, name, &known));
            return Value::Poison;
        }
        let values: Vec<Value> = arguments.iter().map(|argument| self.eval(argument, env, None)).collect();
        if let Some(quiet) = values.iter().find(|v| v.is_quiet()) {
            return quiet.clone();
        }
        match builtin(name, &values) {
            Some(value) => value,
            None => {
                let form = BUILTINS.iter().find(|(builtin, ..)| *builtin == &**name).map_or("", |b| b.1);
                let given: Vec<String> = values.iter().map(Value::phrase).collect();
                self.error(
                    Diagnostic::error("AIC0202", format!("{name} does not take {}", if given.is_empty() { "nothing".into() } else { given.join(", ") }))
                        .at(span, "called here")
                        .help(format!("`{form}`")),
                );
                Value::Poison
            }
        }
    }

    fn call_own(&self, function: &Rc<Function>, arguments: &[Expr], span: Span, env: &Env, home: &Env) -> Value {
        if arguments.len() != function.parameters.len() {
            self.error(
                Diagnostic::error(
                    "AIC0202",
                    format!("{} takes {}, {} given", function.name.text, crate::base::names::count_of(function.parameters.len(), "argument"), arguments.len()),
                )
                .at(span, "called here")
                .at(function.name.span, "declared here")
                .help(format!(
                    "`{}({})`",
                    function.name.text,
                    function.parameters.iter().map(|(n, _)| &*n.text).collect::<Vec<_>>().join(", ")
                )),
            );
            return Value::Poison;
        }
        if self.calls.borrow().contains(&function.name.span) {
            self.cycle(&function.name.text, function.name.span);
            return Value::Poison;
        }
        let mut inner = home.clone();
        for ((name, ty), argument) in function.parameters.iter().zip(arguments) {
            let value = match self.type_of(ty) {
                Some(ty) => self.checked(argument, env, &ty),
                None => self.eval(argument, env, None),
            };
            if value.is_quiet() {
                return value;
            }
            inner = inner.with(FrameKind::Variable(name.text.clone(), value));
        }
        self.calls.borrow_mut().push(function.name.span);
        let value = match function.result.as_ref().and_then(|ty| self.type_of(ty)) {
            Some(ty) => self.checked(&function.value, &inner, &ty),
            None => self.eval(&function.value, &inner, None),
        };
        self.calls.borrow_mut().pop();
        value
    }
}

fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(list) => Some(list.to_vec()),
        Value::Range(a, b) => Some((*a..*b).map(Value::Int).collect()),
        _ => None,
    }
}

fn builtin(name: &str, values: &[Value]) -> Option<Value> {
    let int = |n: Rational| i64::try_from(n.to_integer()).ok().map(Value::Int);
    match (name, values) {
        ("count" | "len", [value]) => Some(Value::Int(match value {
            Value::List(list) => list.len() as i64,
            Value::Range(a, b) => b - a,
            Value::Selection(selection) => selection.flat().count() as i64,
            Value::Text(text) if name == "len" => text.chars().count() as i64,
            _ => return None,
        })),
        ("sum", [list]) => {
            let list = elements(list)?;
            let mut total: Option<Value> = None;
            for value in list {
                total = Some(match total {
                    None => value,
                    Some(before) => add(&before, &value)?,
                });
            }
            Some(total.unwrap_or(Value::Int(0)))
        }
        ("min" | "max", values) => {
            let list = if let [one] = values { elements(one)? } else { values.to_vec() };
            let mut best: Option<Value> = None;
            for value in list {
                let (Some(new), old) = (value.number(), best.as_ref().and_then(Value::number)) else { return None };
                if old.is_none_or(|old| if name == "min" { new < old } else { new > old }) {
                    best = Some(value);
                }
            }
            best
        }
        ("any" | "all", [list]) => {
            let list = elements(list)?;
            let mut holds = name == "all";
            for value in list {
                let Value::Bool(b) = value else { return None };
                holds = if name == "all" { holds && b } else { holds || b };
            }
            Some(Value::Bool(holds))
        }
        ("floor" | "ceil" | "round", [Value::Int(n)]) => Some(Value::Int(*n)),
        ("floor", [Value::Float(r)]) => int(r.floor()),
        ("ceil", [Value::Float(r)]) => int(r.ceil()),
        ("round", [Value::Float(r)]) => int(r.round()),
        ("div", [Value::Int(a), Value::Int(b)]) if *b != 0 => a.checked_div_euclid(*b).map(Value::Int),
        ("mod", [Value::Int(a), Value::Int(b)]) if *b != 0 => a.checked_rem_euclid(*b).map(Value::Int),
        ("concat", values) => {
            let mut out = Vec::new();
            for value in values {
                match value {
                    Value::Selection(selection) => out.extend(selection.flat().map(Value::one)),
                    other => out.extend(elements(other)?),
                }
            }
            Some(Value::List(Rc::new(out)))
        }
        ("subnet", [Value::Cidr(cidr), Value::Int(prefix), Value::Int(n)]) => {
            let prefix = u8::try_from(*prefix).ok()?;
            if prefix < cidr.prefix_len() || prefix > cidr.max_prefix_len() || *n < 0 {
                return None;
            }
            let blocks = 1_i128.checked_shl(u32::from(prefix - cidr.prefix_len())).unwrap_or(i128::MAX);
            if i128::from(*n) >= blocks {
                return None;
            }
            let size = 1_i128.checked_shl(u32::from(cidr.max_prefix_len() - prefix))?;
            let first = move_address(cidr.network(), size.checked_mul(i128::from(*n))?)?;
            IpNet::new(first, prefix).ok().map(Value::Cidr)
        }
        ("nth", [Value::Cidr(cidr), Value::Int(n)]) if *n >= 0 => {
            let ip = move_address(cidr.network(), i128::from(*n))?;
            cidr.contains(&ip).then_some(Value::Ip(ip))
        }
        ("range", [Value::Int(n)]) if (0..=1_000_000).contains(n) => Some(Value::Range(0, *n)),
        _ => None,
    }
}

fn add(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int),
        (Value::Quantity(a), Value::Quantity(b)) if a.dimension == b.dimension => {
            arithmetic(a.value, '+', b.value).ok().map(|value| Value::Quantity(Quantity { value, ..*a }))
        }
        (a, b) if !matches!(a, Value::Quantity(_)) && !matches!(b, Value::Quantity(_)) => arithmetic(a.number()?, '+', b.number()?).ok().map(Value::Float),
        _ => None,
    }
}
