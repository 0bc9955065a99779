//! What k3s and RKE2 share: `config.yaml` for servers and agents, drop-ins of the kubelet, charts that the distribution packages.
//!
//! Sources: docs.k3s.io (cli/server, cli/agent, installation/configuration, installation/private-registry) and docs.rke2.io (reference/server_config,
//! reference/linux_agent_config, install/configuration, helm, advanced), read for the 1.3x releases.

use serde_json::{Value, json};

use super::super::Artifacts;
use super::super::control_plane::{Files, address, audit, etcd, flow_control, pod_security};
use super::super::hosts::{self, kubelet, readme};
use super::super::install::operators::{calico, cilium};
use super::super::kinds::rancher::{HelmChartConfig, HelmChartConfigSpec};
use super::super::object::Document;
use super::super::yaml;
use crate::Compilation;
use crate::design::{Cni, Pool};
use crate::versions;

/// One of the two.
pub struct Rancher {
    /// `rke2`: the folder under /etc/rancher and /var/lib/rancher, the suffix of its releases.
    pub name: &'static str,
    /// Where it is fetched from.
    pub script: &'static str,
    /// The variable that pins its version.
    pub version: &'static str,
    /// The revision of a release that packages a version of Kubernetes.
    pub revision: &'static str,
    /// The units of a server and of an agent.
    pub units: [&'static str; 2],
    /// Where servers answer those that join.
    pub join_port: u16,
    /// Whether the first server says that it is the first.
    pub cluster_init: bool,
    /// Its word for leaving the pod network to others, and for the one that it packages.
    pub pod_network: fn(Cni) -> Value,
    /// Components that it would start and the design brings or does without.
    pub disable: &'static [&'static str],
}

impl Rancher {
    fn etc(&self, file: &str) -> String {
        format!("/etc/rancher/{}/{file}", self.name)
    }

    fn lib(&self, path: &str) -> String {
        format!("/var/lib/rancher/{}/{path}", self.name)
    }

    /// `v1.36.4+rke2r1`.
    fn release(&self, c: &Compilation) -> String {
        format!("{}+{}{}", versions::kubernetes_patch(&c.design.cluster.kubernetes), self.name, self.revision)
    }

    /// Writes `hosts/` and `control-plane/`.
    pub fn lower(&self, c: &Compilation, artifacts: &mut Artifacts) {
        let servers = c.design.control_plane.as_ref().map_or(&[][..], |cp| &cp.hosts);
        let [server, agent] = self.units;
        for (id, pool) in c.design.pools.iter().enumerate() {
            let dir = format!("hosts/{}", pool.name);
            let Some(host) = pool.hosts.first().map(|h| &c.design.hosts[*h]) else { continue };
            let document = Document::configuration(&kubelet::settings(c, id, pool, &host.system), &pool.at.source, pool.at.head).because(
                "",
                format!("Installed as {}: merged over what {} sets itself.\n{}", self.lib("agent/etc/kubelet.conf.d/90-aic.conf"), self.name, kubelet::STATE),
            );
            artifacts.objects(format!("{dir}/kubelet.yaml"), vec![kubelet::explain(c, id, pool, &host.system, document, "")]);
            artifacts.objects(format!("{dir}/config.yaml"), vec![self.node(c, id, pool)]);
            let units: Vec<&str> = match (pool.hosts.iter().any(|h| servers.contains(h)), pool.hosts.iter().all(|h| servers.contains(h))) {
                (false, _) => vec![agent],
                (true, true) => vec![server],
                (true, false) => vec![server, agent],
            };
            hosts::common(c, pool, &units, artifacts);
        }
        let kubelet = format!("`{}`", self.lib("agent/etc/kubelet.conf.d/90-aic.conf"));
        let config = format!("`{}`", self.etc("config.yaml.d/50-pool.yaml"));
        let join = format!("`{}`, on every host but the first server", self.etc("config.yaml.d/10-join.yaml"));
        let registries = format!("`{}`", self.etc("registries.yaml"));
        let mut rows: Vec<readme::Row> = vec![
            ("kubelet.yaml", &kubelet, "before the service starts; a restart of the service reads it again"),
            ("config.yaml", &config, "before the service starts: node labels and taints count at the first registration only"),
            ("../control-plane/join.yaml", &join, "before the service starts"),
        ];
        if c.design.cluster.mirror.is_some() {
            rows.push(("../control-plane/registries.yaml", &registries, "before the service starts"));
        }
        let image = format!("containerd of {} {} on cgroup v2", self.name, self.release(c));
        let mut page = readme::page(c, artifacts, &self.units, &rows, &image);
        let kind = if self.name == "rke2" { "INSTALL_RKE2_TYPE=agent " } else { "INSTALL_K3S_SKIP_START=true INSTALL_K3S_EXEC=agent " };
        page += &format!(
            "\n## Join\n\nAn agent, when the files above are there and the token is in `{}` (mode 0600):\n\n```sh\ncurl -sfL {} | {kind}{}={} sh -\nsystemctl enable --now {agent}\n```\n",
            self.etc("token"),
            self.script,
            self.version,
            self.release(c)
        );
        artifacts.text("hosts/README.md", page);
        if let Some(files) = Files::of(c) {
            self.control_plane(&files, artifacts);
        }
    }

