//! Values of expressions. A record and a function close over their scope, a scope holds values, a product is a body whose fields are both: three
//! subjects that contain each other, and so one file: values, scopes, bodies.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use ipnet::IpNet;

use super::entity::{Entity, ObjectId, Selection};
use crate::base::{Quantity, Rational, Span};
use crate::schema::{Field, Model, Shape, Type};
use crate::syntax::ast::{Block, Expr, ExprKind, Function, Item, TypeExpr};

/// A record: items that are read where they are spread, in the scope in which they were written.
#[derive(Clone, Debug)]
pub struct RecordValue {
    /// The items.
    pub items: Rc<[Item]>,
    /// Their scope.
    pub env: Env,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// `true`.
    Bool(bool),
    /// `42`.
    Int(i64),
    /// `0.5`.
    Float(Rational),
    /// `80GiB`, `3:1`.
    Quantity(Quantity),
    /// `"text"`, also versions, images and labels.
    Text(Rc<str>),
    /// A bare word of an enum.
    Word(Rc<str>),
    /// `10.0.0.1`.
    Ip(IpAddr),
    /// `10.0.0.0/8`.
    Cidr(IpNet),
    /// `10.0.0.1..=10.0.0.9`.
    IpRange(IpAddr, IpAddr),
    /// `0..8`: from, and one past the last.
    Range(i64, i64),
    /// `[a, b]`.
    List(Rc<Vec<Value>>),
    /// `{ "K" = "V" }` where a map is expected.
    Map(Rc<Vec<(Rc<str>, Value)>>),
    /// `{ … }`.
    Record(Rc<RecordValue>),
    /// Named things.
    Selection(Rc<Selection>),
    /// A product.
    Product(Rc<Product>),
    /// `all`.
    All,
    /// `all.management`.
    Management,
    /// A kind in front of a name: `fabric.inband`.
    Kind(&'static str),
    /// A function and the scope of its file.
    Function(Rc<Function>, Env),
    /// Cannot be known: a figure is missing, or a shape is not planned. Nothing over it is judged.
    Unknown,
    /// The value of something faulty, which has been reported. Everything over it is quiet.
    Poison,
}

impl Value {
    /// One thing.
    pub fn one(entity: Entity) -> Self {
        Self::named(vec![entity], false)
    }

    /// What a declaration names: an array, or one thing.
    pub fn named(things: Vec<Entity>, array: bool) -> Self {
        Value::Selection(Rc::new(Selection::named(things, array)))
    }

    /// Whether nothing over it is judged.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Value::Poison | Value::Unknown)
    }

    /// How a sentence calls it.
    pub fn phrase(&self) -> String {
        match self {
            Value::Bool(_) => "true or false".into(),
            Value::Int(_) => "a whole number".into(),
            Value::Float(_) => "a number".into(),
            Value::Quantity(q) => q.dimension.phrase().into(),
            Value::Text(_) => "a text".into(),
            Value::Word(_) => "a word".into(),
            Value::Ip(_) => "an address".into(),
            Value::Cidr(_) => "an address range".into(),
            Value::IpRange(..) => "a range of addresses".into(),
            Value::Range(..) => "a range".into(),
            Value::List(_) => "a list".into(),
            Value::Map(_) | Value::Record(_) => "a record".into(),
            Value::Selection(selection) => {
                let n = selection.flat().count();
                if n == 1 { "a declaration".into() } else { format!("{n} declared things") }
            }
            Value::Product(product) => format!("a {}", product.kind.name),
            Value::All | Value::Management => "the set of all devices".into(),
            Value::Kind(kind) => format!("the kind {kind}"),
            Value::Function(..) => "a function".into(),
            Value::Unknown => "an unknown value".into(),
            Value::Poison => "a faulty value".into(),
        }
    }

    /// How a hole and hover print it; nothing where it cannot stand in a text.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Float(r) => crate::base::quantity::decimal(*r, 4),
            Value::Quantity(q) => q.to_string(),
            Value::Text(s) | Value::Word(s) => s.to_string(),
            Value::Ip(ip) => ip.to_string(),
            Value::Cidr(cidr) => cidr.to_string(),
            Value::IpRange(a, b) => format!("{a}..={b}"),
            Value::Product(product) => product.name.to_string(),
            _ => return None,
        })
    }

    /// The number in it.
    pub fn number(&self) -> Option<Rational> {
        match self {
            Value::Int(n) => Some(Rational::from_integer((*n).into())),
            Value::Float(r) => Some(*r),
            Value::Quantity(q) => Some(q.value),
            _ => None,
        }
    }
}

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

