// The tab of proofs: questions about the policies in the panes, for a worker with a solver that
// begins with the first of them, and their answers as cards. A request that shows something can be
// put into the panes.

import { Asker } from "./asker.js";
import { element } from "./elements.js";

const PATIENCE = 30; // times the seconds of an answer without a word; the solver's own limits come first
const MOST_LINES = 40; // of an example that is not folded
const BY = { denied: "bad", warned: "warning", audited: "warning", admitted: "good" };
const $ = (id) => document.getElementById(id);

export class Proofs {
  /** `state` gives that of the page, `go` leads to a place in a pane, `decide` puts an example there. */
  constructor(worker, state, go, decide) {
    Object.assign(this, { state, go, decide, asker: new Asker(worker, { idle: true }) });
    for (const one of document.querySelectorAll("[data-proof]")) one.addEventListener("click", () => this.ask(one.dataset.proof));
    $("end").addEventListener("click", () => this.asker.stop("stopped"));
  }

  async ask(question) {
    if (this.since) return;
    this.since = performance.now();
    this.show(true);
    $("proof-answers").replaceChildren();
    const given = { state: structuredClone(this.state()), items: Number($("items").value), seconds: Number($("seconds").value) };
    this.asker.patience = PATIENCE * given.seconds * 1_000;
    this.say("loading Python");
    const clock = setInterval(() => this.say(), 1_000);
    const found = await this.asker.ask(question, given, (news) => this.hear(news));
    clearInterval(clock);
    const said = found.error ?? [found.summary ?? found.report.summary.answer].flat().join("; ");
    const taken = ((performance.now() - this.since) / 1_000).toFixed(1);
    this.since = 0;
    this.show(false);
    $("proof-progress").textContent = found.error ? "" : `${said || "nothing was asked"} (${taken} seconds)`;
    $("proof-heard").textContent = said;
    $("proof-answers").append(...this.cards(found));
    if (JSON.stringify(given.state.panes) !== JSON.stringify(this.state().panes)) this.outdate();
    $("proofs").dataset.answered = String(Number($("proofs").dataset.answered ?? 0) + 1);
  }

  show(busy) {
    $("proofs").setAttribute("aria-busy", String(busy));
    $("end").hidden = !busy;
    for (const one of document.querySelectorAll("[data-proof]")) one.setAttribute("aria-disabled", String(busy));
    $("proof-heard").textContent = "";
  }

  hear({ received, size, progress, item }) {
    if (received) this.say(received === size ? "starting the solver" : `loading the solver, ${megabytes(received)} of ${megabytes(size)} MB`);
    if (progress) this.say(progress);
    if (item?.isTold) $("proof-answers").append(this.item(item));
  }

  /** What is being done, and for how long. */
  say(doing = this.doing) {
    this.doing = doing;
    $("proof-progress").textContent = `${doing} … ${Math.round((performance.now() - this.since) / 1_000)} s`;
  }

  /** Answers that are shown are about texts that are no longer there. */
  outdate() {
    const shown = $("proof-answers");
    if (this.since || !shown.children.length || shown.querySelector(".outdated")) return;
    shown.prepend(element("p.said.plain.outdated", "These answers are about the texts as they were."));
  }

  // --- cards ----------------------------------------------------------------------------------

  cards({ error, stopped, problems = [], report }) {
    const cards = [];
    if (error) cards.push(element(`section.proof.${stopped ? "warning" : "bad"}`, element("p", error)));
    for (const one of [...problems, ...(report?.policyErrors ?? []), ...(report?.problems ?? [])]) cards.push(this.problem(one));
    if (!report) return cards;
    for (const alike of grouped(report.answers.filter((one) => one.example))) cards.push(this.counterexample(alike));
    const undecided = [...report.answers.filter((one) => one.answer === "not decided"), ...(report.unseen ?? []).map((one) => ({ reasons: [one] }))];
    if (undecided.length) cards.push(card("warning", "not decided", undecided.flatMap(({ reasons = [], ...one }) =>
      reasons.map((reason) => element("li", `${about(one)}${reason.message}`, this.place(reason))))));
    const proved = report.answers.filter((one) => !one.example && one.answer !== "not decided");
    const lines = new Set(proved.map((one) => `${about(one)}${one.answer}${bound(one)}${way(one, report.answers)}`));
    const title = proved.some((one) => one.items) ? "proved, or nothing found" : "proved";
    if (lines.size) cards.push(card("good", title, [...lines].map((one) => element("li", one))));
    for (const one of report.notices) cards.push(element("section.proof", element("p.dim", one)));
    return cards;
  }

