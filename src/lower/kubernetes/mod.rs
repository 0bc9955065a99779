//! `kubernetes/`: everything that is applied to the API server.

mod gpu;
mod nodes;
mod observability;
mod policy;
mod rdma;
mod scheduling;
mod storage;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Namespace;

use super::folder::Folder;
use super::install::operators::{self, Release};
use super::kinds::Kustomization;
use super::object::{Document, Maker};
use super::{Artifacts, Content};
use crate::Compilation;
use crate::design::Allocation;
use crate::versions;

pub use rdma::drained_at_once;

/// What the lowering of one folder reads.
pub struct Input<'a> {
    /// The compilation.
    pub compilation: &'a Compilation,
    /// Makes objects.
    pub maker: Maker<'a>,
}

impl<'a> Input<'a> {
    /// The design.
    pub fn design(&self) -> &'a crate::design::Design {
        &self.compilation.design
    }

    /// Declared pools with GPUs.
    pub fn gpu_pools(&self) -> impl Iterator<Item = (usize, &'a crate::design::Pool)> {
        self.design().pools.iter().enumerate().filter(|(_, p)| p.gpu.is_some())
    }

    /// Pools with RDMA.
    pub fn rdma_pools(&self) -> impl Iterator<Item = (usize, &'a crate::design::Pool)> {
        self.design().pools.iter().enumerate().filter(|(_, p)| p.rdma.is_some())
    }
}

/// Workload namespaces: privileged where pods lock memory for RDMA, else what the cluster says.
pub fn workload_namespaces(input: &Input) -> BTreeMap<String, (bool, usize, bool)> {
    // Namespace → privileged, the queue or workload that names it, whether it is a queue.
    let d = input.design();
    let mut out: BTreeMap<String, (bool, usize, bool)> = BTreeMap::new();
    for (i, queue) in d.queues.iter().enumerate() {
        let rdma = queue.pools.iter().any(|p| d.pools[*p].rdma.is_some());
        let entry = out.entry(queue.namespace.clone()).or_insert((false, i, true));
        entry.0 |= rdma;
    }
    for (i, workload) in d.workloads.iter().enumerate() {
        let entry = out.entry(workload.namespace.clone()).or_insert((false, i, false));
        entry.0 |= workload.rdma;
    }
    out
}

/// The declaration that a namespace comes from.
pub fn namespace_at<'a>(input: &Input<'a>, (_, index, queue): (bool, usize, bool)) -> &'a crate::design::At {
    if queue { &input.design().queues[index].at } else { &input.design().workloads[index].at }
}

/// Lowers the whole folder.
pub fn lower(compilation: &Compilation, artifacts: &mut Artifacts) {
    let input = Input { compilation, maker: Maker { design: &compilation.design } };
    namespaces(&input, artifacts);
    nodes::lower(&input, artifacts);
    gpu::lower(&input, artifacts);
    rdma::lower(&input, artifacts);
    storage::lower(&input, artifacts);
    scheduling::lower(&input, artifacts);
    policy::lower(&input, artifacts);
    observability::lower(&input, artifacts);
    workloads::lower(&input, artifacts);
    kustomizations(artifacts);
}

/// The file of a namespace in a folder; kustomize's own name is taken.
pub fn namespace_file(folder: &str, namespace: &str) -> String {
    format!("kubernetes/{folder}/{}{namespace}.yaml", if namespace == "kustomization" { "namespace-" } else { "" })
}

/// A file a namespace, so that it goes with what is in it.
fn namespaces(input: &Input, artifacts: &mut Artifacts) {
    let d = input.design();
    let mut seen = BTreeSet::from(["kube-system"]);
    for Release { operator, source, .. } in operators::releases(input.compilation) {
        let chart = operator.chart;
        if !seen.insert(chart.namespace) {
            continue;
        }
        let mut document = input.maker.cluster(&d.cluster.at, chart.namespace, Namespace::default());
        document.source.clone_from(&source);
        document.value["metadata"]["annotations"] = serde_json::json!({ format!("{}/source", d.cluster.label_domain): source });
        document = document.label(POD_SECURITY, "privileged");
        if chart.namespace == versions::GPU_OPERATOR.namespace
            && input.gpu_pools().any(|(_, p)| p.gpu.as_ref().is_some_and(|g| g.allocation == Allocation::Dra))
        {
            document = document
                .label(ADMIN_ACCESS, "true")
                .because("/metadata/labels/resource.kubernetes.io~1admin-access", "Its exporter may look at GPUs that others have claimed.");
        }
        if chart.namespace == versions::TOPOLVM.namespace {
            document =
                document.label("topolvm.io/webhook", "ignore").because("/metadata/labels/topolvm.io~1webhook", "Its own webhook must not wait for itself.");
        }
        artifacts.objects(namespace_file("namespaces", chart.namespace), vec![document]);
    }
    for (name, origin) in workload_namespaces(input).into_iter().filter(|(name, _)| !seen.contains(name.as_str())) {
        let level = if origin.0 { "privileged" } else { d.cluster.pod_security.word() };
        let mut namespace = input.maker.cluster(namespace_at(input, origin), &name, Namespace::default()).label(POD_SECURITY, level);
        if origin.0 {
            let reason = "Pods with RDMA need IPC_LOCK, which Pod Security's baseline forbids.";
            namespace = namespace.because("/metadata/labels/pod-security.kubernetes.io~1enforce", reason);
        }
        artifacts.objects(namespace_file("namespaces", &name), vec![namespace]);
    }
}

const ADMIN_ACCESS: &str = "resource.kubernetes.io/admin-access";
const POD_SECURITY: &str = "pod-security.kubernetes.io/enforce";

/// A `kustomization.yaml` in each folder; nodes/ stands outside the root, since a Node that is applied before its host joins loses its taints.
fn kustomizations(artifacts: &mut Artifacts) {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in artifacts.files.iter().filter(|(p, c)| p.starts_with("kubernetes/") && matches!(c, Content::Documents(_))).map(|(p, _)| p.clone()) {
        let mut child = path;
        while let Some((parent, name)) = child.clone().rsplit_once('/') {
            if parent == "kubernetes" && name == Folder::Nodes.name() {
                break;
            }
            folders.entry(parent.to_owned()).or_default().insert(name.to_owned());
            child = parent.to_owned();
            if parent == "kubernetes" {
                break;
            }
        }
    }
    // Kustomize keeps the order of resources for objects that it does not sort.
    for (folder, names) in folders {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_by_key(|n| (Folder::ALL.iter().position(|f| f.name() == n).unwrap_or(Folder::ALL.len()), n.clone()));
        let document = Document::configuration(&Kustomization { resources: names, transformers: None }, "cluster", Default::default());
        artifacts.objects(format!("{folder}/kustomization.yaml"), vec![document]);
    }
}
