//! kubeadm.

use super::super::Artifacts;
use super::super::control_plane::{Files, address, audit, encryption, etcd, flow_control};
use super::super::hosts::{self, kubelet, readme};
use super::super::kinds::kubeadm::{
    API_PORT, ApiEndpoint, ApiServer, Argument, CRI_SOCKET, ClusterConfiguration, Component, Discovery, Etcd, ExternalEtcd, FileDiscovery, HostMount,
    InitConfiguration, JoinConfiguration, JoinControlPlane, KubeletConfiguration, LocalEtcd, Networking, NodeRegistration, PATCHES, Patches, Proxy,
};
use super::super::kinds::taints;
use super::super::object::Document;
use super::Platform;
use crate::Compilation;
use crate::design::{Pool, PoolRole, System};
use crate::nodes::resources::format_bytes;
use crate::versions;

/// kubeadm.
pub struct Kubeadm;

impl Platform for Kubeadm {
    fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        for (id, pool) in c.design.pools.iter().enumerate() {
            let dir = format!("hosts/{}", pool.name);
            let Some(host) = pool.hosts.first().map(|h| &c.design.hosts[*h]) else { continue };
            artifacts.objects(format!("{dir}/kubelet.yaml"), vec![own_kubelet(c, id, pool, &host.system)]);
            artifacts.objects(format!("{dir}/kubeadm.yaml"), vec![join(c, id, pool)]);
            hosts::common(c, pool, &["containerd"], artifacts);
        }
        let page = readme::page(
            c,
            artifacts,
            &["containerd"],
            &ROWS,
            &format!("containerd 2 on cgroup v2, kubelet and kubeadm {}", versions::kubernetes_patch(&c.design.cluster.kubernetes)),
        );
        artifacts.text("hosts/README.md", page);
        if let Some(files) = Files::of(c) {
            control_plane(&files, artifacts);
        }
    }
}

/// A pool's kubelet, which kubeadm merges over the cluster's.
fn own_kubelet(c: &Compilation, id: usize, pool: &Pool, system: &System) -> Document {
    let document = Document::configuration(&kubelet::whole(c, id, pool, system), &pool.at.source, pool.at.head).because(
        "",
        format!(
            "Installed as /etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml: kubeadm merges it into the cluster's at init, join and upgrade.\n{}",
            kubelet::STATE
        ),
    );
    kubelet::explain(c, id, pool, system, document, "")
}

/// Where the API server reads the audit policy.
const AUDIT_POLICY: &str = "/etc/kubernetes/aic/audit-policy.yaml";

const ROWS: [readme::Row; 2] = [
    (
        "kubelet.yaml",
        "`/etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml`",
        "before the join; later `kubeadm upgrade node phase kubelet-config --patches /etc/kubernetes/aic/patches` and a restart",
    ),
    ("kubeadm.yaml", "`kubeadm join --config`", "last"),
];

fn control_plane(files: &Files, artifacts: &mut Artifacts) {
    let cluster = &files.c.design.cluster;
    artifacts.objects("control-plane/kubeadm.yaml", configuration(files));
    address::lower(files, "/etc/kubernetes/admin.conf", "/etc/kubernetes/manifests", artifacts);
    if etcd::external(files) {
        etcd::lower(files, artifacts);
    }
    if cluster.audit {
        artifacts.objects("control-plane/audit-policy.yaml", vec![audit::policy(files, AUDIT_POLICY)]);
    }
    if cluster.encryption {
        artifacts.objects("control-plane/encryption.yaml", vec![encryption::configuration(files)]);
    }
    artifacts.objects("control-plane/flowcontrol.yaml", flow_control::objects(files));
    if let Some(unit) = files.etcd_mount("/var/lib/etcd", "kubeadm", "kubelet.service") {
        artifacts.text("control-plane/var-lib-etcd.mount", unit);
    }
    artifacts.text("control-plane/README.md", control_plane_page(files));
}

fn argument(name: &'static str, value: impl Into<String>) -> Argument {
    Argument { name, value: value.into() }
}

