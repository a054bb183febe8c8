// Where one types: which kind, and which fields lead there. What may stand there is known to Python.

const MOST_LINES = 4_000; // that are looked at above the cursor

/** For CodeMirror: names of fields in YAML, and behind dots in expressions. */
export function completer(ask, stateNow) {
  return async function complete(pane, context) {
    const chain = context.matchBefore(/\b(?:object|oldObject|self|oldSelf)(?:\.\??\w+|\[\d+\])*\.\??\w*/);
    if (chain) return inExpression(chain);
    if (pane === "expression") return null;
    const line = context.state.doc.lineAt(context.pos);
    const word = /^[\s-]*(\w*)$/.exec(line.text.slice(0, context.pos - line.from));
    if (!word || (!word[1] && !context.explicit)) return null;
    const { apiVersion, kind, path } = above(context.state.doc, line);
    return options(context.pos - word[1].length, { apiVersion, kind, path }, (label) => `${label}: `);
  };

  async function inExpression(chain) {
    const steps = chain.text.replace(/\[\d+\]/g, "").split(/\.\??/);
    const { apiVersion, kind } = kindOf(stateNow().panes.object ?? "");
    const typed = steps.at(-1).length;
    return options(chain.to - typed, { apiVersion, kind, path: steps.slice(1, -1) }, (label) => label);
  }

  async function options(from, place, text) {
    if (!place.kind) return null;
    const { completions = [] } = await ask("complete", { state: stateNow(), ...place });
    return completions.length ? { from, options: completions.map((one) => ({ ...one, type: "property", apply: text(one.label) })), validFor: /^\w*$/ } : null;
  }
}

function kindOf(text) {
  const of = (name) => new RegExp(`^${name}:\\s*["']?([\\w./-]+)`, "m").exec(text)?.[1] ?? "";
  return { apiVersion: of("apiVersion"), kind: of("kind") };
}

/** The keys above a line that are less indented, up to the beginning of the document. */
function above(doc, line) {
  let indent = /^\s*(?:-\s+)*/.exec(line.text)[0].length;
  const path = [];
  let first = line.number;
  while (first > 1 && line.number - first < MOST_LINES && !doc.line(first - 1).text.startsWith("---")) {
    first -= 1;
    const [, lead, key] = /^(\s*(?:-\s+)*)["']?([\w./-]+)["']?:/.exec(doc.line(first).text) ?? [];
    if (key !== undefined && lead.replace(/-\s+$/, "").length < indent && lead.length < indent) {
      path.unshift(key);
      indent = /^\s*/.exec(lead)[0].length;
    }
  }
  let last = line.number;
  while (last < doc.lines && !doc.line(last + 1).text.startsWith("---")) last += 1;
  return { path, ...kindOf(doc.sliceString(doc.line(first).from, doc.line(last).to)) };
}
