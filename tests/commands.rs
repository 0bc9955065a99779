//! The commands as a user calls them: exit codes, JSON, the language server over its streams.
#![allow(clippy::disallowed_methods, reason = "these tests run the program")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

fn aic(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_aic")).current_dir(dir).args(arguments).output().unwrap();
    (out.status.code().unwrap(), String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn new_check_build_diff() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(aic(dir.path(), &["new", "lab"]).0, 0);
    let lab = dir.path().join("lab");
    let (code, out, _) = aic(&lab, &["check"]);
    assert_eq!(code, 0, "{out}");
    let (code, out, _) = aic(&lab, &["build"]);
    assert_eq!(code, 0);
    assert!(out.contains("3 hosts") && out.contains("README.md"), "{out}");
    assert!(lab.join("build/kubernetes/kustomization.yaml").is_file());
    let (code, out, _) = aic(&lab, &["diff", "build", "cluster.aic"]);
    assert_eq!((code, out.trim()), (0, "no difference"));
    let text = std::fs::read_to_string(lab.join("cluster.aic")).unwrap();
    std::fs::write(lab.join("cluster.aic"), text.replace("gpus = 8 }", "gpus = 6 }")).unwrap();
    let (_, out, _) = aic(&lab, &["diff", "build", "cluster.aic"]);
    assert!(out.contains("nominalQuota: 8 → 6") && out.contains("ClusterQueue everyone"), "{out}");
    // Errors write nothing.
    std::fs::write(lab.join("cluster.aic"), text.replace("gpus = 8 }", "gpus = 80 }")).unwrap();
    let before = std::fs::read_to_string(lab.join("build/plan.json")).unwrap();
    assert_eq!(aic(&lab, &["build"]).0, 1);
    assert_eq!(std::fs::read_to_string(lab.join("build/plan.json")).unwrap(), before);
}

#[test]
fn json_is_one_object() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("cluster.aic"), "cluster c { kubernetes = \"1.36\", distribution = k3s }\nrack a { hieght = 48U }\n").unwrap();
    let (code, out, _) = aic(dir.path(), &["check", "--format", "json"]);
    assert_eq!(code, 1);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["summary"], serde_json::json!({ "errors": 1, "warnings": 0 }));
    let d = &value["diagnostics"][0];
    assert_eq!((d["code"].as_str(), d["severity"].as_str()), (Some("AIC0106"), Some("error")));
    assert_eq!(d["labels"][0]["start"], serde_json::json!({ "line": 2, "column": 10 }));
    assert_eq!(d["labels"][0]["end"], serde_json::json!({ "line": 2, "column": 16 }));
    assert_eq!(d["labels"][0]["file"], "cluster.aic");
}

#[test]
fn exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(aic(dir.path(), &["check"]).0, 2, "no file");
    assert_eq!(aic(dir.path(), &["frobnicate"]).0, 2);
    assert_eq!(aic(dir.path(), &["explain", "AIC9999"]).0, 2);
    assert_eq!(aic(dir.path(), &["explain", "AIC0602"]).0, 0);
    assert_eq!(aic(dir.path(), &["--help"]).0, 0);
    std::fs::write(dir.path().join("cluster.aic"), "let unused = 1\ncluster c { kubernetes = \"1.36\", distribution = k3s }\n").unwrap();
    assert_eq!(aic(dir.path(), &["check"]).0, 0);
    assert_eq!(aic(dir.path(), &["check", "--deny-warnings"]).0, 1);
    assert_eq!(aic(dir.path(), &["check", "--set", "nothing=1"]).0, 1);
    assert_eq!(aic(dir.path(), &["check", "--set", "nothing"]).0, 2);
}

