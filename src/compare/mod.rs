//! Two bundles compared: object by object and field by field, text by lines. Impact (drain, reboot, rebuild) comes later.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// One side: the text of every file, and the objects of those that hold some.
#[derive(Debug, Default)]
pub struct Side {
    /// Text by path.
    pub files: BTreeMap<String, String>,
    /// Objects by file and name.
    pub objects: BTreeMap<(String, String), Value>,
}

/// What happened to an object or a text.
#[derive(Debug, PartialEq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Fields that differ: pointer, before, after.
    Fields(Vec<(String, Option<Value>, Option<Value>)>),
    /// Lines that differ.
    Lines(String),
}

/// A difference.
#[derive(Debug)]
pub struct Difference {
    /// The file.
    pub file: String,
    /// The object, where the file holds objects.
    pub object: Option<String>,
    /// What happened.
    pub change: Change,
}

/// `Deployment chat/chat`.
pub fn object_name(value: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let (kind, namespace, name) = (text(&value["kind"]), text(&value["metadata"]["namespace"]), text(&value["metadata"]["name"]));
    let name = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
    format!("{kind} {name}").trim().to_owned()
}

/// Everything that differs, by file.
pub fn compare(old: &Side, new: &Side) -> Vec<Difference> {
    let mut out = Vec::new();
    let keys: BTreeSet<&(String, String)> = old.objects.keys().chain(new.objects.keys()).collect();
    for key in keys {
        let change = match (old.objects.get(key), new.objects.get(key)) {
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
            (Some(a), Some(b)) if a != b => {
                let mut fields = Vec::new();
                fields_of("", a, b, &mut fields);
                Change::Fields(fields)
            }
            _ => continue,
        };
        out.push(Difference { file: key.0.clone(), object: Some(key.1.clone()), change });
    }
    let with_objects: BTreeSet<&String> = old.objects.keys().chain(new.objects.keys()).map(|(file, _)| file).collect();
    let files: BTreeSet<&String> = old.files.keys().chain(new.files.keys()).filter(|f| !with_objects.contains(f) && *f != "aic.map.json").collect();
    for file in files {
        let change = match (old.files.get(file), new.files.get(file)) {
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
            (Some(a), Some(b)) if a != b => Change::Lines(lines(a, b)),
            _ => continue,
        };
        out.push(Difference { file: file.clone(), object: None, change });
    }
    out.sort_by(|a, b| (&a.file, &a.object).cmp(&(&b.file, &b.object)));
    out
}

fn fields_of(path: &str, a: &Value, b: &Value, out: &mut Vec<(String, Option<Value>, Option<Value>)>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (a.get(key), b.get(key)) {
                    (Some(x), Some(y)) => fields_of(&path, x, y, out),
                    (x, y) => out.push((path, x.cloned(), y.cloned())),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            // Elements with a name are compared by it, so that one that is put in front changes nothing else.
            let name = |v: &Value| v["name"].as_str().map(str::to_owned);
            if a.iter().chain(b).all(|v| name(v).is_some()) && !a.is_empty() {
                let names: Vec<String> = a.iter().chain(b).filter_map(name).fold(Vec::new(), |mut seen, n| {
                    if !seen.contains(&n) {
                        seen.push(n);
                    }
                    seen
                });
                for n in names {
                    let find = |list: &[Value]| list.iter().find(|v| name(v).as_ref() == Some(&n)).cloned();
                    let path = format!("{path}[{n}]");
                    match (find(a), find(b)) {
                        (Some(x), Some(y)) => fields_of(&path, &x, &y, out),
                        (x, y) => out.push((path, x, y)),
                    }
                }
                return;
            }
            for i in 0..a.len().max(b.len()) {
                let path = format!("{path}[{i}]");
                match (a.get(i), b.get(i)) {
                    (Some(x), Some(y)) => fields_of(&path, x, y, out),
                    (x, y) => out.push((path, x.cloned(), y.cloned())),
                }
            }
        }
        (a, b) if a != b => out.push((path.to_owned(), Some(a.clone()), Some(b.clone()))),
        _ => {}
    }
}

