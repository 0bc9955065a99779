//! `README.md` of the bundle: what it is, in which order it is applied, what each step disrupts.

use std::fmt::Write as _;

use super::Artifacts;
use crate::Compilation;

/// Writes the page.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let d = &c.design;
    let mut out = format!(
        "# {}\n\nMade by `aic build`; do not edit. `plan.json` holds the figures, `aic.map.json` the source line of every object.\n\n## Order\n\n| step | what | disrupts |\n|---|---|---|\n",
        d.cluster.name
    );
    let rdma = d.pools.iter().any(|p| p.rdma.is_some());
    out.push_str("| 1 | cable and address the racks: `network/cables.csv`, `ports.csv`, `addresses.csv` | – |\n");
    out.push_str("| 2 | `hosts/<pool>/` on every host, `control-plane/README.md` on its hosts; then join | a change of HugePages or kernel command line reboots; one of the CPU or memory manager drains and removes the state file |\n");
    out.push_str(
        "| 3 | `kubectl apply --server-side -k kubernetes/namespaces`, then `kubernetes/nodes/apply.sh`, again for every host that joins | nothing |\n",
    );
    let _ = writeln!(
        out,
        "| 4 | `install/README.md`: operators in their order, each with the folders of `kubernetes/` that it needs | {} |",
        if rdma { "virtual functions and RDMA mode drain and reboot hosts the first time; drivers load" } else { "drivers load" }
    );
    out.push_str("| 5 | `kubectl apply --server-side -k kubernetes` | nothing that runs; labels and topology levels of a flavor are immutable: recreate it to change them |\n");
    if c.allowed.iter().any(|a| a.used) {
        out.push_str("\n## Rules that the design silences\n\n");
        for allow in c.allowed.iter().filter(|a| a.used) {
            let _ = writeln!(out, "- {}: {}", allow.code, allow.reason);
        }
    }
    artifacts.text("README.md", out);
}
