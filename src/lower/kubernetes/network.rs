//! `network/`: SR-IOV, one resource and one network a rail, addresses of pods.

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::object::{affinity, tolerations};
use super::Input;
use crate::design::{DeviceKind, Network};
use crate::nodes::{pool_label, resources::rails};
use crate::topology::addresses::capacity;
use crate::versions;

const NAMESPACE: &str = "nvidia-network-operator";

/// The network that numbers a rail of a fabric.
fn network_of<'a>(input: &Input<'a>, fabric: usize, rail: usize) -> Option<&'a Network> {
    input.design().networks.iter().find(|n| n.fabric == fabric && n.rail == Some(rail as i64))
}

/// Lowers the folder.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((_, first)) = input.rdma_pools().next() else { return };
    let d = input.design();
    let nodes = &input.compilation.nodes;
    let image = |name: &str| json!({ "repository": versions::NETWORK.0, "image": name, "version": versions::NETWORK.2, "imagePullSecrets": [] });
    let pools: Vec<&str> = input.rdma_pools().map(|(_, p)| p.name.as_str()).collect();
    let mut ipam = image("nvidia-k8s-ipam");
    ipam["enableWebhook"] = false.into();
    let mut spec = json!({
        "nodeAffinity": affinity(&pool_label(d, first), &pools),
        "tolerations": input.rdma_pools().flat_map(|(id, _)| tolerations(&nodes.taints[id])).collect::<Vec<Value>>(),
    });
    // Controllers stay off the GPU hosts where there is another place for them.
    let free: Vec<&str> = d.pools.iter().enumerate().filter(|(id, p)| nodes.taints[*id].is_empty() && p.gpu.is_none()).map(|(_, p)| p.name.as_str()).collect();
    if !free.is_empty() {
        spec["deploymentNodeAffinity"] = affinity(&pool_label(d, first), &free);
    }
    spec["nvIpam"] = ipam;
    spec["secondaryNetwork"] = json!({ "cniPlugins": image("plugins"), "multus": image("multus-cni") });
    artifacts.objects(
        "kubernetes/network/nicclusterpolicy.yaml",
        vec![input.maker.object("mellanox.com/v1alpha1", "NicClusterPolicy", None, "nic-cluster-policy", &first.at, "rdma", json!({ "spec": spec }))],
    );
    let (mut policies, mut networks, mut ippools, mut configs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (_, pool) in input.rdma_pools() {
        let Some(host) = pool.hosts.first().copied() else { continue };
        let rdma = pool.rdma.as_ref().expect("an RDMA pool");
        let label = pool_label(d, pool);
        configs.push(input.maker.object(
            "sriovnetwork.openshift.io/v1",
            "SriovNetworkPoolConfig",
            Some(NAMESPACE),
            &pool.name,
            &pool.at,
            "rdma",
            json!({ "spec": { "nodeSelector": { "matchLabels": { label.clone(): pool.name } }, "maxUnavailable": (pool.hosts.len() / 8).max(1), "rdmaMode": "exclusive" } }),
        ));
        for (rail, (fabric_id, port)) in rails(d, pool, host).into_iter().enumerate() {
            let fabric = &d.fabrics[fabric_id];
            let infiniband = fabric.kind == "infiniband";
            let name = format!("rail{rail}");
            let DeviceKind::Nic(nic) = &d.hosts[host].system.devices[port.device as usize].kind else { continue };
            let mut selector = json!({});
            if let Some((vendor, device)) = nic.pci_id.first().and_then(|id| id.split_once(':')) {
                selector = json!({ "vendor": vendor, "deviceID": device });
            }
            match (nic.address.get(port.port as usize), nic.interfaces.get(port.port as usize)) {
                (Some(address), _) => selector["rootDevices"] = json!([address]),
                (None, Some(interface)) => selector["pfNames"] = json!([interface]),
                // Neither address nor name is in the design: hosts/ names the port so.
                (None, None) => selector["pfNames"] = json!([crate::topology::addresses::interface(d, port)]),
            }
            let mut policy = json!({
                "resourceName": name, "nodeSelector": { label.clone(): pool.name }, "nicSelector": selector,
                "deviceType": "netdevice", "linkType": if infiniband { "IB" } else { "ETH" }, "isRdma": true, "numVfs": rdma.vfs, "priority": 90,
            });
            if !infiniband {
                policy["mtu"] = fabric.mtu.into();
            }
            policies.push(
                input
                    .maker
                    .object(
                        "sriovnetwork.openshift.io/v1",
                        "SriovNetworkNodePolicy",
                        Some(NAMESPACE),
                        &format!("{}{name}", if input.rdma_pools().count() > 1 { format!("{}-", pool.name) } else { String::new() }),
                        &pool.at,
                        "rdma",
                        json!({ "spec": policy }),
                    )
                    .from("/spec/numVfs", pool.at.set("rdma.vfs")),
            );
            let Some(network) = network_of(input, fabric_id, rail) else { continue };
            let kind = if infiniband { "SriovIBNetwork" } else { "SriovNetwork" };
            networks.push(input.maker.object(
                "sriovnetwork.openshift.io/v1",
                kind,
                Some(NAMESPACE),
                &name,
                &network.at,
                "",
                json!({ "spec": {
                    "networkNamespace": "default", "resourceName": name, "linkState": "enable",
                    "ipam": format!("{{\"type\": \"nv-ipam\", \"poolName\": \"{name}\", \"poolType\": \"ippool\"}}"),
                    "metaPlugins": "{\"type\": \"rdma\"}",
                } }),
            ));
            let block = (4 * rdma.vfs as i128).min(capacity(network) as i128 / (pool.hosts.len().max(1) as i128)).max(1);
            let mut spec = json!({
                "subnet": network.cidr.to_string(), "perNodeBlockSize": block as i64,
                "nodeSelector": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": label, "operator": "In", "values": [pool.name] }] }] },
            });
            if let Some((from, to)) = network.reserved {
                spec["exclusions"] = json!([{ "startIP": from.to_string(), "endIP": to.to_string() }]);
            }
            ippools.push(
                input
                    .maker
                    .object("nv-ipam.nvidia.com/v1alpha1", "IPPool", Some(NAMESPACE), &name, &network.at, "", json!({ "spec": spec }))
                    .from("/spec/subnet", network.at.set("cidr")),
            );
        }
    }
    artifacts.objects("kubernetes/network/sriov-pool.yaml", configs);
    artifacts.objects("kubernetes/network/sriov-policies.yaml", policies);
    let file = if networks.iter().any(|n| n.value["kind"] == "SriovIBNetwork") { "sriov-ib-networks.yaml" } else { "sriov-networks.yaml" };
    artifacts.objects(format!("kubernetes/network/{file}"), networks);
    artifacts.objects("kubernetes/network/ippools.yaml", ippools);
}
