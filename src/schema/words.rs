//! The closed sets of the language: each is an enum, and the words that the schema accepts are the enum's own. A word without a variant cannot be
//! written down here, and a variant without a word neither; what a word means is said at its field in the schema.

use serde::Serialize;

/// A closed set of words.
pub trait Word: Copy + Eq + Default + Sized + 'static {
    /// All of them, in the order of the reference.
    const ALL: &'static [Self];
    /// Their words, in the same order.
    const WORDS: &'static [&'static str];

    /// The member of that word.
    fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().position(|w| *w == word).map(|i| Self::ALL[i])
    }
}

macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($variant:ident = $word:literal),* $(,)? })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
            #[allow(missing_docs, reason = "each is its word, which the schema documents at its field")]
            pub enum $name { $(#[serde(rename = $word)] $variant),* }

            impl Word for $name {
                const ALL: &'static [Self] = &[$(Self::$variant),*];
                const WORDS: &'static [&'static str] = &[$($word),*];
            }

            impl Default for $name {
                /// The first word: what stands for one that could not be read, in a declaration that is not sound.
                fn default() -> Self {
                    Self::ALL[0]
                }
            }

            impl $name {
                /// Its word in the language.
                pub const fn word(self) -> &'static str {
                    match self { $(Self::$variant => $word),* }
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.pad(self.word())
                }
            }
        )*
    };
}

