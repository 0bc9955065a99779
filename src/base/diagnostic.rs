//! One plain model of a diagnostic. miette, JSON and LSP are renderers of it (`cli::render`, `lsp`).

use super::source::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; never fails a build.
    Advice,
    /// Likely wrong; fails under `--deny-warnings`.
    Warning,
    /// Wrong; nothing is written.
    Error,
}

impl Severity {
    /// The word that messages and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Advice => "advice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place that takes part, with its role there ("budget", "asked here").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Its role.
    pub text: String,
}

/// An edit of the source that makes the program correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What an editor's menu says.
    pub title: String,
    /// Texts to put in place of spans.
    pub edits: Vec<(Span, String)>,
}

/// What is wrong, where, why it matters and what to type instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `AICnnnn`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence with the numbers of both sides and their units.
    pub message: String,
    /// The places; the first is the primary one.
    pub labels: Vec<Label>,
    /// `why: …` and `note: …` lines.
    pub notes: Vec<String>,
    /// Text that can be typed in.
    pub help: Option<String>,
    /// Edits, nearest first.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// An error with a code and its one sentence.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: message.into(), labels: Vec::new(), notes: Vec::new(), help: None, fixes: Vec::new() }
    }

    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Advice.
    pub fn advice(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Advice, ..Self::error(code, message) }
    }

    /// Adds a place and its role.
    #[must_use]
    pub fn at(mut self, span: Span, role: impl Into<String>) -> Self {
        if !self.labels.iter().any(|label| label.span == span) {
            self.labels.push(Label { span, text: role.into() });
        }
        self
    }

    /// Adds a line that says why it matters on real hardware.
    #[must_use]
    pub fn why(mut self, text: impl AsRef<str>) -> Self {
        self.notes.push(format!("why: {}", text.as_ref()));
        self
    }

    /// Adds a line with the sum or the other places.
    #[must_use]
    pub fn note(mut self, text: impl AsRef<str>) -> Self {
        self.notes.push(format!("note: {}", text.as_ref()));
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds an edit of one place.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        self.fixes.push(Fix { title: format!("replace with `{text}`"), edits: vec![(span, text)] });
        self
    }

    /// The primary place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

/// Where a stage puts what it found. Order of insertion is kept; [`Report::finish`] sorts.
#[derive(Debug, Default)]
pub struct Report {
    /// All diagnostics so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Adds a diagnostic; one of the same code at the same places as an earlier one is dropped: it is the same line, read for another element
    /// of an array.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let same_place = |d: &Diagnostic| d.labels.iter().map(|l| l.span).eq(diagnostic.labels.iter().map(|l| l.span));
        let same = |d: &Diagnostic| d.code == diagnostic.code && same_place(d) && (!d.labels.is_empty() || d.message == diagnostic.message);
        if !self.diagnostics.iter().any(same) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many of that severity there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    /// Sorted by place, so that a run prints from the top of the file to its end, and errors before advice on one line.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|d| (d.span().is_none(), d.span(), std::cmp::Reverse(d.severity), d.code));
        self.diagnostics
    }
}
