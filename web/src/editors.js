// Two editors, each for a group of panes with tabs above it. They live in shadow roots: there
// CodeMirror can style itself without inline styles, which the page's policy forbids.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { cel, highlighting, yamlWithCel } from "./languages.js";

const THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "13.5px", color: "var(--ink)", backgroundColor: "var(--code)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--dim)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  ".cm-placeholder": { color: "var(--dim)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic": { padding: "4px 8px", maxWidth: "34rem" },
  ".cm-matchingBracket": { backgroundColor: "var(--selection)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--line)", color: "var(--ink)", border: "none", padding: "0 4px" },
});

export class Editors {
  /** `texts` are those of all panes; `changed(pane)` is called while one types in it. */
  constructor(texts, changed, complete) {
    this.texts = texts;
    this.changed = changed;
    this.complete = complete;
    this.states = new Map();
    this.views = new Map();
    this.shown = new Map();
  }

  /** Puts an editor into an element. */
  mount(group, host) {
    const root = host.attachShadow({ mode: "open" });
    this.views.set(group, new EditorView({ parent: root, root, state: EditorState.create() }));
  }

  show(group, pane) {
    const view = this.views.get(group);
    const before = this.shown.get(group);
    if (before) this.states.set(before.name, view.state);
    this.shown.set(group, pane);
    let state = this.states.get(pane.name);
    if (!state || state.doc.toString() !== (this.texts[pane.name] ?? "")) state = this.fresh(pane);
    view.setState(state);
  }

  /** All texts are others than before. */
  replace(texts) {
    this.texts = texts;
    this.states.clear();
    for (const [group, pane] of this.shown) this.views.get(group).setState(this.fresh(pane));
  }

  fresh(pane) {
    const language = pane.name === "expression" ? cel : yamlWithCel;
    return EditorState.create({
      doc: this.texts[pane.name] ?? "",
      extensions: [
        lineNumbers(), foldGutter(), history(), drawSelection(), highlightSpecialChars(), indentOnInput(),
        bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
        indentUnit.of("  "), language, highlighting, THEME,
        autocompletion({ override: [(context) => this.complete(pane.name, context)] }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": `${pane.label}: ${pane.hint}`, spellcheck: "false", tabindex: "0" }),
        placeholder(pane.hint),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.texts[pane.name] = update.state.doc.toString();
          this.changed(pane.name);
        }),
      ],
    });
  }

  /** Marks what is wrong in the panes that are to be seen. `found` are {file, line, column, ...}. */
  mark(found) {
    for (const [group, pane] of this.shown) {
      const view = this.views.get(group);
      const own = found.filter((one) => one.file === pane.name && one.line <= view.state.doc.lines);
      view.dispatch(setDiagnostics(view.state, own.map((one) => diagnostic(view.state.doc, one))));
    }
  }

  /** Goes to a place in a pane that is shown in a group. */
  go(group, line, column) {
    const view = this.views.get(group);
    const { from } = diagnostic(view.state.doc, { line: Math.min(line, view.state.doc.lines), column });
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    view.focus();
  }
}

/** From a line and a column, which counts code points, to offsets; to the end of the word there. */
function diagnostic(doc, { line, column, severity = "error", message = "" }) {
  const found = doc.line(Math.max(line, 1));
  const indent = found.text.length - found.text.trimStart().length;
  const skipped = column ? [...found.text].slice(0, column - 1).join("").length : indent;
  const from = Math.min(found.from + skipped, found.to);
  const word = /^[\w.]+|^\S+/.exec(found.text.slice(skipped));
  const to = column ? Math.min(from + (word?.[0].length ?? 1), found.to) : found.to;
  return { from, to: Math.max(to, from), severity, message };
}
