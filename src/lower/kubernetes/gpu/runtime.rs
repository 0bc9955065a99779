//! `runtime/`: a RuntimeClass a pool whose pods need another handler than the default, which brings the pool's placement with it.

use k8s_openapi::api::node::v1::{RuntimeClass, Scheduling};

use super::super::super::kinds::{non_empty, texts, tolerations};
use super::super::super::object::Document;
use super::super::Input;
use crate::design::{Allocation, Design, GpuVendor, Pool, Runtime};
use crate::nodes::pool_label;

/// The class of a pool's pods, and its handler.
pub fn class(design: &Design, pool: &Pool) -> Option<(String, &'static str)> {
    let by_plugin = |vendor| pool.gpu.as_ref().is_some_and(|gpu| gpu.allocation == Allocation::DevicePlugin) && design.gpu_vendor(pool) == vendor;
    let (prefix, handler) = match pool.runtime {
        Runtime::Kata if pool.gpu.is_some() => ("kata", "kata-qemu-nvidia-gpu"),
        Runtime::Kata => ("kata", "kata-qemu"),
        Runtime::Gvisor => ("gvisor", "runsc"),
        // `nvidia` itself is the operator's.
        Runtime::Default if by_plugin(GpuVendor::Nvidia) => ("nvidia", "nvidia"),
        Runtime::Default if by_plugin(GpuVendor::Intel) => ("habana", "habana"),
        // Claims and AMD's plugin need no hook in the runtime.
        Runtime::Default => return None,
    };
    Some((format!("{prefix}-{}", pool.name), handler))
}

/// The classes of all pools.
pub(super) fn classes(input: &Input) -> Vec<Document> {
    let d = input.design();
    let class = |(id, pool): (usize, &Pool)| {
        let (name, handler) = class(d, pool)?;
        let class = RuntimeClass {
            handler: handler.into(),
            scheduling: Some(Scheduling {
                node_selector: Some(texts([(pool_label(d, pool), &pool.name)])),
                tolerations: non_empty(tolerations(&input.compilation.nodes.taints[id])),
            }),
            ..Default::default()
        };
        let part = if pool.runtime == Runtime::Default { "gpu" } else { "runtime" };
        let document = input
            .maker
            .cluster((&pool.at, part), &name, class)
            .because("/scheduling", "A pod that names the class lands in this pool and nowhere else, without a selector or toleration of its own.");
        Some(match pool.runtime {
            Runtime::Default => document,
            Runtime::Kata => document.because("/handler", "kata-containers on the hosts brings the handler (hosts/README.md); GPUs enter its machine by VFIO."),
            Runtime::Gvisor => document.because("/handler", "runsc on the hosts brings the handler (hosts/README.md)."),
        })
    };
    d.pools.iter().enumerate().filter_map(class).collect()
}
