//! Talos: patches of the machine configuration for the control plane and each pool, a document a host, and the image's schematic.
//!
//! Sources: talos.dev, reference of v1alpha1 configuration (machine.kubelet, machine.network, machine.baseRuntimeSpecOverrides, cluster), VolumeConfig,
//! and factory.talos.dev (schematics, names of system extensions), read for Talos 1.12 and later.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::control_plane::{Files, audit, flow_control, pod_security};
use super::super::hosts::{self, kubelet, netplan};
use super::super::kinds::host::{Link, Network};
use super::super::object::Document;
use super::super::{Artifacts, Content};
use super::Platform;
use crate::Compilation;
use crate::base::quantity::to_f64;
use crate::design::{DeviceKind, GpuVendor, Pool, PoolRole, Vip};
use crate::versions;

/// Talos.
pub struct Talos;

impl Platform for Talos {
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        for (id, pool) in c.design.pools.iter().enumerate().filter(|(_, pool)| !pool.hosts.is_empty()) {
            let dir = format!("hosts/{}", pool.name);
            artifacts.objects(format!("{dir}/patch.yaml"), vec![pool_patch(c, id, pool)]);
            artifacts.objects(format!("{dir}/schematic.yaml"), vec![schematic(c, pool)]);
            artifacts.files.insert(format!("{dir}/machines.yaml"), Content::Documents(pool.hosts.iter().map(|host| machine(c, *host)).collect()));
        }
        artifacts.objects("control-plane/cluster.yaml", vec![cluster_patch(c)]);
        if let Some(files) = Files::of(c) {
            artifacts.objects("control-plane/patch.yaml", vec![control_plane_patch(&files)]);
            artifacts.objects("control-plane/flowcontrol.yaml", flow_control::objects(&files));
            if let Some(volume) = etcd_volume(&files) {
                artifacts.objects("control-plane/volumes.yaml", vec![volume]);
            }
        }
        artifacts.text("hosts/README.md", page(c));
    }
}

/// What all machines share.
fn cluster_patch(c: &Compilation) -> Document {
    let d = &c.design;
    let mut network = json!({ "dnsDomain": d.cluster.domain, "cni": { "name": "none" } });
    if let Some(pods) = &d.cluster.pods {
        network["podSubnets"] = json!([pods.cidr]);
    }
    if let Some(services) = &d.cluster.services {
        network["serviceSubnets"] = json!([services]);
    }
    let mut machine = json!({});
    if !d.cluster.ntp.is_empty() {
        machine["time"] = json!({ "servers": d.cluster.ntp });
    }
    if !d.cluster.dns.is_empty() {
        machine["network"] = json!({ "nameservers": d.cluster.dns });
    }
    if let Some(mirror) = &d.cluster.mirror {
        let (host, path) = mirror.split_once('/').unwrap_or((mirror, ""));
        let endpoint = if path.is_empty() { format!("https://{host}") } else { format!("https://{host}/v2/{path}") };
        machine["registries"] = json!({ "mirrors": { "*": { "endpoints": [endpoint], "overridePath": !path.is_empty() } } });
    }
    if let Some(node) = d.node_network() {
        machine["kubelet"] = json!({ "nodeIP": { "validSubnets": [d.networks[node].cidr] } });
    }
    let value = json!({
        "machine": machine,
        "cluster": { "network": network, "proxy": { "disabled": d.cluster.replaces_kube_proxy() } },
    });
    Document::file(&value, "cluster", d.cluster.at.head)
        .because("", "For every machine: `talosctl gen config … --config-patch @cluster.yaml`.")
        .because("/cluster/network/cni", "install/ brings the pod network.")
        .because_if_set("/machine/kubelet/nodeIP", "Never an address of a rail.")
}