    /// What differs between pools: labels that a kubelet may set by itself, taints.
    fn node(&self, c: &Compilation, id: usize, pool: &Pool) -> Document {
        let mut value = json!({ "protect-kernel-defaults": true });
        if !pool.labels.is_empty() {
            value["node-label"] = pool.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        }
        let taints = &c.nodes.taints[id];
        if !taints.is_empty() {
            value["node-taint"] = taints.iter().map(|t| format!("{}={}:{}", t.key, t.value.as_deref().unwrap_or(""), t.effect)).collect();
        }
        Document::file(&value, &pool.at.source, pool.at.head)
            .because("", format!("{} on the hosts of the pool.", self.etc("config.yaml.d/50-pool.yaml")))
            .because_if_set("/node-taint", "At the first registration; the protected labels come by kubernetes/nodes/apply.sh.")
    }

    fn control_plane(&self, files: &Files, artifacts: &mut Artifacts) {
        let cluster = &files.c.design.cluster;
        artifacts.objects("control-plane/config.yaml", vec![self.server(files)]);
        artifacts.objects("control-plane/join.yaml", vec![self.join(files)]);
        if self.cluster_init && !etcd::external(files) {
            let first = files
                .file(&json!({ "cluster-init": true }))
                .because("", format!("{} on the first server alone: it founds etcd.", self.etc("config.yaml.d/10-first.yaml")));
            artifacts.objects("control-plane/first.yaml", vec![first]);
        }
        address::lower(files, &self.etc(&format!("{}.yaml", self.name)), &self.lib("agent/pod-manifests"), artifacts);
        if etcd::external(files) {
            etcd::lower(files, artifacts);
        }
        if cluster.audit {
            artifacts.objects("control-plane/audit-policy.yaml", vec![audit::policy(files, &self.etc("audit-policy.yaml"))]);
        }
        artifacts.objects("control-plane/pod-security.yaml", vec![pod_security::configuration(files, &self.etc("pod-security.yaml"))]);
        artifacts.objects("control-plane/flowcontrol.yaml", flow_control::objects(files));
        if let Some(chart) = self.packaged_chart(files) {
            artifacts.objects("control-plane/pod-network.yaml", vec![chart]);
        }
        if let Some(mirror) = &cluster.mirror {
            artifacts.objects("control-plane/registries.yaml", vec![self.registries(files, mirror)]);
        }
        let data = self.lib("server/db/etcd");
        if let Some(unit) = files.etcd_mount(&data, self.name, &format!("{}.service", self.units[0])) {
            artifacts.text(format!("control-plane/{}.mount", data.trim_start_matches('/').replace('/', "-")), unit);
        }
        artifacts.text("control-plane/README.md", self.page(files, artifacts));
    }

