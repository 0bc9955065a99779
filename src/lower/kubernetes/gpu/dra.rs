//! GPUs by claims (Dynamic Resource Allocation): claim templates of workloads, NVLink domains, and access for monitoring. The DeviceClasses
//! of GPUs are the driver's. Source: kubernetes-sigs/dra-driver-nvidia-gpu 0.4 (device classes, attributes, ComputeDomain v1beta1).

use k8s_openapi::api::core::v1::{PodResourceClaim, ResourceClaim};
use k8s_openapi::api::resource::v1::{
    CELDeviceSelector, DeviceClaim, DeviceConstraint, DeviceRequest, DeviceSelector, ExactDeviceRequest, ResourceClaimSpec, ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
};

use super::super::super::kinds::nvidia::{ClaimTemplate, ComputeDomain, ComputeDomainSpec, DomainChannel};
use super::super::super::{Artifacts, object::Document};
use super::super::Input;
use super::allocated;
use super::nvidia::NAMESPACE;
use crate::design::{Allocation, Pool, Rdma, Workload};
use crate::nodes::resources::rail_ports;

/// The class of whole GPUs, which the driver brings.
pub const GPUS: &str = "gpu.nvidia.com";
/// The class of RDMA ports, which the bundle brings (kubernetes/network).
pub const PORTS: &str = "rdma-ports";

/// What belongs to no workload: access for monitoring to GPUs that are taken.
pub(super) fn lower(input: &Input, artifacts: &mut Artifacts) {
    let Some((_, pool, _)) = allocated(input, Allocation::Dra).next() else { return };
    let request = ExactDeviceRequest { device_class_name: GPUS.into(), allocation_mode: Some("All".into()), admin_access: Some(true), ..Default::default() };
    let document = input
        .maker
        .namespaced((&pool.at, "gpu.allocation"), NAMESPACE, "all-gpus", template(vec![named("gpus", request)], None))
        .because("", "For exporters and tests that look at all GPUs of a host, taken or not: names a namespace with the label\nresource.kubernetes.io/admin-access, which only operators' have.")
        .because("/spec/spec/devices/requests/gpus/exactly/adminAccess", "Sees a device without taking it.");
    artifacts.objects("kubernetes/gpu/claims.yaml", vec![document]);
}

fn named(name: &str, request: ExactDeviceRequest) -> DeviceRequest {
    DeviceRequest { name: name.to_owned(), exactly: Some(request), ..Default::default() }
}

fn template(requests: Vec<DeviceRequest>, constraints: Option<Vec<DeviceConstraint>>) -> ResourceClaimTemplate {
    let devices = DeviceClaim { requests: Some(requests), constraints, ..Default::default() };
    let spec = ResourceClaimTemplateSpec { metadata: None, spec: ResourceClaimSpec { devices: Some(devices) } };
    ResourceClaimTemplate { spec, ..Default::default() }
}

/// What the pods of a workload claim.
#[derive(Default)]
pub struct Claims {
    /// Templates and domains, beside the workload.
    pub documents: Vec<Document>,
    /// Each claim: its name in the pod and its template.
    names: Vec<(&'static str, String)>,
}

impl Claims {
    fn add(&mut self, name: &'static str, template: String, document: Document) {
        self.names.push((name, template));
        self.documents.push(document);
    }

    /// For the pod.
    pub fn of_pod(&self) -> Vec<PodResourceClaim> {
        let claim = |(name, template): &(&str, String)| PodResourceClaim {
            name: (*name).to_owned(),
            resource_claim_template_name: Some(template.clone()),
            ..Default::default()
        };
        self.names.iter().map(claim).collect()
    }

