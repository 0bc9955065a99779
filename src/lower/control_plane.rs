//! `control-plane/`: kubeadm, the virtual address, etcd's disk, audit, encryption, priority and fairness.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{
    Capabilities, Container, HostAlias, HostPathVolumeSource, Pod, PodSpec, ResourceRequirements, SecurityContext, Volume, VolumeMount,
};
use k8s_openapi::api::flowcontrol::v1::{
    FlowDistinguisherMethod, FlowSchema, FlowSchemaSpec, GroupSubject, LimitResponse, LimitedPriorityLevelConfiguration, PolicyRulesWithSubjects,
    PriorityLevelConfiguration, PriorityLevelConfigurationReference, PriorityLevelConfigurationSpec, QueuingConfiguration, ResourcePolicyRule, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{Metadata, Resource};
use serde::Serialize;

use super::Artifacts;
use super::install::operators;
use super::install::{node_addresses, node_interfaces};
use super::kinds::kubeadm::{
    ApiEndpoint, ApiServer, Argument, AuditRule, CRI_SOCKET, ClusterConfiguration, Component, EncryptedResources, EncryptionConfiguration, Etcd,
    GroupResources, HostMount, Identity, InitConfiguration, Key, Keys, KubeletConfiguration, LocalEtcd, Networking, NodeRegistration, PATCHES, Patches, Policy,
    Provider, Proxy,
};
use super::kinds::{Configuration, amounts, int, non_empty, strings, taints, variable, variable_of_field};
use super::object::Document;
use crate::Compilation;
use crate::design::{ControlPlane, Vip};
use crate::nodes::resources::format_bytes;
use crate::versions;

const SOURCE: &str = "control_plane";

/// Where the API server listens.
const API_PORT: u16 = 6443;

/// Lowers the folder.
pub fn lower(c: &Compilation, artifacts: &mut Artifacts) {
    let Some(control_plane) = c.design.control_plane.as_ref().filter(|cp| !cp.managed) else { return };
    let files = Files { c, control_plane };
    artifacts.objects("control-plane/kubeadm.yaml", files.kubeadm());
    if control_plane.hosts.len() > 1 && control_plane.vip == Vip::KubeVip {
        artifacts.objects("control-plane/kube-vip.yaml", vec![files.kube_vip()]);
    }
    if c.design.cluster.audit {
        artifacts.objects("control-plane/audit-policy.yaml", vec![files.audit()]);
    }
    if c.design.cluster.encryption {
        artifacts.objects("control-plane/encryption.yaml", vec![files.encryption()]);
    }
    artifacts.objects("control-plane/flowcontrol.yaml", files.flow_control());
    if let Some(disk) = &control_plane.etcd_disk {
        artifacts.text(
            "control-plane/var-lib-etcd.mount",
            format!("# /etc/systemd/system/var-lib-etcd.mount on the control-plane hosts; enable it before kubeadm.\n# The disk `{disk}` carries nothing else, so that no other write delays fsync. Made once: mkfs.ext4 -L etcd /dev/<that disk>.\n# Target: WAL fsync p99 below 10 ms (etcd documentation, hardware).\n[Unit]\nDescription=etcd data\nBefore=kubelet.service\n[Mount]\nWhat=/dev/disk/by-label/etcd\nWhere=/var/lib/etcd\nType=ext4\nOptions=noatime,nodiratime\n[Install]\nWantedBy=multi-user.target\nRequiredBy=kubelet.service\n"),
        );
    }
    artifacts.text("control-plane/README.md", readme(c, control_plane));
}

fn argument(name: &'static str, value: impl Into<String>) -> Argument {
    Argument { name, value: value.into() }
}

/// The files of the control plane's hosts.
struct Files<'a> {
    c: &'a Compilation,
    control_plane: &'a ControlPlane,
}

