//! Pest's pairs to the tree.

use std::rc::Rc;
use std::sync::LazyLock;

use pest::Parser;
use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};

use super::ast::*;
use super::{Grammar, Rule};
use crate::base::quantity::parse_number;
use crate::base::{Diagnostic, FileId, Rational, Span};

static PRATT: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    use Rule::*;
    PrattParser::new()
        .op(Op::infix(or, Assoc::Left))
        .op(Op::infix(and, Assoc::Left))
        .op(Op::prefix(not))
        .op([le, ge, eq, ne, lt, gt, kw_in].into_iter().map(|r| Op::infix(r, Assoc::Left)).reduce(|a, b| a | b).expect("not empty"))
        .op(Op::infix(range_in, Assoc::Left) | Op::infix(range, Assoc::Left))
        .op(Op::infix(add, Assoc::Left) | Op::infix(sub, Assoc::Left))
        .op(Op::infix(mul, Assoc::Left) | Op::infix(div, Assoc::Left))
        .op(Op::prefix(neg))
});

/// Turns pairs of one text, which begins at byte `base` of its file, into the tree.
pub struct Builder {
    file: FileId,
    base: u32,
    /// Faults that the grammar cannot see: escapes, numbers that do not fit, chained comparisons.
    pub diagnostics: Vec<Diagnostic>,
}

/// An expression on its own.
pub fn expression(file: FileId, text: &str) -> Option<Expr> {
    let text = text.trim();
    let pair = Grammar::parse(Rule::expr, text).ok()?.next()?;
    if pair.as_span().end() != text.len() {
        return None;
    }
    Some(Builder::new(file, 0).expr(pair))
}

impl Builder {
    pub fn new(file: FileId, base: u32) -> Self {
        Self { file, base, diagnostics: Vec::new() }
    }

