//! `rack`, `host` and the switches that stand in racks by themselves.

use serde::Serialize;

use super::*;

/// `rack`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Rack {
    pub name: String,
    pub height: i64,
    pub power: Option<Quantity>,
    pub cooling: Option<Quantity>,
    pub weight: Option<Quantity>,
    pub pdus: i64,
    pub feeds: i64,
    pub supply: Option<Supply>,
    pub zone: Option<String>,
    pub row: i64,
    pub column: i64,
    /// Its array: racks of one declaration are alike.
    pub declaration: String,
    /// The rack-scale system it is.
    pub system: Option<Arc<System>>,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

impl Rack {
    /// The device name of a PDU.
    pub fn pdu_name(&self, pdu: u8) -> String {
        format!("{}-pdu-{pdu}", self.name)
    }
}

/// `supply` of a rack.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Supply {
    pub volts: i64,
    pub amps: i64,
    pub phases: i64,
    pub derating: Quantity,
}

/// `host`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct Host {
    pub name: String,
    #[serde(serialize_with = "by_name")]
    pub system: Arc<System>,
    pub rack: Option<usize>,
    pub position: Option<i64>,
    pub height: Option<i64>,
    pub power: Option<Quantity>,
    pub zone: Option<String>,
    pub capacity: Capacity,
    pub labels: BTreeMap<String, String>,
    pub sriov: bool,
    pub iommu: Iommu,
    pub sound: bool,
    #[serde(skip)]
    pub at: At,
}

fn by_name<S: serde::Serializer>(system: &Arc<System>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&system.name)
}

/// A switch that stands in a rack: NVLink trays.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema table, one place")]
pub struct RackSwitch {
    pub name: String,
    pub rack: Option<usize>,
    pub model: Arc<SwitchModel>,
    pub position: Option<i64>,
    #[serde(skip)]
    pub at: At,
}
