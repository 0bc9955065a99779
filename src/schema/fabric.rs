//! `fabric` and `network`.

use super::*;

pub const FABRIC: Shape = Shape {
    name: "fabric",
    doc: "A set of cables and switches of one kind. What addresses run on it is said by networks.",
    models: Models::Choice(
        &[
            Model {
                name: "infiniband",
                doc: "InfiniBand.",
                fields: &[
                    derived("subnet_manager", Type::Word(SubnetManager::WORDS), "ufm if there is a `manager`, else switch", "Who manages it."),
                    default("adaptive_routing", Type::Bool, "true", "Adaptive routing."),
                    default("sharp", Type::Bool, "false", "Reductions in the switches."),
                    optional("pkey", Type::Int, "Partition key."),
                ],
                groups: &[],
            },
            Model { name: "roce", doc: "RDMA over Ethernet.", fields: &[], groups: &[once(&CONGESTION), once(&ROUTED)] },
            Model {
                name: "ethernet",
                doc: "Ethernet.",
                fields: &[default("redundancy", Type::Word(Redundancy::WORDS), "mlag", "Attachment to two leaves.")],
                groups: &[once(&ROUTED)],
            },
            model(
                "nvlink",
                "NVLink between GPUs.",
                &[
                    default("domain", Type::Word(NvlinkExtent::WORDS), "host", "Extent of one NVLink domain."),
                    computed("domains", Type::List(&Type::Ref(&["domain"])), "Its domains, each with `gpus`."),
                ],
            ),
            model(
                "managed",
                "A cloud's own fabric.",
                &[
                    required("provider", Type::Word(Provider::WORDS), "Who runs it."),
                    required("bandwidth", RATE, "Bandwidth of one host."),
                    default("placement_group", Type::Bool, "false", "Hosts are placed together."),
                ],
            ),
        ],
        true,
    ),
    fields: &[
        required("attach", PORTS, "NICs or ports (GPUs on NVLink), in the order in which they take switch ports."),
        optional("leaf", Type::Product("switch"), "Model of the leaves."),
        optional("spine", Type::Product("switch"), "Model of the spines."),
        optional("core", Type::Product("switch"), "Model of the cores."),
        default("oversubscription", RATIO, "1:1", "Upper bound of down : up at the leaf."),
        optional("racks", RACKS, "Racks that take the switches."),
        derived(
            "inter_leaf",
            Type::Int,
            "4 for an Ethernet pair with hosts on both leaves, else 0; InfiniBand as many as the hosts need",
            "Links between two leaves.",
        ),
        default("planes", Type::Int, "1", "Independent copies."),
        derived("link_rate", RATE, "the ports' rate", "Speed of a link after breakout."),
        derived("mtu", Type::Int, "4096 on InfiniBand, else 9000", "Bytes."),
        computed("switches", Type::List(&Type::Ref(&["switch"])), "All its switches."),
        computed("leaves", Type::List(&Type::Ref(&["switch"])), "Its leaves."),
        computed("spines", Type::List(&Type::Ref(&["switch"])), "Its spines."),
        computed("cores", Type::List(&Type::Ref(&["switch"])), "Its cores."),
        computed("bisection", RATE, "Bandwidth across the narrowest halving, both directions together."),
        computed("injection", RATE, "Bandwidth of all attached ports."),
        computed("ratio", RATIO, "Real oversubscription at the leaf."),
        computed("max_hops", Type::Int, "Links from host to host."),
        computed("host_cables", Type::Int, "Links between hosts and leaves, the fabric manager's included."),
        computed("leaf_spine_cables", Type::Int, "Links between leaves and spines."),
        computed("spine_core_cables", Type::Int, "Links between spines and cores."),
        computed("ports_free", Type::Int, "Unused switch ports."),
        computed("taper", RATIO, "Real oversubscription at the spine."),
        computed("disjoint_paths", Type::Int, "Ways from host to host that share no cable."),
        computed("lost_hosts", Type::Int, "Hosts that the loss of one switch cuts off, at worst."),
        computed("lost_gpus", Type::Int, "GPUs of those hosts."),
        computed("single_points", Type::Int, "Switches whose loss cuts hosts off."),
        computed("surviving_bisection", RATE, "Bisection without the switch that matters most."),
        computed("surviving_injection", RATE, "Bandwidth of the ports that are left without the switch that matters most."),
    ],
    groups: &[once(&TOPOLOGY), once(&PLACEMENT), once(&MANAGER), once(&UPLINK), once(&CABLES)],
    children: &[],
};