    /// The span of bytes `start..end` of the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: self.base + start as u32, end: self.base + end as u32 }
    }

    fn at(&self, pair: &Pair<Rule>) -> Span {
        // Pest's spans take in the blanks and comments after the last token.
        let start = pair.as_span().start();
        self.span(start, start + super::scan::code_length(pair.as_str()))
    }

    fn name(&self, pair: &Pair<Rule>) -> Name {
        Name { text: pair.as_str().into(), span: self.at(pair) }
    }

    pub fn file(&mut self, pair: Pair<Rule>) -> (Vec<String>, Vec<Item>) {
        let (mut docs, mut items) = (Vec::new(), Vec::new());
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::file_doc => docs.push(doc_text(inner.as_str(), "//!")),
                Rule::item => items.push(self.item(inner)),
                _ => {}
            }
        }
        (docs, items)
    }

    fn item(&mut self, pair: Pair<Rule>) -> Item {
        let (mut docs, mut allows) = (Vec::new(), Vec::new());
        let whole = self.at(&pair);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::doc => docs.push(doc_text(inner.as_str(), "///")),
                Rule::allow => {
                    let span = self.at(&inner);
                    let mut parts = inner.into_inner();
                    let (Some(code), Some(reason)) = (parts.next(), parts.next()) else { continue };
                    let reason = reason.as_str().trim_matches('"').to_owned();
                    allows.push(Allow { code: self.name(&code), reason, span });
                }
                Rule::nl => {}
                _ => {
                    let span = self.at(&inner);
                    let kind = self.item_kind(inner);
                    return Item { span, docs, allows, kind };
                }
            }
        }
        Item { span: whole, docs, allows, kind: ItemKind::Broken { kind: None, name: None } }
    }

    fn item_kind(&mut self, pair: Pair<Rule>) -> ItemKind {
        let rule = pair.as_rule();
        let inner: Vec<_> = pair.into_inner().filter(|p| !matches!(p.as_rule(), Rule::nl) && !keyword(p.as_rule())).collect();
        match rule {
            Rule::use_ => {
                let (mut module, mut names, mut parameters) = (Vec::new(), Vec::new(), None);
                for part in inner {
                    match part.as_rule() {
                        Rule::module => module = self.module(part),
                        Rule::names => names = part.into_inner().filter(|p| p.as_rule() == Rule::name).map(|p| self.name(&p)).collect(),
                        Rule::body => parameters = Some(self.body(part)),
                        _ => {}
                    }
                }
                ItemKind::Use { module, names, parameters }
            }
            Rule::param => {
                let mut parts = inner.into_iter();
                let (Some(name), Some(ty)) = (parts.next(), parts.next()) else { return ItemKind::Broken { kind: None, name: None } };
                ItemKind::Param { name: self.name(&name), ty: self.ty(ty), default: parts.next().map(|e| self.expr(e)) }
            }
            Rule::let_ => {
                let (mut name, mut ty, mut value) = (None, None, None);
                for part in inner {
                    match part.as_rule() {
                        Rule::name => name = Some(self.name(&part)),
                        Rule::type_ => ty = Some(self.ty(part)),
                        _ => value = Some(self.expr(part)),
                    }
                }
                match (name, value) {
                    (Some(name), Some(value)) => ItemKind::Let { name, ty, value },
                    (name, _) => ItemKind::Broken { kind: None, name },
                }
            }
            Rule::fn_ => {
                let (mut name, mut parameters, mut result, mut value) = (None, Vec::new(), None, None);
                for part in inner {
                    match part.as_rule() {
                        Rule::name => name = Some(self.name(&part)),
                        Rule::arg => parameters.push(self.argument(part)),
                        Rule::type_ => result = Some(self.ty(part)),
                        Rule::expr => value = Some(self.expr(part)),
                        _ => {}
                    }
                }
                match (name, value) {
                    (Some(name), Some(value)) => ItemKind::Fn(Rc::new(Function { name, parameters, result, value })),
                    (name, _) => ItemKind::Broken { kind: None, name },
                }
            }
            Rule::assert_ => {
                let mut parts = inner.into_iter();
                let Some(condition) = parts.next().map(|e| self.expr(e)) else { return ItemKind::Broken { kind: None, name: None } };
                ItemKind::Assert { condition, message: parts.next().map(|s| self.string(s)) }
            }
            Rule::if_ => self.if_item(inner),
            Rule::for_ => {
                let mut parts = inner.into_iter();
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(name), Some(over), Some(body)) => ItemKind::For { name: self.name(&name), over: self.expr(over), body: self.body(body) },
                    _ => ItemKind::Broken { kind: None, name: None },
                }
            }
            Rule::link => {
                let mut ends = Vec::new();
                let (mut medium, mut body) = (None, None);
                for part in inner {
                    match part.as_rule() {
                        Rule::ends => ends.push(self.ends(part)),
                        Rule::model => medium = self.model(part).into_iter().next(),
                        Rule::body => body = Some(self.body(part)),
                        _ => {}
                    }
                }
                let (b, a) = (ends.pop(), ends.pop());
                match (a, b, medium) {
                    (Some(a), Some(b), Some(medium)) => ItemKind::Link { a, b, medium, body },
                    _ => ItemKind::Broken { kind: None, name: None },
                }
            }
            Rule::spread => match inner.into_iter().next() {
                Some(e) => ItemKind::Spread(self.expr(e)),
                None => ItemKind::Broken { kind: None, name: None },
            },
            _ => self.member(inner),
        }
    }

    fn if_item(&mut self, inner: Vec<Pair<Rule>>) -> ItemKind {
        let mut parts = inner.into_iter();
        let (Some(condition), Some(then)) = (parts.next(), parts.next()) else { return ItemKind::Broken { kind: None, name: None } };
        let (condition, then) = (self.expr(condition), self.body(then));
        let otherwise = parts.next().map(|part| {
            if part.as_rule() == Rule::body {
                return self.body(part);
            }
            // `else if` is an `else` whose body holds the `if`.
            let span = self.at(&part);
            let kind = self.item_kind(part);
            Body { span, items: Rc::new([Item { span, docs: Vec::new(), allows: Vec::new(), kind }]) }
        });
        ItemKind::If { condition, then, otherwise }
    }

    fn member(&mut self, inner: Vec<Pair<Rule>>) -> ItemKind {
        let mut parts = inner.into_iter();
        let (Some(key), Some(rest)) = (parts.next(), parts.next()) else { return ItemKind::Broken { kind: None, name: None } };
        let key = self.key(key);
        if rest.as_rule() == Rule::value {
            return match rest.into_inner().find(|p| p.as_rule() == Rule::expr) {
                Some(e) => ItemKind::Field { key, value: self.expr(e) },
                None => ItemKind::Broken { kind: None, name: Some(key) },
            };
        }
        let mut head = key.span;
        let (mut label, mut count, mut model, mut body) = (None, None, None, None);
        for part in rest.into_inner() {
            let span = self.at(&part);
            match part.as_rule() {
                Rule::label => label = part.into_inner().next().map(|p| self.key_of(p)),
                Rule::count => count = part.into_inner().next().map(|e| self.expr(e)),
                Rule::model => model = Some(self.model(part)),
                Rule::body => body = Some(self.body(part)),
                _ => continue,
            }
            if body.is_none() {
                head = head.to(span);
            }
        }
        ItemKind::Block(Rc::new(Block { kind: key, label, count, model, body, head }))
    }

    fn key(&mut self, pair: Pair<Rule>) -> Name {
        match pair.clone().into_inner().next() {
            Some(inner) => self.key_of(inner),
            None => self.name(&pair),
        }
    }

    fn key_of(&mut self, pair: Pair<Rule>) -> Name {
        if pair.as_rule() == Rule::name {
            return self.name(&pair);
        }
        let span = self.at(&pair);
        let value = self.string(pair);
        let ExprKind::Text(pieces) = &*value.kind else { return Name { text: "".into(), span } };
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Hole(hole, _) => self
                    .diagnostics
                    .push(Diagnostic::error("AIC0005", "a key is a fixed text, it has no holes").at(hole.span, "a hole").help("write the key out")),
            }
        }
        Name { text: text.into(), span }
    }

    fn module(&self, pair: Pair<Rule>) -> Vec<Name> {
        pair.into_inner().filter(|p| p.as_rule() == Rule::name).map(|p| self.name(&p)).collect()
    }

    fn model(&self, pair: Pair<Rule>) -> Vec<Name> {
        pair.into_inner().find(|p| p.as_rule() == Rule::module).map(|p| self.module(p)).unwrap_or_default()
    }

    pub fn body(&mut self, pair: Pair<Rule>) -> Body {
        let span = self.at(&pair);
        let items: Vec<Item> = pair.into_inner().filter(|p| p.as_rule() == Rule::item).map(|p| self.item(p)).collect();
        Body { span, items: items.into() }
    }

    fn argument(&mut self, pair: Pair<Rule>) -> (Name, TypeExpr) {
        let (mut name, mut ty) = (None, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.name(&part)),
                Rule::type_ => ty = Some(self.ty(part)),
                _ => {}
            }
        }
        let name = name.unwrap_or(Name { text: "".into(), span: Span::default() });
        let ty = ty.unwrap_or_else(|| TypeExpr::Named(name.clone()));
        (name, ty)
    }

    fn ty(&mut self, pair: Pair<Rule>) -> TypeExpr {
        let span = self.at(&pair);
        let list = pair.as_str().starts_with('[');
        let inner: Vec<_> = pair.into_inner().collect();
        match inner.first().map(Pair::as_rule) {
            Some(Rule::type_) if list => TypeExpr::List(Box::new(self.ty(inner.into_iter().next().expect("it is there"))), span),
            Some(Rule::type_name) => TypeExpr::Named(self.name(&inner[0])),
            Some(Rule::choice) => {
                let names = inner.into_iter().next().expect("it is there").into_inner().map(|p| self.name(&p)).collect();
                TypeExpr::Choice(names, span)
            }
            _ => TypeExpr::Record(inner.into_iter().filter(|p| p.as_rule() == Rule::arg).map(|p| self.argument(p)).collect(), span),
        }
    }

    fn ends(&mut self, pair: Pair<Rule>) -> Expr {
        let span = self.at(&pair);
        match pair.into_inner().next() {
            Some(inner) if inner.as_rule() == Rule::list => self.primary(inner),
            Some(path) => {
                let mut parts = path.into_inner();
                let Some(first) = parts.next() else { return self.broken(span) };
                let mut value = Expr { span: self.at(&first), kind: Rc::new(ExprKind::Name(first.as_str().into())) };
                for part in parts {
                    value = self.postfix(value, part);
                }
                value
            }
            None => self.broken(span),
        }
    }

    fn broken(&self, span: Span) -> Expr {
        Expr { span, kind: Rc::new(ExprKind::Broken) }
    }

    pub fn expr(&mut self, pair: Pair<Rule>) -> Expr {
        // Flat operators, unary ones included, for the Pratt parser: operands are opened up here.
        let mut tokens: Vec<Pair<Rule>> = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::operand => {
                    for piece in part.into_inner() {
                        match piece.as_rule() {
                            Rule::prefix => tokens.extend(piece.into_inner()),
                            _ => tokens.push(piece),
                        }
                    }
                }
                Rule::infix => tokens.extend(part.into_inner()),
                _ => {}
            }
        }
        // Postfix parts follow their primary: fold each group into one expression before the Pratt parser sees it.
        let mut operands: Vec<Expr> = Vec::new();
        let mut stream: Vec<Pair<Rule>> = Vec::new();
        for token in tokens {
            match token.as_rule() {
                Rule::primary => {
                    operands.push(self.primary_of(token.clone()));
                    stream.push(token);
                }
                Rule::postfix => {
                    if let (Some(value), Some(part)) = (operands.pop(), token.into_inner().next()) {
                        let value = self.postfix(value, part);
                        operands.push(value);
                    }
                }
                _ => stream.push(token),
            }
        }
        let operands = std::cell::RefCell::new(operands.into_iter());
        let builder = std::cell::RefCell::new(&mut *self);
        PRATT
            .map_primary(|pair| {
                let span = builder.borrow().at(&pair);
                operands.borrow_mut().next().unwrap_or(Expr { span, kind: Rc::new(ExprKind::Broken) })
            })
            .map_prefix(|op, value: Expr| {
                let span = builder.borrow().at(&op).to(value.span);
                let operator = if op.as_rule() == Rule::not { Operator::Not } else { Operator::Negate };
                Expr { span, kind: Rc::new(ExprKind::Unary(operator, value)) }
            })
            .map_infix(|a: Expr, op, b: Expr| {
                let operator = operator_of(op.as_rule());
                let (span, place) = (a.span.to(b.span), builder.borrow().at(&op));
                if is_comparison(operator) && matches!(&*a.kind, ExprKind::Binary(first, ..) if is_comparison(*first)) {
                    builder
                        .borrow_mut()
                        .diagnostics
                        .push(Diagnostic::error("AIC0006", "comparisons do not chain").at(place, "a second comparison").help("join two with `and`"));
                }
                Expr { span, kind: Rc::new(ExprKind::Binary(operator, a, b, place)) }
            })
            .parse(stream.into_iter())
    }

    fn postfix(&mut self, value: Expr, part: Pair<Rule>) -> Expr {
        let end = self.at(&part);
        let span = value.span.to(end);
        let kind = match part.as_rule() {
            Rule::member_of => match part.into_inner().next() {
                Some(name) => ExprKind::Member(value, self.name(&name)),
                None => ExprKind::Broken,
            },
            Rule::index => match part.into_inner().find(|p| p.as_rule() == Rule::expr) {
                Some(e) => ExprKind::Index(value, self.expr(e)),
                None => ExprKind::Broken,
            },
            _ => ExprKind::Call(value, part.into_inner().filter(|p| p.as_rule() == Rule::expr).map(|e| self.expr(e)).collect()),
        };
        Expr { span, kind: Rc::new(kind) }
    }

    fn primary_of(&mut self, pair: Pair<Rule>) -> Expr {
        let span = self.at(&pair);
        match pair.into_inner().find(|p| p.as_rule() != Rule::nl) {
            Some(inner) if inner.as_rule() == Rule::expr => {
                let value = self.expr(inner);
                Expr { span, kind: Rc::new(ExprKind::Group(value)) }
            }
            Some(inner) => self.primary(inner),
            None => self.broken(span),
        }
    }

    fn primary(&mut self, pair: Pair<Rule>) -> Expr {
        let span = self.at(&pair);
        let kind = match pair.as_rule() {
            Rule::choose => {
                let mut parts = pair.into_inner().filter(|p| p.as_rule() == Rule::expr);
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(c), Some(a), Some(b)) => ExprKind::Choose(self.expr(c), self.expr(a), self.expr(b)),
                    _ => ExprKind::Broken,
                }
            }
            Rule::list => ExprKind::List(
                pair.into_inner()
                    .filter(|p| p.as_rule() == Rule::element)
                    .filter_map(|p| p.into_inner().next())
                    .map(|p| {
                        if p.as_rule() == Rule::spread {
                            let inner = p.into_inner().next();
                            (
                                true,
                                match inner {
                                    Some(e) => self.expr(e),
                                    None => self.broken(span),
                                },
                            )
                        } else {
                            (false, self.expr(p))
                        }
                    })
                    .collect(),
            ),
            Rule::record => match pair.into_inner().next() {
                Some(body) => ExprKind::Record(self.body(body)),
                None => ExprKind::Broken,
            },
            Rule::name => ExprKind::Name(pair.as_str().into()),
            Rule::literal => match pair.into_inner().next() {
                Some(inner) => return self.literal(inner),
                None => ExprKind::Broken,
            },
            _ => ExprKind::Broken,
        };
        Expr { span, kind: Rc::new(kind) }
    }

    fn literal(&mut self, pair: Pair<Rule>) -> Expr {
        let span = self.at(&pair);
        let text = pair.as_str();
        let kind = match pair.as_rule() {
            Rule::boolean => ExprKind::Bool(text == "true"),
            Rule::text | Rule::string => return self.string(pair),
            Rule::ip4 | Rule::ip6 => ExprKind::Address(text.into()),
            Rule::ratio => self.ratio(text, span),
            Rule::quantity => {
                let split = text.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(text.len());
                match self.number(&text[..split], span) {
                    Some(number) => ExprKind::Quantity(number, text[split..].into()),
                    None => ExprKind::Broken,
                }
            }
            Rule::float => self.number(text, span).map_or(ExprKind::Broken, ExprKind::Float),
            _ => match text.replace('_', "").parse::<i64>() {
                Ok(value) => ExprKind::Int(value),
                Err(_) => {
                    self.too_large(span);
                    ExprKind::Broken
                }
            },
        };
        Expr { span, kind: Rc::new(kind) }
    }

    fn ratio(&mut self, text: &str, span: Span) -> ExprKind {
        let Some((a, b)) = text.split_once(':') else { return ExprKind::Broken };
        match (self.number(a, span), self.number(b, span)) {
            (Some(_), Some(b)) if b == Rational::from_integer(0) => {
                self.diagnostics.push(Diagnostic::error("AIC0207", "a ratio to 0 has no value").at(span, "here").help("1:1 is no oversubscription"));
                ExprKind::Broken
            }
            (Some(a), Some(b)) => crate::base::quantity::arithmetic(a, '/', b).map_or(ExprKind::Broken, ExprKind::Ratio),
            _ => ExprKind::Broken,
        }
    }

    fn number(&mut self, text: &str, span: Span) -> Option<Rational> {
        // 30 digits leave room for every unit's factor in an i128.
        let number = parse_number(text).filter(|n| text.len() <= 30 && n.numer().unsigned_abs() < 1 << 100);
        if number.is_none() {
            self.too_large(span);
        }
        number
    }

    fn too_large(&mut self, span: Span) {
        self.diagnostics.push(Diagnostic::error("AIC0207", "this number is too large").at(span, "here").help("an Int has 63 bits"));
    }

    fn string(&mut self, pair: Pair<Rule>) -> Expr {
        let span = self.at(&pair);
        let block = pair.as_rule() == Rule::text;
        let mut pieces: Vec<Piece> = Vec::new();
        for part in pair.into_inner() {
            let text = match part.as_rule() {
                Rule::chunk | Rule::text_chunk => {
                    self.check_control_characters(&part);
                    part.as_str().to_owned()
                }
                Rule::brace => part.as_str()[..1].to_owned(),
                Rule::escape => self.escape(&part),
                Rule::hole => {
                    let mut inner = part.into_inner();
                    if let Some(e) = inner.next() {
                        let value = self.expr(e);
                        let width = inner.next().and_then(|w| w.as_str().parse().ok()).unwrap_or(0);
                        pieces.push(Piece::Hole(value, width));
                    }
                    continue;
                }
                _ => continue,
            };
            match pieces.last_mut() {
                Some(Piece::Text(last)) => last.push_str(&text),
                _ => pieces.push(Piece::Text(text)),
            }
        }
        if block {
            remove_indentation(&mut pieces);
        }
        Expr { span, kind: Rc::new(ExprKind::Text(pieces)) }
    }

    fn check_control_characters(&mut self, pair: &Pair<Rule>) {
        if let Some((at, c)) = pair.as_str().char_indices().find(|(_, c)| c.is_control() && *c != '\n') {
            let start = pair.as_span().start() + at;
            let span = self.span(start, start + c.len_utf8());
            self.diagnostics.push(
                Diagnostic::error("AIC0004", format!("a string cannot hold the control character U+{:04X}", c as u32)).at(span, "here").help(if c == '\t' {
                    "write `\\t`".to_owned()
                } else {
                    format!("write `\\u{{{:x}}}`", c as u32)
                }),
            );
        }
    }

    fn escape(&mut self, pair: &Pair<Rule>) -> String {
        match &pair.as_str()[1..] {
            "n" => "\n".into(),
            "t" => "\t".into(),
            hex if hex.starts_with('u') => match u32::from_str_radix(&hex[2..hex.len() - 1], 16).ok().and_then(char::from_u32) {
                Some(c) => c.into(),
                None => {
                    let span = self.at(pair);
                    self.diagnostics.push(Diagnostic::error("AIC0004", format!("there is no character {}", &hex[1..])).at(span, "here"));
                    String::new()
                }
            },
            other => other.into(),
        }
    }
}

