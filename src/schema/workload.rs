//! `queue` and `workload`.

use super::*;

pub const QUEUE: Shape = Shape {
    name: "queue",
    doc: "Who may use how much of a pool.",
    models: Models::None,
    fields: &[
        required("pool", Type::List(&Type::Ref(&["pool"])), "The pools."),
        optional("gpus", Type::Int, "Nominal quota of GPUs; required if the pool has some."),
        default("resources", Type::Map(&Type::Amount), "{}", "Other quotas; without them proportional to the GPUs."),
        optional("cohort", Type::String, "Queues that lend to each other."),
        default("borrow", Type::Int, "0", "GPUs it may borrow."),
        derived("lend", Type::Int, "gpus", "GPUs it may lend."),
        derived("namespace", Type::String, "its name", "Namespace of its jobs."),
        default("priority", Type::Int, "0", "Priority of its jobs."),
        default("preemption", Type::Word(Preemption::WORDS), "lower_priority", "Within the queue."),
        default("reclaim", Type::Word(Reclaim::WORDS), "any", "What it lent is taken back across the cohort."),
    ],
    groups: &[],
    children: &[],
};

const LEVEL: Type = Type::Word(Level::WORDS);

const RUN: &[Group] = &[once(&GPU_SLICE), once(&PLACE), many(&MOUNT)];

pub const WORKLOAD: Shape = Shape {
    name: "workload",
    doc: "A job or a service.",
    models: Models::Choice(
        &[
            Model {
                name: "training",
                doc: "A gang of pods that start and fail together.",
                fields: &[default("form", Type::Word(TrainingForm::WORDS), "jobset", "The object it becomes.")],
                groups: &[once(&PARALLEL), once(&CHECKPOINT)],
            },
            Model {
                name: "inference",
                doc: "A model that is served.",
                fields: &[],
                groups: &[once(&PARALLEL), named(&PORT), many(&AUTOSCALE), named(&ROLE), once(&KV_TRANSFER), once(&DISRUPTION)],
            },
            Model {
                name: "batch",
                doc: "Independent pods that end.",
                fields: &[
                    default("completions", Type::Int, "1", "Pods that must succeed."),
                    default("parallelism", Type::Int, "1", "Pods at once."),
                    optional("deadline", TIME, "Longest run."),
                ],
                groups: &[],
            },
            Model { name: "service", doc: "A service without a model.", fields: &[], groups: &[named(&PORT), once(&DISRUPTION)] },
            model("manifest", "The team's own YAML, passed through with its placement.", &[required("file", Type::String, "Path inside the project.")]),
        ],
        true,
    ),
    fields: &[
        optional("queue", Type::Ref(&["queue"]), "The queue; it implies its pool."),
        optional("pool", Type::Ref(&["pool"]), "The pool, where there is no queue."),
        derived("namespace", Type::String, "the queue's, else its name", "Namespace."),
        optional("image", Type::Image, "Container image."),
        default("command", STRINGS, "[]", "Command."),
        default("args", STRINGS, "[]", "Arguments."),
        default("env", Type::Map(&Type::String), "{}", "Environment."),
        optional("nodes", Type::Int, "Hosts a replica; required for training, else 1."),
        default("replicas", Type::Int, "1", "How many."),
        derived("gpus", Type::Int, "training: all of the host; else 0", "GPUs a node."),
        optional("cpu", Type::Int, "Kubernetes CPUs a node; required unless every role has them."),
        optional("memory", BYTES, "Memory a node; required unless every role has it."),
        default("hugepages", BYTES, "0B", "HugePages a node."),
        derived("shm", BYTES, "16GiB with RDMA", "Size of /dev/shm."),
        default("ephemeral", BYTES, "10GiB", "Disk of the container."),
        derived("rdma", Type::Bool, "training: if the pool has it", "One port a rail."),
        default("priority", Type::Int, "0", "Priority."),
        derived("grace", TIME, "the larger of 30s and the checkpoint's write", "Time to end after SIGTERM."),
        default("restarts", Type::Int, "3", "Restarts of the whole gang."),
        optional("heterogeneous", Type::String, "The reason why one job may span GPU models."),
    ],
    groups: RUN,
    children: &[],
};

const GPU_SLICE: Shape = group("gpu", "A slice instead of a GPU.", &[optional("mig", Type::String, "Profile."), default("count", Type::Int, "1", "How many.")]);

const PLACE: Shape = group(
    "place",
    "Where the nodes of one replica may stand.",
    &[
        optional("within", LEVEL, "All in one of these."),
        optional("prefer", LEVEL, "All in one of these if possible."),
        optional("spread", LEVEL, "Replicas over these."),
        optional("slice", Type::Int, "`within` holds for groups of this many nodes."),
    ],
);

const MOUNT: Shape = group(
    "mount",
    "A volume in the container.",
    &[
        required("volume", Type::Ref(&["volume"]), "The volume."),
        required("path", Type::String, "Where."),
        default("read_only", Type::Bool, "false", "Without writing."),
    ],
);

const PARALLEL: Shape = group(
    "parallel",
    "How the model is cut. The product is the GPUs, without `expert` where it divides `data`.",
    &[
        default("tensor", Type::Int, "1", "Tensor parallelism."),
        default("pipeline", Type::Int, "1", "Pipeline stages."),
        default("data", Type::Int, "1", "Data parallelism."),
        default("context", Type::Int, "1", "Context parallelism."),
        default("expert", Type::Int, "1", "Expert parallelism."),
    ],
);

const CHECKPOINT: Shape = group(
    "checkpoint",
    "What survives the loss of a host.",
    &[
        required("volume", Type::Ref(&["volume"]), "Where."),
        required("size", BYTES, "One checkpoint."),
        required("every", TIME, "Interval."),
        default("keep", Type::Int, "2", "How many are kept."),
        derived("readers", Type::Int, "data", "Replicas that read all of it at a restart."),
        optional("restore_within", TIME, "Bound of the restart."),
    ],
);

const PORT: Shape = group(
    "port",
    "A port that is served.",
    &[required("number", Type::Int, "Port number."), optional("health", Type::String, "HTTP path that answers when it works.")],
);

const AUTOSCALE: Shape = group(
    "autoscale",
    "Replicas follow the load.",
    &[
        optional("role", Type::Sibling("role"), "Which role."),
        required("min", Type::Int, "Fewest."),
        required("max", Type::Int, "Most."),
        required("metric", Type::Word(Metric::WORDS), "What is measured."),
        required("target", Type::Int, "Value a replica."),
    ],
);

const ROLE: Shape = group(
    "role",
    "A part of disaggregated serving.",
    &[
        default("replicas", Type::Int, "1", "How many."),
        default("nodes", Type::Int, "1", "Hosts a replica."),
        default("gpus", Type::Int, "0", "GPUs a node."),
        required("cpu", Type::Int, "CPUs a node."),
        required("memory", BYTES, "Memory a node."),
        default("command", STRINGS, "[]", "Command."),
    ],
);

const KV_TRANSFER: Shape = group(
    "kv_transfer",
    "How the KV cache moves between roles.",
    &[
        required("from", Type::Sibling("role"), "Who sends."),
        required("to", Type::Sibling("role"), "Who receives."),
        default("network", Type::Word(KvNetwork::WORDS), "rdma", "Over what."),
    ],
);

const DISRUPTION: Shape = group("disruption", "Voluntary disruption.", &[derived("max_unavailable", Type::Int, "1", "Pods that may be away at once.")]);
