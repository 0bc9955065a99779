//! The tree. Every node has its span; bodies are shared, because one body is elaborated once for each element of an array.

use std::rc::Rc;

use crate::base::{Rational, Span};

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word.
    pub text: Rc<str>,
    /// Its place.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The `//!` lines.
    pub docs: Vec<String>,
    /// The items, in order.
    pub items: Rc<[Item]>,
}

/// `{ … }`.
#[derive(Clone, Debug)]
pub struct Body {
    /// With its braces.
    pub span: Span,
    /// The items, in order.
    pub items: Rc<[Item]>,
}

/// `@allow(AIC0412, "reason")`.
#[derive(Clone, Debug)]
pub struct Allow {
    /// The code.
    pub code: Name,
    /// The reason, as written.
    pub reason: String,
    /// All of it.
    pub span: Span,
}

/// What stands in a file, in a body and in a record.
#[derive(Clone, Debug)]
pub struct Item {
    /// Without the docs before it.
    pub span: Span,
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// The `@allow`s before it.
    pub allows: Vec<Allow>,
    /// What it is.
    pub kind: ItemKind,
}

/// The kinds of items.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `use std.{a, b}`, `use common { site = 1 }`.
    Use {
        /// `std`, `hardware`, `sites.common`.
        module: Vec<Name>,
        /// The names it brings in.
        names: Vec<Name>,
        /// The parameters it sets.
        parameters: Option<Body>,
    },
    /// `param racks : Int = 8`.
    Param {
        /// Its name.
        name: Name,
        /// Its type.
        ty: TypeExpr,
        /// Its default.
        default: Option<Expr>,
    },
    /// `let x : Int = 8`.
    Let {
        /// Its name.
        name: Name,
        /// Its type, if said.
        ty: Option<TypeExpr>,
        /// Its value.
        value: Expr,
    },
    /// `fn f(x : Int) : Int = …`.
    Fn(Rc<Function>),
    /// `assert e : "message"`.
    Assert {
        /// What must hold.
        condition: Expr,
        /// What is said if it does not.
        message: Option<Expr>,
    },
    /// `if e { … } else { … }`.
    If {
        /// The condition.
        condition: Expr,
        /// Items if it holds.
        then: Body,
        /// Items if it does not.
        otherwise: Option<Body>,
    },
    /// `for x in e { … }`.
    For {
        /// The variable.
        name: Name,
        /// What it runs over.
        over: Expr,
        /// The items.
        body: Body,
    },
    /// `link a -- b : medium { … }`.
    Link {
        /// One end, or a list of ends.
        a: Expr,
        /// The other.
        b: Expr,
        /// The medium.
        medium: Name,
        /// Generation, lanes, links, rate.
        body: Option<Body>,
    },
    /// `..record`.
    Spread(Expr),
    /// `key = expression`.
    Field {
        /// The key; a string where the kind is a map.
        key: Name,
        /// The value.
        value: Expr,
    },
    /// `kind name[count] : model { body }`.
    Block(Rc<Block>),
    /// Something that could not be read. Its diagnostic is there already; a name that can be guessed resolves to poison.
    Broken {
        /// The first word.
        kind: Option<Name>,
        /// The second word, or the first if it is a `let`-like item's name.
        name: Option<Name>,
    },
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Parameters and their types.
    pub parameters: Vec<(Name, TypeExpr)>,
    /// The type of its value, if said.
    pub result: Option<TypeExpr>,
    /// Its value.
    pub value: Expr,
}

/// A declaration or a group.
#[derive(Debug)]
pub struct Block {
    /// The first word.
    pub kind: Name,
    /// Its name, or the key of a map entry.
    pub label: Option<Name>,
    /// Its count.
    pub count: Option<Expr>,
    /// Its model.
    pub model: Option<Vec<Name>>,
    /// Its body.
    pub body: Option<Body>,
    /// `kind name[count] : model`.
    pub head: Span,
}

/// A type as written.
#[derive(Clone, Debug)]
pub enum TypeExpr {
    /// `[T]`.
    List(Box<TypeExpr>, Span),
    /// `{ a : T }`.
    Record(Vec<(Name, TypeExpr)>, Span),
    /// `Int`.
    Named(Name),
    /// `a | b`.
    Choice(Vec<Name>, Span),
}

impl TypeExpr {
    /// Its place.
    pub fn span(&self) -> Span {
        match self {
            TypeExpr::List(_, span) | TypeExpr::Record(_, span) | TypeExpr::Choice(_, span) => *span,
            TypeExpr::Named(name) => name.span,
        }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: Rc<ExprKind>,
}

/// The kinds of expressions.
#[derive(Debug)]
pub enum ExprKind {
    /// `true`.
    Bool(bool),
    /// `42`.
    Int(i64),
    /// `0.5`.
    Float(Rational),
    /// `80GiB`: the number and the unit's name.
    Quantity(Rational, Rc<str>),
    /// `3:1`.
    Ratio(Rational),
    /// `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`.
    Address(Rc<str>),
    /// A string and its holes.
    Text(Vec<Piece>),
    /// A name.
    Name(Rc<str>),
    /// `a.b`.
    Member(Expr, Name),
    /// `a[b]`.
    Index(Expr, Expr),
    /// `f(a, b)`.
    Call(Expr, Vec<Expr>),
    /// `[a, ..b]`.
    List(Vec<(bool, Expr)>),
    /// `{ … }`.
    Record(Body),
    /// `(e)`: forces a value where a bare word would be an enum.
    Group(Expr),
    /// `if c then a else b`.
    Choose(Expr, Expr, Expr),
    /// `-a`, `not a`.
    Unary(Operator, Expr),
    /// `a + b`.
    Binary(Operator, Expr, Expr, Span),
    /// A literal that cannot be read; its diagnostic is there already.
    Broken,
}

/// A part of a string.
#[derive(Debug)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// `{e:03}`.
    Hole(Expr, usize),
}

/// Operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "their names are their documentation")]
pub enum Operator {
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Range,
    RangeInclusive,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
}

impl Operator {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Not => "not",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::In => "in",
            Operator::Range => "..",
            Operator::RangeInclusive => "..=",
            Operator::Add => "+",
            Operator::Subtract | Operator::Negate => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }
}