/// The indentation of the closing `"""` is taken off every line.
fn remove_indentation(pieces: &mut Vec<Piece>) {
    let Some(Piece::Text(last)) = pieces.last() else { return };
    let indentation: String = last.rsplit('\n').next().unwrap_or("").chars().take_while(|c| c.is_whitespace()).collect();
    let mut at_line_start = true;
    for piece in pieces.iter_mut() {
        if let Piece::Text(text) = piece {
            let lines: Vec<&str> = text.split('\n').collect();
            let stripped =
                lines.iter().enumerate().map(|(i, line)| if i > 0 || at_line_start { line.strip_prefix(indentation.as_str()).unwrap_or(line) } else { line });
            let joined = stripped.collect::<Vec<_>>().join("\n");
            at_line_start = false;
            *text = joined;
        } else {
            at_line_start = false;
        }
    }
    if let Some(Piece::Text(last)) = pieces.last_mut()
        && last.trim().is_empty()
    {
        let _ = last.pop();
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
}

fn doc_text(text: &str, marker: &str) -> String {
    text.trim_start_matches(marker).trim().to_owned()
}

fn keyword(rule: Rule) -> bool {
    use Rule::*;
    matches!(rule, kw_use | kw_param | kw_let | kw_fn | kw_assert | kw_if | kw_then | kw_else | kw_for | kw_in | kw_link)
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::*;
    matches!(operator, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | In)
}

fn operator_of(rule: Rule) -> Operator {
    match rule {
        Rule::or => Operator::Or,
        Rule::and => Operator::And,
        Rule::le => Operator::LessEqual,
        Rule::ge => Operator::GreaterEqual,
        Rule::eq => Operator::Equal,
        Rule::ne => Operator::NotEqual,
        Rule::lt => Operator::Less,
        Rule::gt => Operator::Greater,
        Rule::kw_in => Operator::In,
        Rule::range_in => Operator::RangeInclusive,
        Rule::range => Operator::Range,
        Rule::add => Operator::Add,
        Rule::sub => Operator::Subtract,
        Rule::mul => Operator::Multiply,
        _ => Operator::Divide,
    }
}
