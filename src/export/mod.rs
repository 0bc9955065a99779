//! The fabrics in the formats of other tools: NetBox for import, Graphviz, containerlab.

mod containerlab;
mod dot;
mod netbox;

use std::collections::BTreeMap;

use crate::Compilation;

/// Formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV files for NetBox' import: racks, devices, interfaces, cables.
    Netbox,
    /// Graphviz: one graph of all fabrics, hosts on the same leaves folded.
    Dot,
    /// A containerlab topology of the Ethernet fabrics.
    Containerlab,
}

/// The files of a format, by name.
pub fn files(c: &Compilation, format: Format) -> BTreeMap<String, String> {
    match format {
        Format::Netbox => netbox::files(c),
        Format::Dot => BTreeMap::from([("fabrics.dot".to_owned(), dot::text(c))]),
        Format::Containerlab => BTreeMap::from([("fabric.clab.yaml".to_owned(), containerlab::text(c))]),
    }
}
