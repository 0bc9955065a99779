//! The table as JSON (`aic schema`) and as the generated reference (`docs/reference.md`).

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;

/// Every kind with its fields, groups and models, for programs.
pub fn json() -> Value {
    json!({ "format": 1, "kinds": KINDS.iter().chain(DEVICE_KINDS).map(|shape| shape_json(shape)).collect::<Vec<_>>() })
}

fn shape_json(shape: &Shape) -> Value {
    let models: Vec<Value> = match shape.models {
        Models::Choice(models, _) => models
            .iter()
            .map(|model| json!({ "name": model.name, "doc": model.doc, "fields": fields_json(model.fields), "groups": groups_json(model.groups) }))
            .collect(),
        _ => Vec::new(),
    };
    let product = match shape.models {
        Models::Product(kind, _) => Some(kind),
        _ => None,
    };
    json!({
        "name": shape.name, "doc": shape.doc, "fields": fields_json(shape.fields), "groups": groups_json(shape.groups),
        "children": shape.children, "models": models, "model_product": product,
    })
}

fn fields_json(fields: &[Field]) -> Vec<Value> {
    fields
        .iter()
        .map(|field| {
            let (need, value) = need_words(field.need);
            json!({ "name": field.name, "type": field.ty.text(), "need": need, "default": value, "doc": field.doc })
        })
        .collect()
}

fn groups_json(groups: &[Group]) -> Vec<Value> {
    groups
        .iter()
        .map(|group| {
            let mut value = shape_json(group.shape);
            value["repeat"] = format!("{:?}", group.repeat).to_lowercase().into();
            value["required"] = group.required.into();
            value
        })
        .collect()
}

fn need_words(need: Need) -> (&'static str, Option<&'static str>) {
    match need {
        Need::Required => ("required", None),
        Need::Optional => ("optional", None),
        Need::Default(value) => ("default", Some(value)),
        Need::Derived(value) => ("derived", Some(value)),
        Need::Computed => ("computed", None),
    }
}

/// The reference of all kinds, as Markdown.
pub fn markdown() -> String {
    let mut out = String::from("# Every kind and its fields\n\nGenerated from the schema table by `aic schema --markdown`; do not edit.\n");
    for shape in KINDS.iter().chain(DEVICE_KINDS) {
        let _ = write!(out, "\n## {}\n\n{}\n", shape.name, shape.doc);
        if !shape.children.is_empty() {
            let _ = write!(out, "\nHolds declarations of {}.\n", shape.children.join(", "));
        }
        table(&mut out, shape, shape.fields, shape.groups, "");
    }
    out
}

fn table(out: &mut String, shape: &Shape, fields: &[Field], groups: &[Group], indent: &str) {
    if indent.is_empty() {
        out.push_str("\n| field | type | default | meaning |\n|---|---|---|---|\n");
    }
    rows(out, fields, indent);
    for group in groups {
        group_rows(out, group, indent);
    }
    if let Models::Choice(models, _) = shape.models {
        for model in models {
            let _ = writeln!(out, "| {indent}**: {}** | | | {} |", model.name, model.doc);
            let deeper = format!("{indent}· ");
            rows(out, model.fields, &deeper);
            for group in model.groups {
                group_rows(out, group, &deeper);
            }
        }
    }
}

fn group_rows(out: &mut String, group: &Group, indent: &str) {
    let repeat = match group.repeat {
        Repeat::Once => "",
        Repeat::Many => " (several)",
        Repeat::Named => " name (several)",
        Repeat::Array => " name[count] (several)",
    };
    let need = if group.required { "**required**" } else { "" };
    let _ = writeln!(out, "| {indent}`{}`{repeat} {{ … }} | | {need} | {} |", group.shape.name, group.shape.doc);
    table(out, group.shape, group.shape.fields, group.shape.groups, &format!("{indent}· "));
}

/// What stands in for the fields that a body leaves out, as Markdown; those of groups that it leaves out, too.
pub fn left_out(shape: &Shape, model: Option<&Model>, is_set: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut line = |path: String, field: &Field| {
        let _ = match field.need {
            Need::Default(value) => writeln!(out, "- `{path} = {value}`"),
            Need::Derived(value) => writeln!(out, "- `{path}`: {value}"),
            _ => Ok(()),
        };
    };
    shape.fields_of(model).filter(|f| !is_set(f.name)).for_each(|field| line(field.name.to_owned(), field));
    let absent = shape.groups_of(model).filter(|g| g.repeat == Repeat::Once && matches!(g.shape.models, Models::None) && !is_set(g.shape.name));
    for group in absent {
        group.shape.fields.iter().for_each(|field| line(format!("{}.{}", group.shape.name, field.name), field));
    }
    out
}

fn rows(out: &mut String, fields: &[Field], indent: &str) {
    for field in fields {
        let value = match field.need {
            Need::Required => "**required**".to_owned(),
            Need::Optional => "–".into(),
            Need::Default(value) => format!("`{value}`"),
            Need::Derived(value) => value.into(),
            Need::Computed => "*computed*".into(),
        };
        let _ = writeln!(out, "| {indent}{} | {} | {value} | {} |", field.name, field.ty.text().replace('|', "\\|"), field.doc);
    }
}
