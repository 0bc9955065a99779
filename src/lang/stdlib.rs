//! The standard library: source in the language, embedded, one flat name space. An index finds a declaration; only what is named is parsed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files, with the names that messages use.
pub const FILES: &[(&str, &str)] = &[
    ("std/gpus.aic", include_str!("../../stdlib/gpus.aic")),
    ("std/cpus.aic", include_str!("../../stdlib/cpus.aic")),
    ("std/nics.aic", include_str!("../../stdlib/nics.aic")),
    ("std/switches.aic", include_str!("../../stdlib/switches.aic")),
    ("std/cables.aic", include_str!("../../stdlib/cables.aic")),
    ("std/disks.aic", include_str!("../../stdlib/disks.aic")),
    ("std/systems.aic", include_str!("../../stdlib/systems.aic")),
    ("std/clouds.aic", include_str!("../../stdlib/clouds.aic")),
];

/// Where a declaration stands: file, first byte, one past the last.
pub type Place = (usize, usize, usize);

static INDEX: LazyLock<BTreeMap<&'static str, Place>> = LazyLock::new(|| {
    let mut index = BTreeMap::new();
    for (file, (_, text)) in FILES.iter().enumerate() {
        let mut starts: Vec<(usize, Option<&str>)> = Vec::new();
        let mut offset = 0;
        let mut docs = None;
        for line in text.split_inclusive('\n') {
            if line.starts_with("///") {
                docs.get_or_insert(offset);
            } else if line.starts_with(|c: char| c.is_ascii_lowercase()) {
                let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|w| !w.is_empty());
                let (kind, name) = (words.next(), words.next());
                let name = name.filter(|_| kind.is_some_and(|k| crate::schema::PRODUCTS.contains(&k)));
                starts.push((docs.take().unwrap_or(offset), name));
            } else {
                docs = None;
            }
            offset += line.len();
        }
        for (i, (start, name)) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(text.len(), |next| next.0);
            if let Some(name) = name {
                index.insert(*name, (file, *start, end));
            }
        }
    }
    index
});

/// Where the declaration of that name stands.
pub fn find(name: &str) -> Option<Place> {
    INDEX.get(name).copied()
}

/// Whether the declaration of that name is of that kind.
pub fn is_kind(name: &str, kind: &str) -> bool {
    find(name).is_some_and(|(file, start, end)| FILES[file].1[start..end].lines().any(|line| line.split(' ').next() == Some(kind)))
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_found_and_reads() {
        let mut count = 0;
        for name in names() {
            let (file, start, end) = find(name).unwrap();
            let (tree, diagnostics) = crate::syntax::parse(crate::base::FileId(0), &FILES[file].1[start..end]);
            assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
            assert_eq!(tree.items.len(), 1, "{name}");
            count += 1;
        }
        let declared: usize = FILES
            .iter()
            .map(|(_, text)| {
                let (tree, diagnostics) = crate::syntax::parse(crate::base::FileId(0), text);
                assert!(diagnostics.is_empty(), "{diagnostics:?}");
                tree.items.iter().filter(|i| matches!(i.kind, crate::syntax::ast::ItemKind::Block(_))).count()
            })
            .sum();
        assert_eq!(count, declared, "a name stands twice");
    }
}
