// Explanations as trees that fold: items within items, expressions with a value at every part.

import { element, shown } from "./elements.js";

export function explanation(items) {
  return element("div.tree", items.map((one) => item(one, true)));
}

function item(one, top = false) {
  const head = [element("span.label", one.label), " ", one.text && element(`span.text.${one.style}`, one.text)];
  const inner = [
    (one.lines ?? []).map((line) => element("p.dim", line)),
    one.expression && snippet(one.expression, true),
    one.source && element("pre.idle", one.source),
    (one.items ?? []).map((each) => item(each)),
  ].flat().filter(Boolean);
  if (!inner.length) return element(`p.${one.style}`, head);
  const open = top || (one.opens && one.style !== "idle");
  return element("details", { open }, element(`summary.${one.style}`, head), inner);
}

function snippet(one, open = false) {
  const told = parts(one.pieces ?? []);
  return [
    element("pre", { tabindex: "0" }, element("code", coloured(one.pieces ?? []))),
    told && element("details", { open }, element("summary", "values of its parts"), told),
    (one.loops ?? []).map(loop),
  ];
}

/** The expression, each part in the colour of what it came to. */
function coloured(pieces) {
  return pieces.map((one) => {
    if (typeof one === "string") return one;
    const title = one.state === "skipped" ? "not evaluated" : one.value;
    return element(`span.part-${one.state}`, { title }, coloured(one.pieces));
  });
}

function parts(pieces) {
  const told = pieces.filter((one) => typeof one !== "string");
  if (!told.length) return null;
  return element("ul.parts", told.map((one) => element("li",
    element("code", textOf(one.pieces)), " ",
    element(`b.part-${one.state}`, one.state === "skipped" ? "not evaluated" : one.value),
    one.cost ? element("i", ` cost ${shown(one.cost)}`) : null,
    one.state === "skipped" ? null : parts(one.pieces),
  )));
}

function loop(one) {
  const rounds = one.count === 1 ? "1 round" : `${shown(one.count)} rounds`;
  return element("details", element("summary", `${rounds} of `, element("code", one.macro)),
    one.rounds.map((each) => {
      const named = Object.entries(each.variables).map(([name, value]) => `${name} = ${value}`).join(", ");
      return element("details", { open: true }, element("summary", `${each.number}: ${named}`), snippet(each));
    }));
}

function textOf(pieces) {
  return pieces.map((one) => (typeof one === "string" ? one : textOf(one.pieces))).join("");
}
