//! `gitops = helmfile`: one file of releases with what each needs; hooks apply the folders of `kubernetes/`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::folder::Folder;
use super::super::object::Document;
use super::operators::Release;
use crate::Compilation;
use crate::versions::Chart;

/// Writes `install/helmfile.yaml`.
pub fn lower(c: &Compilation, releases: &[Release], artifacts: &mut Artifacts) {
    let repositories: BTreeMap<String, &Chart> =
        releases.iter().map(|r| r.operator.chart).filter(|chart| !chart.repository.starts_with("oci://")).map(|chart| (chart.name.to_owned(), chart)).collect();
    let file = json!({
        "repositories": repositories.iter().map(|(name, chart)| json!({ "name": name, "url": chart.repository })).collect::<Vec<_>>(),
        "helmDefaults": { "createNamespace": false, "wait": true, "timeout": 1200 },
        "hooks": [apply("prepare", Folder::Namespaces)],
        "releases": releases.iter().map(release).collect::<Vec<_>>(),
    });
    let document = Document::file(&file, "cluster.gitops", c.design.cluster.at.head)
        .because("", "`helmfile apply` here. Once: ../kubernetes/nodes/apply.sh, when hosts have joined.")
        .because("/helmDefaults/createNamespace", "kubernetes/namespaces brings them, with their Pod Security level.");
    artifacts.objects("install/helmfile.yaml", vec![document]);
}

fn release(release: &Release) -> Value {
    let chart = release.operator.chart;
    let place =
        if chart.repository.starts_with("oci://") { format!("{}/{}", chart.repository, chart.chart) } else { format!("{}/{}", chart.name, chart.chart) };
    let mut value = json!({
        "name": chart.name, "namespace": chart.namespace, "chart": place, "version": chart.version,
        // Custom resources of a chart's own kinds cannot be validated before their first release.
        "disableValidationOnInstall": true,
        "values": [format!("{}/values.yaml", chart.name)],
    });
    if !release.needs.is_empty() {
        value["needs"] = release.needs.iter().map(|chart| format!("{}/{}", chart.namespace, chart.name)).collect();
    }
    let hooks: Vec<Value> = release
        .operator
        .serves
        .iter()
        .filter(|folder| !matches!(folder, Folder::Namespaces | Folder::Nodes))
        .map(|folder| apply("postsync", *folder))
        .collect();
    if !hooks.is_empty() {
        value["hooks"] = hooks.into();
    }
    value
}

fn apply(event: &str, folder: Folder) -> Value {
    json!({ "events": [event], "showlogs": true, "command": "kubectl", "args": ["apply", "--server-side", "-k", format!("../kubernetes/{folder}")] })
}
