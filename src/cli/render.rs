//! Diagnostics as text (miette) and as JSON.

use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};
use serde::Serialize;

use crate::base::{Diagnostic, FileId, Severity, SourceMap, Span};

/// A diagnostic in miette's form: the labels of one file, with the other files as related diagnostics.
#[derive(Debug)]
struct Rendered {
    code: Option<String>,
    message: String,
    severity: miette::Severity,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: Option<WholeLines>,
    related: Vec<Rendered>,
}

impl std::fmt::Display for Rendered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rendered {}

impl miette::Diagnostic for Rendered {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.code.as_ref().map(|c| Box::new(c) as Box<dyn std::fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|s| s as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        if self.related.is_empty() { None } else { Some(Box::new(self.related.iter().map(|r| r as &dyn miette::Diagnostic))) }
    }
}

fn labeled(diagnostic: &Diagnostic, file: FileId) -> Vec<LabeledSpan> {
    diagnostic
        .labels
        .iter()
        .filter(|l| l.span.file == file)
        .map(|l| LabeledSpan::new(Some(l.text.clone()), l.span.start as usize, (l.span.end - l.span.start) as usize))
        .collect()
}

/// Shows the lines that a label touches, whole and without their neighbours.
#[derive(Debug)]
struct WholeLines(NamedSource<String>);

impl miette::SourceCode for WholeLines {
    fn read_span<'a>(&'a self, span: &miette::SourceSpan, before: usize, after: usize) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let text = self.0.inner();
        let (start, end) = (span.offset().min(text.len()), (span.offset() + span.len()).min(text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[end..].find('\n').map_or(text.len(), |i| end + i);
        let found = self.0.read_span(&(line_start, line_end - line_start).into(), before, after)?;
        // miette's own count runs from the top of the file, and far labels would be shown with all that lies between.
        let lines = text[line_start..line_end].matches('\n').count() + 1;
        let name = self.0.name().to_owned();
        Ok(Box::new(miette::MietteSpanContents::new_named(name, found.data(), *found.span(), found.line(), found.column(), lines)))
    }
}

fn source(sources: &SourceMap, file: FileId) -> WholeLines {
    let source = sources.get(file);
    WholeLines(NamedSource::new(&source.name, source.text.to_string()))
}

/// One diagnostic as text.
pub fn human(diagnostic: &Diagnostic, sources: &SourceMap, color: bool, unicode: bool) -> String {
    let files: Vec<FileId> = diagnostic.labels.iter().fold(Vec::new(), |mut files, l| {
        if !files.contains(&l.span.file) {
            files.push(l.span.file);
        }
        files
    });
    let related = files
        .iter()
        .skip(1)
        .map(|file| Rendered {
            code: None,
            message: "takes part:".into(),
            severity: miette::Severity::Advice,
            help: None,
            labels: labeled(diagnostic, *file),
            source: Some(source(sources, *file)),
            related: Vec::new(),
        })
        .collect();
    let mut help: Vec<String> = diagnostic.notes.clone();
    if let Some(text) = &diagnostic.help {
        help.insert(0, text.clone());
    }
    let rendered = Rendered {
        code: Some(format!("{}[{}]", diagnostic.severity.word(), diagnostic.code)),
        message: diagnostic.message.clone(),
        severity: match diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Advice => miette::Severity::Advice,
        },
        help: (!help.is_empty()).then(|| help.join("\n")),
        labels: files.first().map_or_else(Vec::new, |f| labeled(diagnostic, *f)),
        source: files.first().map(|f| source(sources, *f)),
        related,
    };
    let theme = match (color, unicode) {
        (true, _) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let mut out = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(120).with_context_lines(0).with_links(false);
    if handler.render_report(&mut out, &rendered).is_err() {
        let _ = write!(out, "{}[{}]: {}", diagnostic.severity.word(), diagnostic.code, diagnostic.message);
    }
    out
}

/// `{"diagnostics": […], "summary": {…}}`.
#[derive(Serialize)]
pub struct JsonReport {
    diagnostics: Vec<JsonDiagnostic>,
    summary: JsonSummary,
}

#[derive(Serialize)]
struct JsonSummary {
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct JsonDiagnostic {
    code: &'static str,
    severity: &'static str,
    message: String,
    help: Option<String>,
    labels: Vec<JsonLabel>,
    notes: Vec<String>,
    fixes: Vec<JsonFix>,
}

#[derive(Serialize)]
struct JsonPlace {
    file: String,
    start: JsonPosition,
    end: JsonPosition,
}

#[derive(Serialize)]
struct JsonLabel {
    #[serde(flatten)]
    place: JsonPlace,
    message: String,
}

#[derive(Serialize)]
struct JsonPosition {
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct JsonFix {
    title: String,
    edits: Vec<JsonEdit>,
}

#[derive(Serialize)]
struct JsonEdit {
    #[serde(flatten)]
    place: JsonPlace,
    text: String,
}

fn place(span: Span, sources: &SourceMap) -> JsonPlace {
    let position = |offset| {
        let p = sources.position(span.file, offset);
        JsonPosition { line: p.line, column: p.column }
    };
    JsonPlace { file: sources.get(span.file).name.clone(), start: position(span.start), end: position(span.end) }
}

/// All diagnostics for programs; several programs make one report.
pub fn json<'a>(parts: impl IntoIterator<Item = (&'a [Diagnostic], &'a SourceMap)>) -> JsonReport {
    let mut out = JsonReport { diagnostics: Vec::new(), summary: JsonSummary { errors: 0, warnings: 0 } };
    for (diagnostics, sources) in parts {
        for d in diagnostics {
            match d.severity {
                Severity::Error => out.summary.errors += 1,
                Severity::Warning => out.summary.warnings += 1,
                Severity::Advice => {}
            }
            out.diagnostics.push(JsonDiagnostic {
                code: d.code,
                severity: d.severity.word(),
                message: d.message.clone(),
                help: d.help.clone(),
                labels: d.labels.iter().map(|l| JsonLabel { place: place(l.span, sources), message: l.text.clone() }).collect(),
                notes: d.notes.clone(),
                fixes: d
                    .fixes
                    .iter()
                    .map(|f| JsonFix {
                        title: f.title.clone(),
                        edits: f.edits.iter().map(|(span, text)| JsonEdit { place: place(*span, sources), text: text.clone() }).collect(),
                    })
                    .collect(),
            });
        }
    }
    out
}
