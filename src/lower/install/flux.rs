//! `gitops = flux`: a source a chart repository, a HelmRelease an operator, and a Kustomization a folder of `kubernetes/`, each waiting for what it needs.

use std::collections::BTreeMap;

use super::super::Artifacts;
use super::super::folder::Folder;
use super::super::kinds::flux::{
    ChartSpec, ChartTemplate, HelmRelease, HelmReleaseSpec, HelmRepository, HelmRepositorySpec, Install, Kustomization, KustomizationSpec, Name, Reference,
    Remediation, Upgrade,
};
use super::super::kinds::{Kustomization as Listing, non_empty, strings};
use super::super::object::{Document, Maker};
use super::operators::Release;
use super::{explain, present};
use crate::Compilation;
use crate::versions::Chart;

const NAMESPACE: &str = "flux-system";

/// Writes `install/flux/`.
pub fn lower(c: &Compilation, releases: &[Release], artifacts: &mut Artifacts) {
    let maker = Maker { design: &c.design };
    let origin = (&c.design.cluster.at, "gitops");
    let repositories: BTreeMap<String, &'static str> = releases.iter().map(|r| (source(r.operator.chart), r.operator.chart.repository)).collect();
    let sources = repositories.into_iter().map(|(name, url)| {
        let kind = url.starts_with("oci://").then_some("oci");
        maker.namespaced(origin, NAMESPACE, &name, HelmRepository { spec: HelmRepositorySpec { kind, url, interval: "24h" }, ..Default::default() })
    });
    artifacts.objects("install/flux/operators/sources.yaml", sources.collect());
    artifacts.objects("install/flux/operators/releases.yaml", releases.iter().map(|r| release(c, &maker, r)).collect());
    let listing = Listing { resources: strings(["sources.yaml", "releases.yaml"]), transformers: None };
    artifacts.objects("install/flux/operators/kustomization.yaml", vec![Document::configuration(&listing, "cluster.gitops", c.design.cluster.at.head)]);
    artifacts.objects("install/flux/kustomizations.yaml", kustomizations(c, &maker, artifacts));
}

/// The source of a chart: a name a repository.
fn source(chart: &Chart) -> String {
    let place = chart.repository.split_once("://").map_or(chart.repository, |(_, rest)| rest);
    place.trim_end_matches('/').replace(['/', '.'], "-")
}

fn release(c: &Compilation, maker: &Maker, release: &Release) -> Document {
    let chart = release.operator.chart;
    let remediation = || Remediation { retries: 3 };
    let spec = HelmReleaseSpec {
        release_name: chart.name,
        target_namespace: chart.namespace,
        storage_namespace: chart.namespace,
        interval: "1h",
        timeout: "20m",
        depends_on: non_empty(release.needs.iter().map(|chart| Name { name: chart.name.to_owned() }).collect()),
        chart: ChartTemplate {
            spec: ChartSpec { chart: chart.chart, version: chart.version, source_ref: Reference { kind: "HelmRepository", name: source(chart) } },
        },
        install: Install { crds: "CreateReplace", create_namespace: false, remediation: remediation() },
        upgrade: Upgrade { crds: "CreateReplace", remediation: remediation() },
        values: (release.operator.values)(c),
    };
    let mut document = maker
        .namespaced((&c.design.cluster.at, "gitops"), NAMESPACE, chart.name, HelmRelease { spec, ..Default::default() })
        .because("/spec/install/createNamespace", "kubernetes/namespaces brings it, with its Pod Security level.")
        .because("/spec/upgrade/crds", "Helm by itself never updates the CRDs of a chart.");
    document.source.clone_from(&release.source);
    explain(c, document, "/spec/values", release.operator)
}

/// Namespaces, operators, and the folders that their kinds admit. Nodes are left to a script: a Node that is applied before its host joins loses its
/// taints.
fn kustomizations(c: &Compilation, maker: &Maker, artifacts: &Artifacts) -> Vec<Document> {
    let base = c.design.cluster.bundle_path.trim_end_matches('/');
    let mut before: Vec<String> = Vec::new();
    let mut out = Vec::new();
    let mut add = |name: &str, path: String, wait: bool| {
        let needs = std::mem::replace(&mut before, vec![name.to_owned()]);
        let spec = KustomizationSpec {
            path,
            source_ref: Reference { kind: "GitRepository", name: NAMESPACE.into() },
            interval: "10m",
            retry_interval: "2m",
            timeout: "30m",
            depends_on: non_empty(needs.into_iter().map(|name| Name { name }).collect()),
            prune: name != "namespaces",
            wait,
        };
        let mut document = maker.namespaced((&c.design.cluster.at, "gitops"), NAMESPACE, name, Kustomization { spec, ..Default::default() });
        if name == "namespaces" {
            document = document
                .because("", "`flux bootstrap` names the repository `flux-system`; bundle_path says where the bundle lies in it.")
                .because("/spec/prune", "A namespace that leaves the design is not deleted with all that is in it.");
        }
        out.push(document);
    };
    for folder in present(artifacts) {
        add(folder.name(), format!("./{base}/kubernetes/{folder}"), folder == Folder::Namespaces);
        if folder == Folder::Namespaces {
            add("operators", format!("./{base}/install/flux/operators"), true);
        }
    }
    out
}
