//! TopoLVM: volumes of the hosts' own disks.

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::super::super::kinds::tolerations;
use super::{Operator, Wave};
use crate::Compilation;
use crate::nodes::pool_label;
use crate::versions;

/// The release.
pub const OPERATOR: Operator = Operator {
    chart: &versions::TOPOLVM,
    wave: Wave::Drivers,
    wanted: |c| c.design.storages.iter().find(|s| s.local().is_some()).map(|s| s.at.source.clone()),
    values,
    reasons: |_| &[("/lvmd/deviceClasses", "Volume groups that hosts/<pool>/lvm.sh makes."), ("/scheduler", "Storage capacity tracking does its work.")],
    serves: &[],
};

fn values(c: &Compilation) -> Value {
    let d = &c.design;
    let locals: Vec<_> = d.storages.iter().filter(|s| s.local().is_some()).collect();
    let pools: Vec<usize> = (0..d.pools.len()).filter(|p| locals.iter().any(|s| d.pools[*p].hosts.iter().any(|h| s.hosts().contains(h)))).collect();
    let tolerations: Vec<Toleration> = pools.iter().flat_map(|p| tolerations(&c.nodes.taints[*p])).collect();
    let classes: Vec<Value> =
        locals.iter().enumerate().map(|(i, s)| json!({ "name": s.name, "volume-group": s.name, "default": i == 0, "spare-gb": 10 })).collect();
    let selector = match pools.as_slice() {
        [one] => json!({ pool_label(d, &d.pools[*one]): d.pools[*one].name }),
        _ => json!({}),
    };
    json!({
        "lvmd": { "managed": true, "deviceClasses": classes, "nodeSelector": selector, "tolerations": tolerations },
        "node": { "nodeSelector": selector, "tolerations": tolerations },
        "controller": { "replicaCount": 2 },
        "webhook": { "certManager": true, "podMutatingWebhook": { "enabled": false } },
        "scheduler": { "enabled": false }, "snapshot": { "enabled": false }, "storageClasses": [], "cert-manager": { "enabled": false },
    })
}
