//! The folders of `kubernetes/`.

use std::fmt;

/// A folder of `kubernetes/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its name")]
pub enum Folder {
    Namespaces,
    Nodes,
    Runtime,
    Gpu,
    Network,
    Storage,
    Scheduling,
    Policy,
    Observability,
    Workloads,
}

impl Folder {
    /// All of them, in the order in which they are applied.
    pub const ALL: [Self; 10] = [
        Self::Namespaces,
        Self::Nodes,
        Self::Runtime,
        Self::Gpu,
        Self::Network,
        Self::Storage,
        Self::Scheduling,
        Self::Policy,
        Self::Observability,
        Self::Workloads,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Nodes => "nodes",
            Self::Runtime => "runtime",
            Self::Gpu => "gpu",
            Self::Network => "network",
            Self::Storage => "storage",
            Self::Scheduling => "scheduling",
            Self::Policy => "policy",
            Self::Observability => "observability",
            Self::Workloads => "workloads",
        }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
