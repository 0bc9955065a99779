//! `pool`: what Kubernetes sees of a set of hosts.

use super::*;

pub const POOL: Shape = Shape {
    name: "pool",
    doc: "Hosts that Kubernetes treats alike: one kubelet configuration, one set of labels and taints.",
    models: Models::None,
    fields: &[
        required("hosts", HOSTS, "Its hosts; a host is in one pool."),
        derived("taint", Type::Bool, "true if it has GPUs", "Keep other pods off."),
        default("labels", Type::Map(&Type::Label), "{}", "Extra node labels."),
        default("max_pods", Type::Int, "110", "Pods a host."),
        default("runtime", Type::Word(Runtime::WORDS), "default", "Container runtime."),
        computed("gpus", Type::Int, "GPUs of the pool."),
        computed("cpus", Type::Int, "Threads of the pool."),
        computed("memory", BYTES, "Installed memory of the pool."),
        computed("gpu_model", Type::String, "Its GPU's name."),
        computed("allocatable", BYTES, "Memory that pods may use on all hosts together."),
    ],
    groups: &[many(&TAINTS), once(&CPU), once(&MEMORY), once(&NUMA), many(&HUGEPAGES), once(&GPU), once(&RDMA), once(&NODES)],
    children: &[],
};

const TAINTS: Shape = group(
    "taints",
    "A further taint.",
    &[
        required("key", Type::String, "Key."),
        optional("value", Type::String, "Value."),
        default("effect", Type::Word(TaintEffect::WORDS), "no_schedule", "Effect."),
    ],
);

const CPU: Shape = group(
    "cpu",
    "CPU manager, per host.",
    &[
        default("manager", Type::Word(Manager::WORDS), "none", "`static` pins whole cores to Guaranteed pods."),
        default("reserved_cores", Type::Int, "2", "Whole cores kept for the system."),
        default("full_cores", Type::Bool, "true", "Both threads of a core go to one pod."),
    ],
);

const MEMORY: Shape = group(
    "memory",
    "Memory manager, per host, all NUMA nodes together.",
    &[
        default("manager", Type::Word(Manager::WORDS), "none", "`static` gives Guaranteed pods memory of their NUMA nodes."),
        default("reserved", BYTES, "4GiB", "Kept for the system, eviction not included."),
        default("eviction", BYTES, "100MiB", "Hard eviction threshold."),
    ],
);

const NUMA: Shape = group(
    "numa",
    "Topology manager.",
    &[
        default("policy", Type::Word(NumaPolicy::WORDS), "none", "How strictly devices must share a NUMA node."),
        default("scope", Type::Word(NumaScope::WORDS), "container", "What is aligned."),
    ],
);

const HUGEPAGES: Shape = group(
    "hugepages",
    "Pages that the kernel reserves at boot, per host, split evenly over the NUMA nodes.",
    &[required("size", Type::Quantity(Dimension::Bytes), "2MiB or 1GiB."), required("count", Type::Int, "Pages a host.")],
);

const GPU: Shape = Shape {
    name: "gpu",
    doc: "GPUs of the pool.",
    models: Models::None,
    fields: &[
        required("driver", Type::Version, "Driver branch (`580`) or version."),
        default("allocation", Type::Word(Allocation::WORDS), "device_plugin", "Who hands out GPUs."),
        default("imex", Type::Bool, "false", "IMEX channels for multi-node NVLink."),
    ],
    groups: &[once(&MIG), once(&SHARING), once(&PARTITION)],
    children: &[],
};

const MIG: Shape = group(
    "mig",
    "Multi-Instance GPU.",
    &[
        default("strategy", Type::Word(MigStrategy::WORDS), "single", "`single`: all slices alike, named nvidia.com/gpu."),
        required("layout", STRINGS, "Profiles of every GPU."),
    ],
);

const SHARING: Shape = Shape {
    name: "sharing",
    doc: "Several pods on one GPU, without memory isolation.",
    models: Models::Choice(&[model("time_slicing", "Pods take turns.", &[]), model("mps", "Pods run at once, through one server.", &[])], true),
    fields: &[required("replicas", Type::Int, "Slots of each GPU."), default("rename", Type::Bool, "false", "Call the slots nvidia.com/gpu.shared.")],
    groups: &[],
    children: &[],
};

const PARTITION: Shape = group(
    "partition",
    "Partitions of AMD GPUs.",
    &[
        default("compute", Type::Word(ComputePartition::WORDS), "spx", "Compute partition."),
        default("memory", Type::Word(MemoryPartition::WORDS), "nps1", "Memory partition."),
    ],
);

const FABRICS: Type = Type::List(&FABRIC_REF);

const RDMA: Shape = Shape {
    name: "rdma",
    doc: "How pods get at the RDMA ports.",
    models: Models::Choice(
        &[
            model("sriov", "A virtual function a pod and rail.", &[default("vfs", Type::Int, "1", "Virtual functions a port.")]),
            model("shared", "Pods share the port.", &[default("per_host", Type::Int, "63", "Pods that may share it (rdmaHcaMax).")]),
            model("host_device", "The whole port goes to one pod.", &[]),
            model("efa", "AWS Elastic Fabric Adapter.", &[]),
            model("dra", "Dynamic Resource Allocation.", &[]),
        ],
        true,
    ),
    fields: &[required("fabric", FABRICS, "Fabrics whose ports are handed out.")],
    groups: &[],
    children: &[],
};

const NODES: Shape = group(
    "nodes",
    "Cloud node group.",
    &[
        default("group", Type::Word(NodeGroupKind::WORDS), "managed", "Who runs the group."),
        derived("min", Type::Int, "number of hosts", "Fewest hosts."),
        derived("max", Type::Int, "number of hosts", "Most hosts."),
        default("root_volume", BYTES, "200GiB", "Root volume of a host."),
    ],
);
