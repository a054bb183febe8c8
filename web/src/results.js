// The right side: the verdict, and what else is to be said.

import { element, shown } from "./elements.js";
import { explanation } from "./explanation.js";

const STYLES = { denied: "bad", invalid: "bad", warned: "warning", unasked: "warning" };
const NAMES = {
  admitted: "Admitted", untouched: "Admitted: no policy looked at it", unchanged: "Unchanged",
  warned: "Admitted, with warnings", unasked: "Webhooks would be asked", denied: "Denied", invalid: "Refused as invalid",
};
const OUTCOMES = { "not asked": "would get the request" };
const KNOWN = { rules: ["no-policy"], webhook: ["no-policy", "webhook-not-asked"] }; // reasons of notices that say nothing new
const OF_COMMANDS = new Set(["no-policy", "webhook-not-asked"]); // reasons whose help is about options of `celadon check`

/** {style, body, said} of a verdict: how it looks, elements, and what a screen reader is to say. */
export function verdict(found, state, go) {
  if (found.error) return { style: "bad", body: [element("p.said.bad", found.error)], said: found.error };
  return state.mode === "expression" ? value(found, go) : report(found.report, state, go);
}

function value(found, go) {
  const problems = (found.problems ?? []).map((one) => told(one, "bad", go));
  if (found.value === undefined) {
    const message = found.message ?? "";
    const body = [message && element("p.answer", "No value"), message && element("pre", message), ...problems];
    return { style: message || problems.length ? "bad" : "waiting", body, said: message };
  }
  const { spent, limit } = found.cost;
  const cost = `${found.type}, cost ${shown(spent)} of ${shown(limit)}`;
  return { style: "good", body: [element("pre", found.value), element("p.dim", cost)], said: `Value ${found.value}` };
}

function report(found, state, go) {
  const body = [];
  const said = [];
  let style = "waiting";
  for (const one of found.objects) {
    style = worse(style, STYLES[one.verdict] ?? "good");
    said.push(heard(one));
    body.push(element(`div.${STYLES[one.verdict] ?? "good"}`, answer(one),
      one.message && element("p.sentence", one.message),
      (one.warnings ?? []).map((text) => element("p.said.warning", `Warning: ${text}`)),
      (one.violations ?? []).map((each) => violation(each, one, go)),
      (one.faults ?? []).map((each) => told({ ...each, message: `${each.field}: ${each.message}` }, "bad", go)),
      Object.entries(one.auditAnnotations ?? {}).map(([key, text]) => element("p.said.plain", `Audit annotation ${key}: ${text}`)),
      (one.webhooks ?? []).map((each) => told({ ...each.place, message: `${each.type} webhook ${each.webhook} ${OUTCOMES[each.outcome] ?? each.outcome}` }, "plain", go))));
  }
  for (const one of [...found.policyErrors, ...found.problems]) {
    style = "bad";
    said.push(one.message);
    body.push(told(one, "bad", go));
  }
  for (const one of found.notices) {
    if (KNOWN[state.mode]?.includes(one.reason)) continue;
    body.push(told({ ...one, help: OF_COMMANDS.has(one.reason) ? "" : one.help }, "warning", go));
  }
  if (!body.length) body.push(element("p.dim", "There is no object to ask about yet."));
  return { style, body, said: said.join(" ") };
}

function worse(one, other) {
  const order = ["waiting", "good", "warning", "bad"];
  return order[Math.max(order.indexOf(one), order.indexOf(other))];
}

function answer(one) {
  const code = one.code && one.allowed === false ? ` ${one.code}` : "";
  const where = `${one.operation} ${one.kind} ${one.namespace ? `${one.namespace}/` : ""}${one.name}`;
  const whose = one.generatedBy ? `, which a controller would create for ${one.generatedBy.object}` : "";
  return element("p.answer", `${NAMES[one.verdict]}${code} `, element("small", where + whose));
}

function heard(one) {
  const warnings = one.warnings?.length ? ` Warnings: ${one.warnings.join(". ")}` : "";
  return `${NAMES[one.verdict]}. ${one.kind} ${one.name}. ${one.message ?? ""}${warnings}`;
}

/** Those that the sentence is not about. */
function violation(one, object, go) {
  if (object.message?.endsWith(one.message) && object.violations.length === 1) return place(one.rule, go, "p.said.plain", "Decided by ");
  const style = one.validationActions?.includes("Deny") ? "bad" : "warning";
  return told({ ...one.rule, message: `${one.policy}: ${one.message} (${(one.validationActions ?? []).join(", ")})` }, style, go);
}

