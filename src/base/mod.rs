//! What every stage stands on: sources and spans, diagnostics, exact quantities, the spelling of names.

pub mod diagnostic;
pub mod names;
pub mod parallel;
pub mod quantity;
pub mod source;

pub use diagnostic::{Diagnostic, Fix, Label, Report, Severity};
pub use quantity::{Dimension, Quantity, Rational};
pub use source::{FileId, SourceMap, Sources, Span};
