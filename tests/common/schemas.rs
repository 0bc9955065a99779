//! Objects against their real schemas: built-in kinds and custom resources. The schemas are not part of the repository: `AIC_SCHEMAS` (or `../shared`)
//! names a folder with `openapi/`, `crds/` and `facts/`, and without one the tests skip and say so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aic::schemas::{Fault, Schemas, is_custom};
use serde_json::{Value, json};

/// The folder of schemas, if there is one.
pub fn folder() -> Option<PathBuf> {
    let dir = std::env::var("AIC_SCHEMAS").map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if !dir.is_dir() {
        println!("skipped: {} is not there; set AIC_SCHEMAS to a folder with openapi/, crds/ and facts/", dir.display());
        return None;
    }
    Some(dir)
}

/// YAML files below a folder.
pub fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            out.push(path);
        }
    }
}

/// A group and version, a kind.
pub type Kind = (String, String);

/// Objects by kind, each with its file.
pub type Objects = BTreeMap<Kind, Vec<(String, Value)>>;

/// The objects in texts of YAML.
pub fn objects(texts: impl IntoIterator<Item = (String, String)>) -> Objects {
    let mut out = Objects::new();
    for (path, text) in texts {
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        for document in documents.into_iter().filter(|d| d["kind"].is_string()) {
            let key = (document["apiVersion"].as_str().unwrap_or("").to_owned(), document["kind"].as_str().unwrap_or("").to_owned());
            out.entry(key).or_default().push((path.clone(), document));
        }
    }
    out
}

/// What is wrong with an object, as a person reads it.
fn faults(validator: &jsonschema::Validator, file: &str, object: &Value) -> Vec<String> {
    validator.iter_errors(object).map(|e| format!("{file}: {}: {}: {e}", object["metadata"]["name"], e.instance_path())).collect()
}

/// The published OpenAPI as JSON Schema that refuses unknown fields.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            // `format` says int32 and the like; what OpenAPI v2 writes as a string that is an integer or a string.
            if map.get("format").is_some_and(|f| f == "int-or-string") {
                map.insert("type".into(), json!(["integer", "string"]));
            }
            map.remove("format");
            if map.get("properties").is_some_and(Value::is_object) && map.get("type").is_some_and(|t| t == "object") {
                map.insert("additionalProperties".into(), Value::Bool(false));
            }
            map.values_mut().for_each(strict);
        }
        Value::Array(list) => list.iter_mut().for_each(strict),
        _ => {}
    }
}

/// What is wrong with objects of built-in kinds, and how many kinds there were.
pub fn built_in(shared: &Path, objects: &Objects) -> (Vec<String>, usize) {
    let text = std::fs::read_to_string(shared.join("openapi/swagger-1.36.json")).unwrap();
    let swagger: Value = serde_json::from_str(&text).unwrap();
    let mut definitions = swagger["definitions"].clone();
    strict(&mut definitions);
    definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] =
        json!({ "type": ["string", "number"], "pattern": r"^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$" });
    let mut names: BTreeMap<Kind, String> = BTreeMap::new();
    for (name, definition) in definitions.as_object().unwrap() {
        for gvk in definition["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
            let (group, version) = (gvk["group"].as_str().unwrap_or(""), gvk["version"].as_str().unwrap_or(""));
            let api = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            names.insert((api, gvk["kind"].as_str().unwrap_or("").to_owned()), name.clone());
        }
    }
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (kind, objects) in objects {
        let Some(name) = names.get(kind) else { continue };
        let validator = jsonschema::validator_for(&json!({ "$ref": format!("#/definitions/{name}"), "definitions": definitions })).unwrap();
        wrong.extend(objects.iter().flat_map(|(file, object)| faults(&validator, file, object)));
        checked += 1;
        // The check can fail: a field that no API knows is refused.
        let mut spoilt = objects[0].1.clone();
        spoilt["metadata"]["nmae"] = "x".into();
        assert!(!faults(&validator, "", &spoilt).is_empty(), "{kind:?} accepts an unknown field");
    }
    (wrong, checked)
}

/// What is wrong with custom resources, and how many kinds there were.
pub fn custom(shared: &Path, objects: &Objects) -> (Vec<String>, usize) {
    let mut needed = objects.clone();
    // k3s brings the definition of its chart settings itself; it is not among the exported ones.
    needed.retain(|(_, kind), objects| is_custom(&objects[0].1) && kind != "HelmChartConfig");
    let mut paths = Vec::new();
    files(&shared.join("crds"), &mut paths);
    // NVIDIA's set of the SR-IOV operator is the newer one and comes last.
    paths.sort_by_key(|p| (p.to_string_lossy().contains("nvidia-network-operator-sriov"), p.clone()));
    let texts: Vec<(String, String)> = paths.iter().map(|p| (p.display().to_string(), std::fs::read_to_string(p).unwrap())).collect();
    let schemas = Schemas::read(&texts, &needed.keys().cloned().collect()).unwrap();
    let mut wrong = Vec::new();
    for (kind, objects) in &needed {
        for (file, object) in objects {
            // AMD's pattern of a socket's path is no regular expression outside Go.
            let known = |fault: &Fault| matches!(fault, Fault::NotEvaluated(at, ..) if at.contains("SocketPath"));
            wrong.extend(
                schemas
                    .faults(object)
                    .into_iter()
                    .filter(|fault| !known(fault))
                    .map(|fault| format!("{file}: {kind:?} {}: {fault:?}", object["metadata"]["name"])),
            );
        }
        let mut spoilt = objects[0].1.clone();
        spoilt["sepc"] = json!({});
        assert!(schemas.faults(&spoilt).iter().any(|fault| matches!(fault, Fault::Refused(..))), "{kind:?} accepts an unknown field");
    }
    (wrong, needed.len())
}
