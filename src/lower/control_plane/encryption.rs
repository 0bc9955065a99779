//! `encryption.yaml`: secrets are encrypted before etcd writes them.

use super::super::kinds::kubeadm::{EncryptedResources, EncryptionConfiguration, Identity, Key, Keys, Provider};
use super::super::object::Document;
use super::Files;

/// The key is a secret and not part of the bundle.
pub fn configuration(files: &Files) -> Document {
    let keys = vec![Key { name: "aic-1", secret: "KEY_IS_MADE_ON_THE_HOST" }];
    let providers = vec![Provider { secretbox: Some(Keys { keys }), identity: None }, Provider { secretbox: None, identity: Some(Identity {}) }];
    files
        .document(&EncryptionConfiguration { resources: vec![EncryptedResources { resources: vec!["secrets"], providers }] })
        .because("", "The key is made on the host (README.md) and in no bundle: the API server does not start with the placeholder.")
        .because("/resources/0/providers/1", "Reads what was written before encryption; never the first.")
}
