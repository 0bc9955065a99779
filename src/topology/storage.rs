//! What storages hold and how fast they are: sums over disks and ports.

use num_traits::Zero as _;

use crate::base::Rational;
use crate::design::{Design, FailureDomain, Storage, StoragePart};

/// Ceph stops writing here (`mon_osd_full_ratio`, its default): what is left of a cluster must hold its data below it.
const FULL_RATIO: (i128, i128) = (95, 100);

/// The figures of one storage; what a missing data sheet hides is `None`. A rate is never zero.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Bytes of the disks.
    pub raw: Option<Rational>,
    /// Bytes that may be filled, by the first part's factor.
    pub usable: Option<Rational>,
    /// Usable bytes of each part, if it had all of it.
    pub parts: Vec<Rational>,
    /// The share of raw that counts as usable.
    pub share: Rational,
    /// Aggregate read, bytes a second: the narrower of disks and ports.
    pub read: Option<Rational>,
    /// Aggregate write of the first part.
    pub write: Option<Rational>,
    /// Rate of all disks when reading.
    pub disk_read: Option<Rational>,
    /// Rate of all ports of the storage hosts on its network.
    pub ports: Option<Rational>,
    /// How many disks and how many ports.
    pub counts: (usize, usize),
}

/// The failure domains of a Ceph part: bytes in each.
pub fn domains(design: &Design, storage: &Storage, domain: FailureDomain) -> Vec<Rational> {
    let mut out: std::collections::BTreeMap<String, Rational> = std::collections::BTreeMap::new();
    for host in storage.hosts() {
        let h = &design.hosts[*host];
        let key = match domain {
            FailureDomain::Rack => h.rack.map(|r| design.racks[r].name.clone()),
            FailureDomain::Zone => h.zone.clone().or_else(|| h.rack.and_then(|r| design.racks[r].zone.clone())),
            FailureDomain::Host => None,
        };
        *out.entry(key.unwrap_or_else(|| h.name.clone())).or_insert_with(Rational::zero) += host_bytes(design, storage, *host);
    }
    out.into_values().collect()
}

fn host_bytes(design: &Design, storage: &Storage, host: usize) -> Rational {
    let Some((_, disks)) = storage.on_disks() else { return Rational::zero() };
    design.hosts[host].system.disks(disks).map(|d| d.capacity.value).fold(Rational::zero(), |a, b| a + b)
}

/// The largest of some failure domains, and what the others hold below the full ratio when it is lost.
pub fn without_largest(domains: &[Rational]) -> (Rational, Rational) {
    let raw: Rational = domains.iter().copied().fold(Rational::zero(), |a, b| a + b);
    let largest = domains.iter().max().copied().unwrap_or_else(Rational::zero);
    (largest, (raw - largest) * Rational::new(FULL_RATIO.0, FULL_RATIO.1))
}

/// The share of raw that may be filled: `fill`, or less where the largest failure domain must heal by itself.
pub fn usable_share(design: &Design, storage: &Storage, part: &StoragePart) -> Rational {
    let domains = domains(design, storage, part.failure_domain);
    let fill = storage.ceph().map_or(Rational::from_integer(1), |ceph| ceph.fill.value);
    let raw: Rational = domains.iter().copied().fold(Rational::zero(), |a, b| a + b);
    if raw.is_zero() || domains.len() as i64 <= part.width() {
        return fill;
    }
    fill.min(without_largest(&domains).1 / raw)
}

/// The figures of a storage.
pub fn figures(design: &Design, storage: &Storage) -> Figures {
    let mut out = Figures { share: Rational::from_integer(1), ..Figures::default() };
    let Some((hosts, disks)) = storage.on_disks() else {
        let server = storage.file_server();
        out.raw = storage.declared_capacity().map(|c| c.value);
        out.usable = out.raw;
        out.read = server.and_then(|s| s.read).map(|r| r.value);
        out.write = server.and_then(|s| s.write).map(|r| r.value);
        return out;
    };
    if hosts.is_empty() {
        return out;
    }
    let disks: Vec<_> = hosts.iter().flat_map(|h| design.hosts[*h].system.disks(disks)).collect();
    // No disks, no rate: times are divided by it.
    let sum = |rates: Vec<Option<Rational>>| rates.into_iter().try_fold(Rational::zero(), |a, b| Some(a + b?)).filter(|rate| !rate.is_zero());
    let raw = disks.iter().map(|d| d.capacity.value).fold(Rational::zero(), |a, b| a + b);
    out.raw = Some(raw);
    out.disk_read = sum(disks.iter().map(|d| d.read.map(|r| r.value)).collect());
    let disk_write = sum(disks.iter().map(|d| d.write.map(|r| r.value)).collect());
    if storage.ceph().is_none() {
        out.usable = Some(raw);
        out.read = out.disk_read;
        out.write = disk_write;
        out.counts = (disks.len(), 0);
        return out;
    }
    let ports = ports(design, storage);
    out.counts = (disks.len(), ports.len());
    let network = ports.iter().copied().fold(Rational::zero(), |a, b| a + b);
    out.ports = (!ports.is_empty()).then_some(network);
    for part in storage.parts() {
        let (n, d) = part.factor();
        out.parts.push(raw * usable_share(design, storage, part) / Rational::new(n, d));
    }
    if let Some(part) = storage.parts().first() {
        out.share = usable_share(design, storage, part);
        let (n, d) = part.factor();
        let factor = Rational::new(n, d);
        out.usable = out.parts.first().copied();
        out.write = disk_write.map(|w| out.ports.map_or(w / factor, |p| (w / factor).min(p / factor)));
    }
    out.read = out.disk_read.map(|r| out.ports.map_or(r, |p| r.min(p)));
    out
}

/// Rates of the ports of the storage hosts on the storage's network.
fn ports(design: &Design, storage: &Storage) -> Vec<Rational> {
    let Some(network) = storage.network() else { return Vec::new() };
    let fabric = &design.fabrics[design.networks[network].fabric];
    fabric.attach.iter().filter(|p| storage.hosts().contains(&(p.host as usize))).filter_map(|p| Some(design.nic_port(*p)?.rate.value)).collect()
}
