//! Images: what the bundle names, and their names at the site's mirror.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::install::operators::Release;
use super::{Artifacts, Content};

/// An image and where the bundle names it.
pub type Images = BTreeMap<String, Vec<String>>;

/// The images that the documents of a bundle name, each with the declarations that ask for it.
pub fn list(artifacts: &Artifacts) -> Images {
    let mut out = Images::new();
    for content in artifacts.files.values() {
        let Content::Documents(documents) = content else { continue };
        for document in documents {
            let mut value = document.value.clone();
            walk(&mut value, &mut |reference| {
                let sources = out.entry(reference.text()).or_default();
                if !sources.contains(&document.source) {
                    sources.push(document.source.clone());
                }
            });
        }
    }
    out
}

/// Sends every reference of the bundle through a mirror.
pub fn mirror(artifacts: &mut Artifacts, mirror: &str) {
    for content in artifacts.files.values_mut() {
        if let Content::Documents(documents) = content {
            documents.iter_mut().for_each(|document| walk(&mut document.value, &mut |reference| reference.mirror(mirror)));
        }
    }
}

/// The name of an image at a mirror: its path there, without the registry that it came from. What is at the mirror already keeps its name.
pub fn mirrored(image: &str, mirror: &str) -> String {
    let host = mirror.split('/').next().unwrap_or(mirror);
    match image.split_once('/') {
        Some((registry, _)) if registry == host => image.to_owned(),
        Some((registry, path)) if is_registry(registry) => format!("{mirror}/{path}"),
        // Docker Hub, whose own images stand under library.
        Some(_) => format!("{mirror}/{image}"),
        None => format!("{mirror}/library/{image}"),
    }
}

fn is_registry(name: &str) -> bool {
    name.contains(['.', ':']) || name == "localhost"
}

/// A place that names an image: one text, or a text for its repository beside others for its name and version.
enum Reference<'a> {
    Whole(&'a mut String),
    Parts { repository: &'a mut String, name: String, version: String },
}

impl Reference<'_> {
    fn text(&self) -> String {
        match self {
            Reference::Whole(text) => (*text).clone(),
            Reference::Parts { repository, name, version } => {
                let path = if name.is_empty() { (*repository).clone() } else { format!("{repository}/{name}") };
                if version.is_empty() { path } else { format!("{path}:{version}") }
            }
        }
    }

    fn mirror(self, mirror: &str) {
        match self {
            Reference::Whole(text) => *text = mirrored(text, mirror),
            Reference::Parts { repository, .. } => *repository = mirrored(repository, mirror),
        }
    }
}

fn text(map: &serde_json::Map<String, Value>, key: &str) -> Option<String> {
    map.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn walk(value: &mut Value, seen: &mut impl FnMut(Reference)) {
    match value {
        Value::Object(map) => {
            let name = text(map, "image");
            let version = text(map, "version").or_else(|| text(map, "tag")).unwrap_or_default();
            let in_parts = text(map, "repository").is_some_and(|repository| repository.split('/').next().is_some_and(is_registry));
            if in_parts {
                if let Some(Value::String(repository)) = map.get_mut("repository") {
                    seen(Reference::Parts { repository, name: name.unwrap_or_default(), version });
                }
            } else if let Some(Value::String(image)) = map.get_mut("image").filter(|v| v.as_str().is_some_and(|s| s.contains('/'))) {
                seen(Reference::Whole(image));
            }
            map.values_mut().for_each(|inner| walk(inner, seen));
        }
        Value::Array(list) => list.iter_mut().for_each(|inner| walk(inner, seen)),
        _ => {}
    }
}

/// The list as a file: what to copy, to which name, and the charts whose own images come on top.
pub fn page(images: &Images, mirror: Option<&str>, releases: &[Release], kubernetes: &str) -> String {
    let mut out = String::from("image,mirror,asked_for_by\n");
    for (image, sources) in images {
        let _ = writeln!(out, "{image},{},{}", mirror.map_or(String::new(), |mirror| mirrored(image, mirror)), sources.join(" "));
    }
    let _ = writeln!(out, "# The installer's own: those of Kubernetes {kubernetes} (kubeadm config images list, or the release's list of the distribution).");
    for Release { operator, .. } in releases {
        let chart = operator.chart;
        let place = if chart.repository.starts_with("oci://") {
            format!("{}/{}", chart.repository, chart.chart)
        } else {
            format!("{} --repo {}", chart.chart, chart.repository)
        };
        let _ = writeln!(
            out,
            "# Those of {}: helm template {place} --version {} --values install/{}/values.yaml | grep -o 'image: .*' | sort -u",
            chart.name, chart.version, chart.name
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_a_mirror_keep_their_path() {
        let mirror = "registry.site.example/mirror";
        assert_eq!(mirrored("nvcr.io/nvidia/driver:580", mirror), "registry.site.example/mirror/nvidia/driver:580");
        assert_eq!(mirrored("registry.site.example/team/app:1", mirror), "registry.site.example/team/app:1");
        assert_eq!(mirrored("busybox:1", mirror), "registry.site.example/mirror/library/busybox:1");
        assert_eq!(mirrored("grafana/grafana:12", mirror), "registry.site.example/mirror/grafana/grafana:12");
    }
}
