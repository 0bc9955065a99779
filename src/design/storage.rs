//! `storage` and `volume`.

use serde::Serialize;

use super::*;

/// `storage`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Storage {
    pub name: String,
    pub kind: StorageKind,
    pub gds: bool,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

/// What a storage is, with what only that kind has.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub enum StorageKind {
    Ceph(Ceph),
    LocalNvme(LocalNvme),
    Nfs(FileServer),
    Lustre(FileServer),
    Weka(FileServer),
    Vast(FileServer),
    Beegfs(FileServer),
    S3 { bucket: String, region: Option<String>, endpoint: Option<String> },
    External { class: String, access: Vec<Access>, capacity: Option<Quantity> },
}

/// Rook-Ceph on hosts of the design.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Ceph {
    pub hosts: Vec<usize>,
    pub disks: String,
    pub network: usize,
    pub cluster_network: usize,
    pub monitors: i64,
    pub fill: Quantity,
    pub parts: Vec<StoragePart>,
}

/// Disks of the hosts themselves.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct LocalNvme {
    pub hosts: Vec<usize>,
    pub disks: String,
    pub raid: Raid,
    pub provisioner: Provisioner,
}

/// A file system that somebody else runs.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct FileServer {
    pub server: String,
    pub capacity: Quantity,
    pub options: Vec<String>,
    pub read: Option<Quantity>,
    pub write: Option<Quantity>,
}

impl Storage {
    /// The word of its kind.
    pub fn word(&self) -> StorageWord {
        match self.kind {
            StorageKind::Ceph(_) => StorageWord::Ceph,
            StorageKind::LocalNvme(_) => StorageWord::LocalNvme,
            StorageKind::Nfs(_) => StorageWord::Nfs,
            StorageKind::Lustre(_) => StorageWord::Lustre,
            StorageKind::Weka(_) => StorageWord::Weka,
            StorageKind::Vast(_) => StorageWord::Vast,
            StorageKind::Beegfs(_) => StorageWord::Beegfs,
            StorageKind::S3 { .. } => StorageWord::S3,
            StorageKind::External { .. } => StorageWord::External,
        }
    }

    /// The Ceph cluster that it is.
    pub fn ceph(&self) -> Option<&Ceph> {
        if let StorageKind::Ceph(ceph) = &self.kind { Some(ceph) } else { None }
    }

    /// The local disks that it is.
    pub fn local(&self) -> Option<&LocalNvme> {
        if let StorageKind::LocalNvme(local) = &self.kind { Some(local) } else { None }
    }

    /// The file system of somebody else's that it is.
    pub fn file_server(&self) -> Option<&FileServer> {
        match &self.kind {
            StorageKind::Nfs(server) | StorageKind::Lustre(server) | StorageKind::Weka(server) | StorageKind::Vast(server) | StorageKind::Beegfs(server) => {
                Some(server)
            }
            StorageKind::Ceph(_) | StorageKind::LocalNvme(_) | StorageKind::S3 { .. } | StorageKind::External { .. } => None,
        }
    }

    /// The hosts of the design that hold its data.
    pub fn hosts(&self) -> &[usize] {
        self.on_disks().map_or(&[], |(hosts, _)| hosts)
    }

    /// The hosts of the design that hold its data, and the disks that hold it.
    pub fn on_disks(&self) -> Option<(&[usize], &str)> {
        match &self.kind {
            StorageKind::Ceph(ceph) => Some((&ceph.hosts, &ceph.disks)),
            StorageKind::LocalNvme(local) => Some((&local.hosts, &local.disks)),
            StorageKind::Nfs(_) | StorageKind::Lustre(_) | StorageKind::Weka(_) | StorageKind::Vast(_) | StorageKind::Beegfs(_) => None,
            StorageKind::S3 { .. } | StorageKind::External { .. } => None,
        }
    }

    /// The file systems, block pools and object stores of a Ceph cluster.
    pub fn parts(&self) -> &[StoragePart] {
        self.ceph().map_or(&[], |ceph| &ceph.parts)
    }

    /// The network that clients reach it by.
    pub fn network(&self) -> Option<usize> {
        self.ceph().map(|ceph| ceph.network)
    }

    /// Usable capacity as declared, where nothing in the design makes it.
    pub fn declared_capacity(&self) -> Option<Quantity> {
        match &self.kind {
            StorageKind::External { capacity, .. } => *capacity,
            StorageKind::Nfs(server) | StorageKind::Lustre(server) | StorageKind::Weka(server) | StorageKind::Vast(server) | StorageKind::Beegfs(server) => {
                Some(server.capacity)
            }
            StorageKind::Ceph(_) | StorageKind::LocalNvme(_) | StorageKind::S3 { .. } => None,
        }
    }
}

/// A file system, block pool or object store of a Ceph cluster.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct StoragePart {
    pub kind: PartKind,
    pub name: String,
    pub replicas: i64,
    pub erasure: Option<(i64, i64)>,
    pub failure_domain: FailureDomain,
    /// The prefix of its fields in the storage's [`At`].
    #[serde(skip)]
    pub key: String,
}

impl StoragePart {
    /// How many failure domains one object spreads over.
    pub fn width(&self) -> i64 {
        self.erasure.map_or(self.replicas, |(k, m)| k + m)
    }

    /// Raw bytes a stored byte takes: numerator and denominator.
    pub fn factor(&self) -> (i128, i128) {
        self.erasure.map_or((i128::from(self.replicas.max(1)), 1), |(k, m)| (i128::from(k + m), i128::from(k.max(1))))
    }
}

/// `volume`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Volume {
    pub name: String,
    pub storage: usize,
    pub part: Option<usize>,
    pub size: Quantity,
    pub access: Access,
    pub per_host: bool,
    pub holds: Option<Holds>,
    pub snapshots: Option<(Quantity, i64)>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}