fn configuration(files: &Files) -> Vec<Document> {
    let Files { c, control_plane } = *files;
    let d = &c.design;
    let addresses = c.topology.node_addresses(d, &control_plane.hosts);
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
        proxy: Proxy { disabled: d.cluster.replaces_kube_proxy() },
        api_server: api_server(c, names),
        controller_manager: Component {
            extra_args: vec![argument("node-cidr-mask-size", pods.map_or(24, |p| p.host_prefix).to_string()), argument("bind-address", "0.0.0.0"), profiling()],
        },
        scheduler: Component { extra_args: vec![argument("bind-address", "0.0.0.0"), profiling()] },
        etcd: if etcd::external(files) {
            let [ca_file, cert_file, key_file] = etcd::CLIENT;
            Etcd { local: None, external: Some(ExternalEtcd { endpoints: etcd::endpoints(files), ca_file, cert_file, key_file }) }
        } else {
            let local = LocalEtcd {
                data_dir: "/var/lib/etcd",
                extra_args: vec![
                    argument("quota-backend-bytes", control_plane.etcd_quota.whole().to_string()),
                    argument("listen-metrics-urls", "http://0.0.0.0:2381"),
                ],
            };
            Etcd { local: Some(local), external: None }
        },
    };
    let kubelet = KubeletConfiguration { cgroup_driver: Some("systemd"), ..Default::default() };
    let mut document = files
        .document(&cluster)
        .from("/kubernetesVersion", d.cluster.at.set("kubernetes"))
        .from("/networking/podSubnet", d.cluster.at.set("pods.cidr"))
        .because("/controlPlaneEndpoint", "Not one host's address: certificates and joins carry it, and it outlives any host.")
        .because("/proxy", if d.cluster.replaces_kube_proxy() { "Cilium replaces kube-proxy." } else { "The pod network leaves services to kube-proxy." })
        .because("/controllerManager/extraArgs/node-cidr-mask-size", "pods.host_prefix: the range that a host's pods are numbered from.")
        .because("/controllerManager/extraArgs/bind-address", "Prometheus reads metrics from another host.");
    if !etcd::external(files) {
        document = document
            .because(
                "/etcd/local/extraArgs/quota-backend-bytes",
                format!("etcd.quota, {}; at the quota the cluster turns read-only.", format_bytes(control_plane.etcd_quota.whole())),
            )
            .because("/etcd/local/extraArgs/listen-metrics-urls", "Metrics without a client certificate; the client port stays closed.");
    }
    vec![
        files.document(&init).because("/patches", "A kubelet configuration a pool: each pool's kubelet.yaml is merged over the last document here."),
        document,
        files.document(&kubelet),
    ]
}

fn api_server(c: &Compilation, cert_sans: Vec<String>) -> ApiServer {
    let cluster = &c.design.cluster;
    let mut extra_args = Vec::new();
    let own = "/etc/kubernetes/aic";
    let mut extra_volumes = vec![HostMount { name: "aic", host_path: own, mount_path: own, read_only: Some(true), path_type: "DirectoryOrCreate" }];
    if cluster.audit {
        extra_args.extend([
            argument("audit-policy-file", AUDIT_POLICY),
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

fn join(c: &Compilation, id: usize, pool: &Pool) -> Document {
    let configuration = JoinConfiguration {
        node_registration: NodeRegistration { name: None, cri_socket: CRI_SOCKET, taints: taints(&c.nodes.taints[id]) },
        discovery: Discovery { file: FileDiscovery { kube_config_path: "/etc/kubernetes/aic/discovery.conf" } },
        patches: Patches { directory: PATCHES },
        control_plane: (pool.role == PoolRole::ControlPlane)
            .then_some(JoinControlPlane { local_api_endpoint: ApiEndpoint { advertise_address: None, bind_port: API_PORT } }),
    };
    Document::configuration(&configuration, &pool.at.source, pool.at.head)
        .because("/discovery", "Made on the first control-plane host and copied: the cluster's CA and a token that expires. Never part of the bundle.")
}

fn control_plane_page(files: &Files) -> String {
    let names = files.hosts();
    let mut page = format!(
        "# Control plane of {}\n\nHosts: {}. No secret is part of this bundle.\n\n1. On each: `audit-policy.yaml` and `encryption.yaml` to `/etc/kubernetes/aic/` (mode 0600), after\n   `sed -i \"s|KEY_IS_MADE_ON_THE_HOST|$(head -c 32 /dev/urandom | base64)|\" encryption.yaml` on the first and a copy to the others;\n   `kube-vip.yaml`, where it is here, to `/etc/kubernetes/manifests/`; `../hosts/control-plane/kubelet.yaml` to\n   `/etc/kubernetes/aic/patches/kubeletconfiguration0+merge.yaml`; the etcd disk mounted (`var-lib-etcd.mount`).\n2. On {}: `kubeadm init --config kubeadm.yaml`. Until it has finished, kube-vip needs `super-admin.conf` in place of `admin.conf`.\n3. `kubectl apply --server-side -f flowcontrol.yaml`.\n4. Copy the PKI and `/etc/kubernetes/aic/discovery.conf` to the others and join them with `../hosts/control-plane/kubeadm.yaml`; kubeadm takes the address of the default route.\n",
        files.c.design.cluster.name,
        names.join(", "),
        names.first().unwrap_or(&"the first host"),
    );
    for step in etcd::step(files).into_iter().chain(address::step(files)) {
        page += &format!("\nBefore: {step}\n");
    }
    page
}
