import { type JsonValue, parseJson } from "../../json.ts";
import { sourceFault } from "../../error.ts";

/**
 * The JSON documents of a text: one, several one after the other as a shell's loop writes them, or an array of them.
 * A number that JavaScript cannot hold exactly is read as a text of its digits.
 */
export function parseDocuments(text: string): JsonValue[] {
  const documents = splitDocuments(text).map((part, n) => parseJson(part, `Document ${n + 1}`));
  if (documents.length === 0) throw sourceFault("The file", "has no JSON");
  return documents.flatMap((document) => (Array.isArray(document.value) ? document.list() : [document]));
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function splitDocuments(text: string): string[] {
  const documents: string[] = [];
  let [depth, document, copied] = [0, "", 0];
  const flush = (until: number) => {
    document += text.slice(copied, until);
    copied = until;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if ("-0123456789".includes(character)) {
      NUMBER.lastIndex = at;
      const digits = NUMBER.exec(text)?.[0];
      if (digits === undefined) continue; // the parser says what is wrong
      if (String(Number(digits)) !== digits) {
        flush(at);
        document += JSON.stringify(digits);
        copied = at + digits.length;
      }
      at += digits.length - 1;
    } else if ("{[".includes(character)) depth++;
    else if ("}]".includes(character) && --depth === 0) {
      flush(at + 1);
      documents.push(document);
      document = "";
    }
  }
  flush(text.length);
  // What is left is no whole document: the parser says so.
  return document.trim() === "" ? documents : [...documents, document];
}

/** The index of the closing quote. In: that of the opening one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
