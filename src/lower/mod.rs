//! Design, plan and nodes to artifacts: files with typed content, each with the declaration it comes from.

mod control_plane;
mod hosts;
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

use crate::Compilation;
use crate::base::Diagnostic;
use object::Document;

/// What a file holds.
#[derive(Debug)]
pub enum Content {
    /// YAML documents.
    Documents(Vec<Document>),
    /// Text as it is written.
    Text(String),
}

/// All files of a bundle, by path.
#[derive(Debug, Default)]
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

    /// Adds objects; a file without objects is not written.
    pub fn objects(&mut self, path: impl Into<String>, documents: Vec<Document>) {
        if !documents.is_empty() {
            self.files.insert(path.into(), Content::Documents(documents));
        }
    }
}

/// Makes all artifacts of a design without errors, or says what this version does not emit.
pub fn lower(compilation: &Compilation) -> Result<Artifacts, Vec<Diagnostic>> {
    let faults = unsupported::find(&compilation.design);
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut artifacts = Artifacts::default();
    kubernetes::lower(compilation, &mut artifacts);
    install::lower(compilation, &mut artifacts);
    hosts::lower(compilation, &mut artifacts);
    control_plane::lower(compilation, &mut artifacts);
    network::lower(compilation, &mut artifacts);
    storage::lower(compilation, &mut artifacts);
    artifacts.text("plan.json", plan::text(compilation));
    readme::lower(compilation, &mut artifacts);
    Ok(artifacts)
}
