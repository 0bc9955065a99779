//! `kubelet.yaml`: reservations, managers, eviction, taints of a pool.

use std::collections::BTreeMap;

use super::super::kinds::kubeadm::{CRI_SOCKET, KubeletConfiguration, ReservedMemory};
use super::super::kinds::{non_empty, taints, texts};
use super::super::object::Document;
use crate::Compilation;
use crate::base::quantity::to_f64;
use crate::design::{Manager, NumaPolicy, Pool, System};
use crate::nodes::resources::format_bytes;
use crate::versions;

/// Reserved threads as the kernel numbers them: cores first, then their siblings, spread over the NUMA nodes.
fn reserved_cpus(system: &System, cores: i64) -> String {
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

/// The settings of a pool's kubelet, without those that whoever installs it brings.
pub fn settings(c: &Compilation, id: usize, pool: &Pool, system: &System) -> KubeletConfiguration {
    let pins = pool.cpu_manager == Manager::Static;
    let threads = pool.reserved_cores * system.threads_per_core();
    let mut reserved = texts([("memory", format_bytes(pool.reserved.whole()))]);
    if !pins {
        reserved.insert("cpu".into(), threads.to_string());
    }
    let grace = shutdown_seconds(c, id, pool);
    let numa = pool.numa_policy != NumaPolicy::None;
    KubeletConfiguration {
        protect_kernel_defaults: Some(true),
        max_pods: Some(pool.max_pods),
        cpu_manager_policy: pins.then_some("static"),
        reserved_system_cpus: pins.then(|| reserved_cpus(system, pool.reserved_cores)),
        cpu_manager_policy_options: pins.then(|| cpu_options(c, id, pool, system)),
        topology_manager_policy: numa.then(|| pool.numa_policy.word().replace('_', "-")),
        topology_manager_scope: numa.then(|| pool.numa_scope.word().to_owned()),
        memory_manager_policy: Some(if pool.memory_manager == Manager::Static { "Static" } else { "None" }),
        reserved_memory: (pool.memory_manager == Manager::Static).then(|| reserved_memory(pool, system)),
        system_reserved: Some(reserved),
        enforce_node_allocatable: Some(vec!["pods"]),
        eviction_hard: Some(texts([("memory.available", format_bytes(pool.eviction.whole()))])),
        merge_default_eviction_settings: Some(true),
        serialize_image_pulls: Some(false),
        max_parallel_image_pulls: Some(4),
        container_log_max_size: Some("50Mi"),
        container_log_max_files: Some(5),
        shutdown_grace_period: Some(format!("{}s", grace + CRITICAL_SECONDS)),
        shutdown_grace_period_critical_pods: Some("60s"),
        ..Default::default()
    }
}

/// The same with what every kubelet of the cluster has, where nobody else sets it.
pub fn whole(c: &Compilation, id: usize, pool: &Pool, system: &System) -> KubeletConfiguration {
    KubeletConfiguration {
        static_pod_path: Some("/etc/kubernetes/manifests"),
        container_runtime_endpoint: Some(CRI_SOCKET),
        cgroup_driver: Some("systemd"),
        cluster_domain: Some(c.design.cluster.domain.clone()),
        cluster_dns: dns_address(c).map(|address| vec![address]),
        rotate_certificates: Some(true),
        register_with_taints: non_empty(taints(&c.nodes.taints[id])),
        ..settings(c, id, pool, system)
    }
}

/// Why, for the settings that stand below a pointer of a document.
pub fn explain(c: &Compilation, id: usize, pool: &Pool, system: &System, mut document: Document, base: &str) -> Document {
    let threads = pool.reserved_cores * system.threads_per_core();
    let grace = shutdown_seconds(c, id, pool);
    let mut reasons = vec![
        ("protectKernelDefaults", "Refuses to start unless sysctl.conf is applied, instead of changing the kernel itself.".to_owned()),
        ("mergeDefaultEvictionSettings", "Else every signal that is not named becomes 0.".to_owned()),
        ("serializeImagePulls", "A small image must not wait behind one of tens of gigabytes.".to_owned()),
        ("shutdownGracePeriod", format!("SIGTERM, one checkpoint ({grace} s), and {CRITICAL_SECONDS} s for the agents after it.")),
        (
            "reservedSystemCPUs",
            format!(
                "Whole cores with all their threads, spread over the NUMA nodes: {threads} of {} threads, {} are allocatable.",
                system.threads(),
                system.threads() - threads
            ),
        ),
        ("cpuManagerPolicyOptions/distribute-cpus-across-numa", "A pod of the pool is wider than a NUMA node: its CPUs are taken from all equally.".to_owned()),
        ("reservedMemory", "Over all NUMA nodes exactly systemReserved and the eviction threshold, else the kubelet does not start.".to_owned()),
        ("registerWithTaints", "At the first registration only; kubernetes/nodes/taints.sh for hosts that are there.".to_owned()),
    ];
    if let Some(pods) = &c.design.cluster.pods {
        reasons.push(("maxPods", format!("A /{} a host has {} addresses for them.", pods.host_prefix, pods.addresses_per_host())));
    }
    for (field, reason) in reasons {
        document = document.because_if_set(&format!("{base}/{field}"), reason);
    }
    document.from(&format!("{base}/maxPods"), pool.at.set("max_pods")).from(&format!("{base}/topologyManagerPolicy"), pool.at.set("numa.policy"))
}

/// What has to be done to change what the kubelet keeps state of.
pub const STATE: &str = "A change of the CPU, memory or topology manager: drain, stop the kubelet, delete its state file in /var/lib/kubelet, start, uncordon.";

/// What critical pods have after all others are gone.
const CRITICAL_SECONDS: i64 = 60;

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
