//! Recovery: one run reports every independent fault, and a broken item hides nothing but itself.
//!
//! A text that the grammar reads is taken as it is. Otherwise it is cut into pieces at line ends outside brackets (at the top also at every
//! line that starts a declaration in column one, so that an unclosed `{` ends there), each piece is read alone, and a piece that fails is
//! opened at its braces and cut again. What fails in the end has one diagnostic, at the offset that the grammar names.

use std::rc::Rc;

use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::ast::*;
use super::build::Builder;
use super::scan::Scanner;
use super::{Grammar, Rule};
use crate::base::{Diagnostic, FileId, Span};

/// Deeper nesting than any design has; it bounds the recursion of every later stage.
const DEEPEST: usize = 64;
/// Longer chains of operators than any design has; a chain is a tree as deep as it is long.
const LONGEST_LINE: usize = 20_000;

pub fn parse(file: FileId, text: &str, base: u32) -> (File, Vec<Diagnostic>) {
    let mut recovery = Recovery { file, base, text, diagnostics: Vec::new() };
    if let Some(fault) = recovery.too_deep() {
        return (File::default(), vec![fault]);
    }
    let mut builder = Builder::new(file, base);
    if let Ok(mut pairs) = Grammar::parse(Rule::file, text)
        && let Some(pair) = pairs.next()
    {
        let (docs, items) = builder.file(pair);
        return (File { docs, items: items.into() }, builder.diagnostics);
    }
    let mut docs = Vec::new();
    let items = recovery.items(0, text.len(), true, &mut docs, None);
    (File { docs, items: items.into() }, recovery.diagnostics)
}

struct Recovery<'a> {
    file: FileId,
    base: u32,
    text: &'a str,
    diagnostics: Vec<Diagnostic>,
}

