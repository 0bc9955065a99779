//! Settings of charts that k3s and RKE2 package.

use super::{custom_resources, parts};

custom_resources! {
    "helm.cattle.io" / "v1" {
        NamespaceResourceScope HelmChartConfig { spec: HelmChartConfigSpec }
    }
}

parts! {
    HelmChartConfigSpec { values_content: String }
}
