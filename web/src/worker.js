// Python beside the page: it runs here, so that typing never waits for it.
//
// The page sends {id, question, given}; the answer has the id. Once Python is there, {started} says
// how: from the image of a memory, or afresh where that cannot be had. Everything is loaded from
// beside this file, nothing from anywhere else. What proves is loaded with the first question of it,
// and such questions send {id, news} before the answer. After an answer that is `broken`, nothing
// more is to be had of this worker.

import { loadPyodide } from "pyodide";
import { learnToProve, loaded, remembered } from "./python_loader.js";

const HERE = new URL("./", self.location.href).href;
const OPTIONS = { indexURL: HERE };
const PROOFS = new Set(["prove", "diff", "claim"]);
const ready = start();
const answer = ready.then((python) => python.globals.get("answer"));
let proof; // once somebody asks for one

async function start() {
  try {
    const image = fetched("memory.bin").then(unpacked);
    const { default: create } = await import(`${HERE}pyodide.asm.mjs`);
    const python = await remembered(loadPyodide, OPTIONS, create, image);
    self.postMessage({ started: "image" });
    return python;
  } catch {
    const python = await loaded(loadPyodide, OPTIONS, fetched("modules.bin").then(bytes));
    self.postMessage({ started: "afresh" });
    return python;
  }
}

/** Celadon's `proof`, once what it needs is loaded; `tell` hears how many bytes of how many are there. */
async function proving(tell) {
  const response = await fetched("prover.bin");
  const size = Number(response.headers.get("content-length"));
  let received = 0;
  const counted = new TransformStream({
    transform(part, stream) {
      received += part.length;
      tell({ received, size });
      stream.enqueue(part);
    },
  });
  const pack = await unpacked(new Response(response.body.pipeThrough(counted)));
  return learnToProve(await ready, pack);
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
  const tell = (news) => self.postMessage({ id, news });
  try {
    const text = JSON.stringify(given);
    const found = PROOFS.has(question)
      ? (await (proof ??= proving(tell)))(question, text, (news) => tell(JSON.parse(news)))
      : (await answer)(question, text);
    self.postMessage({ id, answer: JSON.parse(found) });
  } catch (error) {
    self.postMessage({ id, answer: { error: `the playground cannot go on: ${error.message}`, broken: true } });
  }
};
