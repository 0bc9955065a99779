//! Source texts and places in them. A span is a file and byte offsets; lines and columns are computed when something is shown.

use std::sync::Arc;

/// A file of the program, by its number in the [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `other`; both are in one file.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.end), ..self }
    }

    /// Whether the byte `offset` of `file` lies in it (its end counts, as a cursor may stand there).
    pub fn touches(&self, file: FileId, offset: u32) -> bool {
        self.file == file && self.start <= offset && offset <= self.end
    }
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One text of the program.
#[derive(Debug)]
pub struct Source {
    /// How messages call it: a path inside the project, or `std/…`.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

/// All texts that one compilation has read.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Adds a text under a name and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1)).collect();
        self.files.push(Source { name: name.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of that number.
    pub fn get(&self, file: FileId) -> &Source {
        &self.files[file.0 as usize]
    }

    /// The files, in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(i, s)| (FileId(i as u32), s))
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte.
    pub fn position(&self, file: FileId, offset: u32) -> Position {
        let source = self.get(file);
        let line = source.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = source.line_starts[line - 1] as usize;
        let column = source.text.get(start..offset as usize).map_or(1, |text| text.chars().count() + 1);
        Position { line, column }
    }

    /// `file:line` of the start of a span, as provenance prints it.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.get(span.file).name, self.position(span.file, span.start).line)
    }
}

/// Where texts come from: the disk, editor buffers, a test. Paths are relative to the project root, with `/`.
///
/// The compiler's core reads nothing but through this trait, so that the language server, `diff` and the tests call the same functions.
pub trait Sources {
    /// The text at `path`, or nothing if there is no such file.
    fn read(&self, path: &str) -> Option<String>;
}

/// Texts held in memory: tests, and the first stage of every tool that makes a design up.
impl Sources for std::collections::BTreeMap<String, String> {
    fn read(&self, path: &str) -> Option<String> {
        self.get(path).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.aic", "é = 1\nb = 2\n");
        assert_eq!(sources.position(file, 0), Position { line: 1, column: 1 });
        assert_eq!(sources.position(file, 3), Position { line: 1, column: 3 });
        assert_eq!(sources.position(file, 7), Position { line: 2, column: 1 });
        assert_eq!(sources.position(file, 13), Position { line: 3, column: 1 });
    }
}