  problem(one) {
    return element("section.proof.bad", element("h3", one.message, this.place(one)), one.help && element("p.dim", one.help));
  }

  /** What `celadon prove` says of a place in a policy or definition. */
  item({ policy, definition, field, place, remarks, examples }) {
    const styles = remarks.map((one) => (one.isFault ? "bad" : one.title.endsWith("(proved)") ? "good" : "warning"));
    const style = ["bad", "warning", "good"].find((one) => styles.includes(one)) ?? "good";
    return card(style, `${policy ?? definition} ${field}`, remarks.map((one, n) =>
      element("li", element(`strong.text.${styles[n]}`, one.title), one.text && `: ${one.text}`)),
    this.place(place), examples.map((one) => this.example(one)));
  }

  /** A request that is decided differently, or speaks against a property, and those like it. */
  counterexample([first, ...others]) {
    const { example } = first;
    const sides = first.direction ? [["before", example.old], ["now", example.new]] : [["", example]];
    return card("bad", `${about(first)}${first.direction ?? first.answer}`, [
      first.claim && element("li", first.claim),
      others.length > 0 && element("li", `also ${others.map(endpoint).join(", ")}`),
      sides.map(([side, { verdict, against = [] }]) => element("li", side && `${side}: `, element(`strong.text.${BY[verdict] ?? "good"}`, verdict),
        against.map((one) => element("p.dim", `${one.policy}: ${one.message}`, this.place(one))))),
      example.remark && element("li.dim", example.remark),
    ], this.place(first), this.example(example));
  }

  /** What stands in each pane, and a button that puts it there. */
  example(one) {
    const texts = Object.entries(one.panes).filter(([pane, text]) => text && text !== this.state().panes[pane]);
    const lines = texts.reduce((sum, [, text]) => sum + text.split("\n").length, 0);
    const shown = element("details", { open: lines <= MOST_LINES }, element("summary", [one.title || "for instance", one.operation].join(", ")),
      texts.map(([pane, text]) => [pane !== "object" && element("p.dim", pane), element("pre", { tabindex: "0" }, text)]));
    return [shown, element("button", { type: "button", onclick: () => this.decide(one) }, "Decide this request")];
  }

  place({ file, line, column }) {
    return file && line ? element("button", { type: "button", onclick: () => this.go(file, line, column) }, `${file}:${line}`) : null;
  }
}

function card(style, title, lines, place = null, more = []) {
  return element(`section.proof.${style}`, element("h3", title, place), element("ul", lines), more);
}

function endpoint({ operation, kind }) {
  return operation === "STORED" ? `stored ${kind}` : `${operation} of ${kind}`;
}

/** `CREATE of Pod: `, with the name of a property in front. */
function about({ name, operation, kind, direction, answer }) {
  const words = [name, operation && endpoint({ operation, kind }), answer === "not decided" && direction && `${direction}?`];
  const text = words.filter(Boolean).join(" ");
  return text && `${text}: `;
}

/** Which way there is no difference, if there may be one the other way. */
function way({ operation, kind, apiVersion, direction, answer }, answers) {
  const alike = answers.filter((one) => one.operation === operation && one.kind === kind && one.apiVersion === apiVersion);
  return !direction || alike.every((one) => one.answer === answer) ? "" : `, not ${direction}`;
}

/** How far an answer holds. */
function bound({ direction, items, bounded = [] }) {
  if (items) return ` with at most ${items} items in ${bounded.join(", ")}`;
  return direction ? " (proved)" : "";
}

/** Answers that are due to the same things, of which one request is enough. */
function grouped(answers) {
  const groups = new Map();
  for (const one of answers) {
    const causes = [one.example, one.example.old, one.example.new].map((side) => [side?.verdict, side?.against?.map(({ policy, binding, field }) => [policy, binding, field])]);
    const key = JSON.stringify([one.name, one.direction, causes]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
