//! `roce.sh`: trust, pause and marks of the RDMA ports of a pool's hosts, the same as on the switches.

use std::fmt::Write as _;

use crate::Compilation;
use crate::design::{DeviceKind, Pool};
use crate::nodes::resources::rail_ports;

/// The script, for a pool on a fabric that says how congestion is met.
pub fn script(c: &Compilation, pool: &Pool) -> Option<String> {
    let host = *pool.hosts.first()?;
    let mut out = String::new();
    for rail in rail_ports(&c.design, pool, host) {
        let Some(congestion) = &c.design.fabrics[rail.fabric].congestion() else { continue };
        if out.is_empty() {
            out += "#!/bin/sh\n# RoCE as the switches run it (network/switches): packets are sorted by DSCP, one priority is paused, RDMA carries the mark.\n# Run once a boot, before pods: a unit after network-online.target.\nset -eu\n";
        }
        let (name, port) = (rail.interface(&c.design), rail.port);
        let pause: Vec<&str> = (0..8).map(|priority| if priority == congestion.pfc_priority { "1" } else { "0" }).collect();
        let _ = writeln!(out, "mlnx_qos -i {name} --trust dscp --pfc {} --dscp2prio set,{},{}", pause.join(","), congestion.dscp, congestion.pfc_priority);
        let device = match &c.design.hosts[host].system.devices[port.device as usize].kind {
            DeviceKind::Nic(nic) if rail.plane.is_none() => nic.devices.get(port.port as usize).cloned(),
            _ => None,
        };
        // Where the system does not name the RDMA device, sysfs does.
        let device = device.unwrap_or_else(|| format!("$(basename /sys/class/net/{name}/device/infiniband/*)"));
        let class = congestion.traffic_class();
        let _ = writeln!(out, "echo {class} > /sys/class/infiniband/{device}/tc/1/traffic_class\ncma_roce_tos -d {device} -t {class}");
        if congestion.ecn {
            let _ = writeln!(
                out,
                "echo 1 > /sys/class/net/{name}/ecn/roce_np/enable/{0}\necho 1 > /sys/class/net/{name}/ecn/roce_rp/enable/{0}",
                congestion.pfc_priority
            );
        }
    }
    (!out.is_empty()).then_some(out)
}
