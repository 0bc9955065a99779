//! Byte offsets to the protocol's positions and back: lines from 0, columns in UTF-16 units.

use serde_json::{Value, json};

use crate::base::{SourceMap, Span};

/// The protocol's range of a span.
pub fn range(sources: &SourceMap, span: Span) -> Value {
    let text = &sources.get(span.file).text;
    json!({ "start": position(text, span.start as usize), "end": position(text, span.end as usize) })
}

fn position(text: &str, offset: usize) -> Value {
    let before = text.get(..offset.min(text.len())).unwrap_or("");
    let line = before.matches('\n').count();
    let column: usize = before.rsplit('\n').next().unwrap_or("").chars().map(char::len_utf16).sum();
    json!({ "line": line, "character": column })
}

/// The byte offset of a position of the protocol.
pub fn offset(text: &str, position: &Value) -> u32 {
    let (line, column) = (position["line"].as_u64().unwrap_or(0) as usize, position["character"].as_u64().unwrap_or(0) as usize);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    let mut end = start;
    for c in text[start.min(text.len())..].chars() {
        if units >= column || c == '\n' {
            break;
        }
        units += c.len_utf16();
        end += c.len_utf8();
    }
    end as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_utf_16() {
        let text = "a\n😀b = 1\n";
        let at = text.find('b').unwrap();
        assert_eq!(position(text, at), json!({ "line": 1, "character": 2 }));
        assert_eq!(offset(text, &json!({ "line": 1, "character": 2 })), at as u32);
        assert_eq!(offset(text, &json!({ "line": 9, "character": 9 })), text.len() as u32);
    }
}
