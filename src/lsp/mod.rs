//! `aic lsp`: the same diagnostics in an editor, hover, go to definition, quick fixes. It calls the compiler as the command line does and has
//! no logic of its own but positions.
#![allow(clippy::disallowed_methods, reason = "an editor's files are input and output")]

mod answers;
mod positions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};

use crate::Compilation;
use crate::base::Sources;
use crate::lang::Options;
use crate::project::Disk;

/// The disk with the editor's buffers over it.
struct Overlay<'a> {
    disk: Disk,
    open: &'a BTreeMap<PathBuf, String>,
}

impl Sources for Overlay<'_> {
    fn read(&self, path: &str) -> Option<String> {
        self.open.get(&self.disk.root.join(path)).cloned().or_else(|| self.disk.read(path))
    }
}

/// A compiled program of the workspace.
pub struct Program {
    /// Its root.
    pub root: PathBuf,
    /// Its result.
    pub compilation: Compilation,
}

/// What the server knows.
#[derive(Default)]
pub struct Server {
    open: BTreeMap<PathBuf, String>,
    /// The programs of the files that are open.
    pub programs: Vec<Program>,
    published: BTreeSet<PathBuf>,
}

/// Runs the server until the editor ends it.
pub fn run() -> Result<i32, String> {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": true },
        "hoverProvider": true,
        "definitionProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
    });
    let (id, _) = connection.initialize_start().map_err(|e| e.to_string())?;
    let answer = json!({ "capabilities": capabilities, "serverInfo": { "name": "aic", "version": env!("CARGO_PKG_VERSION") } });
    connection.initialize_finish(id, answer).map_err(|e| e.to_string())?;
    let mut server = Server::default();
    let mut queue = std::collections::VecDeque::new();
    loop {
        let Some(message) = queue.pop_front().or_else(|| connection.receiver.recv().ok()) else { break };
        // What is waiting is looked at first: of several changes to one text only the last is compiled.
        queue.extend(connection.receiver.try_iter());
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                    break;
                }
                let response = respond(&server, request);
                connection.sender.send(response.into()).map_err(|e| e.to_string())?;
            }
            Message::Notification(notification) => {
                let changed = server.take(&notification);
                let more = queue.iter().any(|m| matches!(m, Message::Notification(n) if n.method == "textDocument/didChange"));
                if changed && !more {
                    let compiled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.compile()));
                    if compiled.is_ok() {
                        for message in server.publish() {
                            connection.sender.send(message.into()).map_err(|e| e.to_string())?;
                        }
                    }
                }
            }
            Message::Response(_) => {}
        }
    }
    drop(connection);
    threads.join().map_err(|e| e.to_string())?;
    Ok(0)
}

fn respond(server: &Server, request: Request) -> Response {
    let params = request.params;
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match request.method.as_str() {
        "textDocument/hover" => Some(answers::hover(server, &params)),
        "textDocument/definition" => Some(answers::definition(server, &params)),
        "textDocument/codeAction" => Some(answers::code_actions(server, &params)),
        _ => None,
    }));
    match answer {
        Ok(Some(value)) => Response::new_ok(request.id, value),
        Ok(None) => Response::new_err(request.id, ErrorCode::MethodNotFound as i32, format!("{} is not supported", request.method)),
        Err(_) => Response::new_err(request.id, ErrorCode::InternalError as i32, "aic failed on this request; please report it with the design".into()),
    }
}

/// The path of a document.
pub fn path_of(uri: &Value) -> Option<PathBuf> {
    url::Url::parse(uri.as_str()?).ok()?.to_file_path().ok()
}

/// The URI of a path.
pub fn uri_of(path: &Path) -> String {
    url::Url::from_file_path(path).map_or_else(|()| format!("file://{}", path.display()), |u| u.to_string())
}

impl Server {
    /// Takes a change; says whether anything must be compiled again.
    fn take(&mut self, notification: &Notification) -> bool {
        let document = &notification.params["textDocument"];
        let Some(path) = path_of(&document["uri"]) else { return false };
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                self.open.insert(path, document["text"].as_str().unwrap_or("").to_owned());
            }
            "textDocument/didChange" => {
                let Some(text) = notification.params["contentChanges"].as_array().and_then(|c| c.last()).and_then(|c| c["text"].as_str()) else { return false };
                self.open.insert(path, text.to_owned());
            }
            "textDocument/didClose" => {
                self.open.remove(&path);
            }
            "textDocument/didSave" => {}
            _ => return false,
        }
        true
    }

    /// Compiles the programs that the open files belong to.
    fn compile(&mut self) {
        self.programs.clear();
        let mut done: BTreeSet<(PathBuf, String)> = BTreeSet::new();
        let files: Vec<PathBuf> = self.open.keys().filter(|p| p.extension().is_some_and(|e| e == "aic")).cloned().collect();
        for file in files {
            let (root, entries) = self.entries(&file);
            let own = file.strip_prefix(&root).map(|p| p.to_string_lossy().replace('\\', "/")).unwrap_or_default();
            for entry in entries {
                if done.insert((root.clone(), entry.clone())) {
                    self.compile_one(&root, &entry);
                }
            }
            // A file that no program reads is a program of its own.
            let read = self.programs.iter().any(|p| p.root == root && p.compilation.sources.iter().any(|(_, s)| s.name == own));
            if !read && done.insert((root.clone(), own.clone())) {
                self.compile_one(&root, &own);
            }
        }
    }

    fn compile_one(&mut self, root: &Path, entry: &str) {
        let overlay = Overlay { disk: Disk { root: root.to_owned() }, open: &self.open };
        let compilation = crate::compile_with(&overlay, entry, Options::default(), true);
        self.programs.push(Program { root: root.to_owned(), compilation });
    }

    /// The root and the entry files of the project that a file is in.
    fn entries(&self, file: &Path) -> (PathBuf, Vec<String>) {
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_owned);
        let Some(root) = folder.ancestors().find(|dir| dir.join("aic.toml").is_file()).map(Path::to_owned) else {
            let cluster = folder.join("cluster.aic");
            let entry = if cluster.is_file() || self.open.contains_key(&cluster) { vec!["cluster.aic".to_owned()] } else { Vec::new() };
            return (folder, entry);
        };
        let entries = crate::project::entries(&root).unwrap_or_default();
        (root, entries)
    }

    /// Diagnostics of every file, and empty lists for those that have none any more.
    fn publish(&mut self) -> Vec<Notification> {
        let mut by_file: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
        for program in &self.programs {
            for (_, source) in program.compilation.sources.iter().filter(|(_, s)| !s.name.starts_with("std/") && !s.name.starts_with("--")) {
                by_file.entry(program.root.join(&source.name)).or_default();
            }
            for diagnostic in &program.compilation.diagnostics {
                let Some((file, value)) = answers::diagnostic(program, diagnostic) else { continue };
                let list = by_file.entry(file).or_default();
                // Two programs may share a file: what both say stands once.
                if !list.contains(&value) {
                    list.push(value);
                }
            }
        }
        let gone: Vec<PathBuf> = self.published.iter().filter(|p| !by_file.contains_key(*p)).cloned().collect();
        self.published = by_file.keys().cloned().collect();
        gone.into_iter()
            .map(|path| (path, Vec::new()))
            .chain(by_file)
            .map(|(path, diagnostics)| Notification::new("textDocument/publishDiagnostics".into(), json!({ "uri": uri_of(&path), "diagnostics": diagnostics })))
            .collect()
    }
}
