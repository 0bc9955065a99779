//! Objects to YAML. All quoting is serde-saphyr's: words that YAML 1.1 takes for booleans or numbers are quoted, since kubectl reads 1.1.

use serde_json::Value;

/// The YAML of an object, with a newline at its end.
pub fn text(value: &Value) -> String {
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
