//! `workloads/<name>/`: JobSet, Deployment, LeaderWorkerSet, Job, with their Service, ServiceAccount and PodDisruptionBudget.

mod collectives;
mod pod;
mod serving;
mod training;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::ServiceAccount;

use super::super::kinds::int;
use super::super::{Artifacts, object::Document};
use super::Input;
use super::scheduling::{self, priority_name, priority_of};
use crate::base::Quantity;
use crate::base::quantity::to_f64;
use crate::design::{Scheduler, Workload, WorkloadKind};
use pod::Template;

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    for (id, workload) in d.workloads.iter().enumerate() {
        let Some(pool_id) = d.pool_of(workload) else { continue };
        let Some(shape) = input.compilation.nodes.pods[id].shapes.first() else { continue };
        let template = Template { input, workload, pool_id, pool: &d.pools[pool_id], shape };
        let dir = format!("kubernetes/workloads/{}", workload.name);
        let account = ServiceAccount { automount_service_account_token: Some(false), ..Default::default() };
        let account = input.maker.namespaced(&workload.at, &workload.namespace, &workload.name, account);
        // With what the pods name beside their controller: claims, the gang of a scheduler that keeps it in an object.
        let whole = |mut documents: Vec<Document>| {
            documents.extend(template.claims().documents);
            documents.extend(scheduling::gang(input, workload, shape));
            documents
        };
        match workload.kind {
            WorkloadKind::Training { .. } => artifacts.objects(format!("{dir}/jobset.yaml"), whole(vec![training::jobset(&template), account])),
            WorkloadKind::Batch { completions, parallelism, deadline } => {
                artifacts.objects(format!("{dir}/job.yaml"), whole(vec![job(&template, completions, parallelism, deadline), account]));
            }
            WorkloadKind::Manifest { .. } => {}
            WorkloadKind::Inference(_) | WorkloadKind::Service(_) => {
                let (file, controller) = match workload.nodes {
                    ..=1 => ("deployment.yaml", serving::deployment(&template)),
                    _ => ("leaderworkerset.yaml", serving::leader_worker_set(&template)),
                };
                let mut documents = vec![controller];
                documents.extend(serving::service(input, workload));
                documents.extend(serving::budget(input, workload));
                documents.push(account);
                artifacts.objects(format!("{dir}/{file}"), whole(documents));
            }
        }
    }
}

/// The labels by which Kueue takes a workload in.
fn queued(input: &Input, workload: &Workload, document: Document) -> Document {
    let d = input.design();
    match workload.queue.filter(|_| d.cluster.scheduler == Scheduler::Kueue) {
        Some(queue) => {
            document.label("kueue.x-k8s.io/queue-name", &d.queues[queue].name).label("kueue.x-k8s.io/priority-class", &priority_name(priority_of(d, workload)))
        }
        None => document,
    }
}

fn job(template: &Template, completions: i64, parallelism: i64, deadline: Option<Quantity>) -> Document {
    let w = template.workload;
    let mut pod = template.pod("batch", template.container("worker"));
    pod.restart_policy = Some("Never".into());
    let spec = JobSpec {
        completions: Some(int(completions)),
        parallelism: Some(int(parallelism)),
        backoff_limit: Some(int(w.restarts)),
        active_deadline_seconds: deadline.map(|d| to_f64(d.value).ceil() as i64),
        template: template.with_metadata(None, pod),
        ..Default::default()
    };
    let input = template.input;
    let job = input.maker.namespaced(&w.at, &w.namespace, &w.name, Job { spec: Some(spec), ..Default::default() });
    template
        .explain(queued(input, w, job), "/spec/template")
        .from("/spec/completions", w.at.set("completions"))
        .from("/spec/parallelism", w.at.set("parallelism"))
}
