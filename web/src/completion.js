// Completion: Python knows what may stand in an expression. Elsewhere in YAML it is asked which fields
// an object has at a place, and the place (its kind, and the fields that lead there) is found here.

const MOST_LINES = 4_000; // that are looked at above the cursor

/** For CodeMirror: names of fields in YAML, and everything that an expression may go on with. */
export function completer(ask, stateNow) {
  return async function complete(pane, context) {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const [word] = /\w*$/.exec(before);
    if (!context.explicit && !word && !/\w[)\]"']*\.\??$/.test(before)) return null;
    const place = { line: line.number - 1, character: before.length, ...above(context.state.doc, line) };
    const { typed = word.length, completions, fields = [] } = await ask("complete", { state: stateNow(), pane, ...place });
    const isKey = /^[\s-]*\w*$/.test(before) && place.kind;
    const options = completions ?? (isKey ? fields.map((one) => ({ ...one, type: "property", apply: `${one.label}: ` })) : []);
    return options.length ? { from: context.pos - typed, options: options.map(shown), validFor: /^\w*$/ } : null;
  };
}

function shown({ info, ...option }) {
  return info ? { ...option, info: info.replace(/```\w*\n?|`/g, "").split("\n\n---")[0].trim() } : option;
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