/// A product with the fields of its models merged in.
#[derive(Debug)]
pub struct Product {
    /// Its kind.
    pub kind: &'static Shape,
    /// Its name.
    pub name: Rc<str>,
    /// Its head.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its bodies and their scopes, its models' first.
    pub layers: Vec<(Rc<[Item]>, Env)>,
    /// Its fields.
    pub node: Rc<Node>,
    /// Its devices, for a system.
    pub parts: Option<Rc<RefCell<SystemParts>>>,
}

/// The devices of a system.
#[derive(Debug, Default)]
pub struct SystemParts {
    /// In order of declaration.
    pub devices: Vec<DeviceEntry>,
    /// Names: first device, how many, and whether it is an array.
    pub names: BTreeMap<Rc<str>, (u16, u16, bool)>,
    /// Links, still as items.
    pub links: Vec<Entry>,
    /// Hosts and switches of a rack-scale system.
    pub inner: Vec<Entry>,
    /// Which declaration is being read, for errors in `nics = [...]`.
    pub name: Rc<str>,
}

/// A device.
#[derive(Debug)]
pub struct DeviceEntry {
    /// Its name without the index.
    pub name: Rc<str>,
    /// Its index in its array.
    pub index: Option<u16>,
    /// `gpu`, `nic`, `bridge`…
    pub kind: &'static str,
    /// What it is.
    pub product: Option<Rc<Product>>,
    /// Its own settings, for kinds without products.
    pub node: Rc<Node>,
}

/// The value of a field, computed on demand.
#[derive(Debug)]
pub struct Slot {
    /// Its schema.
    pub field: &'static Field,
    /// Where its value comes from.
    pub source: SlotSource,
    /// The field in the source.
    pub span: Span,
    /// The value in the source.
    pub value_span: Span,
    /// The layer it was set in.
    pub(super) layer: u32,
    /// The value, once known.
    pub lazy: Lazy,
}

impl Slot {
    /// The elements of a list that is written out, so that a rule can point at one of them.
    pub fn elements(&self) -> Vec<Span> {
        match &self.source {
            SlotSource::Expression(value, _) => match &*value.kind {
                ExprKind::List(elements) if elements.iter().all(|(spread, _)| !spread) => elements.iter().map(|(_, element)| element.span).collect(),
                _ => Vec::new(),
            },
            SlotSource::Entries(_) => Vec::new(),
        }
    }
}

/// Where a value comes from.
#[derive(Debug)]
pub enum SlotSource {
    /// `key = expression`.
    Expression(Expr, Env),
    /// `env { "K" = "V" }`.
    Entries(Vec<Entry>),
}

/// A body after sorting.
#[derive(Debug)]
pub struct Node {
    /// Its schema.
    pub shape: &'static Shape,
    /// The model that was chosen.
    pub model: Option<&'static Model>,
    /// Where the model is named.
    pub model_span: Option<Span>,
    /// Its head.
    pub head: Span,
    /// Its path: `pool.training.gpu.mig`.
    pub path: String,
    /// The name of a named group.
    pub label: Option<Rc<str>>,
    /// The count of an array group.
    pub count: Option<i64>,
    /// Fields that are set.
    pub fields: BTreeMap<&'static str, Slot>,
    /// Groups, in order.
    pub groups: Vec<(&'static str, Rc<Node>)>,
    /// Declarations inside.
    pub children: Vec<Rc<Declaration>>,
    /// Asserts inside.
    pub asserts: Vec<Entry>,
    /// Whether something in it is faulty, so that absence is not judged.
    pub broken: bool,
}

impl Node {
    /// A body in which nothing stands yet.
    pub fn empty(shape: &'static Shape, head: Span, path: String) -> Self {
        Self {
            shape,
            model: None,
            model_span: None,
            head,
            path,
            label: None,
            count: None,
            fields: BTreeMap::new(),
            groups: Vec::new(),
            children: Vec::new(),
            asserts: Vec::new(),
            broken: false,
        }
    }

    /// The group of that name that stands once.
    pub fn group(&self, name: &str) -> Option<&Rc<Node>> {
        self.groups.iter().find(|(group, _)| *group == name).map(|(_, node)| node)
    }

    /// All groups of that name.
    pub fn groups_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Rc<Node>> {
        self.groups.iter().filter(move |(group, _)| *group == name).map(|(_, node)| node)
    }

    /// The place of a field, or of the head.
    pub fn span(&self, field: &str) -> Span {
        self.fields.get(field).map_or(self.head, |slot| slot.span)
    }
}
