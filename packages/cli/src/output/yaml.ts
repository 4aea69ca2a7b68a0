import { Document, parseDocument, visit } from "yaml";
import { escapeHidden, hasHidden } from "../frame/printable.ts";

/** Texts that every parser reads: they begin with a letter, or have several lines. PyYAML refuses tabs. */
const UNQUOTED = /^(?:[A-Za-z]|\S[^\t]*\n)[^\t]*$/;

/**
 * Writes YAML that parsers of YAML 1.1 and 1.2 read as the same values. A parser may take a plain `=`, `1:30` or `0o7` for something other than
 * a text, so such texts are quoted. The library quotes words such as `no`.
 */
export function yamlOf(value: unknown): string {
  const document = new Document(value, { compat: "yaml-1.1" });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string") return;
      // Only a double-quoted scalar has escapes (YAML 1.2.2, section 5.7).
      if (hasHidden(node.value) || !UNQUOTED.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeHidden(
    document.toString({ lineWidth: 0 }),
    (character) => String.raw`\U${character.codePointAt(0)!.toString(16).padStart(8, "0")}`,
  );
}

/** Parses YAML 1.2 without aliases. The fault names a line and the kind of the error, and never quotes the text. */
export function parseYaml(text: string): { readonly value: unknown } | { readonly fault: string } {
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, logLevel: "error" });
  const [error] = [...document.errors, ...document.warnings];
  if (error) return { fault: `line ${text.slice(0, error.pos[0]).split("\n").length} is not YAML (${error.code})` };
  try {
    return { value: document.toJS({ maxAliasCount: 0 }) };
  } catch {
    return { fault: "has an alias (*)" };
  }
}
