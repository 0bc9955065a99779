//! `install/`: a folder an operator with Helm values, and the commands in the README.

use std::fmt::Write as _;

use k8s_openapi::api::core::v1::Toleration;
use serde_json::{Value, json};

use super::kinds::{agent_tolerations, tolerations};
use super::object::Document;
use super::{Artifacts, kubernetes};
use crate::Compilation;
use crate::design::{Design, Encapsulation, PartKind};
use crate::nodes::pool_label;
use crate::versions::{self, Chart};

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let charts = kubernetes::charts(c);
    for (chart, source) in &charts {
        let mut document = Document::file(&values(c, chart), source, Default::default());
        for (pointer, reason) in reasons(chart.name).iter().filter(|(pointer, _)| pointer.is_empty() || document.value.pointer(pointer).is_some()) {
            document.reasons.push(((*pointer).to_owned(), (*reason).to_owned()));
        }
        artifacts.objects(format!("install/{}/values.yaml", chart.name), vec![document]);
    }
    artifacts.text("install/README.md", readme(c, &charts));
}

/// Addresses of hosts on the network that carries node addresses.
pub fn node_addresses(c: &Compilation, hosts: &[usize]) -> Vec<String> {
    let Some(network) = c.design.node_network() else { return Vec::new() };
    hosts.iter().filter_map(|h| c.topology.address_on(*h, network)).map(|a| a.address.to_string()).collect()
}

/// The interface that carries node addresses, if it is the same on all hosts.
pub fn node_interfaces(c: &Compilation) -> Vec<String> {
    let network = c.design.node_network();
    let mut out: Vec<String> = c.topology.addresses.iter().filter(|a| Some(a.network) == network).map(|a| a.interface.clone()).collect();
    out.sort();
    out.dedup();
    out
}

/// Why a chart's values are not its defaults.
fn reasons(chart: &str) -> &'static [(&'static str, &'static str)] {
    match chart {
        "cilium" => &[
            ("/k8sServiceHost", "kube-proxy is off, so the service address of the API server does not work before Cilium does: the endpoint itself."),
            ("/ipam", "From the node's podCIDR. The default, cluster-pool, takes 10.0.0.0/8 and overlaps management networks."),
            ("/MTU", "The device's: Cilium subtracts the encapsulation itself."),
            ("/devices", "The hosts' own network alone: Cilium stays off the RDMA ports."),
            ("/cni/exclusive", "Exclusive would rename the configuration of Multus."),
        ],
        "cert-manager" => &[("/crds/keep", "Removing the release must not remove every certificate.")],
        "kube-prometheus-stack" => &[
            ("/prometheus/prometheusSpec/serviceMonitorSelectorNilUsesHelmValues", "Monitors of all releases are read, not this one's only."),
            ("/kubeProxy", "Cilium replaces it."),
            ("/kubeEtcd/service", "etcd's plain metrics port; the client port needs a certificate."),
            ("/prometheus-node-exporter/tolerations", "Every host is measured, tainted or not."),
        ],
        "node-feature-discovery" => &[
            ("", "Installed once, here; the charts of the GPU and Network Operators would each bring another."),
            ("/worker/tolerations", "Its labels decide where operands run, so its workers run on every host."),
        ],
        "network-operator" => &[
            ("/nfd/enabled", "Installed once, by its own chart."),
            ("/sriov-network-operator/sriovOperatorConfig/configDaemonNodeSelector", "The host's driver stays: nothing waits for one in a container."),
        ],
        "gpu-operator" => &[
            ("/clusterPolicy", "kubernetes/gpu/ brings the ClusterPolicy, so that it is reviewed with the rest."),
            ("/nfd", "Installed once, by its own chart."),
        ],
        "rook-ceph" => &[
            ("/enableDiscoveryDaemon", "Disks are declared; nothing is discovered."),
            ("/disableDeviceHotplug", "A disk that is put in is not an OSD before the design says so."),
        ],
        "ceph-csi-drivers" => &[
            ("", "From Rook 1.20 on the drivers are a release of their own."),
            ("/operatorConfig/driverSpecDefaults/nodePlugin/tolerations", "Volumes are mounted on tainted hosts, too."),
        ],
        "topolvm" => &[("/lvmd/deviceClasses", "Volume groups that hosts/<pool>/lvm.sh makes."), ("/scheduler", "Storage capacity tracking does its work.")],
        "jobset" => &[("/image", "The chart's default is a staging tag.")],
        "lws" => &[("/image/manager/tag", "The chart's default is a moving tag.")],
        "kueue" => &[
            ("/controllerManager/manager/image", "The chart's default is a staging tag."),
            ("/managerConfig", "waitForPodsReady evicts a gang whose pods do not all start; jobs without a queue in a queue's namespace are held."),
        ],
        _ => &[],
    }
}

