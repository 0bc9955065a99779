//! `rack` and `host`.

use super::*;

pub const RACK: Shape = Shape {
    name: "rack",
    doc: "A rack and what stands in it.",
    models: Models::Product("system", false),
    fields: &[
        required("height", UNITS, "Usable rack units."),
        optional("power", POWER, "Budget for equipment with one feed lost."),
        derived("cooling", POWER, "power", "Heat that can be removed."),
        optional("weight", MASS, "Floor and frame limit."),
        default("pdus", Type::Int, "0", "Power distribution units with a management port."),
        default("feeds", Type::Int, "2", "Independent power feeds."),
        optional("zone", Type::Label, "Failure domain."),
        default("row", Type::Int, "0", "Row on the floor, for cable lengths."),
        derived("column", Type::Int, "order of declaration", "Position in the row, for cable lengths."),
    ],
    groups: &[once(&SUPPLY)],
    children: &["host", "switch"],
};

const SUPPLY: Shape = group(
    "supply",
    "Each power feed of the rack.",
    &[
        required("volts", Type::Int, "Volts; between two phases of a three-phase feed."),
        required("amps", Type::Int, "Amperes of the breaker, each phase."),
        default("phases", Type::Int, "3", "Phases: 1 or 3."),
        default("derating", RATIO, "80%", "Share of the breaker that may be drawn continuously."),
    ],
);

pub const HOST: Shape = Shape {
    name: "host",
    doc: "A host: a Kubernetes node, or an appliance.",
    models: Models::Product("system", true),
    fields: &[
        derived("hostname", Type::String, "the path joined by `-`", "Node name."),
        derived("position", UNITS, "packed from below", "Lowest rack unit."),
        derived("height", UNITS, "the system's", "Rack units of this instance."),
        derived("power", POWER, "the system's", "Power of this instance."),
        optional("zone", Type::Label, "Cloud zone or failure domain."),
        default("capacity", Type::Word(Capacity::WORDS), "on_demand", "How a cloud host is bought."),
        default("labels", Type::Map(&Type::String), "{}", "Extra node labels."),
        computed("gpus", Type::Int, "GPUs of the host."),
        computed("cpus", Type::Int, "Threads of the host."),
        computed("memory", BYTES, "Installed memory."),
    ],
    groups: &[once(&FIRMWARE)],
    children: &[],
};

const FIRMWARE: Shape = group(
    "firmware",
    "BIOS as it must be.",
    &[
        default("sriov", Type::Bool, "true", "Virtual functions."),
        default("iommu", Type::Word(Iommu::WORDS), "passthrough", "I/O memory management."),
        default("acs", Type::Bool, "false", "Access control on PCIe switches; on, it bends peer-to-peer traffic through the CPU."),
        derived("numa_per_socket", Type::Int, "the system's", "NUMA nodes of one socket."),
    ],
);

/// A switch that stands in a rack by itself: the NVLink trays of a rack-scale system. Switches of fabrics are planned.
pub const RACK_SWITCH: Shape = Shape {
    name: "switch",
    doc: "A switch that stands in a rack.",
    models: Models::Product("switch", true),
    fields: &[
        derived("hostname", Type::String, "the path joined by `-`", "Its name."),
        derived("position", UNITS, "packed from below", "Lowest rack unit."),
        derived("power", POWER, "the product's", "Power of this instance."),
    ],
    groups: &[],
    children: &[],
};
