//! `hosts/<pool>/`: what stands on the hosts themselves. Per-host data is in one table and one multi-document file a pool.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::object::Document;
use super::{Artifacts, Content};
use crate::Compilation;
use crate::base::quantity::to_f64;
use crate::design::{Pool, PoolRole, System};
use crate::nodes::resources::format_bytes;
use crate::topology::addresses::{Owner, interface};

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    for (id, pool) in c.design.pools.iter().enumerate() {
        let dir = format!("hosts/{}", pool.name);
        let Some(host) = pool.hosts.first().map(|h| &c.design.hosts[*h]) else { continue };
        artifacts.objects(format!("{dir}/kubelet.yaml"), vec![document(pool, kubelet(c, id, pool, &host.system))]);
        artifacts.objects(format!("{dir}/kubeadm.yaml"), vec![document(pool, join(c, id, pool))]);
        artifacts.text(format!("{dir}/kernel-cmdline"), kernel(c, pool, &host.system));
        artifacts.text(format!("{dir}/sysctl.conf"), sysctl(pool));
        artifacts.text(format!("{dir}/modprobe.conf"), modprobe(pool));
        let memlock = pool.rdma.is_some();
        let login = "# /etc/security/limits.d/90-aic.conf: login sessions only. Pods inherit containerd's limits: containerd-limits.conf beside this file.\n*    soft nofile  1048576\n*    hard nofile  1048576\nroot soft nofile  1048576\nroot hard nofile  1048576\n";
        let lock = "*    soft memlock unlimited\n*    hard memlock unlimited\n";
        artifacts.text(format!("{dir}/limits"), format!("{login}{}", if memlock { lock } else { "" }));
        let unit = "# /etc/systemd/system/containerd.service.d/90-aic.conf\n[Service]\nLimitNOFILE=1048576\nLimitNPROC=infinity\nTasksMax=infinity\n";
        let pin = "# RDMA registration pins memory; pods inherit this limit\nLimitMEMLOCK=infinity\n";
        artifacts.text(format!("{dir}/containerd-limits.conf"), format!("{unit}{}", if memlock { pin } else { "" }));
        artifacts.text(format!("{dir}/hosts.csv"), table(c, pool));
        artifacts.files.insert(format!("{dir}/netplan.yaml"), Content::Documents(netplan(c, pool)));
        scripts(c, pool, &dir, artifacts);
    }
}

fn document(pool: &Pool, value: Value) -> Document {
    Document { value, source: pool.at.source.clone(), span: pool.at.head, fields: Vec::new(), comment: None }
}

/// Reserved threads as the kernel numbers them: cores first, then their siblings, spread over the NUMA nodes.
pub fn reserved_cpus(system: &System, cores: i64) -> String {
    let sockets: Vec<(i64, i64)> = system.cpus().map(|(_, cpu)| (cpu.cores, cpu.threads_per_core)).collect();
    let total: i64 = sockets.iter().map(|(cores, _)| cores).sum();
    let threads = system.threads_per_core();
    let each = cores / sockets.len().max(1) as i64;
    let mut extra = cores % sockets.len().max(1) as i64;
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let mut first = 0;
    for (size, _) in &sockets {
        let n = (each + i64::from(extra > 0)).min(*size);
        extra -= 1;
        if n > 0 {
            ranges.push((first, first + n - 1));
        }
        first += size;
    }
    let siblings: Vec<(i64, i64)> = (1..threads).flat_map(|t| ranges.iter().map(move |(a, b)| (a + t * total, b + t * total)).collect::<Vec<_>>()).collect();
    ranges.extend(siblings);
    ranges.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect::<Vec<_>>().join(",")
}

fn taints(c: &Compilation, id: usize) -> Vec<Value> {
    c.nodes.taints[id]
        .iter()
        .map(|t| match &t.value {
            Some(value) => json!({ "key": t.key, "value": value, "effect": t.effect }),
            None => json!({ "key": t.key, "effect": t.effect }),
        })
        .collect()
}

