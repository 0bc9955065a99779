//! `gitops = none`: the commands of Helm and kubectl, in a page.

use std::fmt::Write as _;

use super::super::folder::Folder;
use super::operators::Release;
use crate::Compilation;

/// The page.
pub fn readme(c: &Compilation, releases: &[Release]) -> String {
    let mut out = format!(
        "# Operators of {}\n\nOne folder an operator; the release has the folder's name. Each step waits for the one before. Namespaces are applied before Helm, which sets no Pod Security labels: `--create-namespace` is never used.\n\n| release | chart | version | namespace | asked for by |\n|---|---|---|---|---|\n",
        c.design.cluster.name
    );
    for Release { operator, source } in releases {
        let chart = operator.chart;
        let _ = writeln!(out, "| {} | {} {} | {} | {} | `{source}` |", chart.name, chart.repository, chart.chart, chart.version, chart.namespace);
    }
    out.push_str("\n```sh\ncd install\n");
    for Release { operator, .. } in releases {
        let chart = operator.chart;
        let place = if chart.repository.starts_with("oci://") {
            format!("{}/{}", chart.repository, chart.chart)
        } else {
            format!("{} --repo {}", chart.chart, chart.repository)
        };
        let _ = writeln!(
            out,
            "helm upgrade --install {} {place} --version {} --namespace {} --values {}/values.yaml --wait --timeout 20m",
            chart.name, chart.version, chart.namespace, chart.name
        );
        let commands: Vec<String> = operator.serves.iter().map(|folder| apply(*folder)).collect();
        if !commands.is_empty() {
            let note = if operator.serves.contains(&Folder::Network) { "   # virtual functions and RDMA mode reboot hosts the first time" } else { "" };
            let _ = writeln!(out, "{}{note}", commands.join(" && "));
        }
    }
    out.push_str("```\n");
    out
}

fn apply(folder: Folder) -> String {
    match folder {
        Folder::Nodes => "../kubernetes/nodes/apply.sh".into(),
        folder => format!("kubectl apply --server-side -k ../kubernetes/{folder}"),
    }
}
