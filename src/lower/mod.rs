//! Design, plan and nodes to artifacts: files with typed content, each with the declaration it comes from.

mod control_plane;
mod distributions;
mod folder;
mod hosts;
pub mod images;
mod install;
mod kinds;
pub mod kubernetes;
pub mod network;
pub mod object;
pub mod plan;
mod readme;
mod storage;
mod unsupported;
pub mod yaml;

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::Compilation;
use crate::base::Diagnostic;
use object::Document;

/// A text that is made while it is written: what is large never stands in memory.
pub type Stream = Box<dyn Fn(&Compilation, &mut dyn Write) -> io::Result<()> + Send + Sync>;

/// What a file holds.
pub enum Content {
    /// YAML documents.
    Documents(Vec<Document>),
    /// Text as it is written.
    Text(String),
    /// Text that is made while it is written.
    Stream(Stream),
}

/// All files of a bundle, by path.
#[derive(Default)]
pub struct Artifacts {
    /// Path and content.
    pub files: BTreeMap<String, Content>,
}

impl Artifacts {
    /// How many YAML documents there are.
    pub fn documents(&self) -> usize {
        self.files.values().map(|content| if let Content::Documents(documents) = content { documents.len() } else { 0 }).sum()
    }

    /// Adds a text.
    pub fn text(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), Content::Text(text.into()));
    }

    /// Adds a text that is made while it is written.
    pub fn stream(&mut self, path: impl Into<String>, make: impl Fn(&Compilation, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static) {
        self.files.insert(path.into(), Content::Stream(Box::new(make)));
    }

    /// Adds objects; a file without objects is not written.
    pub fn objects(&mut self, path: impl Into<String>, documents: Vec<Document>) {
        if !documents.is_empty() {
            self.files.insert(path.into(), Content::Documents(documents));
        }
    }
}

/// Makes all artifacts of a design without errors, or says what this version does not emit.
pub fn lower(compilation: &Compilation) -> Result<Artifacts, Vec<Diagnostic>> {
    let mut artifacts = unmirrored(compilation)?;
    if let Some(mirror) = &compilation.design.cluster.mirror {
        let version = crate::versions::kubernetes_patch(&compilation.design.cluster.kubernetes);
        let page = images::page(&images::list(&artifacts), Some(mirror), &install::operators::releases(compilation), &version);
        artifacts.text("images.csv", page);
        images::mirror(&mut artifacts, mirror);
    }
    Ok(artifacts)
}

/// The same, with images by the names of those who publish them.
///
/// # Errors
///
/// What this version does not emit.
pub fn unmirrored(compilation: &Compilation) -> Result<Artifacts, Vec<Diagnostic>> {
    let faults = unsupported::find(&compilation.design);
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut artifacts = Artifacts::default();
    kubernetes::lower(compilation, &mut artifacts);
    install::lower(compilation, &mut artifacts);
    if let Some(platform) = distributions::of(compilation.design.cluster.distribution) {
        platform.lower(compilation, &mut artifacts);
    }
    network::lower(compilation, &mut artifacts);
    storage::lower(compilation, &mut artifacts);
    artifacts.stream("plan.json", plan::write);
    readme::lower(compilation, &mut artifacts);
    Ok(artifacts)
}