fn dns_address(c: &Compilation) -> Option<String> {
    // The tenth address of the service range, as kubeadm gives it to CoreDNS.
    let range = c.design.cluster.services?;
    crate::topology::addresses::nth(&range, 10).map(|ip| ip.to_string())
}

fn kubelet(c: &Compilation, id: usize, pool: &Pool, system: &System) -> Value {
    let mut k = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "staticPodPath": "/etc/kubernetes/manifests", "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock", "cgroupDriver": "systemd",
        "clusterDomain": c.design.cluster.domain,
    });
    if let Some(dns) = dns_address(c) {
        k["clusterDNS"] = json!([dns]);
    }
    k["rotateCertificates"] = true.into();
    k["protectKernelDefaults"] = true.into();
    k["maxPods"] = pool.max_pods.into();
    let threads = pool.reserved_cores * system.threads_per_core();
    let mut reserved = json!({ "memory": format_bytes(pool.reserved.whole()) });
    if pool.cpu_manager == "static" {
        k["cpuManagerPolicy"] = "static".into();
        k["reservedSystemCPUs"] = reserved_cpus(system, pool.reserved_cores).into();
        let mut options = json!({});
        if pool.full_cores {
            options["full-pcpus-only"] = "true".into();
        }
        let per_node = system.threads() / system.numa_nodes();
        let wide = c
            .nodes
            .pods
            .iter()
            .zip(&c.design.workloads)
            .filter(|(_, w)| c.design.pool_of(w) == Some(id))
            .flat_map(|(p, _)| &p.shapes)
            .any(|s| s.requests.get("cpu").is_some_and(|n| *n > i128::from(per_node)));
        if wide {
            options["distribute-cpus-across-numa"] = "true".into();
        }
        // Generally available from 1.35.
        if c.design.cluster.kubernetes.split('.').nth(1).and_then(|m| m.parse::<u32>().ok()).is_some_and(|m| m >= 35) {
            options["strict-cpu-reservation"] = "true".into();
        }
        k["cpuManagerPolicyOptions"] = options;
    } else {
        reserved["cpu"] = threads.to_string().into();
    }
    if pool.numa_policy != "none" {
        k["topologyManagerPolicy"] = pool.numa_policy.replace('_', "-").into();
        k["topologyManagerScope"] = pool.numa_scope.as_str().into();
    }
    if pool.memory_manager == "static" {
        k["memoryManagerPolicy"] = "Static".into();
        // The sum over NUMA nodes equals reserved + eviction exactly, or the kubelet does not start.
        let nodes = i128::from(system.numa_nodes());
        let total = pool.reserved.whole() + pool.eviction.whole();
        let each = total / nodes;
        k["reservedMemory"] = (0..nodes)
            .map(|n| json!({ "numaNode": n as i64, "limits": { "memory": format_bytes(if n == 0 { total - each * (nodes - 1) } else { each }) } }))
            .collect();
    } else {
        k["memoryManagerPolicy"] = "None".into();
    }
    k["systemReserved"] = reserved;
    k["enforceNodeAllocatable"] = json!(["pods"]);
    k["evictionHard"] = json!({ "memory.available": format_bytes(pool.eviction.whole()) });
    // Else every signal that is not named becomes 0.
    k["mergeDefaultEvictionSettings"] = true.into();
    let taints = taints(c, id);
    if !taints.is_empty() {
        k["registerWithTaints"] = taints.into();
    }
    k["serializeImagePulls"] = false.into();
    k["maxParallelImagePulls"] = 4.into();
    k["containerLogMaxSize"] = "50Mi".into();
    k["containerLogMaxFiles"] = 5.into();
    // Room for SIGTERM, one checkpoint, and the agents after it.
    let grace = c
        .design
        .workloads
        .iter()
        .filter(|w| c.design.pool_of(w) == Some(id))
        .filter_map(|w| w.grace.map(|g| to_f64(g.value).ceil() as i64))
        .max()
        .unwrap_or(120)
        .max(if pool.gpu.is_some() { 120 } else { 30 });
    k["shutdownGracePeriod"] = format!("{}s", grace + 60).into();
    k["shutdownGracePeriodCriticalPods"] = "60s".into();
    k
}

