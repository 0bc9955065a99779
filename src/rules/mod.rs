//! What can go wrong: a rule is data and a function. Rules see the design, its plan and its nodes, and cite spans; they never look at syntax.
//!
//! A new rule is a function in the file of its subject, a line in [`RULES`], and `docs/rules/<code>.md` with its explanation, an edit of the
//! example that it must catch and one that it must let pass. A test holds the four together.

mod addresses;
mod control_plane;
mod fabrics;
mod gpus;
mod limits;
mod platforms;
mod pools;
mod queues;
mod racks;
mod rdma;
mod storage;
mod workloads;

use std::sync::Arc;

use crate::base::{Report, Severity};
use crate::design::{Design, Fabric, Host, Network, Pool, Queue, Storage, SwitchModel, Volume, Workload};
use crate::nodes::Nodes;
use crate::topology::Topology;

/// What a rule sees.
pub struct Context<'a> {
    /// The design.
    pub design: &'a Design,
    /// Its plan.
    pub topology: &'a Topology,
    /// What Kubernetes will see.
    pub nodes: &'a Nodes,
    /// Switches that can be bought, if a fabric cannot be planned: alternatives to its own.
    pub switch_models: &'a [Arc<SwitchModel>],
}

/// Only sound declarations are judged: what is faulty has its diagnostic already.
impl<'a> Context<'a> {
    fn fabrics(&self) -> impl Iterator<Item = (usize, &'a Fabric)> {
        self.design.fabrics.iter().enumerate().filter(|(_, f)| f.sound)
    }

    fn networks(&self) -> impl Iterator<Item = (usize, &'a Network)> {
        self.design.networks.iter().enumerate().filter(|(_, n)| n.sound)
    }

    fn pools(&self) -> impl Iterator<Item = (usize, &'a Pool)> {
        self.design.pools.iter().enumerate().filter(|(_, p)| p.sound)
    }

    fn storages(&self) -> impl Iterator<Item = (usize, &'a Storage)> {
        self.design.storages.iter().enumerate().filter(|(_, s)| s.sound)
    }

    fn volumes(&self) -> impl Iterator<Item = (usize, &'a Volume)> {
        self.design.volumes.iter().enumerate().filter(|(_, v)| v.sound)
    }

    fn queues(&self) -> impl Iterator<Item = (usize, &'a Queue)> {
        self.design.queues.iter().enumerate().filter(|(_, q)| q.sound)
    }

    /// Sound workloads with their pools.
    fn workloads(&self) -> impl Iterator<Item = (usize, &'a Workload, &'a Pool)> {
        let design = self.design;
        design.workloads.iter().enumerate().filter(|(_, w)| w.sound).filter_map(move |(i, w)| Some((i, w, design.pools.get(design.pool_of(w)?)?)))
    }

    fn host(&self, id: usize) -> &'a Host {
        &self.design.hosts[id]
    }

    fn first_host(&self, pool: &Pool) -> Option<&'a Host> {
        pool.hosts.first().map(|h| &self.design.hosts[*h])
    }
}

/// A rule.
pub struct Rule {
    /// Its code.
    pub code: &'static str,
    /// Its name; it reads well after "allow".
    pub name: &'static str,
    /// The severity of what it reports.
    pub severity: Severity,
    /// What it says, in one line.
    pub summary: &'static str,
    /// Its explanation, Markdown.
    pub explanation: &'static str,
    /// The check. Several codes may share one; then it stands at the first.
    check: Option<fn(&Context, &mut Report)>,
}

macro_rules! rules {
    ($($code:literal $name:literal $severity:ident $summary:literal $check:expr;)*) => {
        /// All rules, by code.
        pub const RULES: &[Rule] = &[$(Rule {
            code: $code,
            name: $name,
            severity: Severity::$severity,
            summary: $summary,
            explanation: include_str!(concat!("../../docs/rules/", $code, ".md")),
            check: $check,
        }),*];
    };
}

