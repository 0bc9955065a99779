//! `storage` and `volume`.

use super::reader::model_of;
use super::*;

impl Builder<'_, '_> {
    pub(super) fn storage(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Storage {
        Storage { name: o.hyphenated.clone(), kind: self.storage_kind(r, model_of(o.model)), gds: r.bool("gds"), sound: r.sound.get(), at }
    }

    fn storage_kind(&self, r: &Reader<'_, '_>, word: StorageWord) -> StorageKind {
        let server = || {
            let throughput = r.group("throughput");
            FileServer {
                server: r.text("server"),
                capacity: r.bytes("capacity"),
                options: r.texts("options"),
                read: throughput.as_ref().and_then(|t| t.quantity_opt("read")),
                write: throughput.as_ref().and_then(|t| t.quantity_opt("write")),
            }
        };
        let hosts = || self.indices(r.entities("hosts"));
        match word {
            StorageWord::Ceph => {
                let network = self.index_of(r.entity("network")).unwrap_or_else(|| {
                    r.sound.set(false);
                    0
                });
                StorageKind::Ceph(Ceph {
                    hosts: hosts(),
                    disks: r.text("disks"),
                    cluster_network: self.index_of(r.entity("cluster_network")).unwrap_or(network),
                    network,
                    monitors: r.int("monitors"),
                    fill: r.quantity("fill", Dimension::Ratio),
                    parts: self.parts(r),
                })
            }
            StorageWord::LocalNvme => {
                StorageKind::LocalNvme(LocalNvme { hosts: hosts(), disks: r.text("disks"), raid: r.word("raid"), provisioner: r.word("provisioner") })
            }
            StorageWord::Nfs => StorageKind::Nfs(server()),
            StorageWord::Lustre => StorageKind::Lustre(server()),
            StorageWord::Weka => StorageKind::Weka(server()),
            StorageWord::Vast => StorageKind::Vast(server()),
            StorageWord::Beegfs => StorageKind::Beegfs(server()),
            StorageWord::S3 => StorageKind::S3 { bucket: r.text("bucket"), region: r.text_opt("region"), endpoint: r.text_opt("endpoint") },
            StorageWord::External => StorageKind::External { class: r.text("class"), access: r.words("access"), capacity: r.quantity_opt("capacity") },
        }
    }

    fn parts(&self, r: &Reader<'_, '_>) -> Vec<StoragePart> {
        let mut parts = Vec::new();
        for (group, node) in &r.node.groups {
            let Some(kind) = PartKind::parse(group) else { continue };
            let p = Reader { lang: self.lang, node: node.clone(), sound: r.sound };
            let erasure = p.group("erasure").map(|e| (e.int("data"), e.int("parity")));
            parts.push(StoragePart {
                kind,
                name: p.label(),
                replicas: p.int_opt("replicas").unwrap_or(if erasure.is_some() { 0 } else { 3 }),
                erasure,
                failure_domain: p.word("failure_domain"),
                key: format!("{kind}.{}", p.label()),
            });
        }
        parts
    }

    pub(super) fn volume(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Volume {
        let entity = r.entity("storage");
        let storage = self.index_of(entity);
        let part = match entity {
            // Parts are counted among the storage's named groups; a storage has no other groups before them.
            Some(Entity::Part(id, part)) => {
                let node = self.lang.node_of(id);
                Some(node.groups[..part as usize].iter().filter(|(k, _)| PartKind::parse(k).is_some()).count())
            }
            _ => None,
        };
        if storage.is_none() {
            r.sound.set(false);
        }
        Volume {
            name: o.hyphenated.clone(),
            storage: storage.unwrap_or(0),
            part,
            size: r.bytes("size"),
            access: r.word("access"),
            per_host: r.bool("per_host"),
            holds: r.word_opt("holds"),
            snapshots: r.group("snapshots").map(|s| (s.quantity("every", Dimension::Time), s.int("keep"))),
            sound: r.sound.get(),
            at,
        }
    }
}
