//! `aic.map.json`: which line made this. Manifests name declarations only, so that a comment moved in the source changes no manifest.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::{SourceMap, Span};
use crate::lower::{Artifacts, Content};

#[derive(Serialize)]
struct Entry {
    /// `Node train-0-h100-0`, or the first and last of equal ones.
    object: String,
    /// How many documents in a row come from one declaration.
    documents: usize,
    source: String,
    place: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Map {
    format: u32,
    files: BTreeMap<String, Vec<Entry>>,
}

/// The map of a bundle.
pub fn text(artifacts: &Artifacts, sources: &SourceMap) -> String {
    let mut files = BTreeMap::new();
    for (path, content) in &artifacts.files {
        let Content::Documents(documents) = content else { continue };
        let mut entries: Vec<(Entry, Span)> = Vec::new();
        for document in documents {
            let name =
                |v: &serde_json::Value| format!("{} {}", v["kind"].as_str().unwrap_or(""), v["metadata"]["name"].as_str().unwrap_or("")).trim().to_owned();
            let object = name(&document.value);
            // Equal shapes of an array's elements stand once, with their range.
            if let Some((last, span)) = entries.last_mut()
                && *span == document.span
                && document.fields.is_empty()
                && last.fields.is_empty()
                && last.object.split(' ').next() == object.split(' ').next()
            {
                last.documents += 1;
                let first = last.object.split(" … ").next().unwrap_or("").to_owned();
                last.object = format!("{first} … {}", object.split(' ').nth(1).unwrap_or(""));
                continue;
            }
            let place = (document.span != Span::default()).then(|| sources.place(document.span));
            let fields = document.fields.iter().map(|(pointer, span)| (pointer.clone(), sources.place(*span))).collect();
            entries.push((Entry { object, documents: 1, source: document.source.clone(), place, fields }, document.span));
        }
        files.insert(path.clone(), entries.into_iter().map(|(e, _)| e).collect());
    }
    serde_json::to_string_pretty(&Map { format: 1, files }).unwrap_or_default() + "\n"
}
