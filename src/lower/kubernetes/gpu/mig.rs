//! `mig-parted-config.yaml`: how the GPUs of each pool are cut.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;

use super::super::super::kinds::texts;
use super::super::super::{Artifacts, yaml};
use super::super::Input;
use super::nvidia::NAMESPACE;
use super::of_vendor;
use crate::design::{GpuVendor, Mig, Pool};

/// Writes the file.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((pool, _)) = pools(input).next() else { return };
    let map = ConfigMap { data: Some(texts([("config.yaml", yaml::text(&mig_layouts(input)))])), ..Default::default() };
    let document = input.maker.namespaced((&pool.at, "gpu.mig"), NAMESPACE, "mig-parted-config", map);
    artifacts.objects("kubernetes/gpu/mig-parted-config.yaml", vec![document]);
}

fn pools<'a>(input: &'a Input<'a>) -> impl Iterator<Item = (&'a Pool, &'a Mig)> {
    of_vendor(input, GpuVendor::Nvidia).filter_map(|(_, pool, gpu)| Some((pool, gpu.mig.as_ref()?)))
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MigLayouts<'a> {
    version: &'static str,
    mig_configs: BTreeMap<&'a str, [MigLayout<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MigLayout<'a> {
    devices: &'static str,
    mig_enabled: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mig_devices: BTreeMap<&'a str, usize>,
}

/// The layouts of mig-parted: one a pool, named by the label `nvidia.com/mig.config`.
fn mig_layouts<'a>(input: &'a Input<'a>) -> MigLayouts<'a> {
    let layout = |mig_enabled, mig_devices| [MigLayout { devices: "all", mig_enabled, mig_devices }];
    let mut mig_configs = BTreeMap::from([("all-disabled", layout(false, BTreeMap::new()))]);
    for (pool, mig) in pools(input) {
        let mut counts = BTreeMap::new();
        for profile in &mig.layout {
            *counts.entry(profile.as_str()).or_insert(0) += 1;
        }
        mig_configs.insert(&pool.name, layout(true, counts));
    }
    MigLayouts { version: "v1", mig_configs }
}
