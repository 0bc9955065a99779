//! The objects of a bundle as types. Built-in kinds are k8s-openapi's; the kinds of operators and of configuration files are written here, one file
//! an API group, with the fields that lowering sets and no others: tests/schemas.rs holds each against its real schema, unknown fields refused.
//!
//! Field names are the API's own; what they mean stands in the API's documentation and is not repeated.

pub mod amd;
pub mod argocd;
pub mod ceph;
pub mod cilium;
pub mod flux;
pub mod host;
pub mod jobset;
pub mod kubeadm;
pub mod kueue;
pub mod leader_worker_set;
pub mod monitoring;
pub mod network_operator;
pub mod nvidia;
pub mod rancher;
pub mod volcano;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, EnvVar, EnvVarSource, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectFieldSelector, Taint, Toleration,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::Serialize;

use crate::nodes::{NodeTaint, Resources, format_amount};

/// Structs of an API: camelCase, absent fields not written.
macro_rules! parts {
    ($($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $kind:ty),* $(,)? })*) => {
        $(
            $(#[$about])*
            #[serde_with::skip_serializing_none]
            #[derive(Clone, Debug, Default, serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name { $($(#[$field_about])* pub $field: $kind,)* }
        )*
    };
}
pub(crate) use parts;

/// Kinds with metadata, of an API group and version.
macro_rules! custom_resources {
    ($group:literal / $version:literal { $($(#[$about:meta])* $scope:ident $name:ident { $($(#[$field_about:meta])* $field:ident: $kind:ty),* $(,)? })* }) => {
        $(
            $(#[$about])*
            #[serde_with::skip_serializing_none]
            #[derive(Clone, Debug, Default, serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name {
                pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
                $($(#[$field_about])* pub $field: $kind,)*
            }

            impl k8s_openapi::Resource for $name {
                const API_VERSION: &'static str = concat!($group, "/", $version);
                const GROUP: &'static str = $group;
                const KIND: &'static str = stringify!($name);
                const VERSION: &'static str = $version;
                // The path of the API: nothing here calls it.
                const URL_PATH_SEGMENT: &'static str = "";
                type Scope = k8s_openapi::$scope;
            }

            impl k8s_openapi::Metadata for $name {
                type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

                fn metadata(&self) -> &Self::Ty {
                    &self.metadata
                }

                fn metadata_mut(&mut self) -> &mut Self::Ty {
                    &mut self.metadata
                }
            }
        )*
    };
}
pub(crate) use custom_resources;

/// A kind that is read from a file and has no metadata: KubeletConfiguration and its like.
pub trait Configuration: Serialize {
    /// `kubelet.config.k8s.io/v1beta1`.
    const API_VERSION: &'static str;
    /// `KubeletConfiguration`.
    const KIND: &'static str;
}

/// Says which API a configuration belongs to.
macro_rules! configurations {
    ($($api:literal: $($name:ident),*;)*) => {
        $($(impl $crate::lower::kinds::Configuration for $name {
            const API_VERSION: &'static str = $api;
            const KIND: &'static str = stringify!($name);
        })*)*
    };
}
pub(crate) use configurations;

parts! {
    /// Which objects a folder's `kubectl apply -k` takes.
    Kustomization { resources: Vec<String>, transformers: Option<Vec<String>> }
}
configurations! { "kustomize.config.k8s.io/v1beta1": Kustomization; }

/// Texts by name: labels, selectors, parameters.
pub type Texts = BTreeMap<String, String>;

/// Texts by name.
pub fn texts<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Texts {
    pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect()
}

/// An absent field instead of an empty list.
pub fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|l| !l.is_empty())
}

/// Owned texts.
pub fn strings<S: Into<String>>(list: impl IntoIterator<Item = S>) -> Vec<String> {
    list.into_iter().map(Into::into).collect()
}

/// A count of the design in a field of 32 bits; the schema's bounds keep it below.
pub fn int(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Amounts as Kubernetes writes them.
pub fn quantities(resources: &Resources) -> BTreeMap<String, Quantity> {
    resources.iter().map(|(name, amount)| (name.clone(), Quantity(format_amount(name, *amount)))).collect()
}

/// Amounts written out.
pub fn amounts<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, Quantity> {
    pairs.into_iter().map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned()))).collect()
}

/// A variable of a container.
pub fn variable(name: &str, value: impl Into<String>) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(value.into()), value_from: None }
}

/// A variable that takes a field of the pod.
pub fn variable_of_field(name: &str, path: &str) -> EnvVar {
    let field = ObjectFieldSelector { field_path: path.to_owned(), api_version: None };
    EnvVar { name: name.to_owned(), value: None, value_from: Some(EnvVarSource { field_ref: Some(field), ..Default::default() }) }
}

/// A selector of labels.
pub fn labelled(key: &str, value: &str) -> LabelSelector {
    LabelSelector { match_labels: Some(texts([(key, value)])), ..Default::default() }
}

/// Taints as the kubelet registers them.
pub fn taints(taints: &[NodeTaint]) -> Vec<Taint> {
    taints.iter().map(|t| Taint { key: t.key.clone(), value: t.value.clone(), effect: t.effect.to_owned(), time_added: None }).collect()
}

/// A toleration; without a value of whatever value the taint has.
fn toleration(key: &str, value: Option<&str>, effect: &str) -> Toleration {
    Toleration {
        key: Some(key.to_owned()),
        operator: Some(if value.is_some() { "Equal" } else { "Exists" }.to_owned()),
        value: value.map(str::to_owned),
        effect: Some(effect.to_owned()),
        ..Default::default()
    }
}

/// Tolerations of a pool's own taints.
pub fn tolerations(taints: &[NodeTaint]) -> Vec<Toleration> {
    taints.iter().map(|t| toleration(&t.key, t.value.as_deref(), t.effect)).collect()
}

/// Tolerations of every taint key of the design, whatever its value: for agents that run everywhere.
pub fn agent_tolerations<'a>(taints: impl IntoIterator<Item = &'a NodeTaint>) -> Vec<Toleration> {
    let mut keys: Vec<(&str, &str)> = taints.into_iter().map(|t| (t.key.as_str(), t.effect)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().map(|(key, effect)| toleration(key, None, effect)).collect()
}

/// Nodes whose label has one of some values.
pub fn nodes_with(key: &str, values: &[&str]) -> NodeSelector {
    NodeSelector {
        node_selector_terms: vec![NodeSelectorTerm {
            match_expressions: Some(vec![NodeSelectorRequirement {
                key: key.to_owned(),
                operator: "In".into(),
                values: Some(strings(values.iter().copied())),
            }]),
            ..Default::default()
        }],
    }
}

/// The same as a whole pod's affinity.
pub fn affinity_of(key: &str, values: &[&str]) -> Affinity {
    Affinity { node_affinity: Some(affinity(key, values)), ..Default::default() }
}

/// A required affinity for nodes whose label has one of some values.
pub fn affinity(key: &str, values: &[&str]) -> NodeAffinity {
    NodeAffinity { required_during_scheduling_ignored_during_execution: Some(nodes_with(key, values)), ..Default::default() }
}
