// A thin client: it starts `celadon lsp` and hands everything to it.

const { workspace, commands } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const [command, ...args] = workspace.getConfiguration("celadon").get("command");
  client = new LanguageClient(
    "celadon",
    "Celadon",
    { command, args },
    {
      documentSelector: [{ language: "yaml" }, { language: "json", pattern: "**/*.json" }],
      synchronize: {
        fileEvents: ["**/*.{yaml,yml,json}", "**/{celadon,pyproject}.toml"].map((pattern) =>
          workspace.createFileSystemWatcher(pattern),
        ),
      },
    },
  );
  return client.start();
}

async function restart() {
  await client?.stop();
  await start();
}

function activate(context) {
  context.subscriptions.push(commands.registerCommand("celadon.restart", restart));
  return start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