words! {
    /// Who installs Kubernetes.
    Distribution { Kubeadm = "kubeadm", K3s = "k3s", Rke2 = "rke2", Talos = "talos", Openshift = "openshift", Eks = "eks", Gke = "gke", Aks = "aks" }
    /// The form of `install/`.
    Gitops { None = "none", Helmfile = "helmfile", Argocd = "argocd", Flux = "flux" }
    /// Who queues and places gangs.
    Scheduler { Kueue = "kueue", Volcano = "volcano", Kai = "kai", Kube = "kube" }
    /// What hosts run.
    Os { Ubuntu2404 = "ubuntu_24_04", Ubuntu2204 = "ubuntu_22_04", Rhel9 = "rhel_9", Rhel10 = "rhel_10", Flatcar = "flatcar", Talos = "talos" }
    /// Keys of the topology levels.
    TopologyLabels { Own = "own", Topograph = "topograph" }
    /// Who makes the pod network.
    Cni { Cilium = "cilium", Calico = "calico", AwsVpc = "aws_vpc", Gke = "gke", None = "none" }
    /// How pod packets cross the hosts' network.
    Encapsulation { Vxlan = "vxlan", Geneve = "geneve", None = "none" }
    /// Who scales workloads.
    Autoscaler { Hpa = "hpa", Keda = "keda" }
    /// A level of Pod Security.
    PodSecurity { Privileged = "privileged", Baseline = "baseline", Restricted = "restricted" }
    /// Who holds the virtual address of the API servers.
    Vip { KubeVip = "kube_vip", Keepalived = "keepalived", External = "external" }

    /// What a taint does.
    TaintEffect { NoSchedule = "no_schedule", PreferNoSchedule = "prefer_no_schedule", NoExecute = "no_execute" }
    /// A manager of the kubelet, of CPUs or of memory.
    Manager { None = "none", Static = "static" }
    /// How strictly devices must share a NUMA node.
    NumaPolicy { None = "none", BestEffort = "best_effort", Restricted = "restricted", SingleNumaNode = "single_numa_node" }
    /// What the topology manager aligns.
    NumaScope { Container = "container", Pod = "pod" }
    /// Who hands out GPUs.
    Allocation { DevicePlugin = "device_plugin", Dra = "dra" }
    /// How MIG slices are advertised.
    MigStrategy { Single = "single", Mixed = "mixed" }
    /// How pods share a GPU.
    SharingMode { TimeSlicing = "time_slicing", Mps = "mps" }
    /// Compute partition of an AMD GPU.
    ComputePartition { Spx = "spx", Dpx = "dpx", Qpx = "qpx", Cpx = "cpx" }
    /// Memory partition of an AMD GPU.
    MemoryPartition { Nps1 = "nps1", Nps4 = "nps4" }
    /// How pods get at the RDMA ports.
    RdmaMode { Sriov = "sriov", Shared = "shared", HostDevice = "host_device", Efa = "efa", Dra = "dra" }
    /// Who runs a cloud's node group.
    NodeGroupKind { Managed = "managed", Own = "self" }
    /// Container runtime of a pool.
    Runtime { Default = "default", Kata = "kata", Gvisor = "gvisor" }

    /// The kind of a fabric.
    FabricWord { Infiniband = "infiniband", Roce = "roce", Ethernet = "ethernet", Nvlink = "nvlink", Managed = "managed" }
    /// Who manages an InfiniBand subnet.
    SubnetManager { Ufm = "ufm", Opensm = "opensm", Switch = "switch" }
    /// How a host is attached to two leaves.
    Redundancy { Mlag = "mlag", Evpn = "evpn", None = "none" }
    /// Extent of an NVLink domain.
    NvlinkExtent { Host = "host", Rack = "rack" }
    /// Who runs a cloud's fabric.
    Provider { Aws = "aws", Gcp = "gcp", Azure = "azure", Oci = "oci" }
    /// The shape of a planned fabric.
    ShapeWord {
        LeafOnly = "leaf_only", LeafSpine = "leaf_spine", RailOptimized = "rail_optimized", RailOnly = "rail_only", FatTree = "fat_tree",
        DragonflyPlus = "dragonfly_plus",
    }
    /// Medium of a cable.
    CableMedium { Dac = "dac", Acc = "acc", Aoc = "aoc", Fibre = "fibre", Copper = "copper" }
    /// Who gives pods their addresses on a secondary network.
    Ipam { NvIpam = "nv_ipam", Whereabouts = "whereabouts", Static = "static", Dhcp = "dhcp" }

    /// The kind of a storage.
    StorageWord {
        Ceph = "ceph", LocalNvme = "local_nvme", Nfs = "nfs", Lustre = "lustre", Weka = "weka", Vast = "vast", Beegfs = "beegfs", S3 = "s3",
        External = "external",
    }
    /// Access mode of a volume.
    Access {
        ReadWriteOnce = "read_write_once", ReadWriteMany = "read_write_many", ReadOnlyMany = "read_only_many",
        ReadWriteOncePod = "read_write_once_pod",
    }
    /// Striping of local disks.
    Raid { None = "none", Raid0 = "raid0" }
    /// Who makes local volumes.
    Provisioner { Topolvm = "topolvm", Static = "static" }
    /// What may fail as a whole.
    FailureDomain { Host = "host", Rack = "rack", Zone = "zone" }
    /// The kind of data that a volume holds.
    Holds { Checkpoint = "checkpoint", Dataset = "dataset", Model = "model", Log = "log", Image = "image", Scratch = "scratch" }
    /// A part of a Ceph cluster.
    PartKind { Filesystem = "filesystem", Block = "block", Object = "object" }

    /// Whom a queue preempts within itself.
    Preemption { Never = "never", LowerPriority = "lower_priority", LowerOrNewerEqual = "lower_or_newer_equal" }
    /// From whom a queue takes back what it lent.
    Reclaim { Never = "never", LowerPriority = "lower_priority", Any = "any" }
    /// A topology level, widest first.
    Level { Zone = "zone", Unit = "unit", Rack = "rack", NvlinkDomain = "nvlink_domain", Host = "host" }
    /// The kind of a workload.
    WorkloadWord { Training = "training", Inference = "inference", Batch = "batch", Service = "service", Manifest = "manifest" }
    /// The object that a training job becomes.
    TrainingForm {
        Jobset = "jobset", Trainjob = "trainjob", Mpijob = "mpijob", Pytorchjob = "pytorchjob", Rayjob = "rayjob", Volcano = "volcano",
    }
    /// What autoscaling measures.
    Metric { QueueDepth = "queue_depth", Requests = "requests", GpuUtilisation = "gpu_utilisation" }
    /// Over what the KV cache moves.
    KvNetwork { Rdma = "rdma", Tcp = "tcp" }

    /// How a cloud host is bought.
    Capacity { OnDemand = "on_demand", Reserved = "reserved", Spot = "spot" }
    /// I/O memory management.
    Iommu { On = "on", Off = "off", Passthrough = "passthrough" }

    /// Whose driver, plugin and collectives a GPU needs.
    GpuVendor { Nvidia = "nvidia", Amd = "amd", Intel = "intel" }
    /// Form of a GPU.
    FormFactor { Sxm = "sxm", Pcie = "pcie", Oam = "oam", Superchip = "superchip" }
    /// Architecture of a CPU, as Kubernetes writes it.
    Architecture { Amd64 = "amd64", Arm64 = "arm64" }
    /// What a NIC is for.
    NicRole { Data = "data", Management = "management" }
    /// What a NIC's port speaks.
    LinkType { Infiniband = "infiniband", Ethernet = "ethernet", Efa = "efa" }
    /// Interface of a disk.
    DiskInterface { Nvme = "nvme", Sata = "sata", Sas = "sas" }
    /// What a switch switches.
    SwitchedLink { Infiniband = "infiniband", Ethernet = "ethernet", Nvlink = "nvlink" }
    /// What a switch's configuration is written for.
    SwitchOs { Cumulus = "cumulus", Sonic = "sonic" }
    /// Heat sink of a transceiver.
    TransceiverTop { Finned = "finned", Flat = "flat" }
    /// Medium of a link inside a system.
    LinkMedium { Pcie = "pcie", Smp = "smp", Nvlink = "nvlink", NvlinkC2c = "nvlink_c2c", Xgmi = "xgmi", Usb = "usb" }
}

#[cfg(test)]
mod tests {
    use super::super::{KINDS, Models, Shape};
    use super::*;

    /// The words of the choices with settings, which the table lists as models.
    fn models() -> [(&'static str, &'static [&'static str]); 6] {
        [
            ("rdma", RdmaMode::WORDS),
            ("sharing", SharingMode::WORDS),
            ("fabric", FabricWord::WORDS),
            ("topology", ShapeWord::WORDS),
            ("storage", StorageWord::WORDS),
            ("workload", WorkloadWord::WORDS),
        ]
    }

    #[test]
    fn every_model_is_a_variant_and_every_variant_a_model() {
        fn walk(shape: &'static Shape, seen: &mut Vec<&'static str>) {
            if let Models::Choice(choice, _) = shape.models
                && let Some((name, words)) = models().into_iter().find(|(name, _)| *name == shape.name)
            {
                assert_eq!(choice.iter().map(|m| m.name).collect::<Vec<_>>(), words, "the models of {name}");
                seen.push(name);
            }
            shape.groups.iter().for_each(|group| walk(group.shape, seen));
        }
        let mut seen = Vec::new();
        KINDS.iter().for_each(|shape| walk(shape, &mut seen));
        seen.sort_unstable();
        let mut all = models().map(|(name, _)| name);
        all.sort_unstable();
        assert_eq!(seen, all);
    }
}