fn join(c: &Compilation, id: usize, pool: &Pool) -> Value {
    let mut value = json!({
        "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "JoinConfiguration",
        "nodeRegistration": { "criSocket": "unix:///run/containerd/containerd.sock", "taints": taints(c, id) },
        // Made on the first control-plane host and copied: the cluster's CA and a token that expires. Never part of the bundle.
        "discovery": { "file": { "kubeConfigPath": "/etc/kubernetes/aic/discovery.conf" } },
        "patches": { "directory": "/etc/kubernetes/aic/patches" },
    });
    if pool.role == PoolRole::ControlPlane {
        value["controlPlane"] = json!({ "localAPIEndpoint": { "bindPort": 6443 } });
    }
    value
}

fn kernel(c: &Compilation, pool: &Pool, system: &System) -> String {
    let host = &c.design.hosts[pool.hosts[0]];
    let mut words: Vec<String> = Vec::new();
    let intel = system.cpus().any(|(_, cpu)| cpu.name.starts_with("xeon"));
    match host.iommu.as_str() {
        "off" => words.push("iommu=off".into()),
        mode => {
            if intel {
                words.push("intel_iommu=on".into());
            }
            if mode == "passthrough" {
                words.push("iommu=pt".into());
            }
        }
    }
    for pages in &pool.hugepages {
        let size = if pages.size.whole() >= 1 << 30 { "1G" } else { "2M" };
        words.push(format!("hugepagesz={size} hugepages={}", pages.count));
    }
    format!(
        "# Added to the distribution's own (GRUB_CMDLINE_LINUX_DEFAULT). A change needs a reboot.\n# HugePages are divided equally between the NUMA nodes; pages of 1 GiB are found at boot only.\n{}\n",
        words.join(" ")
    )
}

fn sysctl(pool: &Pool) -> String {
    let mut out = String::from(
        "# /etc/sysctl.d/90-aic.conf\n# what the kubelet demands with protectKernelDefaults\nvm.overcommit_memory = 1\nvm.panic_on_oom = 0\nkernel.panic = 10\nkernel.panic_on_oops = 1\nkernel.keys.root_maxkeys = 1000000\nkernel.keys.root_maxbytes = 25000000\n# routing of pods\nnet.ipv4.ip_forward = 1\n# the defaults run out at about 100 pods\nfs.inotify.max_user_instances = 8192\nfs.inotify.max_user_watches = 1048576\n",
    );
    if pool.role != PoolRole::ControlPlane {
        out.push_str("# TCP to storage: ceilings only, the kernel still tunes itself\nnet.core.rmem_max = 67108864\nnet.core.wmem_max = 67108864\nnet.ipv4.tcp_rmem = 4096 131072 67108864\nnet.ipv4.tcp_wmem = 4096 65536 67108864\nnet.core.netdev_max_backlog = 30000\n");
    }
    if pool.rdma.is_some() {
        out.push_str(
            "# page migration costs and breaks pinned RDMA regions\nkernel.numa_balancing = 0\n# data loaders map many files\nvm.max_map_count = 1048576\n",
        );
    }
    out
}

fn modprobe(pool: &Pool) -> String {
    let mut out = String::from("# /etc/modprobe.d/90-aic.conf\n");
    if pool.gpu.is_some() {
        out.push_str("# the GPU Operator loads NVIDIA's driver from a container: the in-tree driver must not take the GPU\nblacklist nouveau\noptions nouveau modeset=0\n");
    }
    if pool.rdma.is_some() {
        out.push_str("# RDMA devices live in the pod's network namespace only (rdmaMode exclusive)\noptions ib_core netns_mode=0\n");
    }
    if pool.gpu.is_none() && pool.rdma.is_none() {
        out.push_str("# nothing to set in this pool\n");
    }
    out
}

