//! What each kind holds: field, type, default, doc. One table; the checker, the defaults, hover, completion and the reference all read it.
//!
//! Adding a field is one entry here, one struct field in `design`, and its lowering.

mod cluster;
mod fabric;
mod hardware;
mod pool;
pub mod print;
mod products;
mod storage;
pub mod words;
mod workload;

use crate::base::Dimension;
use words::*;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// `true`, `false`.
    Bool,
    /// A whole number.
    Int,
    /// An exact number.
    Float,
    /// A text.
    String,
    /// `"1.36"`, `"580.126.20"`.
    Version,
    /// A container image.
    Image,
    /// An address.
    Ip,
    /// A range of addresses with its prefix.
    Cidr,
    /// `10.0.0.1..=10.0.0.31`.
    IpRange,
    /// A Kubernetes label value.
    Label,
    /// A number with a unit.
    Quantity(Dimension),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A word of one's own, such as a vendor.
    AnyWord,
    /// Several of a type; one value is accepted too.
    List(&'static Type),
    /// A whole number, or bytes.
    Amount,
    /// Keys of one's own.
    Map(&'static Type),
    /// A declaration of one of these kinds.
    Ref(&'static [&'static str]),
    /// A product of this kind.
    Product(&'static str),
    /// NICs or ports of hosts (GPUs on an NVLink fabric).
    Port,
    /// The bare name of a device in the systems of `hosts`.
    Device,
    /// The name of a group of the same declaration, such as a role.
    Sibling(&'static str),
    /// A group of fields as a value.
    Record(&'static Shape),
}

impl Type {
    /// How the reference and the messages write it.
    pub fn text(&self) -> String {
        match self {
            Type::Bool => "Bool".into(),
            Type::Int => "Int".into(),
            Type::Float => "Float".into(),
            Type::String => "String".into(),
            Type::Version => "Version".into(),
            Type::Image => "Image".into(),
            Type::Ip => "Ip".into(),
            Type::Cidr => "Cidr".into(),
            Type::IpRange => "Ip range".into(),
            Type::Label => "Label".into(),
            Type::Quantity(dimension) => dimension.type_name().into(),
            Type::Word(words) => words.join(" | "),
            Type::AnyWord => "word".into(),
            Type::List(element) => format!("[{}]", element.text()),
            Type::Amount => "Int or Bytes".into(),
            Type::Map(element) => format!("Map {}", element.text()),
            Type::Ref(kinds) => kinds.join(" or "),
            Type::Product(kind) => (*kind).into(),
            Type::Port => "Port".into(),
            Type::Device => "Device".into(),
            Type::Sibling(kind) => (*kind).into(),
            Type::Record(shape) => format!("{{ {} }}", shape.fields.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Whether a field must be there, and what stands in for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Must be given.
    Required,
    /// Absent means "not there".
    Optional,
    /// A value, as an expression of the language.
    Default(&'static str),
    /// A value that follows from others: what it is, in words. `design` fills it in.
    Derived(&'static str),
    /// Cannot be set; known from the design or its plan.
    Computed,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// Whether it must be there.
    pub need: Need,
    /// What it means, with its unit.
    pub doc: &'static str,
}

/// How often a group may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once.
    Once,
    /// Several times; makes a list.
    Many,
    /// Several times, each under a name.
    Named,
    /// With a count and perhaps a name: `cage[32]`, `port[2]`, `chip[2]`.
    Array,
}

/// A group of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name and fields.
    pub shape: &'static Shape,
    /// How often it may stand.
    pub repeat: Repeat,
    /// Whether it must be there.
    pub required: bool,
}

/// One of the models of a choice with settings.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its word.
    pub name: &'static str,
    /// The fields that only it has.
    pub fields: &'static [Field],
    /// The groups that only it has.
    pub groups: &'static [Group],
    /// What it is.
    pub doc: &'static str,
}

/// What the word after `:` is.
#[derive(Clone, Copy, Debug)]
pub enum Models {
    /// No model.
    None,
    /// One of these; the flag says that it must be there.
    Choice(&'static [Model], bool),
    /// A product of this kind; the flag says that it must be there.
    Product(&'static str, bool),
}

/// A kind or a group.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its word.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The word after `:`.
    pub models: Models,
    /// Its fields.
    pub fields: &'static [Field],
    /// Its groups.
    pub groups: &'static [Group],
    /// Kinds that may be declared in it.
    pub children: &'static [&'static str],
}

impl Shape {
    /// The field of that name, of the shape or of one of the model's.
    pub fn field(&self, model: Option<&Model>, name: &str) -> Option<&'static Field> {
        self.fields_of(model).find(|field| field.name == name)
    }

    /// Its fields and those of the model.
    pub fn fields_of(&self, model: Option<&Model>) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().chain(model.map_or(&[][..], |model| model.fields))
    }

    /// Its groups and those of the model.
    pub fn groups_of(&self, model: Option<&Model>) -> impl Iterator<Item = &'static Group> {
        self.groups.iter().chain(model.map_or(&[][..], |model| model.groups))
    }

    /// The group of that name.
    pub fn group(&self, model: Option<&Model>, name: &str) -> Option<&'static Group> {
        self.groups_of(model).find(|group| group.shape.name == name)
    }

    /// The model of that name.
    pub fn model(&self, name: &str) -> Option<&'static Model> {
        match self.models {
            Models::Choice(models, _) => models.iter().find(|model| model.name == name),
            _ => None,
        }
    }
}