impl Recovery<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: self.base + start as u32, end: self.base + end as u32 }
    }

    fn too_deep(&self) -> Option<Diagnostic> {
        let (mut depth, mut operators) = (0_usize, 0_usize);
        for (at, byte) in Scanner::new(self.text, 0, self.text.len()) {
            match byte {
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' => depth = depth.saturating_sub(1),
                b'\n' | b',' => operators = 0,
                b'+' | b'-' | b'*' | b'/' => operators += 1,
                _ => {}
            }
            if depth > DEEPEST || operators > LONGEST_LINE / 20 {
                return Some(
                    Diagnostic::error("AIC0002", format!("nesting goes deeper than {DEEPEST} levels here"))
                        .at(self.span(at, at + 1), "here")
                        .help("name an inner part with `let`"),
                );
            }
        }
        None
    }

    /// Reads `start..end` piece by piece. `head` is the declaration whose body this is.
    fn items(&mut self, start: usize, end: usize, top: bool, docs: &mut Vec<String>, head: Option<Span>) -> Vec<Item> {
        let mut items = Vec::new();
        for (from, to) in pieces(self.text, start, end, top) {
            let piece = &self.text[from..to];
            match Grammar::parse(Rule::file, piece) {
                Ok(mut pairs) => {
                    let mut builder = Builder::new(self.file, self.base + from as u32);
                    if let Some(pair) = pairs.next() {
                        let (file_docs, read) = builder.file(pair);
                        docs.extend(file_docs);
                        items.extend(read);
                    }
                    self.diagnostics.append(&mut builder.diagnostics);
                }
                Err(error) => items.push(self.broken(from, to, top, head, error)),
            }
        }
        items
    }

    /// A piece that cannot be read: opened at its braces if its head can be, else one diagnostic.
    fn broken(&mut self, from: usize, to: usize, top: bool, parent: Option<Span>, error: Error<Rule>) -> Item {
        if let Some(open) = body_start(self.text, from, to) {
            let head_text = format!("{}{{}}", &self.text[from..open]);
            if let Ok(mut pairs) = Grammar::parse(Rule::file, &head_text)
                && let Some(pair) = pairs.next()
            {
                let mut builder = Builder::new(self.file, self.base + from as u32);
                if let [item] = &mut builder.file(pair).1[..] {
                    return self.open(item, from, open, to, top);
                }
            }
        }
        let (kind, name) = self.guess(from, to);
        let diagnostic = self.describe(from, to, parent, error);
        self.diagnostics.push(diagnostic);
        Item { span: self.span(from, to), docs: Vec::new(), allows: Vec::new(), kind: ItemKind::Broken { kind, name } }
    }

    /// Reads the body of a piece whose head is sound, and puts it into the item.
    fn open(&mut self, item: &mut Item, from: usize, open: usize, to: usize, top: bool) -> Item {
        let head = self.span(from, open).start_trimmed(self.text, self.base);
        let close = closing(self.text, open, to);
        let inner_end = match close {
            Some(close) => {
                let rest = self.text[close + 1..to].trim();
                if !rest.is_empty() && !rest.starts_with("//") && !rest.starts_with("else") {
                    let at = close + 1 + self.text[close + 1..to].find(rest).unwrap_or(0);
                    self.diagnostics.push(
                        Diagnostic::error("AIC0001", "expected the end of the line after `}`")
                            .at(self.span(at, at + rest.len().min(1)), "this begins another item")
                            .help("put it on a line of its own"),
                    );
                }
                close
            }
            None => to,
        };
        let before = self.diagnostics.len();
        let mut no_docs = Vec::new();
        let items = self.items(open + 1, inner_end, false, &mut no_docs, Some(head));
        // An open string or parenthesis inside swallows the `}`: then that is the fault, and it has been said.
        if close.is_none() && (self.diagnostics.len() == before || braces_are_open(&self.text[open..to])) {
            self.unclosed(item, head, open, to, top);
        }
        let body = Body { span: self.span(open, (inner_end + 1).min(to)), items: items.into() };
        let kind = match std::mem::replace(&mut item.kind, ItemKind::Broken { kind: None, name: None }) {
            ItemKind::Block(block) => ItemKind::Block(Rc::new(Block {
                kind: block.kind.clone(),
                label: block.label.clone(),
                count: block.count.clone(),
                model: block.model.clone(),
                body: Some(body),
                head: block.head,
            })),
            ItemKind::For { name, over, .. } => ItemKind::For { name, over, body },
            ItemKind::If { condition, .. } => ItemKind::If { condition, then: body, otherwise: None },
            ItemKind::Let { name, ty, value } => {
                let value = Expr { span: value.span, kind: Rc::new(ExprKind::Record(body)) };
                ItemKind::Let { name, ty, value }
            }
            other => other,
        };
        Item { span: self.span(from, to), docs: std::mem::take(&mut item.docs), allows: std::mem::take(&mut item.allows), kind }
    }

    fn unclosed(&mut self, item: &Item, head: Span, open: usize, to: usize, top: bool) {
        let title = match &item.kind {
            ItemKind::Block(block) => match &block.label {
                Some(label) => format!("{} {}", block.kind.text, label.text),
                None => block.kind.text.to_string(),
            },
            _ => "this".into(),
        };
        let next = to + self.text[to..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
        let line_end = self.text[next..].find('\n').map_or(self.text.len(), |i| next + i);
        let mut diagnostic = Diagnostic::error(
            "AIC0001",
            format!("{title} is not closed: expected a field or `}}` before {}", if next < self.text.len() { "this line" } else { "the end of the file" }),
        );
        if top && next < self.text.len() {
            diagnostic = diagnostic.at(self.span(next, line_end), format!("a declaration cannot stand in {title}"));
        }
        let at = self.span(to, to);
        self.diagnostics
            .push(diagnostic.at(Span { end: head.end.max(self.base + open as u32 + 1), ..head }, "opened here").help("close it with `}`").fix(at, "}\n"));
    }

    /// The words at the start of a piece, so that a reference to a broken declaration is quiet.
    fn guess(&self, from: usize, to: usize) -> (Option<Name>, Option<Name>) {
        let mut words = Vec::new();
        let mut at = from;
        while words.len() < 2 {
            let rest = &self.text[at..to];
            let skipped = rest.len() - rest.trim_start().len();
            let word: String = rest.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if word.is_empty() {
                break;
            }
            let start = at + skipped;
            at = start + word.len();
            words.push(Name { text: word.as_str().into(), span: self.span(start, at) });
        }
        let mut words = words.into_iter();
        (words.next(), words.next())
    }

    fn describe(&self, from: usize, to: usize, parent: Option<Span>, error: Error<Rule>) -> Diagnostic {
        let offset = from
            + match error.location {
                InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
            };
        let offset = offset.min(to);
        let rest = self.text.get(offset..to).unwrap_or("");
        let found: String = rest.trim_start_matches([' ', '\t']).chars().take_while(|c| !c.is_whitespace() && *c != ',').take(24).collect();
        let skipped = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let start = offset + skipped;
        let place = if found.is_empty() { self.span(last_glyph(self.text, from, offset), offset.max(from + 1)) } else { self.span(start, start + found.len()) };
        if let Some(diagnostic) = self.bad_escape(to, offset) {
            return diagnostic;
        }
        let mut expected = expectations(&error);
        if let Some(closer) = open_bracket(self.text, from, offset).filter(|_| expected == "the end of the line") {
            expected = format!("`{closer}`");
        }
        let what = if found.is_empty() { "the line ends".to_owned() } else { format!("`{found}` stands") };
        let mut diagnostic = Diagnostic::error("AIC0001", format!("expected {expected}, but {what} here")).at(place, format!("expected {expected}"));
        if let Some(parent) = parent {
            diagnostic = diagnostic.at(parent, "in here");
        }
        let help = if found.starts_with(';') {
            "a line ends an item; there are no semicolons"
        } else if found.starts_with('=') && self.text[from..offset].trim_end().ends_with('=') {
            "`=` sets a field, `==` compares in an expression"
        } else if found.starts_with("///") {
            "a `///` comment documents the item after it; use `//` elsewhere"
        } else if self.text[from..to].trim_end().ends_with('=') {
            "a value follows `=`"
        } else if unbalanced(self.text, from, to) {
            "a bracket that is opened here is not closed"
        } else {
            "an item is `key = value`, `kind name { … }`, `kind : model { … }`, `let`, `if`, `for`, `assert` or `..record`"
        };
        diagnostic.help(help)
    }

    fn bad_escape(&self, to: usize, offset: usize) -> Option<Diagnostic> {
        let rest = &self.text[offset..to];
        if !rest.starts_with('\\') {
            return None;
        }
        let length = rest.chars().take(2).map(char::len_utf8).sum::<usize>();
        Some(
            Diagnostic::error("AIC0004", format!("`{}` is no escape", &rest[..length]))
                .at(self.span(offset, offset + length), "here")
                .help("the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{hex}`; a backslash itself is `\\\\`"),
        )
    }
}

