//! `hosts/<pool>/`: what stands on the hosts themselves. Per-host data is in one table and one multi-document file a pool.

pub mod kubelet;
pub mod netplan;
pub mod readme;
mod roce;

use std::fmt::Write as _;

use super::{Artifacts, Content};
use crate::Compilation;
use crate::base::quantity::to_f64;
use crate::design::{GpuVendor, Iommu, Ipam, Pool, PoolRole, System};

/// What stands on the hosts of a pool whoever installs Kubernetes there: `units` start containerd, whose limits pods inherit.
pub fn common(c: &Compilation, pool: &Pool, units: &[&str], artifacts: &mut Artifacts) {
    let dir = format!("hosts/{}", pool.name);
    let Some(host) = pool.hosts.first().map(|h| &c.design.hosts[*h]) else { return };
    artifacts.text(format!("{dir}/kernel-cmdline"), kernel(c, pool, &host.system));
    artifacts.text(format!("{dir}/sysctl.conf"), sysctl(pool));
    artifacts.text(format!("{dir}/modprobe.conf"), modprobe(c, pool));
    let memlock = pool.rdma.is_some();
    let files: Vec<String> = units.iter().map(|unit| format!("{unit}-limits.conf")).collect();
    let login = format!(
        "# /etc/security/limits.d/90-aic.conf: login sessions only. Pods inherit containerd's limits: {} beside this file.\n*    soft nofile  1048576\n*    hard nofile  1048576\nroot soft nofile  1048576\nroot hard nofile  1048576\n",
        files.join(", ")
    );
    let lock = "*    soft memlock unlimited\n*    hard memlock unlimited\n";
    artifacts.text(format!("{dir}/limits"), format!("{login}{}", if memlock { lock } else { "" }));
    for unit in units {
        let drop_in = format!("# /etc/systemd/system/{unit}.service.d/90-aic.conf\n[Service]\nLimitNOFILE=1048576\nLimitNPROC=infinity\nTasksMax=infinity\n");
        let pin = "# RDMA registration pins memory; pods inherit this limit\nLimitMEMLOCK=infinity\n";
        artifacts.text(format!("{dir}/{unit}-limits.conf"), format!("{drop_in}{}", if memlock { pin } else { "" }));
    }
    if let Some(mirror) = c.design.cluster.mirror.as_ref().filter(|_| c.design.cluster.distribution.containerd_socket().is_none()) {
        artifacts.text(format!("{dir}/hosts.toml"), containerd_mirror(mirror));
    }
    if !c.design.cluster.ntp.is_empty() {
        let servers = c.design.cluster.ntp.join(" ");
        artifacts.text(format!("{dir}/timesyncd.conf"), format!("# /etc/systemd/timesyncd.conf.d/90-aic.conf\n[Time]\nNTP={servers}\n"));
    }
    artifacts.text(format!("{dir}/hosts.csv"), table(c, pool));
    artifacts.files.insert(format!("{dir}/netplan.yaml"), Content::Documents(netplan::netplan(c, pool)));
    if let Some(script) = roce::script(c, pool) {
        artifacts.text(format!("{dir}/roce.sh"), script);
    }
    if leases(c, pool) {
        artifacts.text(format!("{dir}/cni-dhcp.service"), DHCP_UNIT);
    }
    scripts(c, pool, &dir, artifacts);
}

/// The plugin `dhcp` asks a daemon on its host, which holds the leases. Source: cni.dev, plugins/current/ipam/dhcp.
const DHCP_UNIT: &str = "# /etc/systemd/system/cni-dhcp.service: holds the leases of pods on the rails. The plugin's binary comes with the secondary network's plugins.\n[Unit]\nDescription=DHCP of the CNI plugins\nBefore=kubelet.service\nConditionPathExists=/opt/cni/bin/dhcp\n[Service]\nExecStartPre=/usr/bin/rm -f /run/cni/dhcp.sock\nExecStart=/opt/cni/bin/dhcp daemon\nRestart=always\nRestartSec=5\n[Install]\nWantedBy=multi-user.target\n";

/// Whether pods of a pool get addresses by DHCP.
fn leases(c: &Compilation, pool: &Pool) -> bool {
    let by_dhcp = |n: &crate::design::Network| n.rail.is_some() && n.ipam == Ipam::Dhcp;
    pool.rdma.as_ref().is_some_and(|r| r.mode.by_network_operator() && c.design.networks.iter().any(|n| r.fabrics.contains(&n.fabric) && by_dhcp(n)))
}

