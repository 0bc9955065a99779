//! The language: what is wrong is said once, at the right place, and nothing panics.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aic::base::{Diagnostic, FileId, SourceMap};
use aic::lang::Options;
use proptest::prelude::*;

const FRAME: &str = "use std.{cpu_1u, sn5610}\ncluster c { kubernetes = \"1.36\", distribution = k3s }\n";

fn compile(text: &str) -> (Vec<Diagnostic>, SourceMap) {
    let c = aic::compile(&BTreeMap::from([("cluster.aic".to_owned(), text.to_owned())]), "cluster.aic", Options::default());
    (c.diagnostics, c.sources)
}

/// Each program and the codes that it must raise, no more and no less.
const CASES: &[(&str, &[&str])] = &[
    ("rack a { height = 48U\n  host h : cpu_1u\n}\nfabric f : ethernet { attach = a.h.dta, topology : leaf_only, leaf = sn5610, racks = a }", &["AIC0103"]),
    ("rack a { height = 48kW }\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0202"]),
    ("let _x = 80GiB + 400Gb/s\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0203"]),
    ("let _x = 80Gib\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0201"]),
    ("let a = b\nlet b = a\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0104"]),
    ("fn f(n : Int) : Int = f(n)\nlet _v = f(1)\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0104"]),
    ("rack a { height = 48U, height = 42U }\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0110"]),
    ("rack a { height = 48U }\nrack a { height = 42U }\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0102"]),
    ("rack a { hieght = 48U }\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0106"]),
    ("rack a { }\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0108"]),
    ("let unused = 1\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0107"]),
    ("rack a[2] { height = 48U\n  host h : cpu_1u\n}\nlet _p = a[2]\nlet _x = sn5610", &["AIC0105"]),
    ("assert 1 == 2 : \"one is not {1 + 1}\"\nlet _x = sn5610\nlet _y = cpu_1u", &["AIC0120"]),
    ("let _x = 1 / 0\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0207"]),
    ("let _s = \"\\q\"\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0004"]),
    ("rack a { height = }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0001"]),
    ("rack a {\n  height = 48U\nrack b { height = 40U }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0001"]),
    ("rack a { height = 48U; }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0001"]),
    ("param n : Int\nlet _v = n\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0118"]),
    ("rack a { height = 48U }\nfabric f : ethernet { attach = a, topology : leaf_only, leaf = sn5610, racks = a }\nlet _b = cpu_1u", &["AIC0202"]),
    (
        "rack a { height = 48U\n  host h : cpu_1u\n}\nfabric f : ethernt { attach = a.h.data, topology : leaf_only, leaf = sn5610, racks = a }\nlet _q = sn5610",
        &["AIC0206"],
    ),
    ("network n { fabric = nowhere, cidr = 10.0.0.1/24 }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0101", "AIC0204"]),
    ("@allow(AIC0401, \"nothing here\")\nrack a { height = 48U }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0121"]),
    ("rack a { height = 48U, pdus = 0 - 1 }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0210"]),
    ("rack a { height = 0U }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0210"]),
    ("rack a { height = 48U, power = 99999999999999999999MW }\nlet _a = sn5610\nlet _b = cpu_1u", &["AIC0210"]),
    // Independent faults are all reported; what hangs on a faulty declaration is quiet.
    (
        "rack a { height = 48U, host h : nothing }\npool p { hosts = a.h, max_pods = many }\nqueue q { pool = p, gpus = 4 }\nlet _a = sn5610\nlet _b = cpu_1u",
        &["AIC0101", "AIC0101"],
    ),
];

#[test]
fn faults_are_said_once() {
    let mut snapshot = String::new();
    for (text, codes) in CASES {
        let (diagnostics, sources) = compile(&format!("{FRAME}{text}\n"));
        let mut found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        found.sort_unstable();
        let messages: Vec<&String> = diagnostics.iter().map(|d| &d.message).collect();
        assert_eq!(&found, codes, "{text}\n{messages:?}");
        for d in &diagnostics {
            assert!(d.help.is_some() || !d.notes.is_empty(), "{} has no help", d.code);
            let _ = writeln!(snapshot, "{}", aic::cli::render::human(d, &sources, false, true));
        }
    }
    insta::assert_snapshot!("language", snapshot);
}

