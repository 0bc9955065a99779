//! What paths name: declarations, their devices and ports, things of the plan; and selections of them.

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