rules! {
    "AIC0301" "pcie-uplink" Advice "NICs share a PCIe uplink that carries less than their ports" Some(fabrics::narrow_uplinks);
    "AIC0401" "rack-power" Error "a rack draws more than its budget" Some(racks::power);
    "AIC0402" "rack-space" Error "a rack has fewer units than what stands in it" Some(racks::space);
    "AIC0403" "rack-feed" Error "the feeds that are left do not carry a rack" Some(racks::bounds);
    "AIC0404" "unknown-power" Advice "a figure is missing from a sum" Some(racks::unknown_figures);
    "AIC0405" "rack-cooling" Error "a rack gives off more heat than can be removed" None;
    "AIC0406" "rack-weight" Error "a rack carries more than its limit" None;
    "AIC0407" "cable-reach" Error "a link is longer than its media reach" Some(racks::reach);
    "AIC0501" "link-type" Error "a port speaks another link type than its switch" Some(fabrics::faults);
    "AIC0502" "switch-model" Error "a tier has no switch model" None;
    "AIC0503" "oversubscription" Error "a leaf is more oversubscribed than declared" Some(fabrics::oversubscription);
    "AIC0504" "leaf-ports" Error "a switch lacks ports" None;
    "AIC0505" "switch-count" Error "declared switch counts do not carry the fabric" None;
    "AIC0506" "island" Error "leaves that nothing joins" None;
    "AIC0507" "link-rate" Error "a switch cannot run a link's rate" None;
    "AIC0508" "fabric-kind" Error "a fabric's switches are of another kind" Some(fabrics::kinds);
    "AIC0509" "single-switch" Advice "one switch cuts hosts off the cluster's network" Some(fabrics::single_points);
    "AIC0601" "cidr-overlap" Error "two ranges overlap" Some(addresses::overlaps);
    "AIC0602" "pod-cidr" Error "the pod range holds fewer hosts than the design has" Some(addresses::pod_range);
    "AIC0603" "network-size" Error "a network has fewer addresses than devices" Some(addresses::network_size);
    "AIC0604" "pod-mtu" Error "pod packets do not fit the hosts' network" Some(addresses::mtu);
    "AIC0605" "host-prefix" Error "a host's block holds fewer addresses than its pods" Some(addresses::host_block);
    "AIC0606" "address-outside" Error "an address lies outside its network" Some(addresses::outside);
    "AIC0607" "routed-range" Error "a range of a routed fabric is too small" Some(addresses::routed);
    "AIC0608" "routed-network" Error "a network spans leaves that route" Some(addresses::routed_rails);
    "AIC0701" "cpu-reservation" Error "a static CPU manager without reservation" Some(pools::cpu_reservation);
    "AIC0702" "memory-reservation" Error "reservations leave no memory for pods" Some(pools::memory_reservation);
    "AIC0703" "hugepages-size" Error "HugePages exceed the memory" Some(pools::hugepages);
    "AIC0704" "single-numa-node" Error "a pod cannot get its devices from one NUMA node" Some(pools::single_numa);
    "AIC0705" "hugepages-missing" Error "a workload asks for HugePages that its pool does not reserve" Some(pools::missing_hugepages);
    "AIC0706" "hugepages-split" Error "HugePages do not split evenly over NUMA nodes" None;
    "AIC0707" "host-twice" Error "a host is in two pools" Some(pools::host_twice);
    "AIC0708" "mixed-pool" Error "the hosts of a pool differ" Some(pools::mixed);
    "AIC0801" "mig-profile" Error "a GPU has no such MIG profile, or the layout does not fit" Some(gpus::mig_layout);
    "AIC0802" "mig-slice" Error "a workload asks for a slice that its pool does not make" Some(gpus::slices);
    "AIC0803" "gpu-settings" Error "a pool with GPUs says nothing about them, or the other way round" Some(gpus::settings);
    "AIC0901" "training-without-rdma" Error "a training job over hosts that have a fabric does without RDMA" Some(rdma::silent_tcp);
    "AIC0902" "rdma-unattached" Error "a pool hands out ports of a fabric that its hosts are not on" Some(rdma::unattached);
    "AIC0903" "rail-without-network" Error "pods attach to a rail that no network numbers" Some(rdma::unnumbered);
    "AIC1001" "mixed-gang" Error "one job spans different GPU models" Some(workloads::mixed_gang);
    "AIC1002" "gang-size" Error "a gang is larger than its pool" Some(workloads::gang_size);
    "AIC1003" "gang-level" Error "a gang is larger than the level that it must stay within" Some(workloads::gang_level);
    "AIC1004" "host-fit" Error "a pod is larger than its host after reservations" Some(workloads::host_fit);
    "AIC1005" "gang-queue" Error "a gang is larger than its queue may ever get" Some(workloads::gang_queue);
    "AIC1006" "parallel-product" Error "the parallelism is not the number of GPUs" Some(workloads::parallel_product);
    "AIC1008" "tensor-width" Error "tensor parallelism leaves the NVLink domain" Some(workloads::tensor_width);
    "AIC1012" "crowded" Warning "not all workloads fit at once" Some(workloads::crowded);
    "AIC1101" "quota" Error "queues promise more GPUs than there are" Some(queues::quota);
    "AIC1102" "borrowing" Error "a queue borrows what no queue lends" Some(queues::borrowing);
    "AIC1103" "queue-gpus" Error "a queue over GPUs has no quota of them" Some(queues::missing_gpus);
    "AIC1106" "utilisation" Error "low utilisation moves running work" Some(queues::utilisation);
    "AIC1201" "access-mode" Error "a volume cannot be mounted on so many hosts" Some(storage::access_mode);
    "AIC1202" "failure-domains" Error "there are fewer failure domains than copies" Some(storage::failure_domains);
    "AIC1203" "volume-size" Error "volumes exceed their storage" Some(storage::volume_size);
    "AIC1204" "checkpoint-size" Error "the checkpoints that are kept exceed their volume" Some(storage::checkpoint_size);
    "AIC1207" "checkpoint-ephemeral" Error "checkpoints die with their host" Some(storage::checkpoint_ephemeral);
    "AIC1208" "gds-path" Error "GPUDirect Storage is claimed for a path that does not support it" Some(storage::gds_path);
    "AIC1211" "restore-time" Warning "a restore takes longer than its bound" Some(storage::restore_time);
    "AIC1212" "checkpoint-interval" Warning "writing a checkpoint takes as long as the interval" Some(storage::checkpoint_interval);
    "AIC1301" "shared-control-plane" Error "the control plane shares its hosts with GPU work" Some(control_plane::shared);
    "AIC1302" "even-etcd" Error "an even number of etcd members" Some(control_plane::even);
    "AIC1303" "services-on-gpus" Warning "a service occupies GPU hosts without using their GPUs" Some(control_plane::services);
    "AIC1304" "endpoint" Error "several API servers without a common address" Some(control_plane::endpoint);
    "AIC1305" "etcd-disk" Advice "etcd shares a disk" Some(control_plane::etcd_disk);
    "AIC1306" "no-untainted-pool" Advice "operators find no host" Some(control_plane::untainted);
    "AIC1401" "node-count" Warning "more nodes than Kubernetes documents" Some(limits::node_count);
    "AIC1402" "kubernetes-name" Error "a name that cannot be a Kubernetes name" Some(limits::names);
    "AIC1403" "kubernetes-version" Error "a Kubernetes version that is not supported" Some(limits::version);
    "AIC1404" "cloud-region" Error "a cloud cluster without a region" Some(limits::region);
    "AIC1405" "pod-network" Error "a cluster without a pod network" Some(limits::pod_network);
    "AIC1406" "platform" Error "a platform does not have what the design asks of it" Some(platforms::lacking);
    "AIC1501" "no-checkpoint" Advice "a training job without checkpoints" Some(storage::no_checkpoint);
}

/// Runs all rules; gives how many ran.
pub fn judge(context: &Context, report: &mut Report) -> usize {
    let checks: Vec<_> = RULES.iter().filter_map(|rule| rule.check).collect();
    checks.iter().for_each(|check| check(context, report));
    checks.len()
}

/// The rule of a code.
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Help for a diagnostic that a smaller number would settle.
fn at_most(what: &str, amount: impl std::fmt::Display) -> String {
    format!("{what} = {amount} or less")
}