/// The least and the greatest value that a whole number of that name may have. What is not named counts things: at least one.
///
/// The upper end keeps sums over a design far from overflow; real limits are those of the standards named.
pub fn bounds(name: &str) -> (i64, i64) {
    const MOST: i64 = 1_000_000_000;
    match name {
        "priority" | "row" | "column" => (-MOST, MOST),
        "pdus" | "rail" | "plane" | "borrow" | "lend" | "reserved_cores" | "redundant" | "restarts" | "gpus" | "min" | "keep" | "starts" | "asn" => {
            (0, if name == "asn" { i64::from(u32::MAX) } else { MOST })
        }
        "vlan" => (1, 4094),      // IEEE 802.1Q
        "number" => (1, 65_535),  // a TCP port
        "dscp" => (0, 63),        // RFC 2474
        "pfc_priority" => (0, 7), // IEEE 802.1Qbb
        "pkey" => (1, 0x7fff),    // InfiniBand: 15 bits and the membership bit
        "mtu" => (576, 65_535),   // RFC 791
        "host_prefix" => (0, 128),
        "feeds" | "planes" | "tiers" => (1, 16),
        "numa" => (0, 63),
        "max_pods" => (1, 10_000),
        "leaves" | "spines" | "cores" | "unit" | "inter_leaf" => (i64::from(name != "inter_leaf"), 100_000),
        _ => (1, MOST),
    }
}

/// Whether a quantity of that name may be nothing.
pub fn may_be_zero(name: &str) -> bool {
    matches!(name, "hugepages" | "reserved" | "eviction" | "shm" | "ephemeral" | "slack" | "grace" | "position")
}

/// The kinds that a file declares, in the order of the reference.
pub const KINDS: &[&Shape] = &[
    &cluster::CLUSTER,
    &hardware::RACK,
    &hardware::HOST,
    &fabric::FABRIC,
    &fabric::NETWORK,
    &cluster::CONTROL_PLANE,
    &pool::POOL,
    &storage::STORAGE,
    &storage::VOLUME,
    &workload::QUEUE,
    &workload::WORKLOAD,
    &products::GPU,
    &products::CPU,
    &products::NIC,
    &products::DISK,
    &products::SWITCH,
    &products::CABLE,
    &products::TRANSCEIVER,
    &products::SYSTEM,
];

/// Kinds that stand only inside a system.
pub const DEVICE_KINDS: &[&Shape] = &[&products::BRIDGE, &products::NVSWITCH, &products::CAGE];

/// The kinds whose declarations are products.
pub const PRODUCTS: &[&str] = &["gpu", "cpu", "nic", "disk", "switch", "cable", "transceiver", "system"];

/// The settings of a `link`.
pub const LINK: &Shape = &products::LINK;

/// The media that a link may have.
pub const MEDIA: &[&str] = LinkMedium::WORDS;

