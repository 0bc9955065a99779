//! `hosts/<pool>/`: what stands on the hosts themselves. Per-host data is in one table and one multi-document file a pool.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kinds::host::{Bond, Link, Nameservers, Netplan, Network, Route};
use super::kinds::kubeadm::{
    ApiEndpoint, CRI_SOCKET, Discovery, FileDiscovery, JoinConfiguration, JoinControlPlane, KubeletConfiguration, NodeRegistration, PATCHES, Patches,
    ReservedMemory,
};
use super::kinds::{non_empty, taints, texts};
use super::object::Document;
use super::{Artifacts, Content};
use crate::Compilation;
use crate::base::quantity::to_f64;
use crate::design::{DeviceKind, Pool, PoolRole, System};
use crate::nodes::resources::{format_bytes, rails};
use crate::topology::addresses::interface;
use crate::versions;

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    for (id, pool) in c.design.pools.iter().enumerate() {
        let dir = format!("hosts/{}", pool.name);
        let Some(host) = pool.hosts.first().map(|h| &c.design.hosts[*h]) else { continue };
        artifacts.objects(format!("{dir}/kubelet.yaml"), vec![kubelet(c, id, pool, &host.system)]);
        artifacts.objects(format!("{dir}/kubeadm.yaml"), vec![join(c, id, pool)]);
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
        if !c.design.cluster.ntp.is_empty() {
            let servers = c.design.cluster.ntp.join(" ");
            artifacts.text(format!("{dir}/timesyncd.conf"), format!("# /etc/systemd/timesyncd.conf.d/90-aic.conf\n[Time]\nNTP={servers}\n"));
        }
        artifacts.text(format!("{dir}/hosts.csv"), table(c, pool));
        artifacts.files.insert(format!("{dir}/netplan.yaml"), Content::Documents(netplan(c, pool)));
        scripts(c, pool, &dir, artifacts);
    }
    let page = readme(c, artifacts);
    artifacts.text("hosts/README.md", page);
}

/// Which file becomes what on a host, and what the ports of each system are called.
fn readme(c: &Compilation, artifacts: &Artifacts) -> String {
    let kubernetes = versions::kubernetes_patch(&c.design.cluster.kubernetes);
    let mut out =
        format!("# Host files of {}\n\nA folder a pool; the order is that of the rows.\n\n| file | becomes | when |\n|---|---|---|\n", c.design.cluster.name);
    for (file, becomes, when) in [
        ("kernel-cmdline", "its last line is appended to the boot loader's arguments", "before the first join; a change needs a reboot"),
        ("sysctl.conf", "`/etc/sysctl.d/90-aic.conf`", "before the kubelet starts, which checks it (`protectKernelDefaults`)"),
        ("modprobe.conf", "`/etc/modprobe.d/90-aic.conf`, then `update-initramfs -u`", "before the first join; a change needs a reboot"),
        ("limits", "`/etc/security/limits.d/90-aic.conf`", "logins only"),
        ("containerd-limits.conf", "`/etc/systemd/system/containerd.service.d/90-aic.conf`", "what pods inherit; restarts containerd"),
        ("netplan.yaml", "the host's document: `/etc/netplan/10-aic.yaml`", "`netplan try`"),
    ] {
        let _ = writeln!(out, "| {file} | {becomes} | {when} |");
    }
    if !c.design.cluster.ntp.is_empty() {
        out.push_str("| timesyncd.conf | `/etc/systemd/timesyncd.conf.d/90-aic.conf` | before the join: etcd and certificates need the time |\n");
    }
    for script in artifacts.files.keys().filter(|path| path.starts_with("hosts/") && path.ends_with(".sh")) {
        let _ = writeln!(out, "| {} | run once: it says what it makes | before the join |", script.trim_start_matches("hosts/"));
    }
    out.push_str("| kubelet.yaml | `/etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml` | before the join; later `kubeadm upgrade node phase kubelet-config --patches /etc/kubernetes/aic/patches` and a restart |\n| kubeadm.yaml | `kubeadm join --config` | last |\n| hosts.csv | the pool's names, places and addresses | – |\n");
    let _ = writeln!(
        out,
        "\nThe image of a host brings what no file here sets: {} with netplan, containerd 2 on cgroup v2, kubelet and kubeadm {kubernetes}, LVM, time and name service, and on hosts with RDMA the adapter's driver.",
        c.design.cluster.os.replacen('_', " ", 1).replace('_', ".")
    );
    let mut seen: Vec<&str> = Vec::new();
    for pool in c.design.pools.iter().filter(|p| p.rdma.is_some()) {
        let Some(host) = pool.hosts.first().copied() else { continue };
        let system = &c.design.hosts[host].system;
        if !seen.contains(&system.name.as_str()) {
            seen.push(&system.name);
            out += &port_table(c, pool, host);
        }
    }
    out
}

