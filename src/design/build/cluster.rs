//! `cluster` and `control_plane`.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn cluster(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Cluster {
        let distribution = r.word("distribution");
        let pods = r.group("pods").and_then(|p| {
            let cidr = p.cidr("cidr")?;
            Some(Pods {
                cni: p.word("cni"),
                network: self.index_of(p.entity("network")),
                cidr,
                host_prefix: p.int("host_prefix").clamp(0, 128) as u8,
                mtu: p.int_opt("mtu"),
                encapsulation: p.word("encapsulation"),
            })
        });
        let observability = r.group("observability");
        let security = r.group("security");
        Cluster {
            name: o.name.to_string(),
            kubernetes: r.text("kubernetes"),
            gitops: r.word("gitops"),
            bundle_path: r.text("bundle_path"),
            scheduler: r.word("scheduler"),
            region: r.text_opt("region"),
            domain: r.text("domain"),
            os: r.word_opt("os").unwrap_or(if distribution == Distribution::Talos { Os::Talos } else { Os::Ubuntu2404 }),
            distribution,
            dns: r.list("dns").into_iter().filter_map(|v| if let Value::Ip(ip) = v { Some(ip) } else { None }).collect(),
            ntp: r.texts("ntp"),
            label_domain: r.text("label_domain"),
            topology_labels: r.word("topology_labels"),
            pods,
            services: r.group("services").and_then(|s| s.cidr("cidr")),
            autoscaler: r.group("autoscaling").map_or(Autoscaler::Hpa, |a| a.word("controller")),
            mirror: r.group("images").and_then(|i| i.text_opt("mirror")),
            pod_security: security.as_ref().map_or(PodSecurity::Baseline, |s| s.word("pod_security")),
            audit: security.as_ref().is_none_or(|s| s.bool("audit")),
            encryption: security.as_ref().is_none_or(|s| s.bool("encryption")),
            observability: observability.as_ref().is_none_or(|o| o.bool("enabled")),
            retention: observability.as_ref().and_then(|o| o.quantity_opt("retention")),
            sound: r.sound.get(),
            at,
        }
    }

    pub(super) fn control_plane(&self, r: &Reader<'_, '_>, at: At) -> ControlPlane {
        let managed = r.node.model.is_some();
        let hosts = self.indices(r.entities("hosts"));
        if !managed && r.value("hosts").is_none() && r.sound.get() {
            self.lang.error(
                Diagnostic::error("AIC0108", "the control plane needs `hosts`")
                    .at(at.head, "without `hosts`")
                    .help("`hosts = …`, or `control_plane : managed` on a cloud"),
            );
            r.sound.set(false);
        }
        let etcd = r.group("etcd");
        let external = etcd.as_ref().map_or_else(Vec::new, |e| self.indices(e.entities("hosts")));
        ControlPlane {
            managed,
            etcd_hosts: if external.is_empty() { hosts.clone() } else { external },
            hosts,
            endpoint: r.text_opt("endpoint"),
            vip: r.word("vip"),
            etcd_disk: etcd.as_ref().and_then(|e| e.text_opt("disk")),
            etcd_quota: etcd.as_ref().and_then(|e| e.quantity_opt("quota")).unwrap_or(Quantity::bytes(8_i128 << 30)),
            burst: r.group("api").and_then(|a| a.int_opt("burst")),
            sound: r.sound.get(),
            at,
        }
    }
}
