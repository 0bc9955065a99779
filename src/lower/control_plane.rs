//! `control-plane/`: kubeadm, the virtual address, etcd's disk, audit, encryption, priority and fairness.

use serde_json::{Value, json};

use super::install::{node_addresses, node_interfaces};
use super::object::Document;
use super::{Artifacts, kubernetes};
use crate::Compilation;
use crate::design::ControlPlane;
use crate::versions;

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let Some(control_plane) = c.design.control_plane.as_ref().filter(|cp| !cp.managed) else { return };
    let document = |value: Value| Document { value, source: "control_plane".into(), span: control_plane.at.head, fields: Vec::new(), comment: None };
    artifacts.objects("control-plane/kubeadm.yaml", kubeadm(c, control_plane).into_iter().map(document).collect());
    if control_plane.hosts.len() > 1 && control_plane.vip == "kube_vip" {
        artifacts.objects("control-plane/kube-vip.yaml", vec![document(kube_vip(c, control_plane))]);
    }
    if c.design.cluster.audit {
        artifacts.objects("control-plane/audit-policy.yaml", vec![document(audit())]);
    }
    if c.design.cluster.encryption {
        // The key is a secret and not part of the bundle; the API server does not start with the placeholder.
        let keys = json!([{ "name": "aic-1", "secret": "KEY_IS_MADE_ON_THE_HOST" }]);
        let value = json!({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration",
            "resources": [{ "resources": ["secrets"], "providers": [{ "secretbox": { "keys": keys } }, { "identity": {} }] }],
        });
        artifacts.objects("control-plane/encryption.yaml", vec![document(value)]);
    }
    artifacts.objects("control-plane/flowcontrol.yaml", flow_control(c, control_plane).into_iter().map(document).collect());
    if let Some(disk) = &control_plane.etcd_disk {
        artifacts.text(
            "control-plane/var-lib-etcd.mount",
            format!("# /etc/systemd/system/var-lib-etcd.mount on the control-plane hosts; enable it before kubeadm.\n# The disk `{disk}` carries nothing else, so that no other write delays fsync. Made once: mkfs.ext4 -L etcd /dev/<that disk>.\n# Target: WAL fsync p99 below 10 ms (etcd documentation, hardware).\n[Unit]\nDescription=etcd data\nBefore=kubelet.service\n[Mount]\nWhat=/dev/disk/by-label/etcd\nWhere=/var/lib/etcd\nType=ext4\nOptions=noatime,nodiratime\n[Install]\nWantedBy=multi-user.target\nRequiredBy=kubelet.service\n"),
        );
    }
    artifacts.text("control-plane/README.md", readme(c, control_plane));
}

fn argument(name: &str, value: impl Into<String>) -> Value {
    json!({ "name": name, "value": value.into() })
}

