//! `x-kubernetes-validations`: rules in CEL at any depth of a schema, evaluated as the API server does on creation.

use std::collections::HashMap;

use cel::{Context, Env, Program, extensions};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::Fault;

/// What rules refuse in an object, and the rules that could not be evaluated.
pub(super) fn faults(schema: &Value, object: &Value, out: &mut Vec<Fault>) {
    let mut object = object.clone();
    // The API server fills in defaults before it asks the rules.
    default(schema, &mut object);
    let mut env = Env::stdlib();
    let loaded = env.add_extension(extensions::strings).is_ok();
    debug_assert!(loaded, "the strings extension stands beside the standard library");
    walk(&Arc::new(env), schema, &object, &mut String::new(), out);
}

fn default(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(preset) = property.get("default").filter(|_| !map.contains_key(name)) {
                    map.insert(name.clone(), preset.clone());
                }
                if let Some(inner) = map.get_mut(name) {
                    default(property, inner);
                }
            }
            if let Some(more) = schema.get("additionalProperties").filter(|s| s.is_object()) {
                map.values_mut().for_each(|inner| default(more, inner));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|element| default(&schema["items"], element)),
        _ => {}
    }
}

fn walk(env: &Arc<Env>, schema: &Value, value: &Value, pointer: &mut String, out: &mut Vec<Fault>) {
    for validation in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let rule = validation["rule"].as_str().unwrap_or("");
        // A rule on what was before is for updates.
        if !rule.contains("oldSelf") {
            out.extend(evaluate(env, rule, validation["message"].as_str(), schema, value).map(|fault| match fault {
                Outcome::Refused(why) => Fault::Refused(pointer.clone(), why),
                Outcome::Unknown(why) => Fault::NotEvaluated(pointer.clone(), rule.to_owned(), why),
            }));
        }
    }
    let length = pointer.len();
    let mut step = |name: &str, schema: &Value, value: &Value, out: &mut Vec<Fault>| {
        pointer.push('/');
        pointer.push_str(name);
        walk(env, schema, value, pointer, out);
        pointer.truncate(length);
    };
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                let property = schema["properties"].get(name).or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()));
                if let Some(property) = property {
                    step(name, property, inner, out);
                }
            }
        }
        Value::Array(list) => list.iter().enumerate().for_each(|(i, element)| step(&i.to_string(), &schema["items"], element, out)),
        _ => {}
    }
}

enum Outcome {
    Refused(String),
    Unknown(String),
}

fn evaluate(env: &Arc<Env>, rule: &str, message: Option<&str>, schema: &Value, value: &Value) -> Option<Outcome> {
    let program: Program = match env.compile(rule) {
        Ok(program) => program,
        Err(e) => return Some(Outcome::Unknown(e.to_string())),
    };
    let mut context = Context::with_env(env.clone());
    context.add_variable_from_value("self", typed(schema, value));
    match program.execute(&context) {
        Ok(cel::Value::Bool(true)) => None,
        Ok(cel::Value::Bool(false)) => Some(Outcome::Refused(message.map_or_else(|| format!("the rule `{rule}` does not hold"), str::to_owned))),
        Ok(other) => Some(Outcome::Unknown(format!("it gives {other:?}, not true or false"))),
        Err(e) => Some(Outcome::Unknown(e.to_string())),
    }
}

/// A value as its schema types it: `number` is a double even where it is written 1, and names that CEL cannot say are escaped as Kubernetes does.
fn typed(schema: &Value, value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(b) => cel::Value::Bool(*b),
        Value::Number(n) if schema["type"] == "number" => cel::Value::Float(n.as_f64().unwrap_or_default()),
        Value::Number(n) => n.as_i64().map_or_else(|| cel::Value::Float(n.as_f64().unwrap_or_default()), cel::Value::Int),
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => list.iter().map(|element| typed(&schema["items"], element)).collect::<Vec<_>>().into(),
        Value::Object(map) => object(schema, map),
    }
}

fn object(schema: &Value, map: &Map<String, Value>) -> cel::Value {
    let fields: HashMap<String, cel::Value> = map
        .iter()
        .map(|(name, inner)| match schema["properties"].get(name) {
            Some(property) => (escaped(name), typed(property, inner)),
            None => (name.clone(), typed(&schema["additionalProperties"], inner)),
        })
        .collect();
    fields.into()
}

/// Kubernetes' escapes of property names (CRD documentation, "Validation rules").
fn escaped(name: &str) -> String {
    const RESERVED: &[&str] = &[
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(rule: &str, object: &Value) -> Vec<Fault> {
        let schema = json!({
            "x-kubernetes-validations": [{ "rule": rule, "message": "no" }],
            "properties": { "a": { "type": "integer", "default": 2 }, "namespace": { "type": "string" }, "ratio": { "type": "number" } },
        });
        let mut out = Vec::new();
        faults(&schema, object, &mut out);
        out
    }

    #[test]
    fn rules_hold_or_are_named() {
        assert_eq!(of("self.a == 2", &json!({})), []);
        assert_eq!(of("self.a > 2", &json!({})), [Fault::Refused(String::new(), "no".into())]);
        assert_eq!(of("!has(self.__namespace__) || self.ratio < 1.5", &json!({ "namespace": "x", "ratio": 1 })), []);
        assert_eq!(of("self.a == oldSelf.a", &json!({})), []);
        assert_eq!(of("'a,b'.split(',').size() == 2", &json!({})), []);
        assert!(matches!(&of("quantity(self.b).isLessThan(quantity('1'))", &json!({ "b": "2" }))[..], [Fault::NotEvaluated(..)]));
    }
}