fn table(c: &Compilation, pool: &Pool) -> String {
    let networks: Vec<usize> = (0..c.design.networks.len())
        .filter(|n| c.topology.addresses.iter().any(|a| a.network == *n && matches!(a.owner, Owner::Host(h) if pool.hosts.contains(&h))))
        .collect();
    let mut out = format!("hostname,system,rack,bottom_u{}\n", networks.iter().map(|n| format!(",{}", c.design.networks[*n].name)).collect::<String>());
    for host in &pool.hosts {
        let h = &c.design.hosts[*host];
        let _ = write!(
            out,
            "{},{},{},{}",
            h.name,
            h.system.name,
            h.rack.map_or("", |r| &c.design.racks[r].name),
            c.topology.host_units[*host].map_or(String::new(), |u| u.to_string())
        );
        for network in &networks {
            let address = c.topology.addresses.iter().find(|a| a.network == *network && a.owner == Owner::Host(*host));
            let _ = write!(out, ",{}", address.map_or(String::new(), |a| a.address.to_string()));
        }
        out.push('\n');
    }
    out
}

/// A document a host: bonds over the ports of a fabric, VLANs for its networks; the only default route is on the hosts' own network.
fn netplan(c: &Compilation, pool: &Pool) -> Vec<Document> {
    let d = &c.design;
    pool.hosts
        .iter()
        .map(|host| {
            let h = &d.hosts[*host];
            let (mut ethernets, mut bonds, mut vlans): (BTreeMap<String, Value>, BTreeMap<String, Value>, BTreeMap<String, Value>) = Default::default();
            for address in c.topology.addresses.iter().filter(|a| a.owner == Owner::Host(*host)) {
                let network = &d.networks[address.network];
                let fabric = &d.fabrics[network.fabric];
                if fabric.management {
                    continue; // the service processor has its own configuration
                }
                let ports: Vec<String> = fabric.attach.iter().filter(|p| p.host as usize == *host).map(|p| interface(d, *p)).collect();
                let base = address.interface.split('.').next().unwrap_or("").to_owned();
                let mtu = fabric.mtu;
                let mut settings = json!({ "mtu": network.mtu, "addresses": [format!("{}/{}", address.address, address.prefix)] });
                if let Some(gateway) = network.gateway.filter(|_| Some(address.network) == d.node_network()) {
                    settings["routes"] = json!([{ "to": "default", "via": gateway.to_string() }]);
                }
                if !d.cluster.dns.is_empty() && Some(address.network) == d.node_network() {
                    settings["nameservers"] = json!({ "addresses": d.cluster.dns });
                }
                if base == "bond0" {
                    for port in &ports {
                        ethernets.insert(port.clone(), json!({ "dhcp4": false, "dhcp6": false, "mtu": mtu }));
                    }
                    bonds.entry(base.clone()).or_insert_with(|| {
                        json!({ "interfaces": ports, "mtu": mtu, "parameters": { "mode": "802.3ad", "lacp-rate": "fast", "mii-monitor-interval": 100, "transmit-hash-policy": "layer3+4" } })
                    });
                }
                match network.vlan {
                    Some(vlan) => {
                        if base != "bond0" {
                            ethernets.entry(base.clone()).or_insert_with(|| json!({ "dhcp4": false, "dhcp6": false, "mtu": mtu }));
                        }
                        settings["id"] = vlan.into();
                        settings["link"] = base.into();
                        vlans.insert(address.interface.clone(), settings);
                    }
                    None if base == "bond0" => merge(bonds.get_mut(&base), settings),
                    None => {
                        settings["dhcp4"] = false.into();
                        ethernets.insert(base, settings);
                    }
                }
            }
            let mut network = json!({ "version": 2, "renderer": "networkd" });
            for (name, map) in [("ethernets", ethernets), ("bonds", bonds), ("vlans", vlans)] {
                if !map.is_empty() {
                    network[name] = json!(map);
                }
            }
            Document { value: json!({ "network": network }), source: h.at.source.clone(), span: h.at.head, fields: Vec::new(), comment: Some(format!("host: {}; install as /etc/netplan/10-aic.yaml, mode 0600", h.name)) }
        })
        .collect()
}

