//! Documents to YAML. All quoting is serde-saphyr's: words that YAML 1.1 takes for booleans or numbers are quoted, since kubectl reads 1.1.

use serde_json::Value;

use super::object::Document;

/// What stands for a comment until its line is written: the key is no key of any API.
const MARK: &str = "aic-reason-";

/// The YAML of a document, its reasons as comments above the fields they explain.
pub fn document(document: &Document) -> String {
    let mut out: String = document.reasons.iter().filter(|(pointer, _)| pointer.is_empty()).map(|(_, reason)| comment(reason, "")).collect();
    if document.reasons.iter().all(|(pointer, _)| pointer.is_empty()) {
        return out + &text(&document.value);
    }
    let mut marked = document.value.clone();
    for (i, (pointer, _)) in document.reasons.iter().enumerate().filter(|(_, (pointer, _))| !pointer.is_empty()) {
        let found = mark(&mut marked, pointer, &format!("{MARK}{i}"));
        debug_assert!(found, "{} has no {pointer} to explain", document.source);
    }
    // A mark that opens an element of a list stands after its dash, which then belongs to the next line.
    let mut dash = false;
    for line in text(&marked).lines() {
        let content = line.trim_start_matches([' ', '-']);
        let indent = line.len() - content.len();
        let opens = line[..indent].contains('-');
        match content.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(": null")).and_then(|i| document.reasons.get(i.parse::<usize>().ok()?)) {
            Some((_, reason)) => {
                let indent = if opens || dash { indent - 2 } else { indent };
                out += &comment(reason, &" ".repeat(indent));
                dash |= opens;
            }
            None if dash => {
                out += &format!("{}- {content}\n", &line[..indent - 2]);
                dash = false;
            }
            None => out += &format!("{line}\n"),
        }
    }
    out
}

fn comment(reason: &str, indent: &str) -> String {
    reason.lines().map(|line| format!("{indent}# {line}\n")).collect()
}

/// Puts a mark before the field that a pointer names; for an element of a list, as its first field. False where there is no such field.
fn mark(value: &mut Value, pointer: &str, mark: &str) -> bool {
    let (head, rest) = match pointer[1..].split_once('/') {
        Some((head, rest)) => (head, Some(format!("/{rest}"))),
        None => (&pointer[1..], None),
    };
    let key = head.replace("~1", "/");
    match (value, rest) {
        (Value::Object(map), None) => {
            let position = map.keys().position(|k| *k == key);
            if let Some(position) = position {
                map.shift_insert(position, mark.to_owned(), Value::Null);
            }
            position.is_some()
        }
        (Value::Object(map), Some(rest)) => map.get_mut(&key).is_some_and(|v| self::mark(v, &rest, mark)),
        (Value::Array(list), rest) => {
            let position = key.parse().ok().or_else(|| list.iter().position(|v| v["name"] == key.as_str()));
            match (position.and_then(|p: usize| list.get_mut(p)), rest) {
                (Some(element), Some(rest)) => self::mark(element, &rest, mark),
                (Some(Value::Object(map)), None) => {
                    map.shift_insert(0, mark.to_owned(), Value::Null);
                    true
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The YAML of a value, with a newline at its end.
pub fn text(value: &impl serde::Serialize) -> String {
    // Long strings stay on one line; what has newlines becomes a block.
    let options = serde_saphyr::ser_options! { folded_wrap_chars: 1_000_000 };
    let mut out = serde_saphyr::to_string_with_options(value, options).unwrap_or_else(|error| format!("# not emitted: {error}\n"));
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stand_above_what_they_explain() {
        let value = serde_json::json!({
            "kind": "A",
            "spec": { "list": [{ "name": "first", "count": 1 }, { "name": "second", "inner": { "deep": ["x"] } }], "scalar": 1, "text": "a\n- b\n", "empty": {} },
        });
        let document = Document { value, source: "test".into(), span: Default::default(), fields: Vec::new(), reasons: Vec::new() }
            .because("", "two lines\nabove all")
            .because("/spec/list", "the list")
            .because("/spec/list/0", "the first element")
            .because("/spec/list/second", "an element by name")
            .because("/spec/list/second/inner", "a field that is not the first")
            .because("/spec/list/second/inner/deep", "a list inside")
            .because("/spec/scalar", "a number")
            .because("/spec/text", "a block")
            .because("/spec/empty", "nothing");
        insta::assert_snapshot!(super::document(&document), @r##"
        # two lines
        # above all
        kind: A
        spec:
          # the list
          list:
          # the first element
          - name: first
            count: 1
          # an element by name
          - name: second
            # a field that is not the first
            inner:
              # a list inside
              deep:
              - x
          # a number
          scalar: 1
          # a block
          text: |
            a
            - b
          # nothing
          empty: {}
        "##);
        assert_eq!(serde_saphyr::from_str::<Value>(&super::document(&document)).unwrap(), document.value);
    }

    #[test]
    fn words_of_yaml_1_1_stay_texts() {
        // Source: the YAML 1.1 types bool, int (sexagesimal), float, timestamp and null.
        let hazards = [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "n",
            "Y",
            "N",
            "NO",
            "true",
            "null",
            "~",
            "1_000",
            "0o7",
            "0x1f",
            "12:30:45",
            "1:30",
            "2001-01-01",
            "1e3",
            ".5",
            "=",
            "<<",
            "-",
            "",
            " a",
            "a ",
            "a: b",
            "a #b",
            "@a",
            "`a",
            "*a",
            "&a",
            "!a",
            "%a",
            "{a",
            "[a",
            "1.36",
            "007",
            "Infinity",
            ".inf",
            "a\nb\n",
            "\ttab",
        ];
        for hazard in hazards {
            let value = serde_json::json!({ "key": hazard, hazard: "value" });
            let text = text(&value);
            let read: Value = serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{hazard:?}: {e}\n{text}"));
            assert_eq!(read, value, "{text}");
            if matches!(hazard, "no" | "yes" | "on" | "off" | "y" | "n" | "1_000" | "12:30:45" | "1:30" | "2001-01-01") {
                assert!(text.contains(&format!("\"{hazard}\"")) || text.contains(&format!("'{hazard}'")), "{hazard} is not quoted:\n{text}");
            }
        }
    }
}
