//! Objects on their way to YAML: typed until here, with the declaration that each comes from and the reasons for its fields.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ClusterResourceScope, Metadata, NamespaceResourceScope, Resource};
use serde::Serialize;
use serde_json::{Map, Value};

use super::kinds::{Configuration, Texts, texts};
use crate::base::Span;
use crate::design::{At, Design};

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
    /// Comments: above the field at a JSON pointer, or above the document (an empty pointer). An element of a list may be named instead of counted.
    pub reasons: Vec<(String, String)>,
}

/// The declaration, or a part of it, that an object comes from.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    at: &'a At,
    part: &'a str,
}

impl<'a> From<&'a At> for Origin<'a> {
    fn from(at: &'a At) -> Self {
        Self { at, part: "" }
    }
}

impl<'a> From<(&'a At, &'a str)> for Origin<'a> {
    fn from((at, part): (&'a At, &'a str)) -> Self {
        Self { at, part }
    }
}

impl Origin<'_> {
    fn source(&self) -> String {
        if self.part.is_empty() { self.at.source.clone() } else { format!("{}.{}", self.at.source, self.part) }
    }

    fn span(&self) -> Span {
        if self.part.is_empty() { self.at.head } else { self.at.field(self.part) }
    }
}

/// Makes objects of one design: they all carry the same label and the path of their declaration.
#[derive(Clone, Copy)]
pub struct Maker<'a> {
    /// The design.
    pub design: &'a Design,
}

impl Maker<'_> {
    /// An object of the whole cluster.
    pub fn cluster<'o, K>(&self, origin: impl Into<Origin<'o>>, name: &str, object: K) -> Document
    where
        K: Resource<Scope = ClusterResourceScope> + Metadata<Ty = ObjectMeta> + Serialize,
    {
        self.object(origin.into(), None, name, object)
    }

    /// An object in a namespace.
    pub fn namespaced<'o, K>(&self, origin: impl Into<Origin<'o>>, namespace: &str, name: &str, object: K) -> Document
    where
        K: Resource<Scope = NamespaceResourceScope> + Metadata<Ty = ObjectMeta> + Serialize,
    {
        self.object(origin.into(), Some(namespace), name, object)
    }

    fn object<K: Resource + Metadata<Ty = ObjectMeta> + Serialize>(&self, origin: Origin, namespace: Option<&str>, name: &str, mut object: K) -> Document {
        *object.metadata_mut() = ObjectMeta {
            name: Some(name.to_owned()),
            namespace: namespace.map(str::to_owned),
            labels: Some(texts([("app.kubernetes.io/managed-by", "aic")])),
            annotations: Some(self.annotations(origin)),
            ..Default::default()
        };
        Document::new(&object, K::API_VERSION, K::KIND, origin.source(), origin.span())
    }

    /// The path of the declaration, and its documentation.
    pub fn annotations<'o>(&self, origin: impl Into<Origin<'o>>) -> Texts {
        let origin = origin.into();
        let domain = &self.design.cluster.label_domain;
        let mut out = texts([(format!("{domain}/source"), origin.source())]);
        if !origin.at.docs.is_empty() && origin.part.is_empty() {
            out.insert(format!("{domain}/description"), origin.at.docs.join(" "));
        }
        out
    }
}

impl Document {
    /// An object of an API, from a declaration.
    pub fn new(object: &impl Serialize, api: &str, kind: &str, source: String, span: Span) -> Self {
        let mut value = Map::new();
        value.insert("apiVersion".into(), api.into());
        value.insert("kind".into(), kind.into());
        if let Value::Object(mut rest) = plain(object) {
            value.extend(rest.shift_remove("metadata").map(|metadata| ("metadata".to_owned(), metadata)));
            value.extend(rest);
        }
        Self { value: Value::Object(value), source, span, fields: Vec::new(), reasons: Vec::new() }
    }

    /// A configuration file.
    pub fn configuration<C: Configuration>(object: &C, source: &str, span: Span) -> Self {
        Self::new(object, C::API_VERSION, C::KIND, source.to_owned(), span)
    }

    /// YAML that is no object of an API: Helm values, netplan.
    pub fn file(content: &impl Serialize, source: &str, span: Span) -> Self {
        Self { value: plain(content), source: source.to_owned(), span, fields: Vec::new(), reasons: Vec::new() }
    }

    /// Adds a label.
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

    /// Says why, above a field or, with an empty pointer, above the document.
    #[must_use]
    pub fn because(mut self, pointer: &str, reason: impl Into<String>) -> Self {
        self.reasons.push((pointer.to_owned(), reason.into()));
        self
    }

    /// Says why, where the field is there.
    #[must_use]
    pub fn because_if_set(self, pointer: &str, reason: impl Into<String>) -> Self {
        if pointer.is_empty() || self.value.pointer(pointer).is_some() { self.because(pointer, reason) } else { self }
    }
}

/// An object as a value, names before all else: the structs of k8s-openapi are in alphabetical order, and people look for the name first.
fn plain(object: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    names_first(&mut value);
    value
}

fn names_first(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for first in ["namespace", "name", "key"] {
                if let Some(text) = map.get(first).filter(|v| v.is_string()).cloned() {
                    map.shift_remove(first);
                    map.shift_insert(0, first.to_owned(), text);
                }
            }
            map.values_mut().for_each(names_first);
        }
        Value::Array(list) => list.iter_mut().for_each(names_first),
        _ => {}
    }
}
