//! Writing: each changed file to a temporary beside it, then renamed; what an earlier build wrote and this one does not is removed; nothing else
//! is touched.
#![allow(clippy::disallowed_methods, reason = "this file is where the bundle meets the disk")]

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{File, Files};
use crate::Compilation;

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
///
/// # Errors
/// A file that is not ours stands in the way, then nothing is written; or the disk refuses.
pub fn write(dir: &Path, files: &Files, c: &Compilation) -> Result<Written, String> {
    let index_path = dir.join(INDEX);
    let own: BTreeSet<String> = match std::fs::read_to_string(&index_path) {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(_) => BTreeSet::new(),
    };
    for (path, file) in files {
        let target = dir.join(path);
        if !own.contains(path) && target.exists() && !is(&target, file, c).map_err(|e| fail(&target, &e))? {
            return Err(format!("{} exists and was not written by aic; move it away, or choose another folder with -o", target.display()));
        }
    }
    // The index first: whatever happens later, the next build knows what is ours.
    let all: BTreeSet<&str> = files.keys().map(String::as_str).chain(own.iter().map(String::as_str)).collect();
    replace(&index_path, all.iter().copied().collect::<Vec<_>>().join("\n") + "\n")?;
    let mut written = Written { changed: write_all(dir, files, c)?, ..Written::default() };
    written.unchanged = files.len() - written.changed;
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
    replace(&index_path, files.keys().cloned().collect::<Vec<_>>().join("\n") + "\n")?;
    Ok(written)
}

/// Writes what is new or changed, on as many threads as there are processors, and gives how many files that were. What is made while it is
/// written takes longest and goes first.
fn write_all(dir: &Path, files: &Files, c: &Compilation) -> Result<usize, String> {
    let mut order: Vec<(&String, &File)> = files.iter().collect();
    order.sort_by_key(|(_, file)| matches!(file, File::Text(_)));
    let (next, changed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), String> {
        while let Some((path, file)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let target = dir.join(path);
            if update(&target, file, c)? {
                executable(&target, path)?;
                changed.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(order.len().max(1));
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().try_for_each(|handle| handle.join().unwrap_or_else(|_| Err("a writer stopped".into())))
    })?;
    Ok(changed.into_inner())
}

fn fail(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Whether the file on the disk has that content.
fn is(target: &Path, file: &File, c: &Compilation) -> io::Result<bool> {
    match file {
        File::Text(text) => Ok(std::fs::metadata(target)?.len() == text.len() as u64 && std::fs::read(target)? == text.as_bytes()),
        File::Stream(stream) => {
            let mut compare = Compare { old: Some(std::fs::File::open(target)?), out: io::sink(), buffer: Vec::new() };
            stream(c, &mut compare)?;
            compare.same()
        }
    }
}

/// Writes a file if it differs; says whether it did.
fn update(target: &Path, file: &File, c: &Compilation) -> Result<bool, String> {
    match file {
        File::Text(text) => {
            let same = is(target, file, c).unwrap_or(false);
            if !same {
                replace(target, text)?;
            }
            Ok(!same)
        }
        File::Stream(stream) => {
            let temporary = temporary(target)?;
            let write = || -> io::Result<bool> {
                let mut compare = Compare { old: std::fs::File::open(target).ok(), out: std::fs::File::create(&temporary)?, buffer: Vec::new() };
                stream(c, &mut compare)?;
                let same = compare.same()?;
                if same {
                    std::fs::remove_file(&temporary)?
                } else {
                    std::fs::rename(&temporary, target)?
                }
                Ok(!same)
            };
            write().map_err(|e| {
                let _ = std::fs::remove_file(&temporary);
                fail(target, &e)
            })
        }
    }
}

/// Passes on what is written and compares it with an old file.
struct Compare<W> {
    /// The old file, as long as nothing differs.
    old: Option<std::fs::File>,
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Write for Compare<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(old) = &mut self.old {
            self.buffer.resize(bytes.len(), 0);
            if old.read_exact(&mut self.buffer).is_err() || self.buffer != bytes {
                self.old = None;
            }
        }
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W> Compare<W> {
    /// Whether all was equal and the old file ends here.
    fn same(mut self) -> io::Result<bool> {
        match &mut self.old {
            Some(old) => Ok(old.read(&mut [0])? == 0),
            None => Ok(false),
        }
    }
}

/// The place of a new file beside the old one, whose folder is made.
fn temporary(target: &Path) -> Result<std::path::PathBuf, String> {
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(|e| fail(target, &e))?;
    }
    let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(target.with_file_name(format!(".{name}.aic-new")))
}

fn replace(target: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let temporary = temporary(target)?;
    std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, target)).map_err(|e| fail(target, &e))
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
    use std::collections::BTreeMap;

    use super::*;

    fn files(texts: &[(&str, &str)]) -> Files {
        texts.iter().map(|(path, text)| ((*path).to_owned(), File::Text((*text).to_owned()))).collect()
    }

    fn nothing() -> Compilation {
        crate::compile(&BTreeMap::<String, String>::new(), "none.aic", crate::lang::Options::default())
    }

    #[test]
    fn foreign_files_stay_and_stale_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mine.txt"), "mine").unwrap();
        let c = nothing();
        assert_eq!(write(dir.path(), &files(&[("a/old.yaml", "1"), ("same.yaml", "2")]), &c).unwrap().changed, 2);
        let written = write(dir.path(), &files(&[("same.yaml", "2")]), &c).unwrap();
        assert_eq!((written.changed, written.unchanged, written.removed), (0, 1, 1));
        assert!(!dir.path().join("a").exists(), "empty folders go with their last file");
        assert_eq!(std::fs::read_to_string(dir.path().join("mine.txt")).unwrap(), "mine");
        assert!(write(dir.path(), &files(&[("mine.txt", "ours"), ("new.yaml", "3")]), &c).is_err());
        assert!(!dir.path().join("new.yaml").exists(), "nothing is half written");
    }

    #[test]
    fn an_index_removes_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let bundle = dir.path().join("bundle");
        std::fs::create_dir(&bundle).unwrap();
        std::fs::write(dir.path().join("outside"), "x").unwrap();
        std::fs::write(bundle.join(INDEX), "../outside\n").unwrap();
        write(&bundle, &files(&[("a", "1")]), &nothing()).unwrap();
        assert!(dir.path().join("outside").exists());
    }

    #[test]
    fn what_is_streamed_is_written_if_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let c = nothing();
        let stream = |text: &'static str| -> Files {
            let make: crate::lower::Stream = Box::new(move |_, out| text.split_inclusive(',').try_for_each(|part| out.write_all(part.as_bytes())));
            Files::from([("a.csv".to_owned(), File::Stream(make))])
        };
        let changed = |text| write(dir.path(), &stream(text), &c).unwrap().changed;
        assert_eq!([changed("a,b,c"), changed("a,b,c"), changed("a,b"), changed("a,x"), changed("a,x,c")], [1, 0, 1, 1, 1]);
        assert_eq!(std::fs::read_to_string(dir.path().join("a.csv")).unwrap(), "a,x,c");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary stays");
        std::fs::remove_file(dir.path().join(INDEX)).unwrap();
        assert!(write(dir.path(), &stream("other"), &c).is_err(), "a foreign file");
        assert!(write(dir.path(), &stream("a,x,c"), &c).is_ok(), "the same file is no clash");
    }
}
