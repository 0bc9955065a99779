//! The documents of the example bundles against their real schemas: built-in kinds, custom resources, kubelet configurations. The schemas are not
//! part of the repository: `AIC_SCHEMAS` (or `../shared`) names a folder with `openapi/`, `crds/` and `facts/`, and without one the tests skip and say so.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aic::schemas::{Fault, Schemas};
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

#[test]
fn custom_resources_satisfy_their_real_schemas() {
    let Some(shared) = schemas() else { return };
    let mut needed = objects();
    needed.retain(|_, objects| aic::schemas::is_custom(&objects[0].1));
    let mut paths = Vec::new();
    files(&shared.join("crds"), &mut paths);
    // NVIDIA's set of the SR-IOV operator is the newer one and comes last.
    paths.sort_by_key(|p| (p.to_string_lossy().contains("nvidia-network-operator-sriov"), p.clone()));
    let texts: Vec<(String, String)> = paths.iter().map(|p| (p.display().to_string(), std::fs::read_to_string(p).unwrap())).collect();
    let schemas = Schemas::read(&texts, &needed.keys().cloned().collect()).unwrap();
    let mut wrong = Vec::new();
    for (kind, objects) in &needed {
        for (file, object) in objects {
            wrong.extend(schemas.faults(object).into_iter().map(|fault| format!("{file}: {kind:?} {}: {fault:?}", object["metadata"]["name"])));
        }
        let mut spoilt = objects[0].1.clone();
        spoilt["sepc"] = json!({});
        assert!(matches!(schemas.faults(&spoilt)[..], [Fault::Refused(..), ..]), "{kind:?} accepts an unknown field");
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
