//! `gpu/` and `runtime/`: what hands out the GPUs of each vendor, and a RuntimeClass a pool where pods need one.

mod amd;
mod dra;
mod gaudi;
mod mig;
mod nvidia;
mod plugin;
pub mod runtime;

pub use dra::{Claims, PORTS, claims};

use super::super::Artifacts;
use super::Input;
use crate::design::{Allocation, GpuVendor, Pool, PoolGpu};

/// Lowers both folders.
pub fn lower(input: &Input, artifacts: &mut Artifacts) {
    artifacts.objects("kubernetes/runtime/runtimeclasses.yaml", runtime::classes(input));
    nvidia::lower(input, artifacts);
    dra::lower(input, artifacts);
    amd::lower(input, artifacts);
    gaudi::lower(input, artifacts);
}

/// A pool with GPUs: its place in the design, and their settings.
type GpuPool<'a> = (usize, &'a Pool, &'a PoolGpu);

/// The pools with GPUs of a vendor.
fn of_vendor<'a>(input: &'a Input<'a>, vendor: GpuVendor) -> impl Iterator<Item = GpuPool<'a>> {
    let pools = input.design().pools.iter().enumerate();
    pools.filter_map(|(id, pool)| Some((id, pool, pool.gpu.as_ref()?))).filter(move |(_, pool, _)| input.design().gpu_vendor(pool) == vendor)
}

/// The pools with NVIDIA's GPUs that are handed out in a way.
fn allocated<'a>(input: &'a Input<'a>, allocation: Allocation) -> impl Iterator<Item = GpuPool<'a>> {
    of_vendor(input, GpuVendor::Nvidia).filter(move |(.., gpu)| gpu.allocation == allocation)
}