impl Files<'_> {
    fn document<C: Configuration>(&self, configuration: &C) -> Document {
        Document::configuration(configuration, SOURCE, self.control_plane.at.head)
    }

    /// An object that is no other than its kind and name: these are applied before anything else of the bundle is there.
    fn object<K: Resource + Metadata<Ty = ObjectMeta> + Serialize>(&self, name: &str, namespace: Option<&str>, mut object: K) -> Document {
        *object.metadata_mut() = ObjectMeta { name: Some(name.to_owned()), namespace: namespace.map(str::to_owned), ..Default::default() };
        Document::new(&object, K::API_VERSION, K::KIND, SOURCE.into(), self.control_plane.at.head)
    }

    fn kubeadm(&self) -> Vec<Document> {
        let Self { c, control_plane } = *self;
        let d = &c.design;
        let addresses = node_addresses(c, &control_plane.hosts);
        let first = addresses.first().cloned().unwrap_or_default();
        let endpoint = control_plane.endpoint.clone().unwrap_or_else(|| first.clone());
        let host = control_plane.hosts.first().copied();
        let pool = d.pools.iter().position(|p| host.is_some_and(|h| p.hosts.contains(&h)));
        let init = InitConfiguration {
            local_api_endpoint: ApiEndpoint { advertise_address: Some(first), bind_port: API_PORT },
            node_registration: NodeRegistration {
                name: host.map(|h| d.hosts[h].name.clone()),
                cri_socket: CRI_SOCKET,
                taints: pool.map_or_else(Vec::new, |p| taints(&c.nodes.taints[p])),
            },
            patches: Patches { directory: PATCHES },
        };
        let mut names = vec![endpoint.clone()];
        names.extend(addresses.iter().filter(|a| **a != endpoint).cloned());
        let pods = d.cluster.pods.as_ref();
        let profiling = || argument("profiling", "false");
        let cluster = ClusterConfiguration {
            cluster_name: d.cluster.name.clone(),
            kubernetes_version: versions::kubernetes_patch(&d.cluster.kubernetes),
            control_plane_endpoint: format!("{endpoint}:{API_PORT}"),
            networking: Networking {
                dns_domain: d.cluster.domain.clone(),
                pod_subnet: pods.map(|p| p.cidr.to_string()),
                service_subnet: d.cluster.services.map(|s| s.to_string()),
            },
            proxy: Proxy { disabled: true },
            api_server: self.api_server(names),
            controller_manager: Component {
                extra_args: vec![
                    argument("node-cidr-mask-size", pods.map_or(24, |p| p.host_prefix).to_string()),
                    argument("bind-address", "0.0.0.0"),
                    profiling(),
                ],
            },
            scheduler: Component { extra_args: vec![argument("bind-address", "0.0.0.0"), profiling()] },
            etcd: Etcd {
                local: LocalEtcd {
                    data_dir: "/var/lib/etcd",
                    extra_args: vec![
                        argument("quota-backend-bytes", control_plane.etcd_quota.whole().to_string()),
                        argument("listen-metrics-urls", "http://0.0.0.0:2381"),
                    ],
                },
            },
        };
        let kubelet = KubeletConfiguration { cgroup_driver: "systemd", ..Default::default() };
        vec![
            self.document(&init).because("/patches", "A kubelet configuration a pool: each pool's kubelet.yaml is merged over the last document here."),
            self.document(&cluster)
                .from("/kubernetesVersion", d.cluster.at.set("kubernetes"))
                .from("/networking/podSubnet", d.cluster.at.set("pods.cidr"))
                .because("/controlPlaneEndpoint", "Not one host's address: certificates and joins carry it, and it outlives any host.")
                .because("/proxy", "Cilium replaces kube-proxy.")
                .because("/controllerManager/extraArgs/node-cidr-mask-size", "pods.host_prefix: the range that a host's pods are numbered from.")
                .because("/controllerManager/extraArgs/bind-address", "Prometheus reads metrics from another host.")
                .because(
                    "/etcd/local/extraArgs/quota-backend-bytes",
                    format!("etcd.quota, {}; at the quota the cluster turns read-only.", format_bytes(control_plane.etcd_quota.whole())),
                )
                .because("/etcd/local/extraArgs/listen-metrics-urls", "Metrics without a client certificate; the client port stays closed."),
            self.document(&kubelet),
        ]
    }

    fn api_server(&self, cert_sans: Vec<String>) -> ApiServer {
        let cluster = &self.c.design.cluster;
        let mut extra_args = Vec::new();
        let own = "/etc/kubernetes/aic";
        let mut extra_volumes = vec![HostMount { name: "aic", host_path: own, mount_path: own, read_only: Some(true), path_type: "DirectoryOrCreate" }];
        if cluster.audit {
            extra_args.extend([
                argument("audit-policy-file", "/etc/kubernetes/aic/audit-policy.yaml"),
                argument("audit-log-path", "/var/log/kubernetes/audit.log"),
                argument("audit-log-maxage", "30"),
                argument("audit-log-maxbackup", "10"),
                argument("audit-log-maxsize", "200"),
            ]);
            let log = "/var/log/kubernetes";
            extra_volumes.push(HostMount { name: "audit", host_path: log, mount_path: log, read_only: None, path_type: "DirectoryOrCreate" });
        }
        if cluster.encryption {
            extra_args.push(argument("encryption-provider-config", "/etc/kubernetes/aic/encryption.yaml"));
            extra_args.push(argument("encryption-provider-config-automatic-reload", "true"));
        }
        extra_args.push(argument("profiling", "false"));
        ApiServer { cert_sans, extra_args, extra_volumes }
    }

    /// The key is a secret and not part of the bundle.
    fn encryption(&self) -> Document {
        let keys = vec![Key { name: "aic-1", secret: "KEY_IS_MADE_ON_THE_HOST" }];
        let providers = vec![Provider { secretbox: Some(Keys { keys }), identity: None }, Provider { secretbox: None, identity: Some(Identity {}) }];
        self.document(&EncryptionConfiguration { resources: vec![EncryptedResources { resources: vec!["secrets"], providers }] })
            .because("", "The key is made on the host (README.md) and in no bundle: the API server does not start with the placeholder.")
            .because("/resources/0/providers/1", "Reads what was written before encryption; never the first.")
    }

    /// The endpoint's address, held by one of the hosts at a time.
    fn kube_vip(&self) -> Document {
        let interface = node_interfaces(self.c).into_iter().next().unwrap_or_default();
        let config = "/etc/kubernetes/admin.conf";
        let container = Container {
            name: "kube-vip".into(),
            image: Some(versions::KUBE_VIP.into()),
            image_pull_policy: Some("IfNotPresent".into()),
            args: Some(strings(["manager"])),
            env: Some(vec![
                variable("vip_arp", "true"),
                variable("vip_interface", interface),
                variable("vip_subnet", "32"),
                variable("address", self.control_plane.endpoint.as_deref().unwrap_or("")),
                variable("port", "6443"),
                variable_of_field("vip_nodename", "spec.nodeName"),
                variable("cp_enable", "true"),
                variable("cp_namespace", "kube-system"),
                variable("svc_enable", "false"),
                variable("vip_leaderelection", "true"),
                variable("vip_leasename", "plndr-cp-lock"),
                variable("vip_leaseduration", "5"),
                variable("vip_renewdeadline", "3"),
                variable("vip_retryperiod", "1"),
                variable("prometheus_server", ":2112"),
            ]),
            resources: Some(ResourceRequirements { requests: Some(amounts([("cpu", "50m"), ("memory", "64Mi")])), ..Default::default() }),
            security_context: Some(SecurityContext {
                capabilities: Some(Capabilities { add: Some(strings(["NET_ADMIN", "NET_RAW"])), drop: Some(strings(["ALL"])) }),
                ..Default::default()
            }),
            volume_mounts: Some(vec![VolumeMount { name: "kubeconfig".into(), mount_path: config.into(), ..Default::default() }]),
            ..Default::default()
        };
        let spec = PodSpec {
            host_network: Some(true),
            host_aliases: Some(vec![HostAlias { ip: "127.0.0.1".into(), hostnames: Some(strings(["kubernetes"])) }]),
            priority_class_name: Some("system-node-critical".into()),
            containers: vec![container],
            volumes: Some(vec![Volume {
                name: "kubeconfig".into(),
                host_path: Some(HostPathVolumeSource { path: config.into(), type_: None }),
                ..Default::default()
            }]),
            ..Default::default()
        };
        self.object("kube-vip", Some("kube-system"), Pod { spec: Some(spec), ..Default::default() })
            .because("", "A static pod: /etc/kubernetes/manifests/kube-vip.yaml on each host of the control plane.")
            .because("/spec/hostAliases", "Its own API server, which is there before the address is.")
            .because("/spec/containers/kube-vip/env/svc_enable", "The API endpoint only; services of type LoadBalancer are not its work.")
    }

    /// First match wins: the chatter of agents is dropped, secrets are named and never written, what decides who gets GPUs is kept whole.
    fn audit(&self) -> Document {
        let none = AuditRule { level: "None", ..Default::default() };
        let read = || Some(vec!["get", "list", "watch"]);
        let change = || Some(vec!["create", "update", "patch", "delete", "deletecollection"]);
        let of = |group, resources: &[&'static str]| GroupResources { group, resources: non_empty(resources.to_vec()) };
        let policy = Policy {
            omit_stages: vec!["RequestReceived"],
            rules: vec![
                AuditRule { non_resource_urls: Some(vec!["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"]), ..none.clone() },
                AuditRule { resources: Some(vec![of("coordination.k8s.io", &["leases"])]), ..none.clone() },
                AuditRule { resources: Some(vec![of("", &["events"]), of("events.k8s.io", &["events"])]), ..none.clone() },
                AuditRule { user_groups: Some(vec!["system:nodes"]), verbs: read(), ..none.clone() },
                AuditRule { users: Some(vec!["system:kube-scheduler", "system:kube-controller-manager", "system:apiserver"]), verbs: read(), ..none.clone() },
                AuditRule {
                    level: "Metadata",
                    resources: Some(vec![
                        of("", &["secrets", "configmaps", "serviceaccounts/token"]),
                        of("authentication.k8s.io", &["tokenreviews"]),
                        of("certificates.k8s.io", &["certificatesigningrequests"]),
                    ]),
                    ..Default::default()
                },
                AuditRule {
                    level: "RequestResponse",
                    verbs: change(),
                    resources: Some(vec![
                        of("kueue.x-k8s.io", &["clusterqueues", "localqueues", "resourceflavors", "cohorts", "topologies"]),
                        of("rbac.authorization.k8s.io", &[]),
                        of("nvidia.com", &[]),
                        of("mellanox.com", &[]),
                        of("sriovnetwork.openshift.io", &[]),
                    ]),
                    ..Default::default()
                },
                AuditRule {
                    level: "Request",
                    resources: Some(vec![of("", &["pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers"])]),
                    ..Default::default()
                },
                AuditRule { level: "Metadata", verbs: change(), ..Default::default() },
                none,
            ],
        };
        self.document(&policy)
            .because("", "/etc/kubernetes/aic/audit-policy.yaml on the hosts of the control plane. The first match wins.")
            .because("/rules/0", "Health, discovery, and the leases, events and reads of every host.")
            .because("/rules/5", "Who touched what, never the contents.")
            .because("/rules/6", "Changes of quotas, rights and node state, whole: they decide who gets GPUs.")
            .because("/rules/7", "People's sessions in pods.")
    }

    /// A job storm must not starve kubelets, the scheduler or leader election.
    fn flow_control(&self) -> Vec<Document> {
        let Self { c, control_plane } = *self;
        let releases = operators::releases(c);
        let operators = |names: &[&str]| -> Vec<String> {
            let mut found: Vec<String> = releases.iter().map(|r| r.operator.chart.namespace.to_owned()).filter(|n| names.contains(&n.as_str())).collect();
            found.dedup();
            found
        };
        let queues = c.design.queues.iter().map(|q| &q.namespace);
        let tenants: BTreeSet<&String> = queues.chain(c.design.workloads.iter().map(|w| &w.namespace)).collect();
        let largest = || c.nodes.pods.iter().flat_map(|p| &p.shapes).map(|s| s.count as i64).max().unwrap_or(1);
        let burst = control_plane.burst.unwrap_or_else(largest).max(1);
        let agents = ["gpu-operator", "nvidia-network-operator", "node-feature-discovery", "rook-ceph", "topolvm-system", "monitoring"];
        // Controllers and agents are told apart by user; tenants are fair between namespaces, and lend more, since they call rarely.
        let system = Level { flows: "ByUser", lendable: 50, queues: 64, hand: 6, ..Level::default() };
        let controllers = operators(&["kueue-system", "jobset-system"]);
        let tenants = tenants.into_iter().cloned().collect();
        let levels = [
            Level { name: "aic-job-controllers", shares: 40, precedence: 1100, namespaces: controllers, ..system.clone() },
            Level { name: "aic-node-agents", shares: 20, precedence: 1200, namespaces: operators(&agents), ..system },
            Level { name: "aic-tenants", shares: 20, precedence: 1300, flows: "ByNamespace", lendable: 75, queues: 16, hand: 4, namespaces: tenants },
        ];
        levels.into_iter().filter(|level| !level.namespaces.is_empty()).flat_map(|level| self.level(level, burst)).collect()
    }

    fn level(&self, level: Level, burst: i64) -> [Document; 2] {
        let length = ((burst * 10 + level.hand - 1) / level.hand).max(50);
        let queuing = QueuingConfiguration { queues: Some(level.queues), hand_size: Some(int(level.hand)), queue_length_limit: Some(int(length)) };
        let limited = LimitedPriorityLevelConfiguration {
            nominal_concurrency_shares: Some(level.shares),
            lendable_percent: Some(level.lendable),
            limit_response: Some(LimitResponse { type_: "Queue".into(), queuing: Some(queuing) }),
            ..Default::default()
        };
        let configuration = PriorityLevelConfigurationSpec { type_: "Limited".into(), limited: Some(limited), exempt: None };
        let subject = |namespace: String| Subject {
            kind: "Group".into(),
            group: Some(GroupSubject { name: format!("system:serviceaccounts:{namespace}") }),
            ..Default::default()
        };
        let all = || strings(["*"]);
        let everything = ResourcePolicyRule { verbs: all(), api_groups: all(), resources: all(), cluster_scope: Some(true), namespaces: Some(all()) };
        let rule = PolicyRulesWithSubjects {
            subjects: level.namespaces.into_iter().map(subject).collect(),
            resource_rules: Some(vec![everything]),
            non_resource_rules: None,
        };
        let schema = FlowSchemaSpec {
            priority_level_configuration: PriorityLevelConfigurationReference { name: level.name.into() },
            matching_precedence: Some(level.precedence),
            distinguisher_method: Some(FlowDistinguisherMethod { type_: level.flows.into() }),
            rules: Some(vec![rule]),
        };
        [
            self.object(level.name, None, PriorityLevelConfiguration { spec: Some(configuration), ..Default::default() }).because(
                "/spec/limited/limitResponse/queuing/queueLengthLimit",
                format!("handSize × this is at least ten requests for each of the {burst} pods that may start at once."),
            ),
            self.object(level.name, None, FlowSchema { spec: Some(schema), ..Default::default() })
                .because("/spec/matchingPrecedence", "Before the catch-all, after what the API server brings for kubelets and leader election.")
                .because("/spec/rules/0/subjects", "All service accounts of a namespace: no chart's account name is assumed."),
        ]
    }
}