#[test]
fn fixes_make_the_program_correct() {
    for (text, code) in
        [("rack a { hieght = 48U }", "AIC0106"), ("rack a { height = 48u }", "AIC0201"), ("rack a {\n  height = 48U\nrack b { height = 40U }", "AIC0001")]
    {
        let program = format!("cluster c {{ kubernetes = \"1.36\", distribution = k3s }}\n{text}\n");
        let (diagnostics, _) = compile(&program);
        let fix = diagnostics.iter().find(|d| d.code == code).and_then(|d| d.fixes.first()).unwrap_or_else(|| panic!("{text} has no fix"));
        let mut fixed = program.clone();
        for (span, replacement) in &fix.edits {
            fixed.replace_range(span.start as usize..span.end as usize, replacement);
        }
        let (left, _) = compile(&fixed);
        assert!(!left.iter().any(|d| d.code == code), "{fixed}\n{left:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Whatever stands in a file, reading it ends, and every span lies in the text.
    #[test]
    fn reading_never_fails(text in "([a-z_ \\n{}\\[\\]()=:,.\"0-9/%-]|rack |host |if |for |let |assert |\\.\\.|//){0,120}") {
        let (_, diagnostics) = aic::syntax::parse(FileId(0), &text);
        for label in diagnostics.iter().flat_map(|d| &d.labels) {
            prop_assert!(label.span.start <= label.span.end && label.span.end as usize <= text.len() + 1);
        }
    }

    /// A design with a piece cut out or put in compiles to diagnostics, never to a panic.
    #[test]
    fn edits_never_panic(at in 0_usize..5000, cut in 0_usize..40, put in "[a-z{}\\[\\]=:,.\"0-9\\n ]{0,6}") {
        let text = include_str!("../examples/atlas/cluster.aic");
        let hardware = include_str!("../examples/atlas/hardware.aic");
        let boundary = |i: usize| (i.min(text.len())..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap();
        let (from, to) = (boundary(at), boundary(at + cut));
        let edited = format!("{}{put}{}", &text[..from], &text[to..]);
        let project = BTreeMap::from([("cluster.aic".to_owned(), edited), ("hardware.aic".to_owned(), hardware.to_owned())]);
        aic::compile(&project, "cluster.aic", Options::default());
    }
}

#[test]
fn nesting_has_an_end() {
    for open in ["{", "[", "("] {
        let text = format!("let x = {}", open.repeat(20_000));
        let (_, diagnostics) = aic::syntax::parse(FileId(0), &text);
        assert_eq!(diagnostics.len(), 1);
    }
}

/// Every number of a design replaced by what nobody meant: diagnostics, never a panic.
#[test]
fn odd_numbers_never_panic() {
    let text = include_str!("../examples/atlas/cluster.aic");
    let hardware = include_str!("../examples/atlas/hardware.aic");
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|i| at + i) {
        let end = start + text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - start);
        for odd in ["0", "999999999", "99999999999999999999999999999999999999999", "3.7"] {
            let edited = format!("{}{odd}{}", &text[..start], &text[end..]);
            let project = BTreeMap::from([("cluster.aic".to_owned(), edited), ("hardware.aic".to_owned(), hardware.to_owned())]);
            aic::compile(&project, "cluster.aic", Options::default());
        }
        at = end;
    }
}

/// Every word of a design misspelt: a typo in the name of the disks once divided a checkpoint by the rate of no disks.
#[test]
fn misspelt_words_never_panic() {
    let text = include_str!("../examples/atlas/cluster.aic");
    let hardware = include_str!("../examples/atlas/hardware.aic");
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_alphabetic()).map(|i| at + i) {
        let end = start + text[start..].find(|c: char| !word(c)).unwrap_or(text.len() - start);
        let line = text[..start].rfind('\n').map_or(0, |i| i + 1);
        // Comments are not read.
        if !text[line..start].contains("//") {
            let edited = format!("{}x{}", &text[..end], &text[end..]);
            let project = BTreeMap::from([("cluster.aic".to_owned(), edited), ("hardware.aic".to_owned(), hardware.to_owned())]);
            aic::compile(&project, "cluster.aic", Options::default());
        }
        at = end;
    }
}
