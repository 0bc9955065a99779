//! `README.md` of the bundle: what it is, in which order it is applied, what each step disrupts.

use std::fmt::Write as _;

use super::{Artifacts, kubernetes::drained_at_once};
use crate::Compilation;

/// Writes the page.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let d = &c.design;
    let mut out = format!(
        "# {}\n\nMade by `aic build`; do not edit. `plan.json` holds the figures, `aic.map.json` the source line of every object.\n\n## Order\n\n| step | what | disrupts |\n|---|---|---|\n",
        d.cluster.name
    );
    let has = |path: &str| artifacts.files.keys().any(|file| file.starts_with(path));
    let apply = |folders: &[&str]| -> String {
        let present = folders.iter().filter(|folder| has(&format!("kubernetes/{folder}/")));
        present.map(|folder| format!("`kubernetes/{folder}`")).collect::<Vec<_>>().join(", ")
    };
    let rdma = d.pools.iter().find(|p| p.rdma.as_ref().is_some_and(|r| r.mode.functions().is_some()));
    let ceph = d.storages.iter().any(|s| s.ceph().is_some());
    let mut steps: Vec<(String, String)> = Vec::new();
    if !c.topology.switches.is_empty() {
        steps.push(("`network/README.md`: rack, cable and configure".into(), "a switch whose configuration is applied again may drop its links".into()));
    }
    if has("hosts/") {
        let own = if has("control-plane/") { ", `control-plane/README.md` for its own" } else { "" };
        steps.push((
            format!("`hosts/README.md` for every host{own}; then join"),
            "a change of HugePages or kernel command line reboots; one of the CPU, memory or topology manager drains and removes a state file".into(),
        ));
    }
    if has("cluster/") {
        steps.push(("`cluster/README.md`: the cluster and its groups".into(), "a group whose machine changes is made anew and the old one drained".into()));
    }
    let nodes = has("kubernetes/nodes/").then(|| {
        (
            "`kubernetes/nodes/apply.sh`: labels, then taints; again for every host that joins".into(),
            format!("nothing that runs{}", if ceph { "; Rook needs its rack labels before the first OSD" } else { "" }),
        )
    });
    let reboots =
        rdma.map(|pool| format!("the first time virtual functions and the RDMA mode drain and **reboot** hosts, {} at a time", drained_at_once(pool)));
    let immutable = "labels and topology levels of a flavor are immutable: a change means a new one";
    if d.cluster.gitops.controlled() {
        let disrupts = ["drivers load".to_owned()].into_iter().chain(reboots).chain([immutable.to_owned()]).collect::<Vec<_>>().join("; ");
        steps.extend(nodes);
        steps.push((
            "`install/README.md`: the controller applies namespaces, operators, then the other folders of `kubernetes/`, in their order".into(),
            disrupts,
        ));
    } else {
        steps.push(("`kubectl apply --server-side -k kubernetes/namespaces`".into(), "nothing; before Helm, which sets no Pod Security labels".into()));
        steps.extend(nodes);
        steps.push((
            "`install/README.md`: operators in their order, each followed by the folders of `kubernetes/` that it serves".into(),
            "drivers load".into(),
        ));
        if let Some(reboots) = reboots {
            steps.push((apply(&["runtime", "gpu", "network"]), reboots));
        } else if has("kubernetes/gpu/") {
            steps.push((apply(&["runtime", "gpu"]), "drivers load".into()));
        }
        let rest = apply(&["storage", "scheduling", "policy", "observability"]);
        if !rest.is_empty() {
            steps.push((rest, format!("nothing that runs; {immutable}")));
        }
        if has("kubernetes/workloads/") {
            steps.push((apply(&["workloads"]), "–".into()));
        }
    }
    for (i, (what, disrupts)) in steps.iter().enumerate() {
        let _ = writeln!(out, "| {} | {what} | {disrupts} |", i + 1);
    }
    if !d.cluster.gitops.controlled() {
        out.push_str("\n`kubectl apply --server-side -k kubernetes` applies all of `kubernetes/` but `nodes/` at once, where hosts and operators are there.\n");
    }
    out.push_str("\n## What the site brings\n\n- Secrets that pull images, where the registry wants them.\n");
    for storage in &d.storages {
        if let crate::design::StorageKind::External { class, .. } = &storage.kind {
            let _ = writeln!(out, "- StorageClass `{class}` ({}).", storage.at.source);
        }
    }
    for queue in &d.queues {
        let _ = writeln!(out, "- Group `{}` of the identity provider: who may submit to the queue.", queue.name);
    }
    if c.allowed.iter().any(|a| a.used) {
        out.push_str("\n## Rules that the design silences\n\n");
        for allow in c.allowed.iter().filter(|a| a.used) {
            let _ = writeln!(out, "- {}: {}", allow.code, allow.reason);
        }
    }
    artifacts.text("README.md", out);
}
