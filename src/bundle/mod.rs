//! Artifacts to files: YAML, provenance, atomic writing.

mod map;
mod write;

use std::collections::BTreeMap;

use crate::Compilation;
use crate::base::parallel;
use crate::lower::object::Document;
use crate::lower::{Artifacts, Content, Stream, yaml};

pub use write::{Written, write};

/// A file of a bundle.
pub enum File {
    /// Its text.
    Text(String),
    /// What makes it.
    Stream(Stream),
}

/// The files of a bundle, by path.
pub type Files = BTreeMap<String, File>;

/// The files of a bundle, its provenance included. Texts move, and what is large is made when it is written.
pub fn render(artifacts: Artifacts, c: &Compilation) -> Files {
    let map = map::text(&artifacts, &c.sources);
    let file = |content| match content {
        Content::Text(text) => File::Text(text),
        Content::Documents(documents) => File::Text(yaml_of(&documents)),
        Content::Stream(stream) => File::Stream(stream),
    };
    let mut files: Files = artifacts.files.into_iter().map(|(path, content)| (path, file(content))).collect();
    files.insert("aic.map.json".into(), File::Text(map));
    files
}

/// Documents of a file from which on they are worth more than one thread.
const MANY: usize = 1000;

/// A file of YAML documents.
fn yaml_of(documents: &[Document]) -> String {
    parallel::parts(documents, MANY, |part| part.iter().map(yaml::document).collect::<Vec<_>>().join("---\n")).join("---\n")
}

/// All files as texts, for those who compare them.
pub fn texts(files: Files, c: &Compilation) -> BTreeMap<String, String> {
    let text = |file| match file {
        File::Text(text) => text,
        File::Stream(stream) => {
            let mut out = Vec::new();
            // Writing to memory does not fail.
            let _ = stream(c, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
    };
    files.into_iter().map(|(path, file)| (path, text(file))).collect()
}
