//! Artifacts to files: YAML, provenance, atomic writing.

mod map;
mod write;

use std::collections::BTreeMap;

use crate::base::SourceMap;
use crate::lower::{Artifacts, Content, yaml};

pub use write::{Written, write};

/// The text of every file of a bundle, its provenance included.
pub fn render(artifacts: &Artifacts, sources: &SourceMap) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = artifacts
        .files
        .iter()
        .map(|(path, content)| {
            let text = match content {
                Content::Text(text) => text.clone(),
                Content::Documents(documents) => documents.iter().map(yaml::document).collect::<Vec<_>>().join("---\n"),
            };
            (path.clone(), text)
        })
        .collect();
    files.insert("aic.map.json".into(), map::text(artifacts, sources));
    files
}
