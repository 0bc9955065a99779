//! What the API servers of every distribution read: audit, encryption, priority and fairness, the virtual address.

pub mod address;
pub mod audit;
pub mod encryption;
pub mod etcd;
pub mod flow_control;
pub mod pod_security;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{Metadata, Resource};
use serde::Serialize;

use super::kinds::Configuration;
use super::object::Document;
use crate::Compilation;
use crate::design::ControlPlane;

const SOURCE: &str = "control_plane";

/// The files of the control plane's hosts.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// The compilation.
    pub c: &'a Compilation,
    /// The control plane, which is not a provider's.
    pub control_plane: &'a ControlPlane,
}

impl<'a> Files<'a> {
    /// The files, unless a provider runs the control plane.
    pub fn of(c: &'a Compilation) -> Option<Self> {
        c.design.control_plane.as_ref().filter(|cp| !cp.managed).map(|control_plane| Self { c, control_plane })
    }

    /// A configuration that comes from `control_plane`.
    pub fn document<C: Configuration>(&self, configuration: &C) -> Document {
        Document::configuration(configuration, SOURCE, self.control_plane.at.head)
    }

    /// A file of no API that comes from `control_plane`.
    pub fn file(&self, content: &impl Serialize) -> Document {
        Document::file(content, SOURCE, self.control_plane.at.head)
    }

    /// An object that is no other than its kind and name: these are applied before anything else of the bundle is there.
    pub fn object<K: Resource + Metadata<Ty = ObjectMeta> + Serialize>(&self, name: &str, namespace: Option<&str>, mut object: K) -> Document {
        *object.metadata_mut() = ObjectMeta { name: Some(name.to_owned()), namespace: namespace.map(str::to_owned), ..Default::default() };
        Document::new(&object, K::API_VERSION, K::KIND, SOURCE.into(), self.control_plane.at.head)
    }

    /// The names of the hosts.
    pub fn hosts(&self) -> Vec<&'a str> {
        self.control_plane.hosts.iter().map(|h| self.c.design.hosts[*h].name.as_str()).collect()
    }

    /// The systemd unit that mounts etcd's own disk, before a unit starts that needs it.
    pub fn etcd_mount(&self, data: &str, installer: &str, before: &str) -> Option<String> {
        let disk = self.control_plane.etcd_disk.as_ref()?;
        Some(format!(
            "# /etc/systemd/system/{}.mount on the control-plane hosts; enable it before {installer}.\n# The disk `{disk}` carries nothing else, so that no other write delays fsync. Made once: mkfs.ext4 -L etcd /dev/<that disk>.\n# Target: WAL fsync p99 below 10 ms (etcd documentation, hardware).\n[Unit]\nDescription=etcd data\nBefore={before}\n[Mount]\nWhat=/dev/disk/by-label/etcd\nWhere={data}\nType=ext4\nOptions=noatime,nodiratime\n[Install]\nWantedBy=multi-user.target\nRequiredBy={before}\n",
            data.trim_start_matches('/').replace('/', "-"),
        ))
    }
}