/// At most this many changed lines of a text are shown.
const MOST_LINES: usize = 40;

fn lines(a: &str, b: &str) -> String {
    let diff = TextDiff::from_lines(a, b);
    let changed: Vec<_> = diff.iter_all_changes().filter(|c| c.tag() != ChangeTag::Equal).collect();
    let mut out = String::new();
    for change in changed.iter().take(MOST_LINES) {
        let sign = if change.tag() == ChangeTag::Delete { '-' } else { '+' };
        let _ = writeln!(out, "{sign} {}", change.value().trim_end());
    }
    if changed.len() > MOST_LINES {
        let _ = writeln!(out, "… {} more changed lines", changed.len() - MOST_LINES);
    }
    out
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "–".into(),
        Some(Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
    }
}

/// For a terminal.
pub fn text(differences: &[Difference]) -> String {
    let mut out = String::new();
    for d in differences {
        let what = d.object.as_ref().map_or(d.file.clone(), |o| format!("{o}  ({})", d.file));
        match &d.change {
            Change::Added => {
                let _ = writeln!(out, "+ {what}");
            }
            Change::Removed => {
                let _ = writeln!(out, "- {what}");
            }
            Change::Fields(fields) => {
                let _ = writeln!(out, "~ {what}");
                for (path, a, b) in fields {
                    let _ = writeln!(out, "    {path}: {} → {}", shown(a.as_ref()), shown(b.as_ref()));
                }
            }
            Change::Lines(lines) => {
                let _ = writeln!(out, "~ {what}");
                lines.lines().for_each(|line| {
                    let _ = writeln!(out, "    {line}");
                });
            }
        }
    }
    let _ = write!(out, "{}", summary(differences));
    out
}

/// For a pull request.
pub fn markdown(differences: &[Difference]) -> String {
    let mut out = format!("**{}**\n", summary(differences));
    let cell = |v: Option<&Value>| shown(v).replace('|', "\\|").replace('\n', "<br>");
    for d in differences {
        let what = d.object.as_ref().map_or(format!("`{}`", d.file), |o| format!("{o} (`{}`)", d.file));
        match &d.change {
            Change::Added => {
                let _ = write!(out, "\n- added: {what}\n");
            }
            Change::Removed => {
                let _ = write!(out, "\n- removed: {what}\n");
            }
            Change::Fields(fields) => {
                let _ = write!(out, "\n#### {what}\n\n| field | before | after |\n|---|---|---|\n");
                for (path, a, b) in fields {
                    let _ = writeln!(out, "| `{path}` | {} | {} |", cell(a.as_ref()), cell(b.as_ref()));
                }
            }
            Change::Lines(lines) => {
                let _ = write!(out, "\n#### {what}\n\n```diff\n{lines}```\n");
            }
        }
    }
    out
}

fn summary(differences: &[Difference]) -> String {
    let count = |f: fn(&Change) -> bool| differences.iter().filter(|d| f(&d.change)).count();
    if differences.is_empty() {
        return "no difference".into();
    }
    format!(
        "{} added, {} removed, {} changed",
        count(|c| *c == Change::Added),
        count(|c| *c == Change::Removed),
        count(|c| matches!(c, Change::Fields(_) | Change::Lines(_)))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn named_elements_are_compared_by_name() {
        let mut out = Vec::new();
        fields_of(
            "env",
            &json!([{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }]),
            &json!([{ "name": "C", "value": "0" }, { "name": "A", "value": "1" }, { "name": "B", "value": "3" }]),
            &mut out,
        );
        let paths: Vec<&str> = out.iter().map(|(p, ..)| p.as_str()).collect();
        assert_eq!(paths, ["env[B].value", "env[C]"]);
    }
}
