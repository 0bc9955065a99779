//! The documents of the example bundles against their real schemas: built-in kinds, custom resources, kubelet configurations. The schemas are not
//! part of the repository: `AIC_SCHEMAS` (or `../shared`) names a folder with `openapi/`, `crds/` and `facts/`, and without one the tests skip and say so.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn schemas() -> Option<PathBuf> {
    let dir = std::env::var("AIC_SCHEMAS").map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if !dir.is_dir() {
        println!("skipped: {} is not there; set AIC_SCHEMAS to a folder with openapi/, crds/ and facts/", dir.display());
        return None;
    }
    Some(dir)
}

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

/// A group and version, a kind.
type Kind = (String, String);

/// The objects of all example bundles, and of a design with what no example has, by kind, each with its file. `install/` holds Helm values,
/// which belong to no API.
fn objects() -> BTreeMap<Kind, Vec<(String, Value)>> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for example in ["atlas", "starter", "inference"] {
        let mut paths = Vec::new();
        for folder in ["kubernetes", "hosts", "control-plane"] {
            files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example).join("build").join(folder), &mut paths);
        }
        texts.extend(paths.into_iter().map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap())));
    }
    let planes = BTreeMap::from([("cluster.aic".to_owned(), include_str!("data/planes.aic").to_owned())]);
    let c = aic::compile(&planes, "cluster.aic", aic::lang::Options::default());
    let bundle = aic::bundle::texts(aic::bundle::render(aic::lower::lower(&c).unwrap(), &c), &c);
    texts.extend(bundle.into_iter().filter(|(path, _)| path.starts_with("kubernetes/") && path.ends_with(".yaml")));

    let mut out: BTreeMap<Kind, Vec<(String, Value)>> = BTreeMap::new();
    for (path, text) in texts {
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for document in documents.into_iter().filter(|d| d["kind"].is_string()) {
            let key = (document["apiVersion"].as_str().unwrap_or("").to_owned(), document["kind"].as_str().unwrap_or("").to_owned());
            out.entry(key).or_default().push((path.clone(), document));
        }
    }
    assert!(out.len() > 30, "the examples have {} kinds", out.len());
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

#[test]
fn built_in_kinds_satisfy_the_published_openapi() {
    let Some(shared) = schemas() else { return };
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
    for (kind, objects) in objects() {
        let Some(name) = names.get(&kind) else { continue };
        let validator = jsonschema::validator_for(&json!({ "$ref": format!("#/definitions/{name}"), "definitions": definitions })).unwrap();
        wrong.extend(objects.iter().flat_map(|(file, object)| faults(&validator, file, object)));
        checked += 1;
        // The check can fail: a field that no API knows is refused.
        let mut spoilt = objects[0].1.clone();
        spoilt["metadata"]["nmae"] = "x".into();
        assert!(!faults(&validator, "", &spoilt).is_empty(), "{kind:?} accepts an unknown field");
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked >= 18, "{checked} kinds");
    println!("{checked} built-in kinds checked");
}

/// Kubernetes' structural schema as plain JSON Schema that refuses unknown fields.
fn plain(schema: &mut Value, root: bool) {
    let Value::Object(map) = schema else { return };
    let keeps = map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if map.remove("x-kubernetes-int-or-string") == Some(Value::Bool(true)) {
        map.remove("type");
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

/// The schema of every version of every CRD whose kind is asked for.
fn crd_schemas(dir: &Path, needed: &BTreeMap<Kind, Vec<(String, Value)>>) -> BTreeMap<Kind, Value> {
    let mut paths = Vec::new();
    files(dir, &mut paths);
    // NVIDIA's set of the SR-IOV operator is the newer one and comes last.
    paths.sort_by_key(|p| (p.to_string_lossy().contains("nvidia-network-operator-sriov"), p.clone()));
    let mut out = BTreeMap::new();
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
            let mut schema = version["schema"]["openAPIV3Schema"].clone();
            plain(&mut schema, true);
            out.insert((format!("{group}/{}", version["name"].as_str().unwrap_or("")), kind.clone()), schema);
        }
    }
    out
}

