//! The documents of the example bundles against their real schemas: built-in kinds, custom resources, kubelet configurations.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::schemas::{Objects, built_in, custom, files, folder, objects};
use serde_json::Value;

/// The objects of all example bundles, and of a design with what no example has, by kind, each with its file. `install/` holds Helm values,
/// which belong to no API.
fn example_objects() -> Objects {
    let mut texts: Vec<(String, String)> = Vec::new();
    for example in common::EXAMPLES {
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

    let out = objects(texts);
    assert!(out.len() > 30, "the examples have {} kinds", out.len());
    out
}

#[test]
fn built_in_kinds_satisfy_the_published_openapi() {
    let Some(shared) = folder() else { return };
    let (wrong, kinds) = built_in(&shared, &example_objects());
    assert_eq!(wrong, Vec::<String>::new());
    assert!(kinds >= 18, "{kinds} kinds");
    println!("{kinds} built-in kinds checked");
}

#[test]
fn custom_resources_satisfy_their_real_schemas() {
    let Some(shared) = folder() else { return };
    let (wrong, kinds) = custom(&shared, &example_objects());
    assert_eq!(wrong, Vec::<String>::new());
    assert!(kinds >= 20, "{kinds} kinds");
    println!("{kinds} kinds of custom resources checked");
}

/// A table stands in for the schema that nobody publishes: each field's name and type.
#[test]
fn kubelet_configurations_have_fields_and_types_of_the_kubelet() {
    let Some(shared) = folder() else { return };
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
    for ((api, kind), objects) in example_objects() {
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