fn control_plane_patch(files: &Files) -> Document {
    let Files { c, control_plane } = *files;
    let d = &c.design;
    let addresses = c.topology.node_addresses(d, &control_plane.hosts);
    let mut names: Vec<String> = control_plane.endpoint.iter().cloned().collect();
    names.extend(addresses.into_iter().filter(|a| Some(a) != control_plane.endpoint.as_ref()));
    let mut api = json!({ "certSANs": names, "extraArgs": { "profiling": "false" } });
    if d.cluster.audit {
        api["auditPolicy"] = audit::policy(files, "").value;
    }
    let admission = &pod_security::configuration(files, "").value["plugins"][0]["configuration"];
    api["admissionControl"] = json!([{ "name": "PodSecurity", "configuration": admission }]);
    let mask = d.cluster.pods.as_ref().map_or(24, |p| p.host_prefix).to_string();
    let mut etcd =
        json!({ "extraArgs": { "quota-backend-bytes": control_plane.etcd_quota.whole().to_string(), "listen-metrics-urls": "http://0.0.0.0:2381" } });
    if let Some(node) = d.node_network() {
        etcd["advertisedSubnets"] = json!([d.networks[node].cidr]);
    }
    let mut value = json!({
        "cluster": {
            "apiServer": api,
            "controllerManager": { "extraArgs": { "node-cidr-mask-size": mask, "bind-address": "0.0.0.0", "profiling": "false" } },
            "scheduler": { "extraArgs": { "bind-address": "0.0.0.0", "profiling": "false" } },
            "etcd": etcd,
            "allowSchedulingOnControlPlanes": false,
        },
    });
    let interface = c.topology.node_interfaces(d).into_iter().next();
    if let (true, Vip::KubeVip | Vip::Keepalived, Some(endpoint), Some(interface)) =
        (control_plane.hosts.len() > 1, control_plane.vip, &control_plane.endpoint, interface)
    {
        value["machine"] = json!({ "network": { "interfaces": [virtual_address(&interface, endpoint)] } });
    }
    files
        .file(&value)
        .because("", "For machines of the control plane: `--config-patch-control-plane @patch.yaml`. Secrets are encrypted by a key that `gen secrets` makes.")
        .because_if_set(
            "/machine/network/interfaces/0",
            "Talos holds the shared address itself, by etcd: no kube-vip and no keepalived, which would want a host to run on.",
        )
        .because("/cluster/controllerManager/extraArgs/node-cidr-mask-size", "pods.host_prefix.")
}

/// The shared address stands at the VLAN of the hosts' network, where that is one.
fn virtual_address(interface: &str, endpoint: &str) -> Value {
    match interface.split_once('.') {
        Some((base, vlan)) => json!({ "interface": base, "vlans": [{ "vlanId": vlan.parse::<i64>().unwrap_or(0), "vip": { "ip": endpoint } }] }),
        None => json!({ "interface": interface, "vip": { "ip": endpoint } }),
    }
}

/// etcd lies on EPHEMERAL, which is put on the disk of its own.
fn etcd_volume(files: &Files) -> Option<Document> {
    let disk = files.control_plane.etcd_disk.as_ref()?;
    let host = files.control_plane.hosts.first()?;
    let size = to_f64(files.c.design.hosts[*host].system.disks(disk).next()?.capacity.value);
    let matches = format!("!system_disk && disk.size > {:.0}u && disk.size < {:.0}u", size * 0.95, size * 1.05);
    let value = json!({ "apiVersion": "v1alpha1", "kind": "VolumeConfig", "name": "EPHEMERAL", "provisioning": { "diskSelector": { "match": matches }, "grow": true } });
    Some(files.file(&value).because("", format!("The disk `{disk}`, found by its size: etcd shares it with nothing but images and logs.")))
}

