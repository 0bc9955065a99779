//! `aic explain`.

use crate::lang::codes::{LANGUAGE, language_code};
use crate::rules;

/// Runs the command.
pub fn run(code: Option<&str>) -> Result<i32, String> {
    let Some(code) = code else {
        let mut lines: Vec<String> = LANGUAGE.iter().map(|(code, text)| format!("{code}  {text}")).collect();
        lines.extend(rules::RULES.iter().map(|rule| format!("{}  {} ({}): {}", rule.code, rule.name, rule.severity.word(), rule.summary)));
        lines.sort();
        return super::print_line(&lines.join("\n"));
    };
    if let Some(rule) = rules::find(code) {
        return super::print_line(rule.explanation.trim_end());
    }
    match language_code(code) {
        Some(text) => super::print_line(&format!("# {}\n\n{text}", code.to_uppercase())),
        None => {
            let known: Vec<&str> = LANGUAGE.iter().map(|(c, _)| *c).chain(rules::RULES.iter().map(|r| r.code)).collect();
            let near = crate::base::names::nearest(&code.to_uppercase(), known);
            Err(format!("there is no code {code}{}; `aic explain` lists all", near.map_or(String::new(), |n| format!("; did you mean {n}"))))
        }
    }
}
