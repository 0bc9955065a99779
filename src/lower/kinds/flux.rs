//! Flux: sources, Helm releases and kustomizations.

use serde_json::Value;

use super::{custom_resources, parts};

custom_resources! {
    "source.toolkit.fluxcd.io" / "v1" {
        NamespaceResourceScope HelmRepository { spec: HelmRepositorySpec }
    }
}

custom_resources! {
    "helm.toolkit.fluxcd.io" / "v2" {
        NamespaceResourceScope HelmRelease { spec: HelmReleaseSpec }
    }
}

custom_resources! {
    "kustomize.toolkit.fluxcd.io" / "v1" {
        NamespaceResourceScope Kustomization { spec: KustomizationSpec }
    }
}

parts! {
    HelmRepositorySpec {
        #[serde(rename = "type")]
        kind: Option<&'static str>,
        url: &'static str,
        interval: &'static str,
    }
    HelmReleaseSpec {
        release_name: &'static str,
        target_namespace: &'static str,
        storage_namespace: &'static str,
        interval: &'static str,
        timeout: &'static str,
        depends_on: Option<Vec<Name>>,
        chart: ChartTemplate,
        install: Install,
        upgrade: Upgrade,
        values: Value,
    }
    Name { name: String }
    ChartTemplate { spec: ChartSpec }
    ChartSpec { chart: &'static str, version: &'static str, source_ref: Reference }
    Reference { kind: &'static str, name: String }
    Install { crds: &'static str, create_namespace: bool, remediation: Remediation }
    Upgrade { crds: &'static str, remediation: Remediation }
    Remediation { retries: i64 }
    KustomizationSpec {
        path: String,
        source_ref: Reference,
        interval: &'static str,
        retry_interval: &'static str,
        timeout: &'static str,
        depends_on: Option<Vec<Name>>,
        prune: bool,
        wait: bool,
    }
}
