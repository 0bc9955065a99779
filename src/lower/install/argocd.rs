//! `gitops = argocd`: an app of apps. One folder holds an Application an operator and the folders of `kubernetes/`, each with its wave; the root
//! Application, which alone knows the repository, is made by one command.

use serde_json::json;

use super::super::Artifacts;
use super::super::folder::Folder;
use super::super::kinds::argocd::{Application, ApplicationSpec, Automated, Backoff, Destination, Helm, Ignored, Retry, Source, SyncPolicy};
use super::super::kinds::{Kustomization, strings};
use super::super::object::{Document, Maker};
use super::super::yaml;
use super::operators::{Release, Wave};
use super::{explain, present};
use crate::Compilation;

const WAVE: &str = "argocd.argoproj.io/sync-wave";

/// Writes `install/argocd/`.
pub fn lower(c: &Compilation, releases: &[Release], artifacts: &mut Artifacts) {
    let maker = Maker { design: &c.design };
    artifacts.objects("install/argocd/applications.yaml", releases.iter().map(|r| application(c, &maker, r)).collect());
    let mut resources = strings(["applications.yaml"]);
    for folder in present(artifacts) {
        resources.push(folder.name().to_owned());
        // A namespace that leaves the design is not deleted with all that is in it.
        let options = if folder == Folder::Namespaces { "Prune=false" } else { "SkipDryRunOnMissingResource=true" };
        let transformer = json!({
            "apiVersion": "builtin", "kind": "AnnotationsTransformer", "metadata": { "name": "wave" },
            "annotations": { WAVE: folder_wave(folder).to_string(), "argocd.argoproj.io/sync-options": options },
            "fieldSpecs": [{ "path": "metadata/annotations", "create": true }],
        });
        let listing = Kustomization { resources: vec![format!("../../../kubernetes/{folder}")], transformers: Some(vec![yaml::text(&transformer)]) };
        let document = Document::configuration(&listing, "cluster.gitops", c.design.cluster.at.head)
            .because("/transformers", "Its wave on every object of the folder and not on pod templates; kinds whose operator is not there yet are not tried.");
        artifacts.objects(format!("install/argocd/{folder}/kustomization.yaml"), vec![document]);
    }
    let listing = Kustomization { resources, transformers: None };
    artifacts.objects("install/argocd/kustomization.yaml", vec![Document::configuration(&listing, "cluster.gitops", c.design.cluster.at.head)]);
}

/// Waves of operators are tens, so that folders stand between.
fn wave(wave: Wave) -> usize {
    10 * (wave as usize + 1)
}

/// A folder comes after all operators, namespaces before them.
fn folder_wave(folder: Folder) -> usize {
    match folder {
        Folder::Namespaces => 0,
        folder => wave(Wave::Queues) + folder as usize,
    }
}

fn application(c: &Compilation, maker: &Maker, release: &Release) -> Document {
    let chart = release.operator.chart;
    let spec = ApplicationSpec {
        project: "default",
        destination: Destination { server: "https://kubernetes.default.svc", namespace: chart.namespace },
        // Argo CD takes an OCI registry without its scheme.
        source: Source {
            repository: chart.repository.trim_start_matches("oci://"),
            chart: chart.chart,
            target_revision: chart.version,
            helm: Helm { release_name: chart.name, values_object: (release.operator.values)(c) },
        },
        sync_policy: SyncPolicy {
            automated: Automated { prune: true, self_heal: true },
            sync_options: vec!["ServerSideApply=true", "CreateNamespace=false", "SkipDryRunOnMissingResource=true", "RespectIgnoreDifferences=true"],
            retry: Retry { limit: 10, backoff: Backoff { duration: "30s", factor: 2, max_duration: "10m" } },
        },
        ignore_differences: vec![
            Ignored {
                group: Some("admissionregistration.k8s.io"),
                kind: "ValidatingWebhookConfiguration",
                jq_path_expressions: vec![".webhooks[]?.clientConfig.caBundle"],
            },
            Ignored {
                group: Some("admissionregistration.k8s.io"),
                kind: "MutatingWebhookConfiguration",
                jq_path_expressions: vec![".webhooks[]?.clientConfig.caBundle"],
            },
            Ignored { group: None, kind: "Secret", jq_path_expressions: vec![".data"] },
        ],
    };
    let mut document = maker
        .namespaced((&c.design.cluster.at, "gitops"), "argocd", chart.name, Application { spec, ..Default::default() })
        .because("/spec/syncPolicy/syncOptions", "CRDs are too large for client-side apply; a chart's own custom resources exist before their kind does.")
        .because("/spec/ignoreDifferences", "Controllers write certificates of their webhooks.");
    document.value["metadata"]["annotations"][WAVE] = wave(release.operator.wave).to_string().into();
    document.source.clone_from(&release.source);
    explain(c, document, "/spec/source/helm/valuesObject", release.operator)
}