trait Trimmed {
    fn start_trimmed(self, text: &str, base: u32) -> Self;
}

impl Trimmed for Span {
    fn start_trimmed(self, text: &str, base: u32) -> Self {
        let range = (self.start - base) as usize..(self.end - base) as usize;
        let slice = &text[range];
        let mut start = self.start;
        let mut rest = slice;
        // Docs and allows before the head are not the head.
        loop {
            let trimmed = rest.trim_start();
            start += (rest.len() - trimmed.len()) as u32;
            rest = trimmed;
            if rest.starts_with("//") || rest.starts_with("@allow") {
                let line = rest.find('\n').map_or(rest.len(), |i| i + 1);
                start += line as u32;
                rest = &rest[line..];
            } else {
                break;
            }
        }
        Span { start, end: start + rest.trim_end().len() as u32, ..self }
    }
}

/// Whether the line at `at` starts a declaration in column one: a word, then a word, `{`, `[` or `:`; or a keyword, a doc or an allow.
fn starts_declaration(text: &str, at: usize) -> bool {
    let line = text[at..].lines().next().unwrap_or("");
    if line.starts_with("@allow") || line.starts_with("///") {
        return true;
    }
    let word_end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    if word_end == 0 || !line.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') {
        return false;
    }
    let rest = line[word_end..].trim_start();
    rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '_' || c == '{' || c == ':')
}

/// Cuts `start..end` at separators outside brackets; at the top also before every line that starts a declaration in column one.
fn pieces(text: &str, start: usize, end: usize, top: bool) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let (mut from, mut depth) = (start, 0_usize);
    let bytes = text.as_bytes();
    let mut cut = |from: &mut usize, to: usize| {
        let piece = &text[*from..to];
        if piece.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("///") && !is_plain_comment(line)) {
            pieces.push((*from, to));
            *from = to;
        }
    };
    let mut continues = false;
    for (at, byte) in Scanner::new(text, start, end) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'\n' | b',' => {
                if depth == 0 && !(continues && byte == b'\n') {
                    cut(&mut from, at);
                }
                if top && byte == b'\n' && at + 1 < end && depth > 0 && starts_declaration(text, at + 1) {
                    depth = 0;
                    cut(&mut from, at);
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            continues = matches!(byte, b'=' | b'+' | b'*' | b'/' | b'-') && bytes.get(at + 1).is_none_or(|b| *b != b'/') && depth == 0 && byte != b'='
                || (byte == b'=' && depth == 0 && starts_value_on_next_line(text, at + 1, end));
        }
    }
    cut(&mut from, end);
    pieces
}