fn merge(into: Option<&mut Value>, from: Value) {
    if let (Some(Value::Object(into)), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// Scripts that name disks: the design does not know kernel names, so they are found by size, and a wrong count stops.
fn scripts(c: &Compilation, pool: &Pool, dir: &str, artifacts: &mut Artifacts) {
    for storage in &c.design.storages {
        let (Some(disks), Some(host)) = (&storage.disks, pool.hosts.iter().find(|h| storage.hosts.contains(h))) else { continue };
        let all: Vec<_> = c.design.hosts[*host].system.disks(disks).collect();
        let Some(size) = all.first().map(|d| to_f64(d.capacity.value)) else { continue };
        let count = all.len();
        let (low, high) = (size * 0.95, size * 1.05);
        let find = format!("lsblk -dnbo NAME,SIZE,TYPE | awk '$3==\"disk\" && $1 ~ /^nvme/ && $2 > {low:.3e} && $2 < {high:.3e} {{print $1}}'");
        if storage.kind == "local_nvme" {
            let name = &storage.name;
            let text = format!(
                "#!/bin/sh\n# TopoLVM needs the volume group {name}, it does not make it. Run once a host before it joins. Idempotent; refuses a disk that carries anything.\nset -eu\nvgs {name} >/dev/null 2>&1 && exit 0\ndisks=$({find})\n[ \"$(printf '%s\\n' \"$disks\" | grep -c .)\" -eq {count} ] || {{ echo \"expected {count} disks, found: $disks\" >&2; exit 1; }}\npaths=\nfor d in $disks; do\n  [ -z \"$(wipefs -n \"/dev/$d\")\" ] || {{ echo \"/dev/$d is not empty\" >&2; exit 1; }}\n  paths=\"$paths /dev/$d\"\ndone\n# shellcheck disable=SC2086\nvgcreate {name} $paths\n"
            );
            let file = if c.design.storages.iter().filter(|s| s.kind == "local_nvme").count() > 1 { format!("lvm-{name}.sh") } else { "lvm.sh".to_owned() };
            artifacts.text(format!("{dir}/{file}"), text);
        } else if storage.kind == "ceph" {
            let text = format!(
                "#!/bin/sh\n# Stable names /dev/disk/by-aic/{disks}-N for the CephCluster's devicePathFilter, in the order of the PCIe path: a replaced disk keeps its name.\n# Run once a host before it joins; idempotent; writes nothing unless exactly {count} disks are found.\nset -eu\nrules=/etc/udev/rules.d/60-aic-{disks}.rules\nlist=$(for d in $({find}); do\n  udevadm info -q property -n \"/dev/$d\" | sed -n 's/^ID_PATH=//p'; done | sort -V)\nn=$(printf '%s\\n' \"$list\" | grep -c . || true)\n[ \"$n\" -eq {count} ] || {{ echo \"expected {count} disks, found $n\" >&2; exit 1; }}\nprintf '%s\\n' \"$list\" | awk '{{printf \"SUBSYSTEM==\\\"block\\\", ENV{{DEVTYPE}}==\\\"disk\\\", ENV{{ID_PATH}}==\\\"%s\\\", SYMLINK+=\\\"disk/by-aic/{disks}-%d\\\"\\n\", $0, NR-1}}' > \"$rules\"\nudevadm control --reload\nudevadm trigger --subsystem-match=block --settle\nls -l /dev/disk/by-aic\n"
            );
            artifacts.text(format!("{dir}/osd-names.sh"), text);
        }
    }
}
