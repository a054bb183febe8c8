// Python beside the page: it runs here, so that typing never waits for it.
//
// The page sends {id, question, given}; the answer has the id. Once Python is there, {started} says
// how: from the image of a memory, or afresh where that cannot be had. Everything is loaded from
// beside this file, nothing from anywhere else.

import { loadPyodide } from "pyodide";
import { afresh, remembered } from "./python_loader.js";

const HERE = new URL("./", self.location.href).href;
const OPTIONS = { indexURL: HERE };
const ready = start();

async function start() {
  try {
    const image = fetched("memory.bin").then(unpacked);
    const { default: create } = await import(`${HERE}pyodide.asm.mjs`);
    const answer = await remembered(loadPyodide, OPTIONS, create, image);
    self.postMessage({ started: "image" });
    return answer;
  } catch {
    const answer = await afresh(loadPyodide, OPTIONS, fetched("modules.bin").then(bytes));
    self.postMessage({ started: "afresh" });
    return answer;
  }
}

async function fetched(name) {
  const response = await fetch(`${HERE}${name}`);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return response;
}

function unpacked(response) {
  return bytes(new Response(response.body.pipeThrough(new DecompressionStream("gzip"))));
}

async function bytes(response) {
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