/// The rails of a system by all the names that they have: neither RDMA devices nor cages follow the order of the rails.
fn port_table(c: &Compilation, pool: &Pool, host: usize) -> String {
    let system = &c.design.hosts[host].system;
    let graph = c.topology.graph(system);
    let mut out =
        format!("\n## Rails of {}\n\n| rail | nearest GPU | path | NUMA | RDMA | Linux | PCI | chassis |\n|---|---|---|---|---|---|---|---|\n", system.name);
    for (rail, (_, port)) in rails(&c.design, pool, host).into_iter().enumerate() {
        let DeviceKind::Nic(nic) = &system.devices[port.device as usize].kind else { continue };
        let nearest = graph.and_then(|g| system.gpus().map(|(gpu, _)| (g.path(gpu, port.device), gpu)).min());
        let named = |list: &[String]| list.get(port.port as usize).map_or("–".to_owned(), |name| format!("`{name}`"));
        let _ = writeln!(
            out,
            "| {rail} | {} | {} | {} | {} | {} | {} | {} |",
            nearest.map_or("–".to_owned(), |(_, gpu)| system.devices[gpu as usize].flat()),
            nearest.map_or("–".to_owned(), |(path, _)| path.text()),
            graph.and_then(|g| g.numa(port.device)).map_or("–".to_owned(), |n| n.to_string()),
            named(&nic.devices),
            named(&nic.interfaces),
            named(&nic.address),
            super::network::host_port(c, port),
        );
    }
    out
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

fn dns_address(c: &Compilation) -> Option<String> {
    // The tenth address of the service range, as kubeadm gives it to CoreDNS.
    let range = c.design.cluster.services?;
    crate::topology::addresses::nth(&range, 10).map(|ip| ip.to_string())
}

/// The pool's kubelet; kubeadm merges it over the cluster's.
fn kubelet(c: &Compilation, id: usize, pool: &Pool, system: &System) -> Document {
    let pins = pool.cpu_manager == "static";
    let threads = pool.reserved_cores * system.threads_per_core();
    let mut reserved = texts([("memory", format_bytes(pool.reserved.whole()))]);
    if !pins {
        reserved.insert("cpu".into(), threads.to_string());
    }
    let taints = taints(&c.nodes.taints[id]);
    let grace = shutdown_seconds(c, id, pool);
    let numa = pool.numa_policy != "none";
    let configuration = KubeletConfiguration {
        static_pod_path: Some("/etc/kubernetes/manifests"),
        container_runtime_endpoint: Some(CRI_SOCKET),
        cgroup_driver: "systemd",
        cluster_domain: Some(c.design.cluster.domain.clone()),
        cluster_dns: dns_address(c).map(|address| vec![address]),
        rotate_certificates: Some(true),
        protect_kernel_defaults: Some(true),
        max_pods: Some(pool.max_pods),
        cpu_manager_policy: pins.then_some("static"),
        reserved_system_cpus: pins.then(|| reserved_cpus(system, pool.reserved_cores)),
        cpu_manager_policy_options: pins.then(|| cpu_options(c, id, pool, system)),
        topology_manager_policy: numa.then(|| pool.numa_policy.replace('_', "-")),
        topology_manager_scope: numa.then(|| pool.numa_scope.clone()),
        memory_manager_policy: Some(if pool.memory_manager == "static" { "Static" } else { "None" }),
        reserved_memory: (pool.memory_manager == "static").then(|| reserved_memory(pool, system)),
        system_reserved: Some(reserved),
        enforce_node_allocatable: Some(vec!["pods"]),
        eviction_hard: Some(texts([("memory.available", format_bytes(pool.eviction.whole()))])),
        merge_default_eviction_settings: Some(true),
        register_with_taints: non_empty(taints),
        serialize_image_pulls: Some(false),
        max_parallel_image_pulls: Some(4),
        container_log_max_size: Some("50Mi"),
        container_log_max_files: Some(5),
        shutdown_grace_period: Some(format!("{}s", grace + CRITICAL_SECONDS)),
        shutdown_grace_period_critical_pods: Some("60s"),
    };
    let mut document = Document::configuration(&configuration, &pool.at.source, pool.at.head)
        .because("", "Installed as /etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml: kubeadm merges it into the cluster's at init, join and upgrade.\nA change of the CPU, memory or topology manager: drain, stop the kubelet, delete its state file in /var/lib/kubelet, start, uncordon.")
        .because("/protectKernelDefaults", "Refuses to start unless sysctl.conf is applied, instead of changing the kernel itself.")
        .because("/maxPods", format!("A /{} a host has {} addresses for them.", c.design.cluster.pods.as_ref().map_or(24, |p| p.host_prefix), pod_addresses(c)))
        .because("/mergeDefaultEvictionSettings", "Else every signal that is not named becomes 0.")
        .because("/serializeImagePulls", "A small image must not wait behind one of tens of gigabytes.")
        .because("/shutdownGracePeriod", format!("SIGTERM, one checkpoint ({grace} s), and {CRITICAL_SECONDS} s for the agents after it."));
    let allocatable = system.threads() - threads;
    if pins {
        document = document.because(
            "/reservedSystemCPUs",
            format!(
                "Whole cores with all their threads, spread over the NUMA nodes: {threads} of {} threads, {allocatable} are allocatable.",
                system.threads()
            ),
        );
    }
    if configuration.cpu_manager_policy_options.as_ref().is_some_and(|o| o.contains_key("distribute-cpus-across-numa")) {
        document = document.because(
            "/cpuManagerPolicyOptions/distribute-cpus-across-numa",
            "A pod of the pool is wider than a NUMA node: its CPUs are taken from all equally.",
        );
    }
    if configuration.reserved_memory.is_some() {
        document =
            document.because("/reservedMemory", "Over all NUMA nodes exactly systemReserved and the eviction threshold, else the kubelet does not start.");
    }
    if configuration.register_with_taints.is_some() {
        document = document.because("/registerWithTaints", "At the first registration only; kubernetes/nodes/taints.sh for hosts that are there.");
    }
    document.from("/maxPods", pool.at.set("max_pods")).from("/topologyManagerPolicy", pool.at.set("numa.policy"))
}

/// What critical pods have after all others are gone.
const CRITICAL_SECONDS: i64 = 60;

fn pod_addresses(c: &Compilation) -> u64 {
    let prefix = c.design.cluster.pods.as_ref().map_or(24, |p| p.host_prefix);
    (1u64 << (32 - prefix.clamp(1, 30))).saturating_sub(2)
}

fn cpu_options(c: &Compilation, id: usize, pool: &Pool, system: &System) -> BTreeMap<&'static str, &'static str> {
    let mut options = BTreeMap::new();
    if pool.full_cores {
        options.insert("full-pcpus-only", "true");
    }
    let per_node = system.threads() / system.numa_nodes();
    let pods = c.nodes.pods.iter().zip(&c.design.workloads).filter(|(_, w)| c.design.pool_of(w) == Some(id)).flat_map(|(p, _)| &p.shapes);
    if pods.into_iter().any(|s| s.requests.get("cpu").is_some_and(|n| *n > i128::from(per_node))) {
        options.insert("distribute-cpus-across-numa", "true");
    }
    if versions::minor(&c.design.cluster.kubernetes).is_some_and(|minor| minor >= versions::STRICT_CPU_RESERVATION) {
        options.insert("strict-cpu-reservation", "true");
    }
    options
}

/// The sum over NUMA nodes equals reserved + eviction exactly, or the kubelet does not start.
fn reserved_memory(pool: &Pool, system: &System) -> Vec<ReservedMemory> {
    let nodes = i128::from(system.numa_nodes());
    let total = pool.reserved.whole() + pool.eviction.whole();
    let each = total / nodes;
    (0..nodes)
        .map(|n| {
            let amount = if n == 0 { total - each * (nodes - 1) } else { each };
            ReservedMemory { numa_node: n as i64, limits: texts([("memory", format_bytes(amount))]) }
        })
        .collect()
}

/// Room for SIGTERM and one checkpoint.
fn shutdown_seconds(c: &Compilation, id: usize, pool: &Pool) -> i64 {
    c.design
        .workloads
        .iter()
        .filter(|w| c.design.pool_of(w) == Some(id))
        .filter_map(|w| w.grace.map(|g| to_f64(g.value).ceil() as i64))
        .max()
        .unwrap_or(120)
        .max(if pool.gpu.is_some() { 120 } else { 30 })
}

fn join(c: &Compilation, id: usize, pool: &Pool) -> Document {
    let configuration = JoinConfiguration {
        node_registration: NodeRegistration { name: None, cri_socket: CRI_SOCKET, taints: taints(&c.nodes.taints[id]) },
        discovery: Discovery { file: FileDiscovery { kube_config_path: "/etc/kubernetes/aic/discovery.conf" } },
        patches: Patches { directory: PATCHES },
        control_plane: (pool.role == PoolRole::ControlPlane)
            .then_some(JoinControlPlane { local_api_endpoint: ApiEndpoint { advertise_address: None, bind_port: 6443 } }),
    };
    Document::configuration(&configuration, &pool.at.source, pool.at.head)
        .because("/discovery", "Made on the first control-plane host and copied: the cluster's CA and a token that expires. Never part of the bundle.")
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
    let networks: Vec<usize> = (0..c.design.networks.len()).filter(|n| pool.hosts.iter().any(|h| c.topology.address_on(*h, *n).is_some())).collect();
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
            let address = c.topology.address_on(*host, *network);
            let _ = write!(out, ",{}", address.map_or(String::new(), |a| a.address.to_string()));
        }
        out.push('\n');
    }
    out
}

