//! `fabric` and `network`.

use serde::Serialize;

use super::*;

/// A port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PortRef {
    /// The host.
    pub host: u32,
    /// The device of its system.
    pub device: u16,
    /// The port of the device.
    pub port: u8,
}

/// `fabric`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Fabric {
    pub name: String,
    pub kind: FabricKind,
    #[serde(skip)]
    pub attach: Vec<PortRef>,
    /// `attach = all.management`.
    pub management: bool,
    pub topology: Shape,
    pub leaf: Option<Arc<SwitchModel>>,
    pub spine: Option<Arc<SwitchModel>>,
    pub core: Option<Arc<SwitchModel>>,
    pub oversubscription: Quantity,
    pub racks: Vec<usize>,
    /// Where the leaves, spines and cores stand, if that is written.
    pub placement: [Option<Placement>; 3],
    pub inter_leaf: Option<i64>,
    pub planes: i64,
    pub link_rate: Option<Quantity>,
    pub mtu: i64,
    #[serde(skip)]
    pub manager: Vec<PortRef>,
    pub uplink: Option<Uplink>,
    pub slack: Quantity,
    pub prefer: Vec<CableMedium>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `placement` of a tier.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Placement {
    pub racks: Option<Vec<usize>>,
    pub position: Option<i64>,
}

/// What a fabric is, with what only that kind has.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum FabricKind {
    Infiniband { subnet_manager: SubnetManager, adaptive_routing: bool, sharp: bool, pkey: Option<i64> },
    Roce { congestion: Option<Congestion>, routed: Option<Routed> },
    Ethernet { redundancy: Redundancy, routed: Option<Routed> },
    Nvlink { domain: NvlinkExtent },
    Managed { provider: Provider, bandwidth: Quantity, placement_group: bool },
}

impl Fabric {
    /// The word of its kind.
    pub fn word(&self) -> FabricWord {
        match self.kind {
            FabricKind::Infiniband { .. } => FabricWord::Infiniband,
            FabricKind::Roce { .. } => FabricWord::Roce,
            FabricKind::Ethernet { .. } => FabricWord::Ethernet,
            FabricKind::Nvlink { .. } => FabricWord::Nvlink,
            FabricKind::Managed { .. } => FabricWord::Managed,
        }
    }

    /// Whether it is InfiniBand.
    pub fn is_infiniband(&self) -> bool {
        self.word() == FabricWord::Infiniband
    }

    /// Whether its switches are planned: it is neither NVLink nor a cloud's.
    pub fn is_planned(&self) -> bool {
        matches!(self.word(), FabricWord::Infiniband | FabricWord::Roce | FabricWord::Ethernet)
    }

    /// Whether it is a planned fabric that carries RDMA.
    pub fn is_training(&self) -> bool {
        matches!(self.word(), FabricWord::Infiniband | FabricWord::Roce)
    }

    /// Whether its switches are Ethernet switches of the site.
    pub fn is_ethernet(&self) -> bool {
        matches!(self.word(), FabricWord::Roce | FabricWord::Ethernet)
    }

    /// How lossless Ethernet is kept.
    pub fn congestion(&self) -> Option<&Congestion> {
        match &self.kind {
            FabricKind::Roce { congestion, .. } => congestion.as_ref(),
            FabricKind::Infiniband { .. } | FabricKind::Ethernet { .. } | FabricKind::Nvlink { .. } | FabricKind::Managed { .. } => None,
        }
    }

    /// The ranges of a fabric that is routed down to the leaf.
    pub fn routed(&self) -> Option<&Routed> {
        match &self.kind {
            FabricKind::Roce { routed, .. } | FabricKind::Ethernet { routed, .. } => routed.as_ref(),
            FabricKind::Infiniband { .. } | FabricKind::Nvlink { .. } | FabricKind::Managed { .. } => None,
        }
    }

    /// How hosts are attached to two leaves.
    pub fn redundancy(&self) -> Redundancy {
        match self.kind {
            FabricKind::Ethernet { redundancy, .. } => redundancy,
            FabricKind::Infiniband { .. } | FabricKind::Roce { .. } | FabricKind::Nvlink { .. } | FabricKind::Managed { .. } => Redundancy::None,
        }
    }

    /// Whether the GPUs of a rack are one NVLink domain.
    pub fn joins_racks(&self) -> bool {
        matches!(self.kind, FabricKind::Nvlink { domain: NvlinkExtent::Rack })
    }
}

/// `topology` of a fabric: its shape, with what only that shape has. Counts that are not given are planned.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum Shape {
    LeafOnly { leaves: Option<i64> },
    LeafSpine { leaves: Option<i64>, spines: Option<i64> },
    RailOptimized { unit: i64, leaves: Option<i64>, spines: Option<i64> },
    RailOnly { unit: i64, spines: Option<i64> },
    FatTree(FatTree),
    DragonflyPlus { groups: i64 },
}

/// A fat tree of two or three tiers.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct FatTree {
    pub tiers: i64,
    pub unit: Option<i64>,
    pub rails: bool,
    pub pod: Option<i64>,
    pub taper: Quantity,
    pub leaves: Option<i64>,
    pub spines: Option<i64>,
    pub cores: Option<i64>,
}

impl Default for Shape {
    /// That of a fabric whose switches are not planned.
    fn default() -> Self {
        Shape::LeafOnly { leaves: None }
    }
}

