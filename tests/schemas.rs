//! The custom resources of the example bundles against their real CRDs. The schemas are not part of the repository: `AIC_SCHEMAS` (or
//! `../shared/crds`) names a folder of them, and without one the test skips and says so.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
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

/// Kubernetes' structural schema as plain JSON Schema that refuses unknown fields.
fn plain(schema: &mut Value, root: bool) {
    let Value::Object(map) = schema else { return };
    let keeps = map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if map.remove("x-kubernetes-int-or-string") == Some(Value::Bool(true)) {
        map.remove("type");
        map.remove("anyOf");
        map.insert("type".into(), serde_json::json!(["integer", "string"]));
    }
    if map.remove("nullable") == Some(Value::Bool(true))
        && let Some(Value::String(ty)) = map.get("type").cloned()
    {
        map.insert("type".into(), serde_json::json!([ty, "null"]));
    }
    map.retain(|key, _| !key.starts_with("x-kubernetes") && key != "format" && key != "description" && key != "default");
    if map.contains_key("properties") && !map.contains_key("additionalProperties") && !keeps && !root {
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
        properties.insert("metadata".into(), serde_json::json!({ "type": "object" }));
    }
}

#[test]
fn custom_resources_satisfy_their_real_schemas() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crds = std::env::var("AIC_SCHEMAS").map_or_else(|_| root.join("../shared/crds"), Into::into);
    if !crds.is_dir() {
        println!("skipped: {} is not there; set AIC_SCHEMAS to a folder of CRDs", crds.display());
        return;
    }
    let mut needed: BTreeMap<(String, String), Vec<(String, Value)>> = BTreeMap::new();
    for example in ["atlas", "starter", "inference"] {
        let mut paths = Vec::new();
        files(&root.join("examples").join(example).join("build/kubernetes"), &mut paths);
        for path in paths {
            let documents: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(&path).unwrap()).unwrap();
            for document in documents {
                let api = document["apiVersion"].as_str().unwrap_or("").to_owned();
                let kind = document["kind"].as_str().unwrap_or("").to_owned();
                let group = api.split('/').next().unwrap_or("");
                let built_in =
                    !api.contains('/') || !group.contains('.') || group.ends_with(".k8s.io") && !group.contains("x-k8s.io") || group.starts_with("kustomize");
                if !built_in {
                    needed.entry((api, kind)).or_default().push((path.display().to_string(), document));
                }
            }
        }
    }
    let mut paths = Vec::new();
    files(&crds, &mut paths);
    let mut seen: BTreeMap<(String, String), bool> = needed.keys().map(|k| (k.clone(), false)).collect();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        // Most CRDs are not asked for: a look at the text saves their parsing.
        if !needed.keys().any(|(api, kind)| text.contains(&format!("kind: {kind}\n")) && text.contains(api.split('/').next().unwrap_or(""))) {
            continue;
        }
        let options = serde_saphyr::options! { budget: None };
        let Ok(crd) = serde_saphyr::from_str_with_options::<Value>(&text, options) else { continue };
        let group = crd["spec"]["group"].as_str().unwrap_or("").to_owned();
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap_or("").to_owned();
        for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
            let key = (format!("{group}/{}", version["name"].as_str().unwrap_or("")), kind.clone());
            let Some(objects) = needed.get(&key) else { continue };
            seen.insert(key, true);
            let mut schema = version["schema"]["openAPIV3Schema"].clone();
            plain(&mut schema, true);
            let validator = jsonschema::validator_for(&schema).unwrap();
            for (file, object) in objects {
                let faults: Vec<String> = validator.iter_errors(object).map(|e| format!("{}: {e}", e.instance_path())).collect();
                assert!(faults.is_empty(), "{file}: {}: {faults:?}", object["metadata"]["name"]);
            }
        }
    }
    let without: Vec<_> = seen.iter().filter(|(_, found)| !**found).map(|(key, _)| key).collect();
    assert!(without.is_empty(), "no CRD for {without:?}");
    println!("{} kinds of custom resources checked", seen.len());
}
