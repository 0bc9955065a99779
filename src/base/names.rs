//! The spelling of names: Kubernetes labels and the nearest known word.

/// The Kubernetes form of a name or a path: `_` and `.` become `-`.
pub fn kubernetes_name(name: &str) -> String {
    name.replace(['_', '.', ' '], "-").to_lowercase()
}

/// Why `name` cannot be a DNS-1123 label, or nothing if it can.
/// Source: Kubernetes, "Object Names and IDs", RFC 1123 label names.
pub fn dns_label_fault(name: &str, limit: usize) -> Option<String> {
    if name.is_empty() {
        return Some("it is empty".into());
    }
    if name.len() > limit {
        return Some(format!("it has {} characters, at most {limit} fit", name.len()));
    }
    if let Some(c) = name.chars().find(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')) {
        return Some(format!("it has a `{c}`; lower-case letters, digits and `-` may stand in it"));
    }
    (name.starts_with('-') || name.ends_with('-')).then(|| "it must start and end with a letter or a digit".into())
}

/// The known word that a typo most likely meant: at most a third of its letters differ.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance > 0 && *distance <= 1.max(candidate.len().max(word.len()) / 3))
        .min_by_key(|(distance, candidate)| (*distance, candidate.len().abs_diff(word.len())))
        .map(|(_, candidate)| candidate)
}

/// `a`, `a and b`, `a, b and c`.
pub fn list_of(words: &[String], and: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} {and} {last}", init.join(", ")),
    }
}

/// `1 host`, `2 hosts`; thousands are grouped.
pub fn count_of(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n as i128), if n == 1 { "" } else { "s" })
}

/// `12500` as `12,500`.
pub fn grouped(n: i128) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    if n < 0 { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_typos_and_no_strangers() {
        assert_eq!(nearest("rails", ["rail", "storage", "boot"]), Some("rail"));
        assert_eq!(nearest("hsots", ["hosts", "taint"]), Some("hosts"));
        assert_eq!(nearest("zebra", ["rail", "storage"]), None);
    }

    #[test]
    fn dns_labels() {
        assert_eq!(dns_label_fault("train-0", 63), None);
        assert!(dns_label_fault("-a", 63).is_some());
        assert!(dns_label_fault("a_b", 63).is_some());
        assert!(dns_label_fault(&"a".repeat(64), 63).is_some());
    }

    #[test]
    fn thousands() {
        assert_eq!(grouped(12_500), "12,500");
        assert_eq!(grouped(-100), "-100");
    }
}
