//! EKS: eksctl's ClusterConfig, with a NodeConfig of nodeadm a group.
//!
//! Sources: eksctl.io (schema of eksctl.io/v1alpha5: managedNodeGroups, addons, efaEnabled, capacityReservation), awslabs.github.io/amazon-eks-ami
//! (nodeadm, node.eks.aws/v1alpha1), docs.aws.amazon.com/eks (EFA on EKS, prefix delegation of the VPC CNI, network policies).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::hosts::kubelet;
use super::super::object::Document;
use super::super::yaml;
use super::Platform;
use crate::Compilation;
use crate::design::{Capacity, NodeGroupKind, Pool, Rdma};
use crate::versions;

/// EKS.
pub struct Eks;

impl Platform for Eks {
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        artifacts.objects("cluster/eksctl.yaml", vec![cluster(c)]);
        artifacts.text("cluster/README.md", page(c));
    }
}

fn cluster(c: &Compilation) -> Document {
    let d = &c.design;
    let cluster = &d.cluster;
    let minor = versions::kubernetes(&cluster.kubernetes).map_or(cluster.kubernetes.as_str(), |k| k.minor);
    let groups = |kind: NodeGroupKind| -> Vec<Value> {
        let pools = d.pools.iter().enumerate().filter_map(|(id, pool)| Some((id, pool, pool.nodes.as_ref()?)));
        pools.filter(|(.., group)| group.group == kind).map(|(id, pool, _)| node_group(c, id, pool)).collect()
    };
    let mut value = json!({
        "apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig",
        "metadata": { "name": cluster.name.replace('_', "-"), "region": cluster.region, "version": minor },
    });
    if let Some(services) = &cluster.services {
        value["kubernetesNetworkConfig"] = json!({ "serviceIPv4CIDR": services });
    }
    if let Some(pods) = &cluster.pods {
        value["vpc"] = json!({ "cidr": pods.cidr, "clusterEndpoints": { "privateAccess": true, "publicAccess": true } });
    }
    value["iam"] = json!({ "withOIDC": true });
    value["addonsConfig"] = json!({ "autoApplyPodIdentityAssociations": true });
    let network = json!({ "enableNetworkPolicy": "true", "env": { "ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1" } });
    value["addons"] = json!([
        { "name": "vpc-cni", "configurationValues": format!("{network:#}\n") },
        { "name": "coredns" }, { "name": "kube-proxy" }, { "name": "eks-pod-identity-agent" }, { "name": "metrics-server" },
    ]);
    if cluster.audit {
        value["cloudWatch"] = json!({ "clusterLogging": { "enableTypes": ["api", "audit", "authenticator"], "logRetentionInDays": 30 } });
    }
    for (kind, field) in [(NodeGroupKind::Managed, "managedNodeGroups"), (NodeGroupKind::Own, "nodeGroups")] {
        let groups = groups(kind);
        if !groups.is_empty() {
            value[field] = groups.into();
        }
    }
    Document::file(&value, "cluster", cluster.at.head)
        .from("/metadata/version", cluster.at.set("kubernetes"))
        .because_if_set("/vpc/cidr", "Pods take addresses of the VPC, by prefixes of 16.")
        .because(
            "/addons/vpc-cni",
            "Prefixes instead of single addresses: an interface carries sixteen times as many pods. The network policies of the bundle are enforced.",
        )
        .because_if_set("/cloudWatch", "EKS keeps the audit log; its policy is not ours to set.")
}

