// The whole state of the page in the fragment of a link: "#1." and JSON, deflated, in base64url.
// Nobody but the page reads a fragment: browsers do not send it to servers.

export const VERSION = "1";
export const MOST_LINK = 64_000; // characters; chats and mail cut longer ones
const MOST_STATE = 1_200_000; // bytes that a link may unfold to

/** The fragment for a state, or null if it would be too long. */
export async function fragmentOf(state) {
  const text = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(text, new CompressionStream("deflate-raw"), Infinity);
  const fragment = `#${VERSION}.${base64(packed)}`;
  return fragment.length > MOST_LINK ? null : fragment;
}

/** The state of a fragment; throws an Error whose message is for people. */
export async function stateOf(fragment) {
  const found = /^#(\d+)\.([\w-]*)$/.exec(fragment);
  if (!found) throw new Error("This link is damaged: it does not look like one of the playground.");
  if (found[1] !== VERSION) {
    throw new Error(`This link is of version ${found[1]}; this playground reads version ${VERSION}.`);
  }
  if (fragment.length > MOST_LINK) throw new Error("This link is too long to be one of the playground.");
  let text;
  try {
    text = await through(unbase64(found[2]), new DecompressionStream("deflate-raw"), MOST_STATE);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("What this link holds is too large.");
    throw new Error("This link is damaged: a part of it is missing or changed.");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new Error("This link is damaged: what it holds is no state of the playground.");
  }
}

async function through(bytes, stream, most) {
  const parts = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    size += value.length;
    if (size > most) throw new RangeError("too large");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function unbase64(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}