#[test]
fn custom_resources_satisfy_their_real_schemas() {
    let Some(shared) = schemas() else { return };
    let configuration = |api: &str| api.contains(".config.") || matches!(api.split('/').next(), Some("kubeadm.k8s.io" | "audit.k8s.io"));
    let custom = |api: &str| api.split('/').next().is_some_and(|group| group.contains('.') && (!group.ends_with(".k8s.io") || group.contains(".x-k8s.io")));
    let mut needed = objects();
    needed.retain(|(api, _), _| (custom(api) || api.starts_with("kueue.") || api.starts_with("jobset.")) && !configuration(api));
    let schemas = crd_schemas(&shared.join("crds"), &needed);
    let mut wrong = Vec::new();
    for (kind, objects) in &needed {
        let Some(schema) = schemas.get(kind) else { panic!("no CRD for {kind:?}") };
        let validator = jsonschema::validator_for(schema).unwrap();
        wrong.extend(objects.iter().flat_map(|(file, object)| faults(&validator, file, object)));
        let mut spoilt = objects[0].1.clone();
        spoilt["sepc"] = json!({});
        assert!(!faults(&validator, "", &spoilt).is_empty(), "{kind:?} accepts an unknown field");
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(needed.len() >= 20, "{} kinds", needed.len());
    println!("{} kinds of custom resources checked", needed.len());
}

/// A table stands in for the schema that nobody publishes: each field's name and type.
#[test]
fn kubelet_configurations_have_fields_and_types_of_the_kubelet() {
    let Some(shared) = schemas() else { return };
    let text = std::fs::read_to_string(shared.join("facts/kubelet-config.json")).unwrap();
    let table: Value = serde_json::from_str(&text).unwrap();
    let types: BTreeMap<&str, &str> = table["fields"].as_array().unwrap().iter().map(|f| (f["name"].as_str().unwrap(), f["type"].as_str().unwrap())).collect();
    let duration = |text: &str| text.ends_with(['s', 'm', 'h']) && text.starts_with(|c: char| c.is_ascii_digit());
    let fits = |ty: &str, value: &Value| match ty.split([' ', '(']).next().unwrap_or("") {
        "bool" => value.is_boolean(),
        "int32" | "int64" => value.is_i64(),
        "float64" => value.is_number(),
        "string" => value.is_string(),
        "duration" => value.as_str().is_some_and(duration),
        list if list.starts_with("[]") => {
            let element: fn(&Value) -> bool = if list == "[]string" { Value::is_string } else { Value::is_object };
            value.as_array().is_some_and(|l| l.iter().all(element))
        }
        "map[string]string" => value.as_object().is_some_and(|m| m.values().all(Value::is_string)),
        "map[string]bool" => value.as_object().is_some_and(|m| m.values().all(Value::is_boolean)),
        "object" => value.is_object(),
        other => panic!("the table has a type {other}"),
    };
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for ((api, kind), objects) in objects() {
        if api != "kubelet.config.k8s.io/v1beta1" || kind != "KubeletConfiguration" {
            continue;
        }
        for (file, object) in objects {
            checked += 1;
            for (name, value) in object.as_object().unwrap().iter().filter(|(n, _)| *n != "apiVersion" && *n != "kind") {
                match types.get(name.as_str()) {
                    None => wrong.push(format!("{file}: the kubelet has no field {name}")),
                    Some(ty) if !fits(ty, value) => wrong.push(format!("{file}: {name} is {value}, the kubelet wants {ty}")),
                    Some(_) => {}
                }
            }
            // Rules of the kubelet's own validation that one document can break.
            let policy = object["cpuManagerPolicy"] == "static";
            if policy && object["reservedSystemCPUs"].is_null() && object["systemReserved"]["cpu"].is_null() && object["kubeReserved"]["cpu"].is_null() {
                wrong.push(format!("{file}: static CPU manager without a reservation"));
            }
            if object["reservedMemory"].is_array() && object["memoryManagerPolicy"] != "Static" {
                wrong.push(format!("{file}: reservedMemory without the Static policy"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked >= 10, "{checked} kubelet configurations");
}
