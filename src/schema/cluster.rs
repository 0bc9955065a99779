//! `cluster` and `control_plane`.

use super::*;

pub const CLUSTER: Shape = Shape {
    name: "cluster",
    doc: "The Kubernetes cluster; one a program.",
    models: Models::None,
    fields: &[
        required("kubernetes", Type::Version, "Minor version, 1.33 to 1.37; a patch level may follow."),
        required("distribution", Type::Word(Distribution::WORDS), "Who installs Kubernetes."),
        default("gitops", Type::Word(Gitops::WORDS), "none", "Form of install/: `none` writes Helm values and the commands."),
        default("scheduler", Type::Word(Scheduler::WORDS), "kueue", "Queueing and gang scheduling."),
        default("bundle_path", Type::String, "\"build\"", "Where the bundle lies in the repository that Argo CD or Flux reads."),
        optional("region", Type::String, "Cloud region; required for eks, gke and aks."),
        default("domain", Type::String, "\"cluster.local\"", "DNS domain of the cluster."),
        derived("os", Type::Word(Os::WORDS), "ubuntu_24_04 (talos with that distribution)", "What hosts run."),
        default("dns", Type::List(&Type::Ip), "[]", "The site's DNS servers."),
        default("ntp", STRINGS, "[]", "The site's time servers."),
        default("label_domain", Type::String, "\"aic.local\"", "Prefix of our own label keys; use your company's domain."),
        default("topology_labels", Type::Word(TopologyLabels::WORDS), "own", "Keys of the topology levels."),
    ],
    groups: &[once(&PODS), once(&SERVICES), once(&AUTOSCALING), once(&IMAGES), once(&SECURITY), once(&OBSERVABILITY)],
    children: &[],
};

const PODS: Shape = group(
    "pods",
    "The pod network. Optional on clouds, k3s and rke2, which have their own defaults.",
    &[
        default("cni", Type::Word(Cni::WORDS), "cilium", "Who makes the pod network."),
        derived("network", NETWORK_REF, "the only network; none on clouds", "Carries node addresses and pods."),
        required("cidr", Type::Cidr, "Pod range of the cluster."),
        default("host_prefix", Type::Int, "24", "Prefix length of each host's block."),
        derived("mtu", Type::Int, "the path's less the encapsulation", "Bytes of a pod's packet."),
        default("encapsulation", Type::Word(Encapsulation::WORDS), "vxlan", "How pod packets cross the hosts' network."),
    ],
);

const SERVICES: Shape = group("services", "Services of the cluster.", &[required("cidr", Type::Cidr, "ClusterIP range.")]);

const AUTOSCALING: Shape = group("autoscaling", "Who scales workloads.", &[default("controller", Type::Word(Autoscaler::WORDS), "hpa", "The autoscaler.")]);

const IMAGES: Shape = group("images", "Where images come from.", &[optional("mirror", Type::String, "Registry prefix for air-gapped sites.")]);

const SECURITY: Shape = group(
    "security",
    "Security of the cluster.",
    &[
        default(
            "pod_security",
            Type::Word(PodSecurity::WORDS),
            "baseline",
            "Pod Security level of workload namespaces; those with RDMA pods and those of operators are privileged whatever is said here.",
        ),
        default("audit", Type::Bool, "true", "Audit log of the API server."),
        default("encryption", Type::Bool, "true", "Secrets encrypted in etcd."),
    ],
);

const OBSERVABILITY: Shape = group(
    "observability",
    "Metrics and alerts.",
    &[default("enabled", Type::Bool, "true", "Prometheus, exporters and rules."), default("retention", TIME, "15d", "How long metrics are kept.")],
);

pub const CONTROL_PLANE: Shape = Shape {
    name: "control_plane",
    doc: "Where the API servers and etcd run. `control_plane : managed` on clouds.",
    models: Models::Choice(&[model("managed", "The provider runs it.", &[])], false),
    fields: &[
        optional("hosts", HOSTS, "The control-plane hosts; an odd number. Required unless managed."),
        optional("endpoint", Type::String, "Virtual address or name of the API servers. Required with more than one host."),
        default("vip", Type::Word(Vip::WORDS), "kube_vip", "Who holds the virtual address."),
    ],
    groups: &[once(&ETCD), once(&API)],
    children: &[],
};

const ETCD: Shape = group(
    "etcd",
    "The cluster's database.",
    &[
        optional("disk", Type::Device, "Its own NVMe; without it etcd shares the boot disk."),
        default("quota", BYTES, "8GiB", "Size limit of the database."),
        optional("hosts", HOSTS, "External members; without it the control-plane hosts."),
    ],
);

const API: Shape = group(
    "api",
    "Load on the API servers.",
    &[derived("burst", Type::Int, "the largest job's pods", "Pods that are made at once; sizes priority and fairness.")],
);
