//! `install/`: a folder an operator with Helm values, and the form in which a site installs them.

mod commands;
pub mod operators;

use super::Artifacts;
use super::object::Document;
use crate::Compilation;
use operators::Release;

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let releases = operators::releases(c);
    for release in &releases {
        artifacts.objects(format!("install/{}/values.yaml", release.operator.chart.name), vec![values(c, release)]);
    }
    artifacts.text("install/README.md", commands::readme(c, &releases));
}

/// The values of a release, each with its reason.
fn values(c: &Compilation, release: &Release) -> Document {
    let mut document = Document::file(&(release.operator.values)(c), &release.source, Default::default());
    for (pointer, reason) in release.operator.reasons.iter().filter(|(pointer, _)| pointer.is_empty() || document.value.pointer(pointer).is_some()) {
        document.reasons.push(((*pointer).to_owned(), (*reason).to_owned()));
    }
    document
}
