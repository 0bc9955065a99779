//! `queue` and `workload`.

use serde::Serialize;

use super::*;

/// An amount of a resource: whole units, or bytes.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "their names are their documentation")]
pub enum Amount {
    Count(i64),
    Bytes(Quantity),
}

/// `queue`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Queue {
    pub name: String,
    pub pools: Vec<usize>,
    pub gpus: Option<i64>,
    pub resources: BTreeMap<String, Amount>,
    pub cohort: Option<String>,
    pub borrow: i64,
    pub lend: i64,
    pub namespace: String,
    pub priority: i64,
    pub preemption: Preemption,
    pub reclaim: Reclaim,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// `workload`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Workload {
    pub name: String,
    pub kind: WorkloadKind,
    pub queue: Option<usize>,
    pub pool: Option<usize>,
    pub namespace: String,
    pub image: String,
    pub command: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub nodes: i64,
    pub replicas: i64,
    pub gpus: i64,
    pub slice: Option<(String, i64)>,
    pub cpu: i64,
    pub memory: Quantity,
    pub hugepages: Quantity,
    pub shm: Option<Quantity>,
    pub ephemeral: Quantity,
    pub rdma: bool,
    pub place: Place,
    pub mounts: Vec<Mount>,
    pub priority: i64,
    pub grace: Option<Quantity>,
    pub restarts: i64,
    pub heterogeneous: Option<String>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// What a workload is, with what only that kind has.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum WorkloadKind {
    Training { form: TrainingForm, parallel: Option<Parallel>, checkpoint: Option<Checkpoint> },
    Inference(Box<Inference>),
    Batch { completions: i64, parallelism: i64, deadline: Option<Quantity> },
    Service(Served),
    Manifest { file: String },
}

/// A model that is served.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Inference {
    pub parallel: Option<Parallel>,
    pub autoscale: Vec<Autoscale>,
    pub roles: Vec<Role>,
    pub kv_transfer: Option<KvTransfer>,
    pub served: Served,
}

/// What everything that is served has.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Served {
    pub ports: Vec<ServedPort>,
    pub max_unavailable: i64,
}

/// `kv_transfer` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct KvTransfer {
    pub from: String,
    pub to: String,
    pub network: KvNetwork,
}

impl Workload {
    /// The word of its kind.
    pub fn word(&self) -> WorkloadWord {
        match self.kind {
            WorkloadKind::Training { .. } => WorkloadWord::Training,
            WorkloadKind::Inference(_) => WorkloadWord::Inference,
            WorkloadKind::Batch { .. } => WorkloadWord::Batch,
            WorkloadKind::Service(_) => WorkloadWord::Service,
            WorkloadKind::Manifest { .. } => WorkloadWord::Manifest,
        }
    }

    /// Whether its pods start and fail together.
    pub fn is_training(&self) -> bool {
        self.word() == WorkloadWord::Training
    }

    /// Whether clients call it.
    pub fn is_served(&self) -> bool {
        self.served().is_some()
    }

    /// The ports and the disruption of what is served.
    pub fn served(&self) -> Option<&Served> {
        match &self.kind {
            WorkloadKind::Inference(inference) => Some(&inference.served),
            WorkloadKind::Service(served) => Some(served),
            WorkloadKind::Training { .. } | WorkloadKind::Batch { .. } | WorkloadKind::Manifest { .. } => None,
        }
    }

    /// The model that is served.
    pub fn inference(&self) -> Option<&Inference> {
        if let WorkloadKind::Inference(inference) = &self.kind { Some(inference) } else { None }
    }

    /// The ports that it serves.
    pub fn ports(&self) -> &[ServedPort] {
        self.served().map_or(&[], |served| &served.ports)
    }

    /// The parts of disaggregated serving.
    pub fn roles(&self) -> &[Role] {
        self.inference().map_or(&[], |inference| &inference.roles)
    }

    /// How its replicas follow the load.
    pub fn autoscale(&self) -> &[Autoscale] {
        self.inference().map_or(&[], |inference| &inference.autoscale)
    }

    /// How the model is cut.
    pub fn parallel(&self) -> Option<&Parallel> {
        match &self.kind {
            WorkloadKind::Training { parallel, .. } => parallel.as_ref(),
            WorkloadKind::Inference(inference) => inference.parallel.as_ref(),
            WorkloadKind::Batch { .. } | WorkloadKind::Service(_) | WorkloadKind::Manifest { .. } => None,
        }
    }

    /// What survives the loss of a host.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        if let WorkloadKind::Training { checkpoint, .. } = &self.kind { checkpoint.as_ref() } else { None }
    }
}

/// `place` of a workload.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Place {
    pub within: Option<Level>,
    pub prefer: Option<Level>,
    pub spread: Option<Level>,
    pub slice: Option<i64>,
}

/// `mount` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Mount {
    pub volume: usize,
    pub path: String,
    pub read_only: bool,
}

/// `parallel` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Parallel {
    pub tensor: i64,
    pub pipeline: i64,
    pub data: i64,
    pub context: i64,
    pub expert: i64,
}

impl Parallel {
    /// The product of all degrees but `expert`.
    pub fn dense(&self) -> i64 {
        self.tensor.saturating_mul(self.pipeline).saturating_mul(self.data).saturating_mul(self.context)
    }

    /// Whether the degrees fit that many GPUs: as their product, or without `expert` where it divides `data`.
    pub fn fits(&self, gpus: i64) -> bool {
        let dense = self.dense();
        dense.saturating_mul(self.expert) == gpus || self.expert > 1 && self.data % self.expert == 0 && dense == gpus
    }
}

/// `checkpoint` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Checkpoint {
    pub volume: usize,
    pub size: Quantity,
    pub every: Quantity,
    pub keep: i64,
    pub readers: i64,
    pub restore_within: Option<Quantity>,
}

/// `port` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct ServedPort {
    pub name: String,
    pub number: i64,
    pub health: Option<String>,
}

/// `autoscale` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Autoscale {
    pub role: Option<String>,
    pub min: i64,
    pub max: i64,
    pub metric: Metric,
    pub target: i64,
}

/// `role` of a workload.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Role {
    pub name: String,
    pub replicas: i64,
    pub nodes: i64,
    pub gpus: i64,
    pub cpu: i64,
    pub memory: Quantity,
    pub command: Vec<String>,
}
