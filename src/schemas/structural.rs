//! Structural schemas of Kubernetes as plain JSON Schema that refuses unknown fields.

use serde_json::{Value, json};

use super::Fault;

/// What a schema refuses in an object.
pub(super) fn faults(schema: &Value, object: &Value) -> Vec<Fault> {
    let mut schema = schema.clone();
    plain(&mut schema, true);
    let mut out = Vec::new();
    let validator = jsonschema::validator_for(&schema).or_else(|_| {
        // Patterns are Go's, and some of them are no regular expressions elsewhere: the rest of the schema still holds.
        drop_patterns(&mut schema, &mut String::new(), &mut out);
        jsonschema::validator_for(&schema)
    });
    match validator {
        Ok(validator) => out.extend(validator.iter_errors(object).map(|e| Fault::Refused(e.instance_path().to_string(), e.to_string()))),
        Err(e) => out.push(Fault::NotEvaluated(String::new(), "the schema".into(), e.to_string())),
    }
    out
}

/// Takes out the patterns that cannot be read, each said.
fn drop_patterns(schema: &mut Value, pointer: &mut String, out: &mut Vec<Fault>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(pattern)) = map.get("pattern")
                && let Err(e) = jsonschema::validator_for(&json!({ "pattern": pattern }))
            {
                out.push(Fault::NotEvaluated(pointer.clone(), pattern.clone(), e.to_string()));
                map.remove("pattern");
            }
            let length = pointer.len();
            for (name, inner) in map.iter_mut() {
                // The path as a person writes it in an object.
                if !matches!(name.as_str(), "properties" | "items" | "additionalProperties") {
                    pointer.push('/');
                    pointer.push_str(name);
                }
                drop_patterns(inner, pointer, out);
                pointer.truncate(length);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| drop_patterns(inner, pointer, out)),
        _ => {}
    }
}

fn plain(schema: &mut Value, root: bool) {
    let Value::Object(map) = schema else { return };
    let keeps = map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if map.remove("x-kubernetes-int-or-string") == Some(Value::Bool(true)) {
        map.remove("anyOf");
        map.insert("type".into(), json!(["integer", "string"]));
    }
    if map.remove("nullable") == Some(Value::Bool(true))
        && let Some(Value::String(ty)) = map.get("type").cloned()
    {
        map.insert("type".into(), json!([ty, "null"]));
    }
    // Defaults come before `required`: a field with a default may be absent.
    let defaulted = |name: &str| map.get("properties").is_some_and(|p| p[name].get("default").is_some());
    let required: Option<Vec<Value>> =
        map.get("required").and_then(Value::as_array).map(|list| list.iter().filter(|n| !n.as_str().is_some_and(defaulted)).cloned().collect());
    if let Some(required) = required {
        map.insert("required".into(), required.into());
    }
    map.retain(|key, _| !key.starts_with("x-kubernetes") && key != "format" && key != "description" && key != "default");
    if map.contains_key("properties") && !map.contains_key("additionalProperties") && !keeps {
        map.insert("additionalProperties".into(), Value::Bool(false));
    }
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(|v| plain(v, false)),
            ("items" | "additionalProperties", value) => plain(value, false),
            _ => {}
        }
    }
    if root && let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, ty) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            properties.insert(name.into(), json!({ "type": ty }));
        }
    }
}