fn kubeadm(c: &Compilation, cp: &ControlPlane) -> Vec<Value> {
    let d = &c.design;
    let addresses = node_addresses(c, &cp.hosts);
    let first = addresses.first().cloned().unwrap_or_default();
    let endpoint = cp.endpoint.clone().unwrap_or_else(|| first.clone());
    let name = cp.hosts.first().map_or("", |h| d.hosts[*h].name.as_str());
    let taints: Vec<Value> = d
        .pools
        .iter()
        .position(|p| p.hosts.contains(&cp.hosts[0]))
        .map_or_else(Vec::new, |p| c.nodes.taints[p].iter().map(|t| json!({ "key": t.key, "effect": t.effect })).collect());
    let mut sans = vec![endpoint.clone()];
    sans.extend(addresses.iter().filter(|a| **a != endpoint).cloned());
    let mut api = Vec::new();
    let mut volumes = vec![
        json!({ "name": "aic", "hostPath": "/etc/kubernetes/aic", "mountPath": "/etc/kubernetes/aic", "readOnly": true, "pathType": "DirectoryOrCreate" }),
    ];
    if d.cluster.audit {
        for (name, value) in [
            ("audit-policy-file", "/etc/kubernetes/aic/audit-policy.yaml"),
            ("audit-log-path", "/var/log/kubernetes/audit.log"),
            ("audit-log-maxage", "30"),
            ("audit-log-maxbackup", "10"),
            ("audit-log-maxsize", "200"),
        ] {
            api.push(argument(name, value));
        }
        volumes.push(json!({ "name": "audit", "hostPath": "/var/log/kubernetes", "mountPath": "/var/log/kubernetes", "pathType": "DirectoryOrCreate" }));
    }
    if d.cluster.encryption {
        api.push(argument("encryption-provider-config", "/etc/kubernetes/aic/encryption.yaml"));
        api.push(argument("encryption-provider-config-automatic-reload", "true"));
    }
    api.push(argument("profiling", "false"));
    let pods = d.cluster.pods.as_ref();
    vec![
        json!({
            "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration",
            "localAPIEndpoint": { "advertiseAddress": first, "bindPort": 6443 },
            "nodeRegistration": { "name": name, "criSocket": "unix:///run/containerd/containerd.sock", "taints": taints },
            "patches": { "directory": "/etc/kubernetes/aic/patches" },
        }),
        json!({
            "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration",
            "clusterName": d.cluster.name, "kubernetesVersion": versions::kubernetes_patch(&d.cluster.kubernetes),
            "controlPlaneEndpoint": format!("{endpoint}:6443"),
            "networking": {
                "dnsDomain": d.cluster.domain, "podSubnet": pods.map(|p| p.cidr.to_string()), "serviceSubnet": d.cluster.services.map(|s| s.to_string()),
            },
            // Cilium replaces kube-proxy.
            "proxy": { "disabled": true },
            "apiServer": { "certSANs": sans, "extraArgs": api, "extraVolumes": volumes },
            "controllerManager": { "extraArgs": [
                argument("node-cidr-mask-size", pods.map_or(24, |p| p.host_prefix).to_string()), argument("bind-address", "0.0.0.0"), argument("profiling", "false"),
            ] },
            "scheduler": { "extraArgs": [argument("bind-address", "0.0.0.0"), argument("profiling", "false")] },
            "etcd": { "local": { "dataDir": "/var/lib/etcd", "extraArgs": [
                argument("quota-backend-bytes", cp.etcd_quota.whole().to_string()), argument("listen-metrics-urls", "http://0.0.0.0:2381"),
            ] } },
        }),
        // The base of every host; each pool's kubelet.yaml is merged over it.
        json!({ "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "systemd" }),
    ]
}

fn kube_vip(c: &Compilation, cp: &ControlPlane) -> Value {
    let interface = node_interfaces(c).into_iter().next().unwrap_or_default();
    let v = |name: &str, value: &str| json!({ "name": name, "value": value });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "kube-vip", "namespace": "kube-system" },
        "spec": {
            "hostNetwork": true, "hostAliases": [{ "ip": "127.0.0.1", "hostnames": ["kubernetes"] }], "priorityClassName": "system-node-critical",
            "containers": [{
                "name": "kube-vip", "image": versions::KUBE_VIP, "imagePullPolicy": "IfNotPresent", "args": ["manager"],
                "env": [
                    v("vip_arp", "true"), v("vip_interface", &interface), v("vip_subnet", "32"), v("address", cp.endpoint.as_deref().unwrap_or("")), v("port", "6443"),
                    { "name": "vip_nodename", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
                    v("cp_enable", "true"), v("cp_namespace", "kube-system"), v("svc_enable", "false"), v("vip_leaderelection", "true"),
                    v("vip_leasename", "plndr-cp-lock"), v("vip_leaseduration", "5"), v("vip_renewdeadline", "3"), v("vip_retryperiod", "1"), v("prometheus_server", ":2112"),
                ],
                "resources": { "requests": { "cpu": "50m", "memory": "64Mi" } },
                "securityContext": { "capabilities": { "add": ["NET_ADMIN", "NET_RAW"], "drop": ["ALL"] } },
                "volumeMounts": [{ "name": "kubeconfig", "mountPath": "/etc/kubernetes/admin.conf" }],
            }],
            "volumes": [{ "name": "kubeconfig", "hostPath": { "path": "/etc/kubernetes/admin.conf" } }],
        },
    })
}