fn kernel(c: &Compilation, pool: &Pool, system: &System) -> String {
    let host = &c.design.hosts[pool.hosts[0]];
    let mut words: Vec<String> = Vec::new();
    let intel = system.cpus().any(|(_, cpu)| cpu.name.starts_with("xeon"));
    match host.iommu {
        Iommu::Off => words.push("iommu=off".into()),
        mode @ (Iommu::On | Iommu::Passthrough) => {
            if intel {
                words.push("intel_iommu=on".into());
            }
            if mode == Iommu::Passthrough {
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

/// Kernel settings of a pool, by name.
pub fn sysctls(pool: &Pool) -> impl Iterator<Item = (String, String)> {
    let text = sysctl(pool);
    let pairs: Vec<_> = text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    pairs.into_iter()
}

/// All registries by the site's mirror, whoever names the image: charts have images that no file here names.
fn containerd_mirror(mirror: &str) -> String {
    let (host, path) = mirror.split_once('/').unwrap_or((mirror, ""));
    let (place, whole) = if path.is_empty() { (format!("https://{host}"), "") } else { (format!("https://{host}/v2/{path}"), "  override_path = true\n") };
    format!(
        "# /etc/containerd/certs.d/_default/hosts.toml; config.toml names the folder in config_path\n[host.\"{place}\"]\n  capabilities = [\"pull\", \"resolve\"]\n{whole}"
    )
}

/// Words for the kernel's command line of a pool.
pub fn kernel_arguments(c: &Compilation, pool: &Pool, system: &System) -> Vec<String> {
    kernel(c, pool, system).lines().last().unwrap_or("").split_whitespace().map(str::to_owned).collect()
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

fn modprobe(c: &Compilation, pool: &Pool) -> String {
    let mut out = String::from("# /etc/modprobe.d/90-aic.conf\n");
    if pool.gpu.is_some() && c.design.gpu_vendor(pool) == GpuVendor::Nvidia {
        out.push_str("# the GPU Operator loads NVIDIA's driver from a container: the in-tree driver must not take the GPU\nblacklist nouveau\noptions nouveau modeset=0\n");
    }
    match pool.rdma.as_ref().map(|r| r.mode.exclusive()) {
        Some(true) => out.push_str("# RDMA devices live in the pod's network namespace only (rdmaMode exclusive)\noptions ib_core netns_mode=0\n"),
        Some(false) => out.push_str("# pods share the RDMA devices of the host, which every network namespace sees\noptions ib_core netns_mode=1\n"),
        None => {}
    }
    if out.lines().count() == 1 {
        out.push_str("# nothing to set in this pool\n");
    }
    out
}

fn table(c: &Compilation, pool: &Pool) -> String {
    let networks: Vec<usize> =
        (0..c.design.networks.len()).filter(|n| pool.hosts.iter().any(|h| c.topology.address_on(*h, *n).is_some_and(|a| !a.of_pods))).collect();
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

/// Scripts that name disks: the design does not know kernel names, so they are found by size, and a wrong count stops.
fn scripts(c: &Compilation, pool: &Pool, dir: &str, artifacts: &mut Artifacts) {
    for storage in &c.design.storages {
        let Some((own, disks)) = storage.on_disks() else { continue };
        let Some(host) = pool.hosts.iter().find(|h| own.contains(h)) else { continue };
        let all: Vec<_> = c.design.hosts[*host].system.disks(disks).collect();
        let Some(size) = all.first().map(|d| to_f64(d.capacity.value)) else { continue };
        let count = all.len();
        let (low, high) = (size * 0.95, size * 1.05);
        let find = format!("lsblk -dnbo NAME,SIZE,TYPE | awk '$3==\"disk\" && $1 ~ /^nvme/ && $2 > {low:.3e} && $2 < {high:.3e} {{print $1}}'");
        if storage.local().is_some() {
            let name = &storage.name;
            let text = format!(
                "#!/bin/sh\n# TopoLVM needs the volume group {name}, it does not make it. Run once a host before it joins. Idempotent; refuses a disk that carries anything.\nset -eu\nvgs {name} >/dev/null 2>&1 && exit 0\ndisks=$({find})\n[ \"$(printf '%s\\n' \"$disks\" | grep -c .)\" -eq {count} ] || {{ echo \"expected {count} disks, found: $disks\" >&2; exit 1; }}\npaths=\nfor d in $disks; do\n  [ -z \"$(wipefs -n \"/dev/$d\")\" ] || {{ echo \"/dev/$d is not empty\" >&2; exit 1; }}\n  paths=\"$paths /dev/$d\"\ndone\n# shellcheck disable=SC2086\nvgcreate {name} $paths\n"
            );
            let file = if c.design.storages.iter().filter(|s| s.local().is_some()).count() > 1 { format!("lvm-{name}.sh") } else { "lvm.sh".to_owned() };
            artifacts.text(format!("{dir}/{file}"), text);
        } else if storage.ceph().is_some() {
            let text = format!(
                "#!/bin/sh\n# Stable names /dev/disk/by-aic/{disks}-N for the CephCluster's devicePathFilter, in the order of the PCIe path: a replaced disk keeps its name.\n# Run once a host before it joins; idempotent; writes nothing unless exactly {count} disks are found.\nset -eu\nrules=/etc/udev/rules.d/60-aic-{disks}.rules\nlist=$(for d in $({find}); do\n  udevadm info -q property -n \"/dev/$d\" | sed -n 's/^ID_PATH=//p'; done | sort -V)\nn=$(printf '%s\\n' \"$list\" | grep -c . || true)\n[ \"$n\" -eq {count} ] || {{ echo \"expected {count} disks, found $n\" >&2; exit 1; }}\nprintf '%s\\n' \"$list\" | awk '{{printf \"SUBSYSTEM==\\\"block\\\", ENV{{DEVTYPE}}==\\\"disk\\\", ENV{{ID_PATH}}==\\\"%s\\\", SYMLINK+=\\\"disk/by-aic/{disks}-%d\\\"\\n\", $0, NR-1}}' > \"$rules\"\nudevadm control --reload\nudevadm trigger --subsystem-match=block --settle\nls -l /dev/disk/by-aic\n"
            );
            artifacts.text(format!("{dir}/osd-names.sh"), text);
        }
    }
}
