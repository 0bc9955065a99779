//! `README.md`: the operators, and the commands that install them in the site's way.

use std::fmt::Write as _;

use super::super::folder::Folder;
use super::operators::{Release, Wave};
use crate::Compilation;
use crate::design::Gitops;

/// The page.
pub fn page(c: &Compilation, releases: &[Release]) -> String {
    let form = match c.design.cluster.gitops {
        Gitops::None | Gitops::Helmfile => "One folder an operator; the release has the folder's name. Each step waits for the one before.",
        Gitops::Argocd => "An Argo CD Application an operator, in waves; the folders of `kubernetes/` follow in theirs.",
        Gitops::Flux => "A HelmRelease an operator; the folders of `kubernetes/` are Kustomizations that wait for them.",
    };
    let mut out = format!(
        "# Operators of {}\n\n{form} Namespaces are applied before Helm, which sets no Pod Security labels: `--create-namespace` is never used.\n\n| release | chart | version | namespace | asked for by |\n|---|---|---|---|---|\n",
        c.design.cluster.name
    );
    for Release { operator, source, .. } in releases {
        let chart = operator.chart;
        let _ = writeln!(out, "| {} | {} {} | {} | {} | `{source}` |", chart.name, chart.repository, chart.chart, chart.version, chart.namespace);
    }
    out += &match c.design.cluster.gitops {
        Gitops::None => commands(releases),
        Gitops::Helmfile => "\n```sh\ncd install\nhelmfile apply\n../kubernetes/nodes/apply.sh\n```\n\nThe folders of `kubernetes/` that belong to no operator follow in the order of the bundle's README.\n".into(),
        Gitops::Argocd => format!(
            "\n{}The root Application is the only one that knows the repository; nodes are left to `kubernetes/nodes/apply.sh`, since a Node that is applied before its host joins loses its taints.\n\n```sh\nargocd app create {} --repo <repository> --path {}/install/argocd --dest-server https://kubernetes.default.svc --dest-namespace argocd --sync-option ServerSideApply=true --sync-policy automated\n```\n\nWaves wait for Applications only where `argocd-cm` has the health check of `argoproj.io/Application` (Argo CD documentation, health of an app of apps).\n",
            first(releases),
            c.design.cluster.name.replace('_', "-"),
            c.design.cluster.bundle_path,
        ),
        Gitops::Flux => format!(
            "\n{}`flux bootstrap` makes the GitRepository `flux-system`; add `install/flux/kustomizations.yaml` to the path that it watches. Nodes are left to `kubernetes/nodes/apply.sh`, since a Node that is applied before its host joins loses its taints.\n",
            first(releases)
        ),
    };
    out
}

/// What runs before any controller can: pods need their network.
fn first(releases: &[Release]) -> String {
    let network = releases.iter().find(|r| r.operator.wave == Wave::PodNetwork).map(|r| r.operator.chart);
    network.map_or(String::new(), |chart| {
        format!("The controller itself needs the pod network: the first time `{}` is installed by Helm with the values of its release, and taken over from then on. ", chart.name)
    })
}

/// The commands of Helm and kubectl.
fn commands(releases: &[Release]) -> String {
    let mut out = String::from("\n```sh\ncd install\n");
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