/// First match wins. Secrets' contents are never written; the chatter of agents is dropped.
fn audit() -> Value {
    let none = |rest: Value| {
        let mut rule = json!({ "level": "None" });
        if let (Value::Object(rule), Value::Object(rest)) = (&mut rule, rest) {
            rule.extend(rest);
        }
        rule
    };
    json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
        "rules": [
            none(json!({ "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"] })),
            none(json!({ "resources": [{ "group": "coordination.k8s.io", "resources": ["leases"] }] })),
            none(json!({ "resources": [{ "group": "", "resources": ["events"] }, { "group": "events.k8s.io", "resources": ["events"] }] })),
            none(json!({ "userGroups": ["system:nodes"], "verbs": ["get", "list", "watch"] })),
            none(json!({ "users": ["system:kube-scheduler", "system:kube-controller-manager", "system:apiserver"], "verbs": ["get", "list", "watch"] })),
            { "level": "Metadata" },
        ],
    })
}

/// A job storm must not starve kubelets, the scheduler or leader election.
fn flow_control(c: &Compilation, cp: &ControlPlane) -> Vec<Value> {
    let charts = kubernetes::charts(c);
    let namespaces =
        |names: &[&str]| -> Vec<String> { charts.iter().map(|(chart, _)| chart.namespace.to_owned()).filter(|n| names.contains(&n.as_str())).collect() };
    let mut tenants: Vec<String> = c.design.queues.iter().map(|q| q.namespace.clone()).collect();
    tenants.sort();
    tenants.dedup();
    let burst = cp.burst.unwrap_or_else(|| c.nodes.pods.iter().flat_map(|p| &p.shapes).map(|s| s.count as i64).max().unwrap_or(1)).max(1);
    // handSize × queueLengthLimit is at least ten requests for each pod of the burst.
    let hand = 6;
    let length = (burst * 10 + hand - 1) / hand;
    let groups = [
        ("aic-job-controllers", 40, 1100, namespaces(&["kueue-system", "jobset-system"])),
        (
            "aic-node-agents",
            20,
            1200,
            namespaces(&["gpu-operator", "nvidia-network-operator", "node-feature-discovery", "rook-ceph", "topolvm-system", "monitoring"]),
        ),
        ("aic-tenants", 20, 1300, tenants),
    ];
    let mut out = Vec::new();
    for (name, shares, precedence, mut namespaces) in groups {
        namespaces.dedup();
        if namespaces.is_empty() {
            continue;
        }
        let subjects: Vec<Value> = namespaces.iter().map(|n| json!({ "kind": "Group", "group": { "name": format!("system:serviceaccounts:{n}") } })).collect();
        out.push(json!({
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": { "name": name },
            "spec": { "type": "Limited", "limited": {
                "nominalConcurrencyShares": shares, "lendablePercent": 50,
                "limitResponse": { "type": "Queue", "queuing": { "queues": 64, "handSize": hand, "queueLengthLimit": length.max(50) } },
            } },
        }));
        out.push(json!({
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": { "name": name },
            "spec": {
                "priorityLevelConfiguration": { "name": name }, "matchingPrecedence": precedence, "distinguisherMethod": { "type": "ByUser" },
                "rules": [{ "subjects": subjects, "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true, "namespaces": ["*"] }] }],
            },
        }));
    }
    out
}

fn readme(c: &Compilation, cp: &ControlPlane) -> String {
    let names: Vec<&str> = cp.hosts.iter().map(|h| c.design.hosts[*h].name.as_str()).collect();
    format!(
        "# Control plane of {}\n\nHosts: {}. No secret is part of this bundle.\n\n1. On each: `audit-policy.yaml` and `encryption.yaml` to `/etc/kubernetes/aic/` (mode 0600), after\n   `sed -i \"s|KEY_IS_MADE_ON_THE_HOST|$(head -c 32 /dev/urandom | base64)|\" encryption.yaml` on the first and a copy to the others;\n   `kube-vip.yaml`, where it is here, to `/etc/kubernetes/manifests/`; `../hosts/control-plane/kubelet.yaml` to\n   `/etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml`; the etcd disk mounted (`var-lib-etcd.mount`).\n2. On {}: `kubeadm init --config kubeadm.yaml`. Until it has finished, kube-vip needs `super-admin.conf` in place of `admin.conf`.\n3. `kubectl apply --server-side -f flowcontrol.yaml`.\n4. Copy the PKI and `/etc/kubernetes/aic/discovery.conf` to the others and join them with `../hosts/control-plane/kubeadm.yaml`; kubeadm takes the address of the default route.\n",
        c.design.cluster.name,
        names.join(", "),
        names.first().unwrap_or(&"the first host"),
    )
}
