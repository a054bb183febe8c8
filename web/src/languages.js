// YAML with CEL inside of it: in the fields that hold expressions, whatever style they are written in.

import { yamlLanguage } from "@codemirror/lang-yaml";
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { parseMixed } from "@lezer/common";
import { tags } from "@lezer/highlight";

const FIELDS = new Set(["expression", "messageExpression", "valueExpression", "rule"]);
const WORDS = /^(?:true|false|null|in)$/;
const MACROS = /^(?:has|all|exists|exists_one|map|filter|bind|transformList|transformMap|optMap|optFlatMap)$/;

export const celLanguage = StreamLanguage.define({
  name: "cel",
  startState: () => ({ quote: "" }),
  token(stream, state) {
    if (state.quote) return text(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return "comment";
    const opened = stream.match(/^(?:[rRbB]{0,2})("""|'''|"|')/);
    if (opened) {
      state.quote = opened[1];
      return text(stream, state);
    }
    if (stream.match(/^(?:0[xX][\da-fA-F]+u?|\d+\.?\d*(?:[eE][-+]?\d+)?u?)/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) {
      if (WORDS.test(word[0])) return "atom";
      if (stream.peek() === "(") return MACROS.test(word[0]) ? "keyword" : "function";
      return "variableName";
    }
    if (stream.match(/^(?:&&|\|\||[=!<>]=|[-+*/%<>!?:])/)) return "operator";
    stream.next();
    return "punctuation";
  },
  tokenTable: { function: tags.function(tags.variableName) },
});

/** To the end of a string, or of the line: longer ones go on below. */
function text(stream, state) {
  while (!stream.eol()) {
    if (stream.match(state.quote)) {
      state.quote = "";
      break;
    }
    if (stream.next() === "\\") stream.next();
  }
  if (stream.eol() && state.quote.length === 1) state.quote = "";
  return "string";
}

const mixed = yamlLanguage.configure({
  wrap: parseMixed((node, input) => {
    if (!["Literal", "QuotedLiteral", "BlockLiteralContent"].includes(node.name)) return null;
    let pair = node.node.parent;
    while (pair && pair.name !== "Pair") {
      if (pair.name === "Key") return null;
      pair = pair.parent;
    }
    const key = pair?.getChild("Key");
    if (!key || !FIELDS.has(input.read(key.from, key.to).replace(/["']/g, ""))) return null;
    const inset = node.name === "QuotedLiteral" ? 1 : 0;
    if (node.to - node.from <= 2 * inset) return null;
    return { parser: celLanguage.parser, overlay: [{ from: node.from + inset, to: node.to - inset }] };
  }),
});

export const yamlWithCel = new LanguageSupport(mixed);
export const cel = new LanguageSupport(celLanguage);

export const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
    { tag: [tags.number, tags.atom, tags.bool, tags.null], color: "var(--code-number)" },
    { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
    { tag: tags.function(tags.variableName), color: "var(--code-function)" },
    { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
    { tag: [tags.operator, tags.punctuation, tags.separator, tags.meta], color: "var(--code-operator)" },
  ]),
);
