//! `--schemas`: objects against the CustomResourceDefinitions of a real cluster (`kubectl get crd -o yaml`), their rules included.

mod expressions;
mod structural;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::Diagnostic;
use crate::base::names::list_of;
use crate::lower::object::Document;
use crate::lower::{Artifacts, Content};

/// `group/version` of an object, and its kind.
pub type Kind = (String, String);

/// What a cluster knows of one version of a custom resource.
struct Version {
    schema: Value,
    served: bool,
}

/// The custom resources of a cluster.
#[derive(Default)]
pub struct Schemas {
    /// By group and kind, then by version.
    kinds: BTreeMap<(String, String), BTreeMap<String, Version>>,
}

/// What is wrong with an object.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// No definition of its kind.
    Unknown,
    /// Its version is not served; those that are.
    NotServed(Vec<String>),
    /// A value that the schema or a rule refuses: a JSON pointer, and why.
    Refused(String, String),
    /// A rule that was not evaluated: a JSON pointer, the rule, and why.
    NotEvaluated(String, String, String),
}

impl Schemas {
    /// Reads all definitions in texts of YAML, each with its file's name: single ones, several a file, or the List that kubectl prints. Definitions
    /// whose kind is not among `wanted` are left out.
    ///
    /// # Errors
    ///
    /// YAML that is none.
    pub fn read(texts: &[(String, String)], wanted: &BTreeSet<Kind>) -> Result<Self, String> {
        let mut out = Self::default();
        for (name, text) in texts {
            // Most definitions are not asked for: a look at the text saves their parsing.
            if !wanted.iter().any(|(api, kind)| text.contains(&format!("kind: {kind}\n")) && text.contains(group(api).0)) {
                continue;
            }
            // Definitions run to megabytes, beyond the budget for input from strangers.
            let options = serde_saphyr::options! { budget: None };
            let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options).map_err(|e| format!("{name}: {e}"))?;
            documents.iter().for_each(|document| out.add(document));
        }
        Ok(out)
    }

    fn add(&mut self, document: &Value) {
        let kind = document["kind"].as_str().unwrap_or("");
        if kind.ends_with("List") {
            document["items"].as_array().into_iter().flatten().for_each(|item| self.add(item));
        }
        if kind != "CustomResourceDefinition" {
            return;
        }
        let spec = &document["spec"];
        let key = (spec["group"].as_str().unwrap_or("").to_owned(), spec["names"]["kind"].as_str().unwrap_or("").to_owned());
        let versions = self.kinds.entry(key).or_default();
        for version in spec["versions"].as_array().into_iter().flatten() {
            let schema = version["schema"]["openAPIV3Schema"].clone();
            let served = version["served"].as_bool().unwrap_or(true);
            versions.insert(version["name"].as_str().unwrap_or("").to_owned(), Version { schema, served });
        }
    }

    /// All that is wrong with an object of a custom resource.
    pub fn faults(&self, object: &Value) -> Vec<Fault> {
        let api = object["apiVersion"].as_str().unwrap_or("");
        let (group, version) = group(api);
        let Some(versions) = self.kinds.get(&(group.to_owned(), object["kind"].as_str().unwrap_or("").to_owned())) else { return vec![Fault::Unknown] };
        let Some(found) = versions.get(version).filter(|v| v.served) else {
            return vec![Fault::NotServed(versions.iter().filter(|(_, v)| v.served).map(|(name, _)| name.clone()).collect())];
        };
        let mut out = structural::faults(&found.schema, object);
        // Rules are written for objects that satisfy the schema.
        if !out.iter().any(|fault| matches!(fault, Fault::Refused(..))) {
            expressions::faults(&found.schema, object, &mut out);
        }
        out
    }
}

/// Group and version.
fn group(api: &str) -> (&str, &str) {
    api.split_once('/').unwrap_or(("", api))
}

/// Whether an object is of a custom resource: the groups of Kubernetes itself have no dot or end in `.k8s.io`, its projects' in `.x-k8s.io`.
pub fn is_custom(object: &Value) -> bool {
    const OF_PROJECTS: &[&str] = &["gateway.networking.k8s.io", "snapshot.storage.k8s.io"];
    let (group, _) = group(object["apiVersion"].as_str().unwrap_or(""));
    object["kind"].is_string() && group.contains('.') && (!group.ends_with(".k8s.io") || group.ends_with(".x-k8s.io") || OF_PROJECTS.contains(&group))
}

/// The objects that a cluster takes, with the file of each: hosts read the others.
fn objects(artifacts: &Artifacts) -> impl Iterator<Item = (&str, &Document)> {
    let applied = |path: &str| path.starts_with("kubernetes/") || path.starts_with("install/");
    artifacts.files.iter().filter(move |(path, _)| applied(path)).flat_map(|(path, content)| {
        let documents: &[Document] = if let Content::Documents(documents) = content { documents } else { &[] };
        documents.iter().filter(|d| is_custom(&d.value)).map(move |d| (path.as_str(), d))
    })
}

/// Holds every object of a bundle against the definitions in texts of YAML.
///
/// # Errors
///
/// What [`Schemas::read`] cannot read.
pub fn check(artifacts: &Artifacts, texts: &[(String, String)]) -> Result<Vec<Diagnostic>, String> {
    let kind = |d: &Document| (d.value["apiVersion"].as_str().unwrap_or("").to_owned(), d.value["kind"].as_str().unwrap_or("").to_owned());
    let wanted: BTreeSet<Kind> = objects(artifacts).map(|(_, d)| kind(d)).collect();
    let schemas = Schemas::read(texts, &wanted)?;
    let mut out = Vec::new();
    // Said once a kind or rule, at the first object: a thousand equal objects have one fault.
    let mut said = BTreeSet::new();
    for (path, document) in objects(artifacts) {
        let name = format!("{} {}", document.value["kind"].as_str().unwrap_or(""), document.value["metadata"]["name"].as_str().unwrap_or(""));
        let (api, kind) = kind(document);
        for fault in schemas.faults(&document.value) {
            let (key, diagnostic) = match fault {
                Fault::Unknown => (
                    format!("{api} {kind}"),
                    Diagnostic::warning("AIC1492", format!("the cluster has no {kind} of {api}, as in {path}"))
                        .help("export the CRDs again when its operator is installed: `kubectl get crd -o yaml`"),
                ),
                Fault::NotServed(served) => (
                    format!("{api} {kind}"),
                    Diagnostic::error("AIC1491", format!("{name} is of {api}, which the cluster does not serve"))
                        .help(format!("it serves {}; install the operator's version that install/README.md names", list_of(&served, "and"))),
                ),
                Fault::Refused(pointer, why) => (
                    format!("{api} {kind} {pointer} {why}"),
                    Diagnostic::error("AIC1491", format!("the cluster refuses {name}: {}: {why}", spelled(&pointer)))
                        .help(format!("in {path}; the operator there may be of another version than install/README.md names")),
                ),
                Fault::NotEvaluated(pointer, rule, why) => (
                    format!("{api} {kind} {rule}"),
                    Diagnostic::advice("AIC1493", format!("a rule of {kind} at {} is not evaluated: {why}", spelled(&pointer)))
                        .help(format!("the cluster will evaluate `{rule}`")),
                ),
            };
            if said.insert(key) {
                out.push(diagnostic.at(document.span, format!("{name} is made here")));
            }
        }
    }
    Ok(out)
}

/// A JSON pointer as people write a field.
fn spelled(pointer: &str) -> String {
    let path = pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
    if path.is_empty() { "the object".into() } else { path }
}