#[test]
fn what_is_not_emitted_is_an_error_of_build_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("cluster.aic"), "cluster c { kubernetes = \"1.36\", distribution = k3s, autoscaling { controller = keda } }\n").unwrap();
    assert_eq!(aic(dir.path(), &["check"]).0, 0);
    let (code, _, error) = aic(dir.path(), &["build", "--color", "never"]);
    assert!(code == 1 && error.contains("AIC1490") && error.contains("an autoscaling controller"), "{error}");
    assert!(!dir.path().join("build").exists());
    let (code, out, _) = aic(dir.path(), &["build", "--emit", "plan"]);
    assert_eq!(code, 0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["format"], 1);
}

#[test]
fn every_code_is_explained() {
    let (_, list, _) = aic(Path::new("."), &["explain"]);
    for line in list.lines() {
        let code = line.split(' ').next().unwrap();
        assert!(aic::rules::find(code).is_some() || aic::lang::codes::language_code(code).is_some(), "{code}");
    }
}

#[test]
fn the_generated_reference_is_current() {
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md")).unwrap();
    assert!(reference.trim_end() == aic::schema::print::markdown().trim_end(), "run `aic schema --markdown > docs/reference.md`");
}

#[test]
fn the_language_server_answers() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cluster.aic");
    let text = "cluster c { kubernetes = \"1.36\", distribution = k3s }\nlet size = 48U\nrack a { height = size }\nrack b { hieght = 48U }\n";
    std::fs::write(&file, text).unwrap();
    let uri = format!("file://{}", file.display());
    let mut server = Command::new(env!("CARGO_BIN_EXE_aic")).arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut send = |value: serde_json::Value| {
        let body = value.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    };
    let mut receive = || -> serde_json::Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(n) = line.strip_prefix("Content-Length: ") {
                length = n.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    };
    let request = |id: u32, method: &str, params: serde_json::Value| serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let notify = |method: &str, params: serde_json::Value| serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params });
    send(request(1, "initialize", serde_json::json!({ "capabilities": {} })));
    assert_eq!(receive()["result"]["capabilities"]["hoverProvider"], true);
    send(notify("initialized", serde_json::json!({})));
    send(notify("textDocument/didOpen", serde_json::json!({ "textDocument": { "uri": uri, "languageId": "aic", "version": 1, "text": text } })));
    let published = receive();
    assert_eq!(published["method"], "textDocument/publishDiagnostics");
    assert_eq!(published["params"]["diagnostics"][0]["code"], "AIC0106");
    let at = |line: u32, character: u32| serde_json::json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
    send(request(2, "textDocument/hover", at(2, 19)));
    assert!(receive()["result"]["contents"]["value"].as_str().unwrap().contains("48U"));
    send(request(6, "textDocument/hover", at(2, 1)));
    let left_out = receive()["result"]["contents"]["value"].as_str().unwrap().to_owned();
    assert!(left_out.contains("Not written here") && left_out.contains("- `pdus = ") && !left_out.contains("`height"), "{left_out}");
    send(request(3, "textDocument/definition", at(2, 19)));
    assert_eq!(receive()["result"]["range"]["start"]["line"], 1);
    let range = serde_json::json!({ "start": { "line": 3, "character": 10 }, "end": { "line": 3, "character": 10 } });
    send(request(4, "textDocument/codeAction", serde_json::json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } })));
    assert_eq!(receive()["result"][0]["edit"]["changes"][&uri][0]["newText"], "height");
    send(request(5, "shutdown", serde_json::Value::Null));
    receive();
    send(notify("exit", serde_json::Value::Null));
    assert!(server.wait().unwrap().success());
}

#[test]
fn images_are_listed_with_their_mirror() {
    let dir = tempfile::tempdir().unwrap();
    let atlas = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/atlas");
    for name in ["cluster.aic", "hardware.aic"] {
        let text = std::fs::read_to_string(atlas.join(name)).unwrap();
        std::fs::write(dir.path().join(name), text.replace("distribution = kubeadm", "distribution = kubeadm\n  images { mirror = \"mirror.example\" }"))
            .unwrap();
    }
    let (code, out, error) = aic(dir.path(), &["images"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("quay.io/ceph/ceph:v20.2.4\tmirror.example/ceph/ceph:v20.2.4"), "{out}");
}
