//! Artifacts to files: YAML, provenance, atomic writing.

mod map;
mod write;

use std::collections::BTreeMap;

use crate::base::SourceMap;
use crate::lower::{Artifacts, Content, yaml};

pub use write::{Written, write};

/// The text of every file of a bundle, its provenance included. Texts move: a large bundle's tables are not copied.
pub fn render(artifacts: Artifacts, sources: &SourceMap) -> BTreeMap<String, String> {
    let map = map::text(&artifacts, sources);
    let text = |content| match content {
        Content::Text(text) => text,
        Content::Documents(documents) => documents.iter().map(yaml::document).collect::<Vec<_>>().join("---\n"),
    };
    let mut files: BTreeMap<String, String> = artifacts.files.into_iter().map(|(path, content)| (path, text(content))).collect();
    files.insert("aic.map.json".into(), map);
    files
}
