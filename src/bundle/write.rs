//! Writing: each changed file to a temporary beside it, then renamed; what an earlier build wrote and this one does not is removed; nothing else
//! is touched.
#![allow(clippy::disallowed_methods, reason = "this file is where the bundle meets the disk")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The bundle's own index.
const INDEX: &str = ".aic-files";

/// What a write did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// Files that are new or changed.
    pub changed: usize,
    /// Files that were right already.
    pub unchanged: usize,
    /// Files of an earlier build that were removed.
    pub removed: usize,
}

/// Writes the files of a bundle below `dir`.
pub fn write(dir: &Path, files: &BTreeMap<String, String>) -> Result<Written, String> {
    let fail = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let index_path = dir.join(INDEX);
    let own: BTreeSet<String> = match std::fs::read_to_string(&index_path) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => BTreeSet::new(),
    };
    // Nothing is written if a file that is not ours stands in the way.
    for path in files.keys() {
        let target = dir.join(path);
        if !own.contains(path) && target.exists() && std::fs::read(&target).map_err(|e| fail(&target, e))? != files[path].as_bytes() {
            return Err(format!("{} exists and was not written by aic; move it away, or choose another folder with -o", target.display()));
        }
    }
    // The index first: whatever happens later, the next build knows what is ours.
    let all: BTreeSet<&str> = files.keys().map(String::as_str).chain(own.iter().map(String::as_str)).collect();
    replace(&index_path, &(all.iter().copied().collect::<Vec<_>>().join("\n") + "\n"))?;
    let mut written = Written::default();
    for (path, text) in files {
        let target = dir.join(path);
        if std::fs::read(&target).is_ok_and(|old| old == text.as_bytes()) {
            written.unchanged += 1;
            continue;
        }
        replace(&target, text)?;
        executable(&target, path)?;
        written.changed += 1;
    }
    for stale in own.iter().filter(|p| !files.contains_key(*p) && *p != INDEX) {
        // The index is a file that anyone may edit: it removes nothing outside the bundle.
        if stale.is_empty() || Path::new(stale).components().any(|c| !matches!(c, std::path::Component::Normal(_))) {
            continue;
        }
        let target = dir.join(stale);
        if std::fs::remove_file(&target).is_ok() {
            written.removed += 1;
            let mut parent = target.parent();
            while let Some(folder) = parent.filter(|p| *p != dir && std::fs::remove_dir(p).is_ok()) {
                parent = folder.parent();
            }
        }
    }
    replace(&index_path, &(files.keys().cloned().collect::<Vec<_>>().join("\n") + "\n"))?;
    Ok(written)
}

fn replace(target: &Path, text: &str) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", target.display());
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(fail)?;
    }
    let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = target.with_file_name(format!(".{name}.aic-new"));
    std::fs::write(&temporary, text).map_err(fail)?;
    std::fs::rename(&temporary, target).map_err(fail)
}

#[cfg(unix)]
fn executable(target: &Path, path: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    if path.ends_with(".sh") {
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(target, permissions).map_err(|e| format!("{}: {e}", target.display()))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn executable(_: &Path, _: &str) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_stay_and_stale_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mine.txt"), "mine").unwrap();
        let first = BTreeMap::from([("a/old.yaml".to_owned(), "1".to_owned()), ("same.yaml".to_owned(), "2".to_owned())]);
        assert_eq!(write(dir.path(), &first).unwrap().changed, 2);
        let second = BTreeMap::from([("same.yaml".to_owned(), "2".to_owned())]);
        let written = write(dir.path(), &second).unwrap();
        assert_eq!((written.changed, written.unchanged, written.removed), (0, 1, 1));
        assert!(!dir.path().join("a").exists(), "empty folders go with their last file");
        assert_eq!(std::fs::read_to_string(dir.path().join("mine.txt")).unwrap(), "mine");
        let clash = BTreeMap::from([("mine.txt".to_owned(), "ours".to_owned()), ("new.yaml".to_owned(), "3".to_owned())]);
        assert!(write(dir.path(), &clash).is_err());
        assert!(!dir.path().join("new.yaml").exists(), "nothing is half written");
    }

    #[test]
    fn an_index_removes_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let bundle = dir.path().join("bundle");
        std::fs::create_dir(&bundle).unwrap();
        std::fs::write(dir.path().join("outside"), "x").unwrap();
        std::fs::write(bundle.join(INDEX), "../outside\n").unwrap();
        write(&bundle, &BTreeMap::from([("a".to_owned(), "1".to_owned())])).unwrap();
        assert!(dir.path().join("outside").exists());
    }
}
