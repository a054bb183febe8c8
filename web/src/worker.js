// Python beside the page: it runs here, so that typing never waits for it.
//
// The page sends {id, question, given}; the answer has the id. Everything is loaded from beside this
// file, nothing from anywhere else.

import { loadPyodide } from "pyodide";
import { LOADER } from "./python_loader.js";

const HERE = new URL("./", self.location.href).href;
const ready = start();

async function start() {
  const [python, modules] = await Promise.all([
    loadPyodide({ indexURL: HERE, packages: [] }),
    fetch(`${HERE}modules.bin`).then(bytes),
  ]);
  python.globals.set("PACKED", modules);
  const answer = python.runPython(LOADER);
  python.globals.delete("PACKED");
  return answer;
}

async function bytes(response) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

self.onmessage = async ({ data: { id, question, given } }) => {
  try {
    const answer = await ready;
    self.postMessage({ id, answer: JSON.parse(answer(question, JSON.stringify(given))) });
  } catch (error) {
    self.postMessage({ id, answer: { error: `the playground could not be loaded: ${error.message}` } });
  }
};
