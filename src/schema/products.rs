//! Products: what is bought. A user's file adds hardware in the same way as the standard library.

use super::*;

const PRODUCT: [Field; 4] = [
    optional("vendor", Type::AnyWord, "Who makes it."),
    optional("part", Type::String, "Part number."),
    default("pci_id", STRINGS, "[]", "PCI vendor and device."),
    optional("source", Type::String, "Where the figures come from."),
];

/// The common fields and those of one product.
const fn with<const N: usize, const M: usize>(own: [Field; N]) -> [Field; M] {
    assert!(M == N + PRODUCT.len());
    let mut all = [PRODUCT[0]; M];
    let mut i = 0;
    while i < M {
        all[i] = if i < PRODUCT.len() { PRODUCT[i] } else { own[i - PRODUCT.len()] };
        i += 1;
    }
    all
}

const fn product(name: &'static str, doc: &'static str, fields: &'static [Field], groups: &'static [Group]) -> Shape {
    Shape { name, doc, models: Models::Product(name, false), fields, groups, children: &[] }
}

pub const GPU: Shape = product("gpu", "An accelerator.", &GPU_FIELDS, &[once(&NVLINK), once(&XGMI), once(&C2C), once(&PCIE), once(&FLOPS_GROUP), named(&MIG)]);

const GPU_FIELDS: [Field; 15] = with([
    optional("architecture", Type::AnyWord, "Generation."),
    optional("compute_capability", Type::Version, "CUDA compute capability."),
    optional("form_factor", Type::Word(FormFactor::WORDS), "Form."),
    required("memory", BYTES, "Memory as sold."),
    optional("usable_memory", BYTES, "Memory as the driver reports it."),
    required("memory_bandwidth", RATE, "Memory bandwidth."),
    optional("power", POWER, "Maximum power."),
    default("product_label", STRINGS, "[]", "Values of nvidia.com/gpu.product."),
    optional("mig_driver", Type::Version, "First driver with its MIG table."),
    default("partition_modes", WORDS, "[]", "Compute partitions (AMD)."),
    default("memory_modes", WORDS, "[]", "Memory partitions (AMD)."),
]);

const NVLINK: Shape = group(
    "nvlink",
    "NVLink of the GPU.",
    &[optional("generation", Type::Int, "Generation."), required("links", Type::Int, "Links."), required("rate", RATE, "One link, one direction.")],
);
const XGMI: Shape = group("xgmi", "Infinity Fabric.", &[required("links", Type::Int, "Links."), required("rate", RATE, "One link, one direction.")]);
const C2C: Shape = group("c2c", "Link to the CPU of a superchip.", &[required("rate", RATE, "One direction.")]);
const PCIE: Shape = group("pcie", "PCIe of the card.", &[optional("generation", Type::Int, "Generation."), required("lanes", Type::Int, "Lanes.")]);
const FLOPS_GROUP: Shape = group(
    "flops",
    "Dense peak rates.",
    &[optional("bf16", FLOPS, "BF16."), optional("fp8", FLOPS, "FP8."), optional("fp4", FLOPS, "FP4."), optional("tf32", FLOPS, "TF32.")],
);
const MIG: Shape = group(
    "mig",
    "A MIG profile.",
    &[
        required("compute", Type::Int, "Compute slices."),
        required("memory", Type::Int, "Memory slices."),
        required("starts", INTS, "Memory slices at which it may start."),
        required("max", Type::Int, "Most on one GPU."),
    ],
);

pub const CPU: Shape = product("cpu", "A CPU; one a socket.", &CPU_FIELDS, &[]);
const CPU_FIELDS: [Field; 9] = with([
    required("cores", Type::Int, "Cores."),
    default("threads_per_core", Type::Int, "1", "Threads of a core."),
    default("numa_nodes", Type::Int, "1", "NUMA nodes of the socket."),
    required("architecture", Type::Word(Architecture::WORDS), "Architecture."),
    optional("memory", BYTES, "Own memory (Grace)."),
]);

pub const NIC: Shape = product("nic", "A network card.", &NIC_FIELDS, &[array(&PORT)]);
const NIC_FIELDS: [Field; 10] = with([
    optional("driver", Type::String, "Kernel driver."),
    optional("part_number", Type::Int, "Device number that ibstat prints."),
    default("role", Type::Word(NicRole::WORDS), "data", "`management`: the port of the service processor."),
    default("devices", STRINGS, "[]", "RDMA names, one a port, set where the card is built in."),
    default("interfaces", STRINGS, "[]", "Linux interface names, one a port."),
    default("address", STRINGS, "[]", "PCI addresses, one a port."),
]);
const PORT: Shape = group(
    "port",
    "Ports of the card.",
    &[
        required("rate", RATE, "Line rate."),
        default("link_types", Type::List(&Type::Word(LinkType::WORDS)), "[ethernet]", "What it speaks."),
        default("connectors", WORDS, "[]", "Cages it comes with."),
        default("breakout", Type::List(&Type::Record(&BREAKOUT)), "[]", "How it may be split."),
    ],
);
const BREAKOUT: Shape = group("breakout", "A split.", &[required("links", Type::Int, "Links."), required("rate", RATE, "Rate of each.")]);