/// The shape of a declaration inside a rack: there a switch is an instance, not a product.
pub fn inner_kind(name: &str) -> Option<&'static Shape> {
    if name == "switch" { Some(&hardware::RACK_SWITCH) } else { kind(name) }
}

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static Shape> {
    KINDS.iter().chain(DEVICE_KINDS).find(|shape| shape.name == name).copied()
}

const fn required(name: &'static str, ty: Type, doc: &'static str) -> Field {
    Field { name, ty, need: Need::Required, doc }
}

const fn optional(name: &'static str, ty: Type, doc: &'static str) -> Field {
    Field { name, ty, need: Need::Optional, doc }
}

const fn default(name: &'static str, ty: Type, value: &'static str, doc: &'static str) -> Field {
    Field { name, ty, need: Need::Default(value), doc }
}

const fn derived(name: &'static str, ty: Type, value: &'static str, doc: &'static str) -> Field {
    Field { name, ty, need: Need::Derived(value), doc }
}

const fn computed(name: &'static str, ty: Type, doc: &'static str) -> Field {
    Field { name, ty, need: Need::Computed, doc }
}

const fn once(shape: &'static Shape) -> Group {
    Group { shape, repeat: Repeat::Once, required: false }
}

const fn many(shape: &'static Shape) -> Group {
    Group { shape, repeat: Repeat::Many, required: false }
}

const fn named(shape: &'static Shape) -> Group {
    Group { shape, repeat: Repeat::Named, required: false }
}

const fn array(shape: &'static Shape) -> Group {
    Group { shape, repeat: Repeat::Array, required: false }
}

const fn group(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Shape {
    Shape { name, doc, models: Models::None, fields, groups: &[], children: &[] }
}

const fn model(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Model {
    Model { name, fields, groups: &[], doc }
}

const BYTES: Type = Type::Quantity(Dimension::Bytes);
const RATE: Type = Type::Quantity(Dimension::Rate);
const POWER: Type = Type::Quantity(Dimension::Power);
const TIME: Type = Type::Quantity(Dimension::Time);
const LENGTH: Type = Type::Quantity(Dimension::Length);
const UNITS: Type = Type::Quantity(Dimension::RackUnits);
const RATIO: Type = Type::Quantity(Dimension::Ratio);
const FLOPS: Type = Type::Quantity(Dimension::Flops);
const MASS: Type = Type::Quantity(Dimension::Mass);
const AIRFLOW: Type = Type::Quantity(Dimension::Airflow);
const STRINGS: Type = Type::List(&Type::String);
const INTS: Type = Type::List(&Type::Int);
const WORDS: Type = Type::List(&Type::AnyWord);
const HOSTS: Type = Type::List(&Type::Ref(&["host"]));
const RACKS: Type = Type::List(&Type::Ref(&["rack"]));
const PORTS: Type = Type::List(&Type::Port);
const NETWORK_REF: Type = Type::Ref(&["network"]);
const FABRIC_REF: Type = Type::Ref(&["fabric"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        fn check(shape: &Shape) {
            let models: &[Model] = match shape.models {
                Models::Choice(models, _) => models,
                _ => &[],
            };
            for model in models.iter().map(Some).chain([None]) {
                // A computed attribute may bear a group's name (`pool.memory`): one is read, the other is set.
                let settable = shape.fields_of(model).filter(|f| f.need != Need::Computed).map(|f| f.name);
                let mut names: Vec<&str> = settable.chain(shape.groups_of(model).map(|g| g.shape.name)).collect();
                let count = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(count, names.len(), "{} has a name twice", shape.name);
            }
            for field in shape.fields {
                assert!(!field.doc.is_empty(), "{}.{} has no doc", shape.name, field.name);
            }
            shape.groups.iter().for_each(|group| check(group.shape));
        }
        KINDS.iter().chain(DEVICE_KINDS).for_each(|shape| check(shape));
    }

    #[test]
    fn defaults_are_expressions() {
        for shape in KINDS {
            for field in shape.fields {
                if let Need::Default(text) = field.need {
                    assert!(crate::syntax::parse_expression(crate::base::FileId(0), text).is_some(), "{}.{}", shape.name, field.name);
                }
            }
        }
    }
}
