//! A training job: one gang.

use k8s_openapi::api::batch::v1::{JobSpec, JobTemplateSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule};

use super::super::super::kinds::int;
use super::super::super::kinds::jobset::{FailurePolicy, FailureRule, JobSet, JobSetSpec, Network, ReplicatedJob, SuccessPolicy};
use super::super::super::object::Document;
use super::pod::Template;
use super::queued;
use crate::design::Scheduler;

const WORKER: &str = "worker";

/// The JobSet. No `suspend`: Kueue's webhook sets it, and a later apply that says true would stop a running job.
pub fn jobset(template: &Template) -> Document {
    let w = template.workload;
    let mut pod = template.pod("training", template.container(WORKER));
    pod.restart_policy = Some("Never".into());
    let disrupted = PodFailurePolicyOnPodConditionsPattern { type_: "DisruptionTarget".into(), status: Some("True".into()) };
    let job = JobSpec {
        completion_mode: Some("Indexed".into()),
        completions: Some(int(w.nodes)),
        parallelism: Some(int(w.nodes)),
        backoff_limit: Some(0),
        pod_replacement_policy: Some("Failed".into()),
        pod_failure_policy: Some(PodFailurePolicy {
            rules: vec![PodFailurePolicyRule { action: "FailJob".into(), on_pod_conditions: Some(vec![disrupted]), ..Default::default() }],
        }),
        template: template.with_metadata(Some(WORKER), pod),
        ..Default::default()
    };
    let spec = JobSetSpec {
        network: Network { enable_dns_hostnames: true, subdomain: w.name.clone(), publish_not_ready_addresses: true },
        failure_policy: FailurePolicy {
            max_restarts: w.restarts,
            restart_strategy: "BlockingRecreate",
            rules: vec![FailureRule {
                name: "hostMaintenance",
                action: "RestartJobSetAndIgnoreMaxRestarts",
                on_job_failure_reasons: vec!["PodFailurePolicy"],
                target_replicated_jobs: vec![WORKER],
            }],
        },
        success_policy: SuccessPolicy { operator: "All" },
        replicated_jobs: vec![ReplicatedJob { name: WORKER, replicas: 1, template: JobTemplateSpec { metadata: None, spec: Some(job) } }],
    };
    let jobset = template.input.maker.namespaced(&w.at, &w.namespace, &w.name, JobSet { spec, ..Default::default() });
    let base = "/spec/replicatedJobs/0/template/spec";
    let jobset = if template.input.design().cluster.scheduler == Scheduler::Kueue {
        jobset.because("/spec", "No `suspend`: Kueue's webhook sets it, and a later apply that says true would stop a running job.")
    } else {
        jobset
    };
    let document = queued(template.input, w, jobset)
        .from(&format!("{base}/completions"), w.at.set("nodes"))
        .from("/spec/failurePolicy/maxRestarts", w.at.set("restarts"))
        .because("/spec/failurePolicy/restartStrategy", "All old pods are gone before new ones start: no rank of the last run joins this one.")
        .because("/spec/failurePolicy/rules/0", "A drained or lost host is no failure of the program.")
        .because(&format!("{base}/backoffLimit"), "One rank lost is the gang lost: the JobSet restarts all of them.");
    template.explain(document, &format!("{base}/template"))
}