/// After a `=` at the end of a line: whether the next line can be its value, and not the next item.
fn starts_value_on_next_line(text: &str, at: usize, end: usize) -> bool {
    let rest = &text[at..end];
    let Some(line_end) = rest.find('\n') else { return false };
    if !rest[..line_end].trim().is_empty() {
        return false;
    }
    let next = rest[line_end + 1..].lines().next().unwrap_or("").trim();
    !next.is_empty() && !next.starts_with('}') && !next.contains(" = ") && !next.contains('{') && !next.contains(" : ")
}

fn is_plain_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The first `{` of a piece outside strings and other brackets.
fn body_start(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in Scanner::new(text, from, to) {
        match byte {
            b'{' if depth == 0 => return Some(at),
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The `}` that closes the `{` at `open`.
fn closing(text: &str, open: usize, to: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in Scanner::new(text, open, to) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && byte == b'}' {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether more braces open than close, whatever strings and parentheses say.
fn braces_are_open(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    let (mut open, mut closed) = (0, 0);
    for line in code {
        open += line.matches('{').count();
        closed += line.matches('}').count();
    }
    open > closed
}

/// The character that closes the innermost bracket that is open at `offset`.
fn open_bracket(text: &str, from: usize, offset: usize) -> Option<char> {
    let mut open = Vec::new();
    for (_, byte) in Scanner::new(text, from, offset) {
        match byte {
            b'(' => open.push(')'),
            b'[' => open.push(']'),
            b'{' => open.push('}'),
            b')' | b']' | b'}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

fn unbalanced(text: &str, from: usize, to: usize) -> bool {
    let mut depth = 0_i32;
    for (_, byte) in Scanner::new(text, from, to) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

/// The start of the last character before `offset` that is not blank.
fn last_glyph(text: &str, from: usize, offset: usize) -> usize {
    text[from..offset].char_indices().rev().find(|(_, c)| !c.is_whitespace()).map_or(from, |(i, _)| from + i)
}

/// What pest expected, in the language's words.
fn expectations(error: &Error<Rule>) -> String {
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else { return "something simpler (this is nested too deep)".into() };
    let mut words: Vec<String> = Vec::new();
    for rule in positives {
        let word = match rule {
            Rule::expr | Rule::operand | Rule::primary | Rule::literal | Rule::prefix | Rule::not | Rule::neg | Rule::list | Rule::record => "a value",
            Rule::choose | Rule::boolean | Rule::string | Rule::text | Rule::int | Rule::float | Rule::quantity | Rule::ratio => "a value",
            Rule::ip4 | Rule::ip6 | Rule::element => "a value",
            Rule::name | Rule::label | Rule::key | Rule::module | Rule::arg => "a name",
            Rule::type_ | Rule::type_name | Rule::choice => "a type (such as Int or `a | b`)",
            Rule::body => "`{`",
            Rule::model => "`: model`",
            Rule::count => "`[count]`",
            Rule::value => "`=`",
            Rule::block => "`{`",
            Rule::item | Rule::member | Rule::spread => "a field, a declaration or `}`",
            Rule::ends | Rule::path => "a device",
            Rule::escape | Rule::chunk | Rule::text_chunk | Rule::brace | Rule::hole => "the end of the string",
            Rule::kw_then => "`then`",
            Rule::kw_else => "`else`",
            Rule::kw_in => "`in`",
            Rule::code => "a rule's code such as AIC0401",
            Rule::EOI | Rule::nl => "the end of the line",
            _ => continue,
        };
        if !words.iter().any(|w| w == word) {
            words.push(word.to_owned());
        }
    }
    // Where an operator or a postfix could follow, the plain answer is that the item should end.
    if words.is_empty() {
        words.push("the end of the line".into());
    }
    crate::base::names::list_of(&words, "or")
}
