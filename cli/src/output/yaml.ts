import { Document, visit } from "yaml";
import { escapeHidden, hasHidden } from "../frame/printable.ts";

/** YAML that parsers of YAML 1.1 and 1.2 read as the same values: the former take a plain `no` or `1:30` for no string. */
export function yamlOf(value: unknown): string {
  const document = new Document(value, { compat: "yaml-1.1" });
  // Only a double-quoted scalar has escapes (YAML 1.2.2, section 5.7).
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && hasHidden(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeHidden(
    document.toString({ lineWidth: 0 }),
    (character) => String.raw`\U${character.codePointAt(0)!.toString(16).padStart(8, "0")}`,
  );
}