    fn server(&self, files: &Files) -> Document {
        let Files { c, control_plane } = *files;
        let d = &c.design;
        let cluster = &d.cluster;
        let addresses = c.topology.node_addresses(d, &control_plane.hosts);
        let mut names: Vec<String> = control_plane.endpoint.iter().cloned().collect();
        names.extend(addresses.into_iter().filter(|a| Some(a) != control_plane.endpoint.as_ref()));
        let mut value = json!({ "token-file": self.etc("token"), "write-kubeconfig-mode": "0600", "tls-san": names, "cluster-domain": cluster.domain });
        if let Some(pods) = &cluster.pods {
            value["cluster-cidr"] = pods.cidr.to_string().into();
        }
        if let Some(services) = &cluster.services {
            value["service-cidr"] = services.to_string().into();
        }
        if let (Some(pods), Value::Object(words)) = (&cluster.pods, cluster.pods.as_ref().map_or(Value::Null, |p| (self.pod_network)(p.cni))) {
            for (word, setting) in words {
                value[word] = setting;
            }
            if cluster.replaces_kube_proxy() {
                value["disable-kube-proxy"] = true.into();
            }
            value["kube-controller-manager-arg"] = json!([format!("node-cidr-mask-size={}", pods.host_prefix), "bind-address=0.0.0.0", "profiling=false"]);
        } else {
            value["kube-controller-manager-arg"] = json!(["bind-address=0.0.0.0", "profiling=false"]);
        }
        value["kube-scheduler-arg"] = json!(["bind-address=0.0.0.0", "profiling=false"]);
        let mut api = vec!["profiling=false".to_owned(), format!("admission-control-config-file={}", self.etc("pod-security.yaml"))];
        if cluster.audit {
            api.push(format!("audit-policy-file={}", self.etc("audit-policy.yaml")));
            api.push(format!("audit-log-path={}", self.lib("server/logs/audit.log")));
            api.extend(["audit-log-maxage=30", "audit-log-maxbackup=10", "audit-log-maxsize=200"].map(str::to_owned));
        }
        value["kube-apiserver-arg"] = api.into();
        value["secrets-encryption"] = cluster.encryption.into();
        if etcd::external(files) {
            let [ca, certificate, key] = etcd::CLIENT;
            value["datastore-endpoint"] = etcd::endpoints(files).join(",").into();
            value["datastore-cafile"] = ca.into();
            value["datastore-certfile"] = certificate.into();
            value["datastore-keyfile"] = key.into();
        } else {
            value["etcd-arg"] = json!([format!("quota-backend-bytes={}", control_plane.etcd_quota.whole())]);
            value["etcd-expose-metrics"] = true.into();
            value["etcd-snapshot-schedule-cron"] = "0 */6 * * *".into();
            value["etcd-snapshot-retention"] = 28.into();
            value["etcd-snapshot-compress"] = true.into();
        }
        value["disable"] = json!(self.disable);
        if let Some(mirror) = &cluster.mirror {
            value["system-default-registry"] = mirror.as_str().into();
        }
        files
            .file(&value)
            .because("", format!("{} on every server. No secret is part of this bundle: the token is made on the first.", self.etc("config.yaml")))
            .because("/tls-san", "The endpoint first: it outlives any host.")
            .because_if_set("/disable-kube-proxy", "Cilium replaces it.")
            .because("/kube-controller-manager-arg", "Prometheus reads metrics from another host; the mask is pods.host_prefix.")
            .because_if_set("/etcd-snapshot-schedule-cron", "A week of snapshots, four a day; copy them off the host.")
            .because("/disable", "What the design brings itself or does without.")
            .because("/secrets-encryption", "The key is made by the server itself.")
    }

    fn join(&self, files: &Files) -> Document {
        let d = &files.c.design;
        let first = || files.c.topology.node_addresses(d, &files.control_plane.hosts).into_iter().next();
        let endpoint = files.control_plane.endpoint.clone().or_else(first).unwrap_or_default();
        let value = json!({ "server": format!("https://{endpoint}:{}", self.join_port), "token-file": self.etc("token") });
        files.file(&value).because("", format!("{} on the other servers and on every agent.", self.etc("config.yaml.d/10-join.yaml")))
    }