fn pool_patch(c: &Compilation, id: usize, pool: &Pool) -> Document {
    let d = &c.design;
    let host = &d.hosts[pool.hosts[0]];
    let mut extra = serde_json::to_value(kubelet::settings(c, id, pool, &host.system)).unwrap_or_default();
    if let Value::Object(map) = &mut extra {
        // Talos' own, and it refuses another hand on them.
        map.shift_remove("protectKernelDefaults");
    }
    let mut machine = json!({ "kubelet": { "extraConfig": extra }, "sysctls": hosts::sysctls(pool).collect::<BTreeMap<_, _>>() });
    if !pool.labels.is_empty() {
        machine["nodeLabels"] = json!(pool.labels);
    }
    if pool.role != PoolRole::ControlPlane && !c.nodes.taints[id].is_empty() {
        let taints = c.nodes.taints[id].iter().map(|t| (t.key.clone(), format!("{}:{}", t.value.as_deref().unwrap_or(""), t.effect)));
        machine["nodeTaints"] = json!(taints.collect::<BTreeMap<_, _>>());
    }
    let mut modules: Vec<Value> = Vec::new();
    if pool.gpu.is_some() && d.gpu_vendor(pool) == GpuVendor::Nvidia {
        modules.extend(["nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset"].map(|name| json!({ "name": name })));
        machine["sysctls"]["net.core.bpf_jit_harden"] = "1".into();
    }
    if let Some(rdma) = &pool.rdma {
        modules.push(json!({ "name": "ib_core", "parameters": [format!("netns_mode={}", i32::from(!rdma.mode.exclusive()))] }));
        modules.extend(["mlx5_ib", "ib_uverbs", "rdma_ucm"].map(|name| json!({ "name": name })));
        let limit = i64::MAX;
        machine["baseRuntimeSpecOverrides"] = json!({ "process": { "rlimits": [
            { "type": "RLIMIT_MEMLOCK", "soft": limit, "hard": limit }, { "type": "RLIMIT_NOFILE", "soft": 1_048_576, "hard": 1_048_576 },
        ] } });
    }
    if !modules.is_empty() {
        machine["kernel"] = json!({ "modules": modules });
    }
    let role = if pool.role == PoolRole::ControlPlane { "--config-patch-control-plane" } else { "--config-patch-worker" };
    let document = Document::file(&json!({ "machine": machine }), &pool.at.source, pool.at.head)
        .because("", format!("Pool {}: `talosctl gen config … {role} @patch.yaml`, or `talosctl patch machineconfig` later.", pool.name))
        .because_if_set("/machine/nodeTaints", "At the first registration; the protected labels come by kubernetes/nodes/apply.sh.")
        .because_if_set("/machine/baseRuntimeSpecOverrides", "RDMA registration pins memory; pods inherit this limit.")
        .because_if_set("/machine/kernel/modules", "Drivers come as system extensions: schematic.yaml.");
    kubelet::explain(c, id, pool, &host.system, document, "/machine/kubelet/extraConfig")
}

/// The image: extensions and kernel arguments, which only the installer can bring.
fn schematic(c: &Compilation, pool: &Pool) -> Document {
    let d = &c.design;
    let mut extensions: Vec<&str> = Vec::new();
    if pool.gpu.is_some() {
        extensions.extend(match d.gpu_vendor(pool) {
            GpuVendor::Nvidia => &["siderolabs/nvidia-container-toolkit-production", "siderolabs/nvidia-open-gpu-kernel-modules-production"][..],
            GpuVendor::Amd => &["siderolabs/amdgpu"],
            GpuVendor::Intel => &[],
        });
        if pool.hosts.first().is_some_and(|h| d.hosts[*h].system.devices.iter().any(|device| matches!(device.kind, DeviceKind::NvSwitch))) {
            extensions.push("siderolabs/nvidia-fabricmanager-production");
        }
    }
    extensions.extend(match pool.runtime {
        crate::design::Runtime::Default => None,
        crate::design::Runtime::Kata => Some("siderolabs/kata-containers"),
        crate::design::Runtime::Gvisor => Some("siderolabs/gvisor"),
    });
    extensions.sort_unstable();
    let mut customization = Map::new();
    let arguments = hosts::kernel_arguments(c, pool, &d.hosts[pool.hosts[0]].system);
    if !arguments.is_empty() {
        customization.insert("extraKernelArgs".into(), json!(arguments));
    }
    if !extensions.is_empty() {
        customization.insert("systemExtensions".into(), json!({ "officialExtensions": extensions }));
    }
    Document::file(&json!({ "customization": customization }), &pool.at.source, pool.at.head)
        .because("", "`curl -X POST --data-binary @schematic.yaml https://factory.talos.dev/schematics` gives the id of the image for this pool.")
}

fn machine(c: &Compilation, host: usize) -> Document {
    let h = &c.design.hosts[host];
    let network = json!({ "hostname": h.name, "interfaces": interfaces(&netplan::network_of_host(c, host)) });
    Document::file(&json!({ "machine": { "network": network } }), &h.at.source, h.at.head).because("", format!("host: {}", h.name))
}

