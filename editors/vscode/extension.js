// Starts `aic lsp`; everything else is the server's.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("aic").get("path", "aic");
  client = new LanguageClient("aic", "aic", { command, args: ["lsp"] }, { documentSelector: [{ scheme: "file", language: "aic" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