fn control_plane_toleration() -> Value {
    json!({ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" })
}

fn agents(c: &Compilation) -> Vec<Toleration> {
    agent_tolerations(c.nodes.taints.iter().flatten())
}

fn values(c: &Compilation, chart: &Chart) -> Value {
    let d = &c.design;
    match chart.name {
        "cilium" => cilium(c),
        "cert-manager" => json!({
            "crds": { "enabled": true, "keep": true }, "replicaCount": 2, "podDisruptionBudget": { "enabled": true },
            "webhook": { "replicaCount": 2, "podDisruptionBudget": { "enabled": true } },
            "prometheus": { "servicemonitor": { "enabled": false } },
        }),
        "kube-prometheus-stack" => prometheus(c),
        "node-feature-discovery" => json!({
            "master": { "config": { "extraLabelNs": ["nvidia.com"] } },
            "worker": {
                "config": { "sources": { "pci": { "deviceClassWhitelist": ["02", "0200", "0207", "0300", "0302"], "deviceLabelFields": ["vendor"] } } },
                "tolerations": agents(c),
            },
            "prometheus": { "enable": false },
        }),
        "network-operator" => json!({
            "nfd": { "enabled": false, "deployNodeFeatureRules": true }, "upgradeCRDs": true,
            "sriovNetworkOperator": { "enabled": true }, "maintenanceOperator": { "enabled": false },
            "sriov-network-operator": {
                "operator": { "resourcePrefix": "nvidia.com", "admissionControllers": { "enabled": false } },
                "sriovOperatorConfig": { "deploy": true, "configDaemonNodeSelector": { "network.nvidia.com/operator.mofed.wait": "false" } },
            },
            "operator": { "tolerations": [control_plane_toleration()] },
        }),
        "gpu-operator" => json!({
            "clusterPolicy": { "deployCR": false }, "gpuCluster": { "deployCR": false },
            "nfd": { "enabled": false, "nodefeaturerules": false }, "psa": { "enabled": false },
            "operator": { "upgradeCRD": true, "tolerations": [control_plane_toleration()] },
            "driver": { "manager": { "version": versions::DRIVER_MANAGER.2 } },
        }),
        "rook-ceph" => json!({
            "crds": { "enabled": true }, "csi": { "installCsiOperator": true }, "enableDiscoveryDaemon": false, "disableDeviceHotplug": true,
            "monitoring": { "enabled": d.cluster.observability },
            "resources": { "requests": { "cpu": "200m", "memory": "128Mi" }, "limits": { "memory": "512Mi" } },
            "tolerations": [],
        }),
        "ceph-csi-drivers" => {
            let has = |kind: PartKind| d.storages.iter().flat_map(|s| s.parts()).any(|p| p.kind == kind);
            json!({
                "operatorConfig": { "namespace": "rook-ceph", "driverSpecDefaults": {
                    "imageSet": { "name": "rook-csi-operator-image-set-configmap" }, "snapshotPolicy": "none",
                    "nodePlugin": { "priorityClassName": "system-node-critical", "tolerations": agents(c) },
                    "controllerPlugin": { "priorityClassName": "system-cluster-critical", "replicas": 2 },
                } },
                "drivers": {
                    "cephfs": { "enabled": has(PartKind::Filesystem), "name": "rook-ceph.cephfs.csi.ceph.com" },
                    "rbd": { "enabled": has(PartKind::Block), "name": "rook-ceph.rbd.csi.ceph.com" },
                    "nfs": { "enabled": false }, "nvmeof": { "enabled": false },
                },
            })
        }
        "topolvm" => topolvm(c),
        "jobset" => json!({
            "image": { "repository": versions::JOBSET_IMAGE.0, "tag": versions::JOBSET_IMAGE.1, "pullPolicy": "IfNotPresent" },
            "controller": { "replicas": 2, "leaderElection": { "enable": true }, "podDisruptionBudget": { "enabled": true, "minAvailable": 1 } },
            "certManager": { "enable": false }, "prometheus": { "enable": false },
        }),
        "lws" => json!({
            "replicaCount": 2, "enablePrometheus": false, "enableCertManager": false,
            "image": { "manager": { "repository": versions::LWS_IMAGE.0, "tag": versions::LWS_IMAGE.1, "pullPolicy": "IfNotPresent" } },
        }),
        _ => kueue(d),
    }
}

fn cilium(c: &Compilation) -> Value {
    let d = &c.design;
    let pods = d.cluster.pods.as_ref();
    let endpoint = d.control_plane.as_ref().and_then(|cp| cp.endpoint.clone().or_else(|| node_addresses(c, &cp.hosts).into_iter().next())).unwrap_or_default();
    let mtu = pods.and_then(|p| p.network).map_or(1500, |n| d.networks[n].mtu);
    let mut value = json!({
        "kubeProxyReplacement": "true", "k8sServiceHost": endpoint, "k8sServicePort": 6443,
        "ipam": { "mode": "kubernetes" }, "k8s": { "requireIPv4PodCIDR": true },
    });
    match pods.map_or(Encapsulation::Vxlan, |p| p.encapsulation) {
        Encapsulation::None => {
            value["routingMode"] = "native".into();
            value["ipv4NativeRoutingCIDR"] = pods.map(|p| p.cidr.to_string()).into();
            value["autoDirectNodeRoutes"] = true.into();
        }
        tunnel @ (Encapsulation::Vxlan | Encapsulation::Geneve) => {
            value["routingMode"] = "tunnel".into();
            value["tunnelProtocol"] = tunnel.word().into();
        }
    }
    value["MTU"] = mtu.into();
    value["devices"] = json!(node_interfaces(c));
    value["cni"] = json!({ "exclusive": d.pools.iter().all(|p| p.rdma.is_none()) });
    value["operator"] = json!({ "replicas": if d.hosts.len() > 1 { 2 } else { 1 } });
    value["prometheus"] = json!({ "enabled": d.cluster.observability, "serviceMonitor": { "enabled": false } });
    value["hubble"] = json!({ "enabled": true, "relay": { "enabled": false }, "ui": { "enabled": false } });
    value
}

fn prometheus(c: &Compilation) -> Value {
    let d = &c.design;
    let retention = d
        .cluster
        .retention
        .map_or("15d".to_owned(), |r| format!("{}h", crate::base::quantity::decimal(r.value / crate::base::Rational::from_integer(3600), 0)));
    let addresses = d.control_plane.as_ref().map_or_else(Vec::new, |cp| node_addresses(c, &cp.hosts));
    json!({
        "crds": { "enabled": true },
        "prometheus": { "prometheusSpec": {
            "replicas": 2, "retention": retention, "retentionSize": "90GB", "storageSpec": { "emptyDir": { "sizeLimit": "100Gi" } },
            "resources": { "requests": { "cpu": "4", "memory": "32Gi", "ephemeral-storage": "110Gi" }, "limits": { "memory": "32Gi" } },
            "ruleSelectorNilUsesHelmValues": false, "serviceMonitorSelectorNilUsesHelmValues": false,
            "podMonitorSelectorNilUsesHelmValues": false, "probeSelectorNilUsesHelmValues": false,
        } },
        "alertmanager": { "alertmanagerSpec": { "replicas": 3 } },
        "grafana": { "enabled": true }, "kubeProxy": { "enabled": false },
        "kubeEtcd": { "enabled": true, "endpoints": addresses, "service": { "port": 2381, "targetPort": 2381 } },
        "kubeControllerManager": { "endpoints": addresses }, "kubeScheduler": { "endpoints": addresses },
        "prometheus-node-exporter": { "tolerations": [{ "operator": "Exists", "effect": "NoSchedule" }] },
    })
}

fn topolvm(c: &Compilation) -> Value {
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

fn kueue(d: &Design) -> Value {
    let mut namespaces: Vec<&str> = d.queues.iter().map(|q| q.namespace.as_str()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let mut frameworks = vec!["batch/job"];
    if d.workloads.iter().any(|w| w.is_training()) {
        frameworks.push("jobset.x-k8s.io/jobset");
    }
    // The chart takes the whole configuration as one text.
    let configuration = json!({
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
        "managerConfig": { "controllerManagerConfigYaml": crate::lower::yaml::text(&configuration) },
    })
}

fn readme(c: &Compilation, charts: &[(&'static Chart, String)]) -> String {
    let mut out = format!(
        "# Operators of {}\n\nOne folder an operator; the release has the folder's name. Each step waits for the one before. Namespaces are applied before Helm, which sets no Pod Security labels: `--create-namespace` is never used.\n\n| release | chart | version | namespace | asked for by |\n|---|---|---|---|---|\n",
        c.design.cluster.name
    );
    for (chart, source) in charts {
        let _ = writeln!(out, "| {} | {} {} | {} | {} | `{source}` |", chart.name, chart.repository, chart.chart, chart.version, chart.namespace);
    }
    out.push_str("\n```sh\ncd install\n");
    for (chart, _) in charts {
        let place = if chart.repository.starts_with("oci://") {
            format!("{}/{}", chart.repository, chart.chart)
        } else {
            format!("{} --repo {}", chart.chart, chart.repository)
        };
        let _ = writeln!(
            out,
            "helm upgrade --install {} {place} --version {} --namespace {} --values {}/values.yaml --wait --timeout 20m",
            chart.name, chart.version, chart.namespace, chart.name
        );
        match chart.name {
            "cilium" => out.push_str("kubectl apply --server-side -k ../kubernetes/namespaces && ../kubernetes/nodes/apply.sh\n"),
            "network-operator" => {
                out.push_str("kubectl apply --server-side -k ../kubernetes/network   # virtual functions and RDMA mode reboot hosts the first time\n")
            }
            "gpu-operator" => out.push_str("kubectl apply --server-side -k ../kubernetes/runtime && kubectl apply --server-side -k ../kubernetes/gpu\n"),
            "ceph-csi-drivers" => out.push_str("kubectl apply --server-side -k ../kubernetes/storage\n"),
            "kueue" => out.push_str("kubectl apply --server-side -k ../kubernetes/scheduling\n"),
            _ => {}
        }
    }
    out.push_str("```\n");
    out
}