fn node_group(c: &Compilation, id: usize, pool: &Pool) -> Value {
    let d = &c.design;
    let Some(host) = pool.hosts.first().map(|h| &d.hosts[*h]) else { return Value::Null };
    let Some(group) = &pool.nodes else { return Value::Null };
    let zones: BTreeSet<&String> = pool.hosts.iter().filter_map(|h| d.hosts[*h].zone.as_ref()).collect();
    let spot = host.capacity == Capacity::Spot;
    let mut value = json!({ "name": pool.name, "amiFamily": "AmazonLinux2023" });
    // A managed group of spot instances names its types in a list.
    if spot && group.group == NodeGroupKind::Managed {
        value["instanceTypes"] = json!([host.system.instance_type]);
        value["spot"] = true.into();
    } else {
        value["instanceType"] = host.system.instance_type.as_deref().into();
    }
    if spot && group.group == NodeGroupKind::Own {
        value["instancesDistribution"] =
            json!({ "instanceTypes": [host.system.instance_type], "onDemandBaseCapacity": 0, "onDemandPercentageAboveBaseCapacity": 0 });
    }
    if host.capacity == Capacity::Reserved {
        value["capacityReservation"] = json!({ "capacityReservationPreference": "open" });
    }
    value["minSize"] = group.min.into();
    value["maxSize"] = group.max.into();
    value["desiredCapacity"] = (pool.hosts.len() as i64).clamp(group.min, group.max).into();
    if !zones.is_empty() {
        value["availabilityZones"] = json!(zones);
    }
    value["privateNetworking"] = true.into();
    value["volumeType"] = "gp3".into();
    value["volumeSize"] = i64::try_from(group.root_volume.whole() >> 30).unwrap_or(i64::MAX).into();
    if pool.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Efa) {
        value["efaEnabled"] = true.into();
    }
    let mut labels: std::collections::BTreeMap<String, String> = pool.hosts.first().map_or_else(Default::default, |h| c.nodes.labels[*h].clone());
    // EKS sets the zone itself, and refuses others that set it.
    labels.retain(|key, _| !key.starts_with("topology.kubernetes.io/"));
    value["labels"] = json!(labels);
    let taints = &c.nodes.taints[id];
    if !taints.is_empty() {
        value["taints"] = taints.iter().map(|t| json!({ "key": t.key, "value": t.value.as_deref().unwrap_or(""), "effect": t.effect })).collect();
    }
    value["iam"] = json!({ "withAddonPolicies": { "ebs": true } });
    value["overrideBootstrapCommand"] = yaml::text(&node_config(c, id, pool)).into();
    value
}

/// What EKS lets the kubelet be told: its own reservations stay, and ours come on top.
fn node_config(c: &Compilation, id: usize, pool: &Pool) -> Value {
    let host = pool.hosts.first().map(|h| &c.design.hosts[*h].system);
    let mut settings = host.map_or(Value::Null, |system| serde_json::to_value(kubelet::settings(c, id, pool, system)).unwrap_or_default());
    if let Value::Object(map) = &mut settings {
        // nodeadm's own: the image sets sysctls and reserves CPUs for the kubelet by the instance's size.
        for own in ["protectKernelDefaults", "reservedSystemCPUs", "reservedMemory", "memoryManagerPolicy", "enforceNodeAllocatable"] {
            map.shift_remove(own);
        }
    }
    json!({ "apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": { "kubelet": { "config": settings } } })
}

fn page(c: &Compilation) -> String {
    let d = &c.design;
    let efa = d.pools.iter().any(|p| p.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Efa));
    let reserved = d.hosts.iter().any(|h| h.capacity == Capacity::Reserved);
    let mut out = format!(
        "# Cluster {} on EKS\n\n```sh\neksctl create cluster --config-file eksctl.yaml --install-nvidia-plugin=false\n```\n\n\
         Later changes: `eksctl upgrade cluster`, `eksctl create nodegroup --config-file eksctl.yaml`, `eksctl update addon --config-file eksctl.yaml`; a group's instance type, labels and NodeConfig are immutable: a change is a new group, and the old one drained.\n\n\
         - The control plane needs subnets in two zones at least: eksctl takes those of the region unless `availabilityZones` says otherwise.\n\
         - AmazonLinux2023's accelerated image has NVIDIA's driver and container toolkit; the GPU Operator installs neither, and hands out the GPUs. `--install-nvidia-plugin=false` keeps eksctl's own device plugin away.\n",
        d.cluster.name
    );
    if efa {
        out += "- `efaEnabled` makes the security group that lets the adapters of the group talk to each other (all traffic to and from itself, which EFA needs), a placement group of kind cluster, and the adapters of the instance type. eksctl also applies a device plugin that tolerates no taint of ours: `kubectl -n kube-system delete daemonset aws-efa-k8s-device-plugin-daemonset` before install/ brings it with its tolerations.\n\
                - The image reserves 5,128 HugePages of 2 MiB where it finds EFA; libfabric takes 5 GiB of them in each pod that asks for adapters.\n";
    }
    if reserved {
        out += "- Reserved capacity: instances start in any open reservation of their type in the zone. A targeted one, or a capacity block, is named in `capacityReservation.capacityReservationTarget`.\n";
    }
    out
}