impl Shape {
    /// Its word.
    pub fn word(&self) -> ShapeWord {
        match self {
            Shape::LeafOnly { .. } => ShapeWord::LeafOnly,
            Shape::LeafSpine { .. } => ShapeWord::LeafSpine,
            Shape::RailOptimized { .. } => ShapeWord::RailOptimized,
            Shape::RailOnly { .. } => ShapeWord::RailOnly,
            Shape::FatTree(_) => ShapeWord::FatTree,
            Shape::DragonflyPlus { .. } => ShapeWord::DragonflyPlus,
        }
    }

    /// Declared leaves.
    pub fn leaves(&self) -> Option<i64> {
        match self {
            Shape::LeafOnly { leaves } | Shape::LeafSpine { leaves, .. } | Shape::RailOptimized { leaves, .. } => *leaves,
            Shape::FatTree(tree) => tree.leaves,
            Shape::RailOnly { .. } | Shape::DragonflyPlus { .. } => None,
        }
    }

    /// Declared spines.
    pub fn spines(&self) -> Option<i64> {
        match self {
            Shape::LeafSpine { spines, .. } | Shape::RailOptimized { spines, .. } | Shape::RailOnly { spines, .. } => *spines,
            Shape::FatTree(tree) => tree.spines,
            Shape::LeafOnly { .. } | Shape::DragonflyPlus { .. } => None,
        }
    }

    /// Declared cores.
    pub fn cores(&self) -> Option<i64> {
        self.fat_tree().and_then(|tree| tree.cores)
    }

    /// Declared hosts of a unit.
    pub fn unit(&self) -> Option<i64> {
        match self {
            Shape::RailOptimized { unit, .. } | Shape::RailOnly { unit, .. } => Some(*unit),
            Shape::FatTree(tree) => tree.unit,
            Shape::LeafOnly { .. } | Shape::LeafSpine { .. } | Shape::DragonflyPlus { .. } => None,
        }
    }

    /// Whether rail i of every host of a unit ends on leaf i of that unit.
    pub fn rails(&self) -> bool {
        match self {
            Shape::RailOptimized { .. } | Shape::RailOnly { .. } => true,
            Shape::FatTree(tree) => tree.rails,
            Shape::LeafOnly { .. } | Shape::LeafSpine { .. } | Shape::DragonflyPlus { .. } => false,
        }
    }

    /// The fat tree that it is.
    pub fn fat_tree(&self) -> Option<&FatTree> {
        match self {
            Shape::FatTree(tree) => Some(tree),
            Shape::LeafOnly { .. } | Shape::LeafSpine { .. } | Shape::RailOptimized { .. } | Shape::RailOnly { .. } | Shape::DragonflyPlus { .. } => None,
        }
    }

    /// Leaves counts and pods to the planner.
    pub fn forget_counts(&mut self) {
        match self {
            Shape::LeafOnly { leaves } => *leaves = None,
            Shape::LeafSpine { leaves, spines } | Shape::RailOptimized { leaves, spines, .. } => (*leaves, *spines) = (None, None),
            Shape::RailOnly { spines, .. } => *spines = None,
            Shape::FatTree(tree) => (tree.leaves, tree.spines, tree.cores, tree.pod) = (None, None, None, None),
            Shape::DragonflyPlus { .. } => {}
        }
    }

    /// The same hosts on leaves below three tiers.
    #[must_use]
    pub fn with_third_tier(&self) -> Self {
        let one = Quantity::new(crate::base::Rational::from_integer(1), crate::base::Dimension::Ratio);
        Shape::FatTree(FatTree { tiers: 3, unit: self.unit(), rails: self.rails(), pod: None, taper: one, leaves: None, spines: None, cores: None })
    }

    /// Another size of its units, where it has units.
    pub fn set_unit(&mut self, hosts: i64) {
        match self {
            Shape::RailOptimized { unit, .. } | Shape::RailOnly { unit, .. } => *unit = hosts,
            Shape::FatTree(tree) => tree.unit = Some(hosts),
            Shape::LeafOnly { .. } | Shape::LeafSpine { .. } | Shape::DragonflyPlus { .. } => {}
        }
    }

    /// Whether it has a third tier.
    pub fn is_three_tier(&self) -> bool {
        self.fat_tree().is_some_and(|tree| tree.tiers >= 3)
    }
}

/// `uplink` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Uplink {
    pub fabric: Option<usize>,
    pub links: i64,
}

/// `congestion` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Congestion {
    pub pfc_priority: i64,
    pub dscp: i64,
    pub ecn: bool,
    pub adaptive_routing: bool,
}

impl Congestion {
    /// The byte of the IP header that carries the DSCP, with the bit that says ECN is understood.
    pub fn traffic_class(&self) -> i64 {
        self.dscp * 4 + 2
    }
}

/// `routed` of a fabric.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Routed {
    pub loopbacks: IpNet,
    pub links: IpNet,
    pub asn: Option<i64>,
}

impl Network {
    /// Whether each port of a host is a pair with its leaf.
    pub fn is_pairs(&self) -> bool {
        self.host_prefix == Some(31)
    }
}

/// `network`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Network {
    pub name: String,
    pub fabric: usize,
    pub cidr: IpNet,
    pub vlan: Option<i64>,
    pub pkey: Option<i64>,
    pub rail: Option<i64>,
    pub plane: Option<i64>,
    pub gateway: Option<IpAddr>,
    pub reserved: Option<(IpAddr, IpAddr)>,
    pub host_prefix: Option<i64>,
    pub mtu: i64,
    pub ipam: Ipam,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}