/// A priority level of the API server and who is in it.
#[derive(Clone, Default)]
struct Level {
    name: &'static str,
    shares: i32,
    precedence: i32,
    flows: &'static str,
    lendable: i32,
    queues: i32,
    /// How many queues a flow is spread over.
    hand: i64,
    namespaces: Vec<String>,
}

fn readme(c: &Compilation, cp: &ControlPlane) -> String {
    let names: Vec<&str> = cp.hosts.iter().map(|h| c.design.hosts[*h].name.as_str()).collect();
    format!(
        "# Control plane of {}\n\nHosts: {}. No secret is part of this bundle.\n\n1. On each: `audit-policy.yaml` and `encryption.yaml` to `/etc/kubernetes/aic/` (mode 0600), after\n   `sed -i \"s|KEY_IS_MADE_ON_THE_HOST|$(head -c 32 /dev/urandom | base64)|\" encryption.yaml` on the first and a copy to the others;\n   `kube-vip.yaml`, where it is here, to `/etc/kubernetes/manifests/`; `../hosts/control-plane/kubelet.yaml` to\n   `/etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml`; the etcd disk mounted (`var-lib-etcd.mount`).\n2. On {}: `kubeadm init --config kubeadm.yaml`. Until it has finished, kube-vip needs `super-admin.conf` in place of `admin.conf`.\n3. `kubectl apply --server-side -f flowcontrol.yaml`.\n4. Copy the PKI and `/etc/kubernetes/aic/discovery.conf` to the others and join them with `../hosts/control-plane/kubeadm.yaml`; kubeadm takes the address of the default route.\n",
        c.design.cluster.name,
        names.join(", "),
        names.first().unwrap_or(&"the first host"),
    )
}