    /// The values of the pod network that the distribution packages.
    fn packaged_chart(&self, files: &Files) -> Option<Document> {
        let d = &files.c.design;
        let pods = d.cluster.pods.as_ref().filter(|p| d.cluster.distribution.packages(p.cni))?;
        let values = match pods.cni {
            Cni::Cilium => cilium::values(files.c),
            Cni::Calico => calico::values(files.c),
            Cni::AwsVpc | Cni::Gke | Cni::None => return None,
        };
        let chart = HelmChartConfig { spec: HelmChartConfigSpec { values_content: yaml::text(&values) }, ..Default::default() };
        Some(files.object(&format!("{}-{}", self.name, pods.cni), Some("kube-system"), chart).because(
            "",
            format!(
                "{} on the first server: values of the chart that {} packages and installs by itself.",
                self.lib("server/manifests/aic-pod-network.yaml"),
                self.name
            ),
        ))
    }

    fn registries(&self, files: &Files, mirror: &str) -> Document {
        let (host, path) = mirror.split_once('/').unwrap_or((mirror, ""));
        let mut endpoint = json!({ "endpoint": [format!("https://{host}")] });
        if !path.is_empty() {
            endpoint["rewrite"] = json!({ "^(.*)$": format!("{path}/$1") });
        }
        files
            .file(&json!({ "mirrors": { "*": endpoint } }))
            .because("", format!("{} on every host: all registries by the site's mirror.", self.etc("registries.yaml")))
    }

    fn page(&self, files: &Files, artifacts: &Artifacts) -> String {
        let names = files.hosts();
        let has = |file: &str| artifacts.files.contains_key(&format!("control-plane/{file}"));
        let mut steps = vec![format!(
            "On each: `config.yaml`, `pod-security.yaml`{} to `/etc/rancher/{}/` (mode 0600), the files of its pool as `../hosts/README.md` says{}.",
            if has("audit-policy.yaml") { ", `audit-policy.yaml`" } else { "" },
            self.name,
            if files.control_plane.etcd_disk.is_some() { "; the etcd disk mounted (`*.mount`)" } else { "" },
        )];
        steps.extend(etcd::step(files));
        steps.extend(address::step(files));
        if has("kube-vip.yaml") {
            steps.push(format!("On each: `kube-vip.yaml` to `{}/`.", self.lib("agent/pod-manifests")));
        }
        let mut first =
            format!("On {}: a token, `head -c 32 /dev/urandom | base64 > {}` (mode 0600)", names.first().unwrap_or(&"the first host"), self.etc("token"));
        if has("first.yaml") {
            first += &format!("; `first.yaml` to `{}`", self.etc("config.yaml.d/10-first.yaml"));
        }
        if has("pod-network.yaml") {
            first += &format!("; `pod-network.yaml` to `{}`", self.lib("server/manifests/aic-pod-network.yaml"));
        }
        let kind = if self.name == "rke2" { "" } else { "INSTALL_K3S_SKIP_START=true " };
        steps.push(format!(
            "{first}; then `curl -sfL {} | {kind}{}={} sh -` and `systemctl enable --now {}`.",
            self.script,
            self.version,
            self.release(files.c),
            self.units[0]
        ));
        if names.len() > 1 {
            steps.push("On the others, one after the other: the same token, `join.yaml`, the same two commands.".into());
        }
        steps.push(format!("With `KUBECONFIG={}`: `kubectl apply --server-side -f flowcontrol.yaml`.", self.etc(&format!("{}.yaml", self.name))));
        let steps: String = steps.iter().enumerate().map(|(i, step)| format!("{}. {step}\n", i + 1)).collect();
        format!("# Control plane of {}\n\nHosts: {}. No secret is part of this bundle.\n\n{steps}", files.c.design.cluster.name, names.join(", "))
    }
}
