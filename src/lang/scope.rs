//! Scopes: what a name means, from the inside outward.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::node::SystemParts;
use super::value::{ObjectId, Value};
use crate::base::Span;
use crate::schema::{Shape, Type};
use crate::syntax::ast::{Block, Expr, Function, Item, TypeExpr};

/// A scope and those around it.
#[derive(Clone, Debug)]
pub struct Env(pub Rc<Frame>);

/// One scope.
#[derive(Debug)]
pub struct Frame {
    /// The scope around it.
    pub parent: Option<Env>,
    /// What it brings.
    pub kind: FrameKind,
}

/// What a scope brings.
#[derive(Debug)]
pub enum FrameKind {
    /// A file, by its number.
    Module(usize),
    /// A `for` variable or the argument of a function.
    Variable(Rc<str>, Value),
    /// A body: its `let`s.
    Body(Vec<Rc<Binding>>),
    /// An element of an array or a declaration whose members are names.
    Element {
        /// Its position, if it is one of an array.
        index: Option<i64>,
        /// The declaration.
        object: Option<ObjectId>,
        /// The declaration around it.
        parent: Option<ObjectId>,
    },
    /// The devices of the system that is being read.
    System(Rc<RefCell<SystemParts>>),
}

impl Env {
    /// The scope of a file.
    pub fn module(module: usize) -> Self {
        Env(Rc::new(Frame { parent: None, kind: FrameKind::Module(module) }))
    }

    /// A scope inside this one.
    #[must_use]
    pub fn with(&self, kind: FrameKind) -> Self {
        Env(Rc::new(Frame { parent: Some(self.clone()), kind }))
    }

    /// From this scope outward.
    pub fn frames(&self) -> impl Iterator<Item = &FrameKind> {
        std::iter::successors(Some(self), |env| env.0.parent.as_ref()).map(|env| &env.0.kind)
    }

    /// The file it is in.
    pub fn module_id(&self) -> usize {
        self.frames().find_map(|frame| if let FrameKind::Module(module) = frame { Some(*module) } else { None }).unwrap_or(0)
    }
}

/// A value that is computed when it is asked for, once.
#[derive(Debug, Default)]
pub struct Lazy {
    /// The value, once known.
    pub value: RefCell<Option<Value>>,
    /// Whether it is being computed, to find cycles.
    pub busy: Cell<bool>,
}

/// A name and what it stands for.
#[derive(Debug)]
pub struct Binding {
    /// The name.
    pub name: Rc<str>,
    /// Where it is introduced.
    pub span: Span,
    /// The documentation before it.
    pub docs: Vec<String>,
    /// Whether anything reads it.
    pub used: Cell<bool>,
    /// What it is.
    pub kind: BindingKind,
}

/// What a name stands for.
#[derive(Debug)]
pub enum BindingKind {
    /// `let`.
    Let {
        /// Its type, if said.
        ty: Option<TypeExpr>,
        /// Its value.
        value: Expr,
        /// Its scope.
        env: Env,
        /// The value, once known.
        lazy: Lazy,
    },
    /// `param`.
    Param {
        /// Its type.
        ty: TypeExpr,
        /// Its default.
        default: Option<Expr>,
        /// The value, once known.
        lazy: Lazy,
    },
    /// `fn`.
    Function(Rc<Function>),
    /// A declaration of a kind: its elements once elaborated.
    Declaration(Rc<Declaration>),
    /// A name of another module.
    Import {
        /// The module.
        module: usize,
        /// Whether it is the standard library.
        std: bool,
    },
    /// A broken item, whose diagnostic is there.
    Poison,
}

/// A declaration in a file or a body, before it is elaborated.
#[derive(Debug)]
pub struct Declaration {
    /// Its kind.
    pub shape: &'static Shape,
    /// Its name.
    pub name: Rc<str>,
    /// The block.
    pub block: Rc<Block>,
    /// The documentation before it.
    pub docs: Vec<String>,
    /// Its scope.
    pub env: Env,
    /// The declaration around it.
    pub parent: Option<ObjectId>,
    /// Its elements, once elaborated.
    pub elements: RefCell<Option<Rc<Vec<ObjectId>>>>,
    /// The product, for product kinds.
    pub product: RefCell<Option<Value>>,
    /// Whether it is being elaborated.
    pub busy: Cell<bool>,
}

/// An item and its scope, after `if`, `for` and spreads are resolved.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The items of its body.
    pub items: Rc<[Item]>,
    /// Which of them.
    pub at: usize,
    /// Its scope.
    pub env: Env,
    /// Counts spreads: items of a later layer win, two of one layer clash.
    pub layer: u32,
    /// Whether it stands under an `if`, so that a path may skip elements without it.
    pub conditional: bool,
}

impl Entry {
    /// The item.
    pub fn item(&self) -> &Item {
        &self.items[self.at]
    }
}

/// What a parameter, a `let` or an argument is declared as: a type of the table, made from its text.
pub type Expectation = Option<Type>;
