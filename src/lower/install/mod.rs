//! `install/`: a folder an operator with Helm values, and the form in which a site installs them.

mod argocd;
mod flux;
mod helmfile;
pub mod operators;
mod readme;

use super::Artifacts;
use super::folder::Folder;
use super::object::Document;
use crate::Compilation;
use crate::design::Gitops;
use operators::{Operator, Release};

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let releases = operators::releases(c);
    match c.design.cluster.gitops {
        Gitops::None => values(c, &releases, artifacts),
        Gitops::Helmfile => {
            values(c, &releases, artifacts);
            helmfile::lower(c, &releases, artifacts);
        }
        Gitops::Argocd => argocd::lower(c, &releases, artifacts),
        Gitops::Flux => flux::lower(c, &releases, artifacts),
    }
    artifacts.text("install/README.md", readme::page(c, &releases));
}

/// A folder an operator with its values.
fn values(c: &Compilation, releases: &[Release], artifacts: &mut Artifacts) {
    for Release { operator, source, .. } in releases {
        let document = Document::file(&(operator.values)(c), source, Default::default());
        artifacts.objects(format!("install/{}/values.yaml", operator.chart.name), vec![explain(c, document, "", operator)]);
    }
}

/// The reasons for the values of an operator that stand at a pointer of a document.
fn explain(c: &Compilation, document: Document, values: &str, operator: &Operator) -> Document {
    (operator.reasons)(c).iter().fold(document, |document, (pointer, reason)| document.because_if_set(&format!("{values}{pointer}"), *reason))
}

/// The folders of `kubernetes/` that a controller may apply: those that are there, but for nodes.
fn present(artifacts: &Artifacts) -> Vec<Folder> {
    let there = |folder: &Folder| artifacts.files.contains_key(&format!("kubernetes/{folder}/kustomization.yaml"));
    Folder::ALL.into_iter().filter(|folder| *folder != Folder::Nodes).filter(there).collect()
}
