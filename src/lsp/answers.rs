//! Answers of the server: diagnostics, hover, definition, quick fixes.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::positions::{offset, range};
use super::{Program, Server, path_of, uri_of};
use crate::base::{Diagnostic, FileId, Severity, Span};
use crate::lang::Reference;

/// The path of a file of a program; the standard library has none.
fn file_path(program: &Program, file: FileId) -> Option<PathBuf> {
    let name = &program.compilation.sources.get(file).name;
    (!name.starts_with("std/") && !name.starts_with("--")).then(|| program.root.join(name))
}

/// A diagnostic in the protocol's form, with the file it belongs to.
pub fn diagnostic(program: &Program, diagnostic: &Diagnostic) -> Option<(PathBuf, Value)> {
    let sources = &program.compilation.sources;
    let primary = diagnostic.labels.iter().find(|l| file_path(program, l.span.file).is_some())?;
    let mut message = diagnostic.message.clone();
    for note in diagnostic.notes.iter().cloned().chain(diagnostic.help.iter().map(|h| format!("help: {h}"))) {
        message.push('\n');
        message.push_str(&note);
    }
    let related: Vec<Value> = diagnostic
        .labels
        .iter()
        .filter_map(|l| Some(json!({ "location": { "uri": uri_of(&file_path(program, l.span.file)?), "range": range(sources, l.span) }, "message": l.text })))
        .collect();
    let severity = match diagnostic.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Advice => 3,
    };
    let value = json!({
        "range": range(sources, primary.span), "severity": severity, "code": diagnostic.code, "source": "aic", "message": message, "relatedInformation": related,
    });
    Some((file_path(program, primary.span.file)?, value))
}

/// The program and file of a request, and the byte it points at.
fn place<'a>(server: &'a Server, params: &Value) -> Option<(&'a Program, FileId, u32)> {
    let path = path_of(&params["textDocument"]["uri"])?;
    server.programs.iter().find_map(|program| {
        let (id, source) = program.compilation.sources.iter().find(|(_, s)| program.root.join(&s.name) == path)?;
        Some((program, id, offset(&source.text, &params["position"])))
    })
}

fn reference(program: &Program, file: FileId, at: u32) -> Option<&Reference> {
    program.compilation.references.iter().filter(|r| r.span.touches(file, at)).min_by_key(|r| r.span.end - r.span.start)
}

/// Type, unit, value and documentation.
pub fn hover(server: &Server, params: &Value) -> Value {
    let Some((program, file, at)) = place(server, params) else { return Value::Null };
    match reference(program, file, at) {
        Some(found) => json!({ "contents": { "kind": "markdown", "value": found.hover }, "range": range(&program.compilation.sources, found.span) }),
        None => word(program, file, at).map_or(
            Value::Null,
            |(text, span)| json!({ "contents": { "kind": "markdown", "value": text }, "range": range(&program.compilation.sources, span) }),
        ),
    }
}

/// A kind, a function or a keyword: what the reference says of it.
fn word(program: &Program, file: FileId, at: u32) -> Option<(String, Span)> {
    let text = &program.compilation.sources.get(file).text;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let at = (at as usize).min(text.len());
    let start = text.get(..at)?.rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
    let end = at + text.get(at..)?.find(|c| !is_word(c)).unwrap_or(text.len() - at);
    let word = text.get(start..end)?;
    let span = Span { file, start: start as u32, end: end as u32 };
    if let Some(kind) = crate::schema::kind(word) {
        return Some((format!("```aic\n{word}\n```\n\n{}", kind.doc), span));
    }
    let (_, form, doc) = crate::lang::builtins::BUILTINS.iter().find(|(name, ..)| *name == word)?;
    Some((format!("```aic\n{form}\n```\n\n{doc}"), span))
}

/// Where a name is declared.
pub fn definition(server: &Server, params: &Value) -> Value {
    let Some((program, file, at)) = place(server, params) else { return Value::Null };
    let Some(target) = reference(program, file, at).and_then(|r| r.target) else { return Value::Null };
    let sources = &program.compilation.sources;
    let path = match file_path(program, target.file) {
        Some(path) => path,
        // The standard library is embedded: a copy for reading is laid where editors can open it.
        None => {
            let source = sources.get(target.file);
            let path = std::env::temp_dir().join("aic-std").join(env!("CARGO_PKG_VERSION")).join(&source.name);
            let made = path.parent().is_some_and(|p| std::fs::create_dir_all(p).is_ok()) && std::fs::write(&path, source.text.as_bytes()).is_ok();
            if !made {
                return Value::Null;
            }
            path
        }
    };
    json!({ "uri": uri_of(&path), "range": range(sources, target) })
}

/// Fixes of the diagnostics under the cursor.
pub fn code_actions(server: &Server, params: &Value) -> Value {
    let Some(path) = path_of(&params["textDocument"]["uri"]) else { return json!([]) };
    let mut out: Vec<Value> = Vec::new();
    for program in &server.programs {
        let sources = &program.compilation.sources;
        let Some((id, source)) = sources.iter().find(|(_, s)| program.root.join(&s.name) == path) else { continue };
        let (from, to) = (offset(&source.text, &params["range"]["start"]), offset(&source.text, &params["range"]["end"]));
        for d in &program.compilation.diagnostics {
            if !d.labels.iter().any(|l| l.span.file == id && l.span.start <= to && from <= l.span.end) {
                continue;
            }
            for fix in &d.fixes {
                let mut changes = json!({});
                for (span, text) in &fix.edits {
                    let Some(file) = file_path(program, span.file) else { continue };
                    let uri = uri_of(&file);
                    if changes[&uri].is_null() {
                        changes[&uri] = json!([]);
                    }
                    if let Some(list) = changes[&uri].as_array_mut() {
                        list.push(json!({ "range": range(sources, *span), "newText": text }));
                    }
                }
                let shown = diagnostic(program, d).map(|(_, v)| v);
                let action = json!({ "title": fix.title, "kind": "quickfix", "diagnostics": shown.into_iter().collect::<Vec<_>>(), "isPreferred": true, "edit": { "changes": changes } });
                if !out.contains(&action) {
                    out.push(action);
                }
            }
        }
    }
    out.into()
}