const TOPOLOGY: Shape = Shape {
    name: "topology",
    doc: "The shape; counts are checked if given, else planned.",
    models: Models::Choice(
        &[
            model(
                "leaf_only",
                "One tier: a leaf, a pair, or more with an uplink each.",
                &[optional("leaves", Type::Int, "How many leaves; planned if absent.")],
            ),
            model(
                "leaf_spine",
                "Two tiers; hosts fill leaves in order.",
                &[optional("leaves", Type::Int, "How many leaves."), optional("spines", Type::Int, "How many spines.")],
            ),
            model(
                "rail_optimized",
                "Two tiers; rail i of every host of a unit ends on leaf i of that unit.",
                &[
                    required("unit", Type::Int, "Hosts of a unit."),
                    optional("leaves", Type::Int, "How many leaves."),
                    optional("spines", Type::Int, "How many spines."),
                ],
            ),
            model(
                "rail_only",
                "Rails do not meet: one leaf a rail, or with several units a tree of leaves and spines a rail.",
                &[required("unit", Type::Int, "Hosts of a unit."), optional("spines", Type::Int, "How many spines, all rails together.")],
            ),
            model(
                "fat_tree",
                "Three tiers.",
                &[
                    default("tiers", Type::Int, "3", "Two or three."),
                    optional("unit", Type::Int, "Hosts of a unit."),
                    default("rails", Type::Bool, "false", "Rail i ends on leaf i of its unit."),
                    derived("pod", Type::Int, "as many as a spine has ports down", "Leaves that share spines."),
                    default("taper", RATIO, "1:1", "Upper bound of down : up at the spine."),
                    optional("leaves", Type::Int, "How many leaves."),
                    optional("spines", Type::Int, "How many spines."),
                    optional("cores", Type::Int, "How many cores."),
                ],
            ),
            model("dragonfly_plus", "Groups joined all to all.", &[required("groups", Type::Int, "How many groups.")]),
        ],
        true,
    ),
    fields: &[],
    groups: &[],
    children: &[],
};

const PLACEMENT: Shape = Shape {
    name: "placement",
    doc: "Where the switches of a tier stand; without it round robin over `racks`, from the top.",
    models: Models::None,
    fields: &[],
    groups: &[once(&LEAF_PLACE), once(&SPINE_PLACE), once(&CORE_PLACE)],
    children: &[],
};

const PLACE_FIELDS: &[Field] = &[
    derived("racks", RACKS, "the fabric's", "Racks that take them, in order: the switches of a unit stand together."),
    optional("position", UNITS, "Unit of the first in a rack; the others stand below it."),
];

const LEAF_PLACE: Shape = group("leaf", "The leaves.", PLACE_FIELDS);
const SPINE_PLACE: Shape = group("spine", "The spines.", PLACE_FIELDS);
const CORE_PLACE: Shape = group("core", "The cores.", PLACE_FIELDS);

const MANAGER: Shape = group("manager", "The fabric manager.", &[required("attach", PORTS, "Its ports, on spare leaf ports.")]);

const UPLINK: Shape = group(
    "uplink",
    "Links of each leaf to another fabric, or without `fabric` to the site's own network.",
    &[optional("fabric", FABRIC_REF, "The other fabric."), required("links", Type::Int, "Links a leaf.")],
);

const CABLES: Shape = group(
    "cables",
    "How cables are chosen.",
    &[
        default("slack", LENGTH, "1m", "Added to every length."),
        default("prefer", Type::List(&Type::Word(CableMedium::WORDS)), "[dac, fibre]", "Media, the preferred first."),
    ],
);

const CONGESTION: Shape = group(
    "congestion",
    "Lossless Ethernet; the same on switch and host.",
    &[
        default("pfc_priority", Type::Int, "3", "Priority that is paused."),
        default("dscp", Type::Int, "26", "Mark of RDMA packets."),
        default("ecn", Type::Bool, "true", "Congestion notification."),
        default("adaptive_routing", Type::Bool, "false", "Adaptive routing."),
    ],
);

const ROUTED: Shape = group(
    "routed",
    "Layer 3 down to the leaf.",
    &[
        required("loopbacks", Type::Cidr, "One address a switch."),
        required("links", Type::Cidr, "A /31 a link."),
        optional("asn", Type::Int, "First autonomous system number."),
    ],
);

pub const NETWORK: Shape = Shape {
    name: "network",
    doc: "Addresses that run on a fabric.",
    models: Models::None,
    fields: &[
        required("fabric", FABRIC_REF, "The fabric it runs on."),
        required("cidr", Type::Cidr, "Its range."),
        optional("vlan", Type::Int, "VLAN tag."),
        optional("pkey", Type::Int, "Partition key."),
        optional("rail", Type::Int, "Which NIC it numbers."),
        optional("plane", Type::Int, "Which plane it numbers."),
        derived("gateway", Type::Ip, "first usable on the pods' network, else none", "Router."),
        optional("reserved", Type::IpRange, "Addresses kept from numbering."),
        optional("host_prefix", Type::Int, "Block of a host; 31 is a routed point-to-point link."),
        derived("mtu", Type::Int, "the fabric's", "Bytes."),
        default("ipam", Type::Word(Ipam::WORDS), "nv_ipam", "Who gives pods their addresses."),
    ],
    groups: &[],
    children: &[],
};