pub const DISK: Shape = product("disk", "A disk.", &DISK_FIELDS, &[]);
const DISK_FIELDS: [Field; 9] = with([
    default("interface", Type::Word(DiskInterface::WORDS), "nvme", "Interface."),
    required("capacity", BYTES, "Capacity."),
    optional("read", RATE, "Sustained read rate."),
    optional("write", RATE, "Sustained write rate."),
    optional("endurance", Type::Float, "Drive writes a day."),
]);

pub const SWITCH: Shape = product("switch", "A switch.", &SWITCH_FIELDS, &[array(&SWITCH_CAGE), named(&MGMT), array(&CHIP)]);
const SWITCH_FIELDS: [Field; 11] = with([
    required("link_type", Type::Word(SwitchedLink::WORDS), "What it switches."),
    optional("height", UNITS, "Rack units."),
    optional("power", POWER, "Maximum power."),
    optional("power_typical", POWER, "Typical power."),
    optional("weight", MASS, "Weight."),
    default("managed", Type::Bool, "true", "Has a management processor."),
    derived("os", Type::Word(SwitchOs::WORDS), "cumulus for NVIDIA's Ethernet switches, sonic for others'", "What its configuration is written for."),
]);
const SWITCH_CAGE: Shape = group(
    "cage",
    "Cages on the front.",
    &[
        optional("connector", Type::AnyWord, "Connector."),
        default("links", Type::Int, "1", "Links of a cage at full rate."),
        optional("rate", RATE, "Rate of a link."),
        default("breakout", Type::List(&Type::Record(&BREAKOUT)), "[]", "How a cage may be split."),
    ],
);
const MGMT: Shape = group("port", "The management port.", &[required("rate", RATE, "Line rate."), default("connectors", WORDS, "[]", "Connectors.")]);
const CHIP: Shape = group("chip", "Chips of an NVLink switch.", &[required("links", Type::Int, "Links of a chip.")]);

pub const CABLE: Shape = product("cable", "A cable.", &CABLE_FIELDS, &[]);
const CABLE_FIELDS: [Field; 10] = with([
    required("medium", Type::Word(CableMedium::WORDS), "Medium."),
    required("connector", Type::AnyWord, "Connector."),
    default("links", Type::Int, "1", "Links it carries."),
    required("rate", RATE, "Rate of a link."),
    optional("reach", LENGTH, "Longest."),
    default("lengths", Type::List(&LENGTH), "[]", "Lengths that are sold."),
]);

pub const TRANSCEIVER: Shape = product("transceiver", "A transceiver.", &TRANSCEIVER_FIELDS, &[]);
const TRANSCEIVER_FIELDS: [Field; 11] = with([
    required("cage", Type::AnyWord, "Cage it fits."),
    optional("top", Type::Word(TransceiverTop::WORDS), "Its heat sink: switches take finned ones, NICs flat ones; without it, either."),
    required("connector", Type::AnyWord, "Connector."),
    default("links", Type::Int, "1", "Links it carries."),
    required("rate", RATE, "Rate of a link."),
    optional("reach", LENGTH, "Longest."),
    optional("power", POWER, "Power."),
]);

pub const SYSTEM: Shape = Shape {
    name: "system",
    doc: "A server or a rack-scale system: its devices and the graph that joins them.",
    models: Models::Product("system", false),
    fields: &SYSTEM_FIELDS,
    groups: &[once(&PSU)],
    children: &["cpu", "gpu", "nic", "disk", "bridge", "nvswitch", "cage", "host", "switch"],
};
const SYSTEM_FIELDS: [Field; 12] = with([
    optional("height", UNITS, "Rack units."),
    optional("power", POWER, "Maximum power."),
    optional("weight", MASS, "Weight."),
    optional("airflow", AIRFLOW, "Air at full load."),
    optional("memory", BYTES, "Installed memory, over all NUMA nodes."),
    derived("usable_memory", BYTES, "98 % of memory", "Memory that the kernel reports."),
    optional("instance_type", Type::String, "Cloud shape."),
    optional("vcpus", Type::Int, "Threads of a cloud shape."),
]);
const PSU: Shape = group(
    "psu",
    "Power supplies.",
    &[required("count", Type::Int, "How many."), default("redundant", Type::Int, "0", "How many may fail."), optional("rating", POWER, "Power of one.")],
);

pub const BRIDGE: Shape = group("bridge", "A PCIe switch or bridge.", &[]);
pub const NVSWITCH: Shape = group("nvswitch", "An NVSwitch.", &[optional("generation", Type::Int, "Generation.")]);
pub const CAGE: Shape = group(
    "cage",
    "A cage of the chassis through which NICs leave.",
    &[
        optional("connector", Type::AnyWord, "Connector."),
        default("links", Type::Int, "1", "Links."),
        default("nics", Type::List(&Type::Ref(&["nic"])), "[]", "The NICs behind it, in the order of its ports."),
    ],
);

pub const LINK: Shape = group(
    "link",
    "A link between devices.",
    &[
        optional("generation", Type::Int, "PCIe generation."),
        optional("lanes", Type::Int, "PCIe lanes."),
        default("links", Type::Int, "1", "Parallel links."),
        optional("rate", RATE, "Rate of one link, one direction."),
        optional("numa", Type::Int, "At a CPU: which of its NUMA nodes is behind the link, counted from 0; without it the first."),
    ],
);