    /// For its container.
    pub fn of_container(&self) -> Vec<ResourceClaim> {
        self.names.iter().map(|(name, _)| ResourceClaim { name: (*name).to_owned(), ..Default::default() }).collect()
    }
}

/// The claims of a workload: GPUs, ports of the rails, a channel of the NVLink domain.
pub fn claims(input: &Input, workload: &Workload, pool: &Pool) -> Claims {
    let maker = &input.maker;
    let mut out = Claims::default();
    let ports = if workload.rdma && pool.rdma.as_ref().is_some_and(|r| r.mode == Rdma::Dra) { rails(input, pool) } else { Vec::new() };
    let gpus = if pool.gpu.as_ref().is_some_and(|gpu| gpu.allocation == Allocation::Dra) { workload.gpus } else { 0 };
    // A part of a host: each GPU with the port behind its own PCIe root, whichever that is.
    let paired = gpus > 0 && (gpus as usize) < ports.len();
    let (mut requests, mut constraints) = (Vec::new(), Vec::new());
    if paired {
        for i in 0..gpus {
            let (gpu, port) = (format!("gpu{i}"), format!("port{i}"));
            requests.extend([named(&gpu, gpu_request(input, pool, 1)), named(&port, exact(PORTS, 1, None))]);
            let match_attribute = Some("resource.kubernetes.io/pcieRoot".into());
            constraints.push(DeviceConstraint { requests: Some(vec![gpu, port]), match_attribute, ..Default::default() });
        }
    } else {
        requests.extend((gpus > 0).then(|| named("gpus", gpu_request(input, pool, gpus))));
        requests.extend(
            ports.into_iter().map(|(name, interface)| named(&name, exact(PORTS, 1, Some(format!("device.attributes[\"dra.net\"].ifName == \"{interface}\""))))),
        );
    }
    if !requests.is_empty() {
        let name = format!("{}-devices", workload.name);
        let constraints = Some(constraints).filter(|list| !list.is_empty());
        let document = maker
            .namespaced(&workload.at, &workload.namespace, &name, template(requests, constraints))
            .because_if_set("/spec/spec/devices/constraints", "Each GPU with the port of its own PCIe root: RDMA between them crosses no socket.");
        out.add("devices", name, document);
    }
    if pool.gpu.as_ref().is_some_and(|gpu| gpu.imex) && workload.nodes > 1 && workload.gpus > 0 {
        let channel = format!("{}-channel", workload.name);
        let spec = ComputeDomainSpec { num_nodes: 0, channel: DomainChannel { resource_claim_template: ClaimTemplate { name: channel.clone() } } };
        let document = maker
            .namespaced(&workload.at, &workload.namespace, &workload.name, ComputeDomain { spec, ..Default::default() })
            .because("", "The hosts that its pods land on become one IMEX domain an NVLink clique, which ends with them.")
            .because("/spec/numNodes", "Follows the pods: each starts when the domain of its own host is ready.")
            .because("/spec/channel/resourceClaimTemplate", "Made by the driver under this name.");
        out.add("channel", channel, document);
    }
    out
}

/// The rails of a pool's hosts and their interfaces.
fn rails(input: &Input, pool: &Pool) -> Vec<(String, String)> {
    let d = input.design();
    let ports = pool.hosts.first().map_or_else(Vec::new, |host| rail_ports(d, pool, *host));
    ports.iter().map(|port| (port.name(), port.interface(d))).collect()
}

fn exact(class: &str, count: i64, selector: Option<String>) -> ExactDeviceRequest {
    ExactDeviceRequest {
        device_class_name: class.into(),
        allocation_mode: Some("ExactCount".into()),
        count: Some(count),
        selectors: selector.map(|expression| vec![DeviceSelector { cel: Some(CELDeviceSelector { expression }) }]),
        ..Default::default()
    }
}

/// GPUs of the pool's model and of no other, by the name that the driver's label is made of.
fn gpu_request(input: &Input, pool: &Pool, count: i64) -> ExactDeviceRequest {
    let model = pool.hosts.first().and_then(|h| input.design().hosts[*h].system.gpu_model());
    let labels = model.map_or(&[][..], |m| &m.product_label);
    let names = labels.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(", ");
    let selector = (!labels.is_empty()).then(|| format!("device.attributes[\"{GPUS}\"].productName.replace(\" \", \"-\") in [{names}]"));
    exact(GPUS, count, selector)
}
