//! Code without its strings and comments, byte by byte: what recovery and spans need where the grammar gave up.

/// Walks over the bytes that are neither in a string nor in a comment.
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Scanner<'a> {
    /// From `start` to `end`.
    pub fn new(text: &'a str, start: usize, end: usize) -> Self {
        Self { bytes: text.as_bytes(), at: start, end }
    }

    fn skip_string(&mut self) {
        let block = self.bytes[self.at..self.end].starts_with(b"\"\"\"");
        self.at += if block { 3 } else { 1 };
        while self.at < self.end {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'"' if block && !self.bytes[self.at..self.end].starts_with(b"\"\"\"") => {}
                b'"' => {
                    self.at += if block { 3 } else { 1 };
                    return;
                }
                // A string that is not closed ends with its line, so that the next line is read.
                b'\n' if !block => return,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.end);
    }
}

impl Iterator for Scanner<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        while self.at < self.end {
            let at = self.at;
            match self.bytes[at] {
                b'"' => {
                    self.skip_string();
                    return Some((at, b'"'));
                }
                b'/' if self.bytes.get(at + 1) == Some(&b'/') => {
                    while self.at < self.end && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                }
                byte => {
                    self.at += 1;
                    return Some((at, byte));
                }
            }
        }
        None
    }
}

/// How much of a text is code: without the blanks and comments at its end.
pub fn code_length(text: &str) -> usize {
    let trimmed = text.trim_end().len();
    // A doc comment is a token of its own.
    if !text.contains("//") || text.starts_with("//") {
        return trimmed;
    }
    let mut scanner = Scanner::new(text, 0, text.len());
    let mut end = 0;
    while let Some((at, byte)) = scanner.next() {
        if !byte.is_ascii_whitespace() {
            end = scanner.at.max(at + 1);
        }
    }
    end.min(trimmed)
}