/// Ports, bonds and VLANs as Talos nests them.
fn interfaces(network: &Network) -> Vec<Value> {
    let fill = |mut value: Value, link: &Link| {
        if let Some(mtu) = link.mtu {
            value["mtu"] = mtu.into();
        }
        value["dhcp"] = false.into();
        if let Some(addresses) = &link.addresses {
            value["addresses"] = json!(addresses);
        }
        if let Some(routes) = &link.routes {
            value["routes"] = routes.iter().map(|route| json!({ "network": "0.0.0.0/0", "gateway": route.via })).collect();
        }
        value
    };
    let vlans = |base: &str| -> Vec<Value> {
        let own = network.vlans.iter().flatten().filter(|(_, vlan)| vlan.link.as_deref() == Some(base));
        own.map(|(_, vlan)| fill(json!({ "vlanId": vlan.id }), vlan)).collect()
    };
    let with_vlans = |mut value: Value, name: &str| {
        let vlans = vlans(name);
        if !vlans.is_empty() {
            value["vlans"] = vlans.into();
        }
        value
    };
    let members: Vec<&String> = network.bonds.iter().flatten().flat_map(|(_, bond)| bond.interfaces.iter().flatten()).collect();
    let ethernets = network.ethernets.iter().flatten().filter(|(name, _)| !members.contains(name));
    let mut out: Vec<Value> = ethernets.map(|(name, link)| with_vlans(fill(json!({ "interface": name }), link), name)).collect();
    out.extend(network.bonds.iter().flatten().map(|(name, link)| {
        let mut bond = json!({ "interfaces": link.interfaces });
        if let Some(parameters) = &link.parameters {
            bond["mode"] = parameters.mode.into();
            bond["lacpRate"] = parameters.lacp_rate.into();
            bond["xmitHashPolicy"] = parameters.transmit_hash_policy.into();
            bond["miimon"] = parameters.mii_monitor_interval.into();
        }
        with_vlans(fill(json!({ "interface": name, "bond": bond }), link), name)
    }));
    out
}

fn page(c: &Compilation) -> String {
    let d = &c.design;
    let endpoint =
        d.control_plane.as_ref().and_then(|cp| cp.endpoint.clone().or_else(|| c.topology.node_addresses(d, &cp.hosts).into_iter().next())).unwrap_or_default();
    let first = d.control_plane.as_ref().and_then(|cp| c.topology.node_addresses(d, &cp.hosts).into_iter().next()).unwrap_or_default();
    let name = d.cluster.name.replace('_', "-");
    let volumes = d.control_plane.as_ref().is_some_and(|cp| cp.etcd_disk.is_some());
    let mut out = format!(
        "# Machines of {}\n\nNo secret is part of this bundle. A Talos release that supports Kubernetes {} (its support matrix), and an image a pool: `schematic.yaml` to factory.talos.dev, its id into the installer's name.\n\n\
         ```sh\ntalosctl gen secrets --output-file secrets.yaml\n",
        d.cluster.name,
        versions::kubernetes_patch(&d.cluster.kubernetes)
    );
    for pool in d.pools.iter().filter(|p| !p.hosts.is_empty()) {
        let (kind, patches) = if pool.role == PoolRole::ControlPlane {
            let volumes = if volumes { " --config-patch-control-plane @control-plane/volumes.yaml" } else { "" };
            (
                "controlplane",
                format!(" --config-patch-control-plane @control-plane/patch.yaml{volumes} --config-patch-control-plane @hosts/{}/patch.yaml", pool.name),
            )
        } else {
            ("worker", format!(" --config-patch-worker @hosts/{}/patch.yaml", pool.name))
        };
        out += &format!(
            "talosctl gen config {name} https://{endpoint}:6443 --with-secrets secrets.yaml --kubernetes-version {} --config-patch @control-plane/cluster.yaml{patches} --install-image factory.talos.dev/metal-installer/<id>:<release> --output-types {kind} --output {}.yaml\n",
            versions::kubernetes_patch(&d.cluster.kubernetes).trim_start_matches('v'),
            pool.name
        );
    }
    out += &format!(
        "```\n\nEach machine takes its pool's file with its own document of `machines.yaml` as one more patch: `talosctl apply-config --insecure --nodes <address> --file <pool>.yaml --config-patch @<its document>`. Once, on the first of the control plane: `talosctl bootstrap --nodes {first}`; then `kubectl apply --server-side -f control-plane/flowcontrol.yaml`.\n\n\
         A change of `schematic.yaml` (extensions, kernel arguments, HugePages) is an upgrade: `talosctl upgrade --image …`, which reboots. A change of the CPU, memory or topology manager drains first, and `talosctl reset --system-labels-to-wipe EPHEMERAL` removes the kubelet's state.\n"
    );
    out
}
