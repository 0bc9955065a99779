//! Kubernetes objects on their way to YAML.

use serde_json::{Map, Value, json};

use crate::base::Span;
use crate::design::{At, Design};
use crate::nodes::NodeTaint;

/// A document of a YAML file and the declaration it comes from.
#[derive(Clone, Debug)]
pub struct Document {
    /// The object.
    pub value: Value,
    /// `pool.training`.
    pub source: String,
    /// The declaration's head.
    pub span: Span,
    /// Fields that a user chose: a JSON pointer and the line.
    pub fields: Vec<(String, Span)>,
    /// A line above it: which host a document is for.
    pub comment: Option<String>,
}

/// Makes objects of one design: they all carry the same label and the path of their declaration.
#[derive(Clone, Copy)]
pub struct Maker<'a> {
    /// The design.
    pub design: &'a Design,
}

impl Maker<'_> {
    /// An object with metadata and the members of `rest`.
    #[allow(clippy::too_many_arguments, reason = "the parts of an object's head")]
    pub fn object(&self, api: &str, kind: &str, namespace: Option<&str>, name: &str, at: &At, part: &str, rest: Value) -> Document {
        let source = if part.is_empty() { at.source.clone() } else { format!("{}.{part}", at.source) };
        let mut metadata = json!({ "name": name });
        if let Some(namespace) = namespace {
            metadata["namespace"] = namespace.into();
        }
        metadata["labels"] = json!({ "app.kubernetes.io/managed-by": "aic" });
        metadata["annotations"] = self.annotations(at, &source);
        let mut value = Map::new();
        value.insert("apiVersion".into(), api.into());
        value.insert("kind".into(), kind.into());
        value.insert("metadata".into(), metadata);
        if let Value::Object(rest) = rest {
            value.extend(rest);
        }
        let span = if part.is_empty() { at.head } else { at.field(part) };
        Document { value: Value::Object(value), source, span, fields: Vec::new(), comment: None }
    }

    /// The path of the declaration, and its documentation.
    pub fn annotations(&self, at: &At, source: &str) -> Value {
        let domain = &self.design.cluster.label_domain;
        let mut out = Map::new();
        out.insert(format!("{domain}/source"), source.into());
        if !at.docs.is_empty() && source == at.source {
            out.insert(format!("{domain}/description"), at.docs.join(" ").into());
        }
        Value::Object(out)
    }
}

impl Document {
    /// Adds labels.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.value["metadata"]["labels"][key] = value.into();
        self
    }

    /// Says which line a field came from.
    #[must_use]
    pub fn from(mut self, pointer: &str, span: Option<Span>) -> Self {
        if let Some(span) = span {
            self.fields.push((pointer.to_owned(), span));
        }
        self
    }
}

/// Tolerations of a pool's own taints.
pub fn tolerations(taints: &[NodeTaint]) -> Vec<Value> {
    taints
        .iter()
        .map(|t| match &t.value {
            Some(value) => json!({ "key": t.key, "operator": "Equal", "value": value, "effect": t.effect }),
            None => json!({ "key": t.key, "operator": "Exists", "effect": t.effect }),
        })
        .collect()
}

/// Tolerations of every taint key of the design, whatever its value: for agents that run everywhere.
pub fn agent_tolerations<'a>(taints: impl IntoIterator<Item = &'a NodeTaint>) -> Vec<Value> {
    let mut keys: Vec<(&str, &str)> = taints.into_iter().map(|t| (t.key.as_str(), t.effect)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().map(|(key, effect)| json!({ "key": key, "operator": "Exists", "effect": effect })).collect()
}

/// A required node affinity for a label with one of some values.
pub fn affinity(key: &str, values: &[&str]) -> Value {
    json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
        { "matchExpressions": [{ "key": key, "operator": "In", "values": values }] }
    ] } })
}