function told(one, style, go) {
  return element(`p.said.${style}`, one.message, one.help ? ` (${one.help})` : "", one.file && one.line ? button(one, go) : null);
}

function place(rule, go, what, text) {
  return rule?.line ? element(what, text, button(rule, go)) : null;
}

function button({ file, line, column }, go) {
  return element("button", { type: "button", onclick: () => go(file, line, column) }, `${file}:${line}`);
}

/** Sections about the request and its policies. */
export function details(found, go) {
  if (found.error) return [element("section", element("h2", "Explanation"), element("p.said.warning", found.error))];
  const checks = (found.typeChecking ?? []).flatMap(({ policy, status }) =>
    (status.typeChecking.expressionWarnings ?? []).map((one) => ({ policy, ...one })));
  return [
    ...(found.mutations ?? []).map((one) => section(`What the policies change in ${one.object}`, diff(one.diff))),
    found.changes && section(`Kubernetes ${found.changes.to} instead of ${found.changes.from}`, changes(found.changes)),
    found.explanation?.length && section("Why", explanation(found.explanation)),
    found.lint?.length && section(`Findings (${found.lint.length})`, findings(found.lint, go)),
    found.typeChecking?.length && section(checks.length ? `Type checking (${checks.length})` : "Type checking: nothing to warn about",
      checks.map((one) => [element("p.dim", `${one.policy} ${one.fieldRef}`), element("pre", one.warning)]), checks.length),
    found.costs?.length && section("Costs against budgets", costs(found.costs)),
  ].filter(Boolean);
}

function section(title, body, open = true) {
  return element("details", { open: Boolean(open), "data-section": title.split(/[ :(]/)[0] }, element("summary", title), body);
}

function findings(found, go) {
  return element("ul.findings", found.map((one) => element("li",
    element(`span.text.${one.severity === "error" ? "bad" : one.severity === "warning" ? "warning" : "idle"}`, one.severity), " ",
    element("code", one.code), ` ${one.message} `, button(one, go),
    one.help && element("p.dim", one.help))));
}

function costs(found) {
  const rows = found.map((one) => element("tr",
    element("td", one.field, element("span.dim", ` ${[one.policy, one.param].filter(Boolean).join(", ")}`)),
    element("td.number", `${shown(one.spent)} of ${shown(one.limit)}`),
    element("td", element("meter", { min: 0, max: 100, value: Math.min(100, (100 * one.spent) / one.limit), "aria-label": `${one.field}: share of its budget` }))));
  return element("table", element("thead", element("tr", element("th", { scope: "col" }, "Expression or phase"),
    element("th", { scope: "col" }, "Cost"), element("th", { scope: "col" }, "Share"))), element("tbody", rows));
}

function diff(lines) {
  const kinds = { "+": "added", "-": "removed", "@": "where" };
  return element("pre.diff", { tabindex: "0" }, lines.map((line) => element(`span.${kinds[line[0]] ?? "same"}`, line)));
}

function changes(found) {
  const { added, removed } = found.functions;
  return [
    found.differences.length ? null : element("p.text.good", "The answer is the same."),
    found.differences.map((one) => element("div", element("p", one.what),
      element("pre.diff", element("span.removed", `- ${text(one.before)}`), element("span.added", `+ ${text(one.after)}`)))),
    added.length ? element("p", "Functions more: ", element("code", added.join(", "))) : null,
    removed.length ? element("p", "Functions less: ", element("code", removed.join(", "))) : null,
  ];
}

function text(value) {
  return value === null || value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
}

/** What is to be marked in the editors. */
export function marks(found, detailed) {
  const all = [];
  const report = found.report;
  if (report) {
    for (const one of [...report.policyErrors, ...report.problems]) if (one.line) all.push({ ...one, severity: "error" });
    for (const object of report.objects) {
      for (const one of object.faults ?? []) if (one.line) all.push({ ...one, severity: "error", message: `${one.field}: ${one.message}` });
      for (const one of object.violations ?? []) if (one.rule?.line) all.push({ ...one.rule, severity: "warning", message: one.message });
    }
  }
  for (const one of found.problems ?? []) if (one.line) all.push({ ...one, severity: "error" });
  for (const one of detailed?.lint ?? []) all.push({ ...one, message: `${one.code}: ${one.message}` });
  return all;
}
