//! `pool`.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn pool(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Pool {
        let cpu = r.group("cpu");
        let memory = r.group("memory");
        let numa = r.group("numa");
        let gpu = r.group("gpu").map(|g| PoolGpu {
            driver: g.text("driver"),
            allocation: g.word("allocation"),
            imex: g.bool("imex"),
            mig: g.group("mig").map(|m| Mig { strategy: m.word("strategy"), layout: m.texts("layout") }),
            sharing: g.group("sharing").map(|s| Sharing { mode: s.model(), replicas: s.int("replicas"), rename: s.bool("rename") }),
            partition: g.group("partition").map(|p| Partition { compute: p.word("compute"), memory: p.word("memory") }),
        });
        let rdma = r.group("rdma").map(|g| PoolRdma {
            mode: match g.model() {
                RdmaMode::Sriov => Rdma::Sriov { vfs: g.int("vfs") },
                RdmaMode::Shared => Rdma::Shared { per_host: g.int("per_host") },
                RdmaMode::HostDevice => Rdma::HostDevice,
                RdmaMode::Efa => Rdma::Efa,
                RdmaMode::Dra => Rdma::Dra,
            },
            fabrics: self.indices(g.entities("fabric")),
        });
        let hosts = self.indices(r.entities("hosts"));
        let nodes = r.group("nodes").map(|n| NodeGroup {
            group: n.word("group"),
            min: n.int_opt("min").unwrap_or(hosts.len() as i64),
            max: n.int_opt("max").unwrap_or(hosts.len() as i64),
            root_volume: n.bytes("root_volume"),
        });
        Pool {
            name: o.hyphenated.clone(),
            taint: r.bool_opt("taint").unwrap_or(gpu.is_some()),
            taints: r.groups("taints").iter().map(|t| Taint { key: t.text("key"), value: t.text_opt("value"), effect: t.word("effect") }).collect(),
            labels: r.text_map("labels").into_iter().collect(),
            max_pods: r.int("max_pods"),
            cpu_manager: cpu.as_ref().map_or(Manager::None, |c| c.word("manager")),
            reserved_cores: cpu.as_ref().map_or(2, |c| c.int("reserved_cores")),
            full_cores: cpu.as_ref().is_none_or(|c| c.bool("full_cores")),
            memory_manager: memory.as_ref().map_or(Manager::None, |m| m.word("manager")),
            reserved: memory.as_ref().map_or(Quantity::bytes(4_i128 << 30), |m| m.bytes("reserved")),
            eviction: memory.as_ref().map_or(Quantity::bytes(100_i128 << 20), |m| m.bytes("eviction")),
            numa_policy: numa.as_ref().map_or(NumaPolicy::None, |n| n.word("policy")),
            numa_scope: numa.as_ref().map_or(NumaScope::Container, |n| n.word("scope")),
            hugepages: r.groups("hugepages").iter().map(|h| HugePages { size: h.bytes("size"), count: h.int("count") }).collect(),
            gpu,
            rdma,
            nodes,
            runtime: r.word("runtime"),
            role: PoolRole::Declared,
            sound: r.sound.get() && !hosts.is_empty(),
            hosts,
            at,
        }
    }
}
