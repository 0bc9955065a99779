//! Pod shapes of workloads.

use super::gpu_resource;
use super::resources::{CHANNELS, EFA_POD_PAGES, Resources, efa, hugepage_resource, mig_resource, ports};
use crate::base::Quantity;
use crate::design::{Design, MigStrategy, Pool, TrainingForm, Workload, WorkloadKind};

/// Equal pods of a workload.
#[derive(Clone, Debug)]
pub struct PodShape {
    /// `worker`, or the role.
    pub template: String,
    /// Pods in all.
    pub count: usize,
    /// Pods that must be placed together.
    pub gang: usize,
    /// What one asks for.
    pub requests: Resources,
    /// Hosts that admit one such pod.
    pub candidates: Vec<usize>,
    /// A host for each pod, in a placement of all declared workloads at once.
    pub placed: Vec<usize>,
}

/// The pods of a workload.
#[derive(Clone, Debug, Default)]
pub struct WorkloadPods {
    /// `JobSet`, `Deployment`…
    pub object: &'static str,
    /// Its shapes.
    pub shapes: Vec<PodShape>,
}

/// The pods of one workload.
pub fn of_workload(design: &Design, workload: &Workload) -> WorkloadPods {
    let Some(pool) = design.pool_of(workload).map(|p| &design.pools[p]) else { return WorkloadPods::default() };
    let object = match workload.kind {
        WorkloadKind::Training { form, .. } => match form {
            TrainingForm::Jobset => "JobSet",
            TrainingForm::Trainjob => "TrainJob",
            TrainingForm::Mpijob => "MPIJob",
            TrainingForm::Pytorchjob => "PyTorchJob",
            TrainingForm::Rayjob => "RayJob",
            TrainingForm::Volcano => "Job.batch.volcano.sh",
        },
        WorkloadKind::Batch { .. } => "Job",
        WorkloadKind::Inference(_) if workload.nodes > 1 => "LeaderWorkerSet",
        WorkloadKind::Inference(_) | WorkloadKind::Service(_) => "Deployment",
        WorkloadKind::Manifest { .. } => return WorkloadPods { object: "manifest", shapes: Vec::new() },
    };
    let shape = |template: &str, count: i64, gang: i64, requests| PodShape {
        template: template.to_owned(),
        count: count.max(0) as usize,
        gang: gang.max(1) as usize,
        requests,
        candidates: Vec::new(),
        placed: Vec::new(),
    };
    let shapes = if workload.roles().is_empty() {
        let requests = requests(design, pool, workload, workload.gpus, workload.cpu, &workload.memory);
        match workload.kind {
            WorkloadKind::Training { .. } => vec![shape("worker", workload.nodes * workload.replicas, workload.nodes, requests)],
            WorkloadKind::Batch { completions, parallelism, .. } => vec![shape("worker", parallelism.min(completions), 1, requests)],
            WorkloadKind::Manifest { .. } => Vec::new(),
            WorkloadKind::Inference(_) | WorkloadKind::Service(_) => vec![shape(&workload.name, workload.nodes * workload.replicas, workload.nodes, requests)],
        }
    } else {
        workload.roles().iter().map(|r| shape(&r.name, r.replicas * r.nodes, r.nodes, requests(design, pool, workload, r.gpus, r.cpu, &r.memory))).collect()
    };
    WorkloadPods { object, shapes }
}

fn requests(design: &Design, pool: &Pool, workload: &Workload, gpus: i64, cpu: i64, memory: &Quantity) -> Resources {
    let mut out = Resources::from([
        ("cpu".to_owned(), i128::from(cpu)),
        ("memory".to_owned(), memory.whole()),
        ("ephemeral-storage".to_owned(), workload.ephemeral.whole()),
    ]);
    if workload.hugepages.whole() > 0 {
        let size = pool.hugepages.first().map_or(1 << 30, |h| h.size.whole());
        out.insert(hugepage_resource(size), workload.hugepages.whole());
    }
    if let Some((profile, count)) = &workload.slice {
        let single = pool.gpu.as_ref().and_then(|g| g.mig.as_ref()).is_some_and(|mig| mig.strategy == MigStrategy::Single);
        let name = if single { gpu_resource(design, pool).to_owned() } else { mig_resource(profile) };
        out.insert(name, i128::from(*count));
    } else if gpus > 0 {
        let renamed = pool.gpu.as_ref().and_then(|g| g.sharing.as_ref()).is_some_and(|s| s.rename);
        let base = gpu_resource(design, pool);
        out.insert(if renamed { format!("{base}.shared") } else { base.to_owned() }, gpus.into());
    }
    if workload.rdma
        && let Some(host) = pool.hosts.first()
    {
        out.extend(ports(design, pool, *host));
        if efa(pool) {
            out.entry(hugepage_resource(2 << 20)).or_insert(EFA_POD_PAGES);
        }
    }
    if pool.gpu.as_ref().is_some_and(|gpu| gpu.imex) && workload.nodes > 1 && gpus > 0 {
        out.insert(CHANNELS.into(), 1);
    }
    out
}
