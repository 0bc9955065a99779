//! Kueue: queues, quotas and the placement of gangs.

use serde_json::{Value, json};

use super::super::super::folder::Folder;
use super::super::super::yaml;
use super::{Operator, Wave};
use crate::Compilation;
use crate::design::{Allocation, Scheduler};
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::KUEUE,
    wave: Wave::Queues,
    wanted: |c| c.design.queues.first().filter(|_| c.design.cluster.scheduler == Scheduler::Kueue).map(|_| "cluster.scheduler".into()),
    values,
    reasons: |_| {
        &[
            ("/controllerManager/manager/image", "The chart's default is a staging tag."),
            ("/managerConfig", "waitForPodsReady evicts a gang whose pods do not all start; jobs without a queue in a queue's namespace are held."),
        ]
    },
    serves: &[Folder::Scheduling],
};

fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let mut namespaces: Vec<&str> = d.queues.iter().map(|q| q.namespace.as_str()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let mut frameworks = vec!["batch/job"];
    if d.workloads.iter().any(|w| w.is_training()) {
        frameworks.push("jobset.x-k8s.io/jobset");
    }
    // The chart takes the whole configuration as one text.
    let mut configuration = json!({
        "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
        "health": { "healthProbeBindAddress": ":8081" },
        "metrics": { "bindAddress": ":8443", "enableClusterQueueResources": true },
        "webhook": { "port": 9443 },
        "leaderElection": { "leaderElect": true, "resourceName": "c1f6bfd2.kueue.x-k8s.io" },
        "controller": { "groupKindConcurrency": { "Job.batch": 5, "Pod": 5, "Workload.kueue.x-k8s.io": 10, "LocalQueue.kueue.x-k8s.io": 5, "ClusterQueue.kueue.x-k8s.io": 5, "ResourceFlavor.kueue.x-k8s.io": 1 } },
        "clientConnection": { "qps": 300, "burst": 500 },
        "waitForPodsReady": { "timeout": "15m", "recoveryTimeout": "5m", "blockAdmission": false, "requeuingStrategy": { "timestamp": "Eviction", "backoffLimitCount": 5, "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600 } },
        "manageJobsWithoutQueueName": true,
        "managedJobsNamespaceSelector": { "matchExpressions": [{ "key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces }] },
        "integrations": { "frameworks": frameworks },
    });
    // A claimed GPU counts against the quota under the same name as one of the device plugin.
    if d.pools.iter().flat_map(|p| &p.gpu).any(|gpu| gpu.allocation == Allocation::Dra) {
        configuration["featureGates"] = json!({ "KueueDRAIntegration": true });
        configuration["resources"] = json!({ "deviceClassMappings": [{ "name": "nvidia.com/gpu", "deviceClassNames": ["gpu.nvidia.com"] }] });
    }
    json!({
        "enablePrometheus": d.cluster.observability, "enableCertManager": false, "enableVisibilityAPF": true, "kubernetesClusterDomain": d.cluster.domain,
        "controllerManager": {
            "replicas": 2, "podDisruptionBudget": { "enabled": true, "minAvailable": 1 },
            "manager": {
                "image": { "repository": versions::KUEUE_IMAGE.0, "tag": versions::KUEUE_IMAGE.1, "pullPolicy": "IfNotPresent" },
                "resources": { "requests": { "cpu": "1", "memory": "2Gi" }, "limits": { "cpu": "2", "memory": "2Gi" } },
            },
        },
        "metrics": { "prometheusNamespace": "monitoring" },
        "managerConfig": { "controllerManagerConfigYaml": yaml::text(&configuration) },
    })
}
