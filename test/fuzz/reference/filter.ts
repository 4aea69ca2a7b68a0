/** Reference parser of filters for Items (contract 5), character by character, for filters.test.ts. */

const TERMS = new Set(["title eq", "title co", "tag eq", "category eq", "favorite eq"]);
/** The categories that the test uses. */
const CATEGORIES = new Set(["LOGIN", "SSH_KEY", "CUSTOM"]);
type Term = [words: string, value: string];

const isBlank = (character: string | undefined) => character !== undefined && /\s/.test(character);
const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);

/** The position after the longest run of matching characters that begins at `from`. */
function skip(text: string, from: number, matches: (character: string | undefined) => boolean): number {
  let at = from;
  while (matches(text[at])) at++;
  return at;
}

/** Reads one word and the blanks after it, of which there must be at least one. */
function readWord(text: string, from: number): [word: string, next: number] | undefined {
  const end = skip(text, from, isWord);
  const next = skip(text, end, isBlank);
  return end > from && next > end ? [text.slice(from, end), next] : undefined;
}

/** Reads attribute and operator. */
function readWords(text: string, from: number): [words: string, next: number] | undefined {
  const attribute = readWord(text, from);
  const operator = attribute && readWord(text, attribute[1]);
  return attribute && operator ? [`${attribute[0]} ${operator[0]}`.toLowerCase(), operator[1]] : undefined;
}

/** The position of the next term, if an `and` and a supported term begin at `from`. */
function nextTerm(text: string, from: number): number | undefined {
  const and = readWord(text, skip(text, from, isBlank));
  if (!isBlank(text[from]) || and?.[0].toLowerCase() !== "and") return undefined;
  return TERMS.has(readWords(text, and[1])?.[0] ?? "") ? and[1] : undefined;
}

/** The terms of a filter; `undefined` when it is malformed. `split`: whether an `and` ends a value. */
function readTerms(text: string, split: boolean, start = 0): Term[] | undefined {
  const words = readWords(text, skip(text, start, isBlank));
  if (!words || !TERMS.has(words[0])) return undefined;
  const [name, from] = words;
  const quoted = text[from] === '"';
  const ends = quoted ? quotes(text).filter((at) => at > from) : [skip(text, from, isWord) - 1];
  for (const end of split ? ends : ends.slice(-1)) {
    const next = quoted && isEscaped(text, end) ? undefined : nextTerm(text, end + 1);
    const last = end === ends.at(-1);
    if (next === undefined && !(last && text.slice(end + 1).trim() === "")) continue;
    const operand = text.slice(from, end + 1);
    if (!allowed(name, operand)) return undefined;
    const value = quoted ? operand.slice(1, -1) : operand;
    const rest = next === undefined ? [] : split ? readTerms(text, split, next) : undefined;
    return rest && [[name, value], ...rest];
  }
  return undefined;
}

const OPERATORS = new Set(["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"]);

/** Whether an `or` and a term, also an unknown one, begin at `from`. */
function isAlternative(text: string, from: number): boolean {
  const or = readWord(text, skip(text, from, isBlank));
  const words = isBlank(text[from]) && or?.[0].toLowerCase() === "or" ? readWords(text, or[1]) : undefined;
  const operand = words && text[words[1]];
  return OPERATORS.has(words?.[0].split(" ")[1] ?? "") && (operand === '"' || isWord(operand));
}

/** Whether an odd number of backslashes is before the character. */
const isEscaped = (text: string, at: number): boolean => text[at - 1] === "\\" && !isEscaped(text, at - 1);

const quotes = (text: string) => text.split("").flatMap((character, at) => (character === '"' ? [at] : []));

function allowed(name: string, operand: string): boolean {
  const bare = operand.toUpperCase();
  if (name === "favorite eq") return bare === "TRUE" || bare === "FALSE";
  if (!operand.startsWith('"') || operand.length < 2) return false;
  return name !== "category eq" || CATEGORIES.has(bare.slice(1, -1));
}

/** The value without backslashes before one of the characters, which they escape. */
function unescaped(value: string, escapable: string): string {
  let out = "";
  for (let at = 0; at < value.length; at++) {
    if (value[at] === "\\" && at + 1 < value.length && escapable.includes(value[at + 1]!)) at++;
    out += value[at]!;
  }
  return out;
}

/** The different readings of terms: literal, without the escapes of quotes and backslashes, without those of quotes. */
function withoutEscapes(terms: Term[]): Term[][] {
  const readings = ["", '"\\', '"'].map((escapable) => terms.map(([words, value]): Term => [words, unescaped(value, escapable)]));
  return readings.filter((reading, at) => readings.findIndex((one) => String(one) === String(reading)) === at);
}

/**
 * The readings of a filter for Items in order of preference (contract 5.6 and 5.9): the whole filter as one title, then several
 * terms. A blank filter counts as an absent one (contract 5.8).
 */
export function readingsOf(text: string): Term[][] | undefined {
  if (text.trim() === "") return [[]];
  if (quotes(text).some((at) => !isEscaped(text, at) && isAlternative(text, at + 1))) return undefined;
  const terms = readTerms(text, true);
  const whole = readTerms(text, false);
  if (!terms) return whole && withoutEscapes(whole);
  const asTitle = whole?.[0]?.[0] === "title eq" && terms.length > 1 ? withoutEscapes(whole) : [];
  return [...asTitle, ...withoutEscapes(terms)];
}
