//! `rdma : dra`: ports by claims. The class of ports is the bundle's; the claims are their workloads'.

use k8s_openapi::api::resource::v1::{CELDeviceSelector, DeviceClass, DeviceClassSpec, DeviceSelector};

use super::super::gpu::PORTS;
use super::{Files, Way};

/// The class of RDMA ports, once.
pub(super) fn lower(way: &Way, files: &mut Files) {
    files.entry("deviceclass.yaml").or_insert_with(|| {
        let selector = |expression: &str| DeviceSelector { cel: Some(CELDeviceSelector { expression: expression.into() }) };
        let selectors = vec![selector("device.driver == \"dra.net\""), selector("device.attributes[\"dra.net\"].rdma == true")];
        let class = DeviceClass { spec: DeviceClassSpec { selectors: Some(selectors), ..Default::default() }, ..Default::default() };
        let document = way.input.maker.cluster((&way.pool.at, "rdma"), PORTS, class);
        vec![document.because("/spec/selectors", "Ports that speak RDMA: without it a claim may get a bridge or the pod network's own device.")]
    });
}
