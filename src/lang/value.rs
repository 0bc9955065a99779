//! Values of expressions.

use std::net::IpAddr;
use std::rc::Rc;

use ipnet::IpNet;

use super::node::Product;
use super::scope::Env;
use crate::base::{Quantity, Rational};
use crate::syntax::ast::{Function, Item};

/// A declaration of the design, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A thing that a path can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// A declaration.
    Object(ObjectId),
    /// A device of a host, by its position in the host's system.
    Device(ObjectId, u16),
    /// A port of a NIC of a host.
    Port(ObjectId, u16, u8),
    /// A device of the system that is being read.
    Own(u16),
    /// A named group of a declaration: a file system of a storage.
    Part(ObjectId, u16),
    /// A thing that the plan made: a switch of a tier, an NVLink domain.
    Planned(ObjectId, Planned, u32),
}

/// What the plan makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Planned {
    /// A switch of any tier.
    Switch,
    /// A leaf.
    Leaf,
    /// A spine.
    Spine,
    /// A core.
    Core,
    /// An NVLink domain.
    Domain,
}

/// What a path names: things in groups, a group for each thing one step before, so that an index selects in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    things: Vec<Entity>,
    /// Where each group ends among the things.
    ends: Vec<u32>,
    /// Whether the last step named an array, which an index may select from.
    pub array: bool,
    /// Whether it is one thing, whose attributes are no lists.
    pub single: bool,
}

impl Selection {
    /// No groups yet; [`Selection::push_group`] adds one.
    pub fn new(array: bool, single: bool) -> Self {
        Self { things: Vec::new(), ends: Vec::new(), array, single }
    }

    /// What a declaration names: an array, or one thing.
    pub fn named(things: Vec<Entity>, array: bool) -> Self {
        Self { ends: vec![things.len() as u32], things, array, single: !array }
    }

    /// A list of things.
    pub fn list(things: Vec<Entity>) -> Self {
        Self::named(things, true)
    }

    /// Adds a group.
    pub fn push_group(&mut self, things: impl IntoIterator<Item = Entity>) {
        self.things.extend(things);
        self.ends.push(self.things.len() as u32);
    }

    /// Makes room for so many groups like the first.
    pub fn reserve(&mut self, groups: usize) {
        self.things.reserve(self.ends.first().map_or(0, |first| *first as usize) * groups);
        self.ends.reserve(groups);
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &[Entity]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.things[start as usize..*end as usize])
    }

    /// All things, flat, in order of declaration.
    pub fn flat(&self) -> impl ExactSizeIterator<Item = Entity> + '_ {
        self.things.iter().copied()
    }
}

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
