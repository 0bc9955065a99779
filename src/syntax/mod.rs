//! Text to tree. [`parse`] never fails: what is broken becomes [`ast::ItemKind::Broken`] with exactly one diagnostic.

pub mod ast;
mod build;
mod recover;
mod scan;

use crate::base::{Diagnostic, FileId};

/// The grammar. It has no recovery in it and is the one in the language reference.
mod grammar {
    #![allow(missing_docs, reason = "the derive makes an enum of the grammar's rules")]

    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/aic.pest"]
    pub struct Grammar;
}

use grammar::{Grammar, Rule};

/// Reads one file.
pub fn parse(file: FileId, text: &str) -> (ast::File, Vec<Diagnostic>) {
    recover::parse(file, text, 0)
}

/// Reads one declaration of a file that starts at byte `base`; spans are those of the whole file.
pub fn parse_part(file: FileId, text: &str, base: u32) -> (ast::File, Vec<Diagnostic>) {
    recover::parse(file, text, base)
}

/// Reads an expression that is not in any file, such as a default of the schema or the value of `--set`.
pub fn parse_expression(file: FileId, text: &str) -> Option<ast::Expr> {
    build::expression(file, text)
}