/// A document a host: bonds over the ports of a fabric, VLANs for its networks.
fn netplan(c: &Compilation, pool: &Pool) -> Vec<Document> {
    let d = &c.design;
    pool.hosts
        .iter()
        .map(|host| {
            let h = &d.hosts[*host];
            let network = network_of_host(c, *host);
            Document::file(&Netplan { network }, &h.at.source, h.at.head)
                .because("", format!("host: {}; install as /etc/netplan/10-aic.yaml, mode 0600", h.name))
        })
        .collect()
}

fn network_of_host(c: &Compilation, host: usize) -> Network {
    let d = &c.design;
    let quiet = |mtu| Link { dhcp4: Some(false), dhcp6: Some(false), mtu: Some(mtu), ..Default::default() };
    let (mut ethernets, mut bonds, mut vlans): (BTreeMap<String, Link>, BTreeMap<String, Link>, BTreeMap<String, Link>) = Default::default();
    for address in c.topology.addresses_of_host(host) {
        let network = &d.networks[address.network];
        let fabric = &d.fabrics[network.fabric];
        if fabric.management {
            continue; // the service processor has its own configuration
        }
        let ports: Vec<String> = c.topology.ports_of_host(network.fabric, host).iter().map(|p| interface(d, *p)).collect();
        let base = address.interface.split('.').next().unwrap_or("").to_owned();
        let node = Some(address.network) == d.node_network();
        // The only default route is on the hosts' own network.
        let settings = Link {
            mtu: Some(network.mtu),
            addresses: Some(vec![format!("{}/{}", address.address, address.prefix)]),
            routes: network.gateway.filter(|_| node).map(|gateway| vec![Route { to: "default", via: gateway.to_string() }]),
            nameservers: (node && !d.cluster.dns.is_empty()).then(|| Nameservers { addresses: d.cluster.dns.iter().map(ToString::to_string).collect() }),
            ..Default::default()
        };
        let bonded = base == "bond0";
        if bonded {
            for port in &ports {
                ethernets.insert(port.clone(), quiet(fabric.mtu));
            }
            bonds.entry(base.clone()).or_insert_with(|| Link { interfaces: Some(ports), mtu: Some(fabric.mtu), parameters: Some(BOND), ..Default::default() });
        }
        match network.vlan {
            Some(vlan) => {
                if !bonded {
                    ethernets.entry(base.clone()).or_insert_with(|| quiet(fabric.mtu));
                }
                vlans.insert(address.interface.clone(), Link { id: Some(vlan), link: Some(base), ..settings });
            }
            None => match bonds.get_mut(&base) {
                Some(bond) => *bond = Link { interfaces: bond.interfaces.take(), parameters: bond.parameters.take(), ..settings },
                None => {
                    ethernets.insert(base, Link { dhcp4: Some(false), ..settings });
                }
            },
        }
    }
    let some = |map: BTreeMap<String, Link>| Some(map).filter(|m| !m.is_empty());
    Network { version: 2, renderer: "networkd", ethernets: some(ethernets), bonds: some(bonds), vlans: some(vlans) }
}

/// LACP over both members; the hash over ports keeps one flow on one link.
const BOND: Bond = Bond { mode: "802.3ad", lacp_rate: "fast", mii_monitor_interval: 100, transmit_hash_policy: "layer3+4" };

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
