//! `hosts/README.md`: which file becomes what, and what the ports of each system are called.

use std::fmt::Write as _;

use super::super::{Artifacts, network::host_port};
use crate::Compilation;
use crate::design::{DeviceKind, GpuVendor, Pool, Runtime};
use crate::nodes::resources::{RailPort, rail_ports};

/// File, what it becomes, when.
pub type Row<'a> = (&'a str, &'a str, &'a str);

/// Which file becomes what on a host, and what the ports of each system are called: `rows` are those of the distribution, `image` what it wants on a
/// host beforehand.
pub fn page(c: &Compilation, artifacts: &Artifacts, units: &[&str], rows: &[Row], image: &str) -> String {
    let mut out =
        format!("# Host files of {}\n\nA folder a pool; the order is that of the rows.\n\n| file | becomes | when |\n|---|---|---|\n", c.design.cluster.name);
    for (file, becomes, when) in [
        ("kernel-cmdline", "its last line is appended to the boot loader's arguments", "before the first join; a change needs a reboot"),
        ("sysctl.conf", "`/etc/sysctl.d/90-aic.conf`", "before the kubelet starts, which checks it (`protectKernelDefaults`)"),
        ("modprobe.conf", "`/etc/modprobe.d/90-aic.conf`, then `update-initramfs -u`", "before the first join; a change needs a reboot"),
        ("limits", "`/etc/security/limits.d/90-aic.conf`", "logins only"),
    ] {
        let _ = writeln!(out, "| {file} | {becomes} | {when} |");
    }
    for unit in units {
        let _ = writeln!(out, "| {unit}-limits.conf | `/etc/systemd/system/{unit}.service.d/90-aic.conf` | what pods inherit; restarts {unit} |");
    }
    out.push_str("| netplan.yaml | the host's document: `/etc/netplan/10-aic.yaml` | `netplan try` |\n");
    if artifacts.files.keys().any(|path| path.ends_with("/hosts.toml")) {
        out.push_str("| hosts.toml | `/etc/containerd/certs.d/_default/hosts.toml` | before the first pull |\n");
    }
    if !c.design.cluster.ntp.is_empty() {
        out.push_str("| timesyncd.conf | `/etc/systemd/timesyncd.conf.d/90-aic.conf` | before the join: etcd and certificates need the time |\n");
    }
    if artifacts.files.keys().any(|path| path.ends_with("/cni-dhcp.service")) {
        out.push_str("| cni-dhcp.service | `/etc/systemd/system/cni-dhcp.service` | after the Network Operator has placed `/opt/cni/bin/dhcp` |\n");
    }
    for script in artifacts.files.keys().filter(|path| path.starts_with("hosts/") && path.ends_with(".sh")) {
        let _ = writeln!(out, "| {} | run once: it says what it makes | before the join |", script.trim_start_matches("hosts/"));
    }
    for (file, becomes, when) in rows {
        let _ = writeln!(out, "| {file} | {becomes} | {when} |");
    }
    out.push_str("| hosts.csv | the pool's names, places and addresses | – |\n");
    let _ = writeln!(
        out,
        "\nThe image of a host brings what no file here sets: {} with netplan, {image}, LVM, time and name service, and on hosts with RDMA the adapter's driver.",
        c.design.cluster.os.word().replacen('_', " ", 1).replace('_', ".")
    );
    for pool in &c.design.pools {
        for brought in brought(c, pool) {
            let _ = writeln!(out, "\nThe image of pool {} also brings {brought}.", pool.name);
        }
    }
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

/// What no operator of the bundle installs on the hosts of a pool.
fn brought(c: &Compilation, pool: &Pool) -> Vec<String> {
    let mut out = Vec::new();
    match (c.design.gpu_vendor(pool), &pool.gpu) {
        (GpuVendor::Amd, Some(gpu)) if c.design.cluster.mirror.is_none() => out.push(format!("the amdgpu driver of ROCm {}", gpu.driver)),
        (GpuVendor::Intel, Some(gpu)) => {
            out.push(format!("Gaudi's driver and firmware {}, and habana-container-runtime as the handler `habana` of containerd", gpu.driver))
        }
        (GpuVendor::Nvidia | GpuVendor::Amd | GpuVendor::Intel, _) => {}
    }
    match pool.runtime {
        Runtime::Default => {}
        Runtime::Kata => out.push("kata-containers (kata-deploy of its release) and, where it has GPUs, their binding to vfio-pci".into()),
        Runtime::Gvisor => out.push("runsc and containerd-shim-runsc-v1, and the handler `runsc` of containerd (gvisor.dev, containerd quick start)".into()),
    }
    out
}

/// The rails of a system by all the names that they have: neither RDMA devices nor cages follow the order of the rails.
fn port_table(c: &Compilation, pool: &Pool, host: usize) -> String {
    let system = &c.design.hosts[host].system;
    let graph = c.topology.graph(system);
    let mut out =
        format!("\n## Rails of {}\n\n| rail | nearest GPU | path | NUMA | RDMA | Linux | PCI | chassis |\n|---|---|---|---|---|---|---|---|\n", system.name);
    let mut unnamed = false;
    for planes in rail_ports(&c.design, pool, host).chunk_by(|a, b| a.rail == b.rail) {
        let RailPort { rail, port, .. } = planes[0];
        let DeviceKind::Nic(nic) = &system.devices[port.device as usize].kind else { continue };
        let nearest = graph.and_then(|g| system.gpus().map(|(gpu, _)| (g.path(gpu, port.device), gpu)).min());
        let named = |list: &[String]| list.get(port.port as usize).map_or("–".to_owned(), |name| format!("`{name}`"));
        let given = planes.len() > 1 || nic.interfaces.get(port.port as usize).is_none();
        unnamed |= given;
        let names: Vec<String> = planes.iter().map(|port| format!("`{}`", port.interface(&c.design))).collect();
        let linux = names.join(", ") + if given { " *" } else { "" };
        let _ = writeln!(
            out,
            "| {rail} | {} | {} | {} | {} | {} | {} | {} |",
            nearest.map_or("–".to_owned(), |(_, gpu)| system.devices[gpu as usize].flat()),
            nearest.map_or("–".to_owned(), |(path, _)| path.text()),
            graph.and_then(|g| g.numa(port.device)).map_or("–".to_owned(), |n| n.to_string()),
            named(&nic.devices),
            linux,
            named(&nic.address),
            host_port(c, port),
        );
    }
    if unnamed {
        out += "\n\\* The kernel's own name is not known: give these (a systemd `.link` file for each, by PCI path), since netplan.yaml, roce.sh and the SR-IOV policies use them.\n";
    }
    out
}
