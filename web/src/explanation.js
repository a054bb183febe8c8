// Explanations as trees that fold: items within items, expressions with a value at every part. What is
// folded is not made before it is opened: a loop of many rounds would keep the page busy.

import { element, shown } from "./elements.js";

/** A `details` whose inside `make` makes, once it is to be seen. */
function folding(open, summary, make) {
  const made = element("details", { open }, summary);
  if (open) made.append(...inside(make));
  else made.addEventListener("toggle", () => made.append(...inside(make)), { once: true });
  return made;
}

function inside(make) {
  return [make()].flat(Infinity).filter(Boolean);
}

export function explanation(items) {
  return element("div.tree", items.map((one) => item(one, true)));
}

function item(one, top = false) {
  const head = [element("span.label", one.label), " ", one.text && element(`span.text.${one.style}`, one.text)];
  if (!one.lines?.length && !one.expression && !one.source && !one.items?.length) return element(`p.${one.style}`, head);
  const open = Boolean(top || (one.opens && one.style !== "idle"));
  return folding(open, element(`summary.${one.style}`, head), () => [
    (one.lines ?? []).map((line) => element("p.dim", line)),
    one.expression && snippet(one.expression, true),
    one.source && element("pre.idle", one.source),
    (one.items ?? []).map((each) => item(each)),
  ]);
}

function snippet(one, open = false) {
  const pieces = one.pieces ?? [];
  return [
    element("pre", { tabindex: "0" }, element("code", coloured(pieces))),
    pieces.some((each) => typeof each !== "string") && folding(open, element("summary", "values of its parts"), () => parts(pieces)),
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
  return folding(false, element("summary", `${rounds} of `, element("code", one.macro)), () => one.rounds.map((each) => {
    const named = Object.entries(each.variables).map(([name, value]) => `${name} = ${value}`).join(", ");
    return folding(true, element("summary", `${each.number}: ${named}`), () => snippet(each));
  }));
}

function textOf(pieces) {
  return pieces.map((one) => (typeof one === "string" ? one : textOf(one.pieces))).join("");
}
