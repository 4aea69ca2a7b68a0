/** Reads filters of Items (docs/api.md, Lists) one character after the other, for filters.test.ts. */

const KNOWN = new Set(["title eq", "title co", "tag eq", "category eq", "favorite eq"]);
/** Those that the test writes. */
const CATEGORIES = new Set(["LOGIN", "SSH_KEY", "CUSTOM"]);
type Term = [words: string, value: string];

const isBlank = (character: string | undefined) => character !== undefined && /\s/.test(character);
const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);

/** Where the run of such characters that begins there ends. */
function past(text: string, from: number, belongs: (character: string | undefined) => boolean): number {
  let at = from;
  while (belongs(text[at])) at++;
  return at;
}

/** Reads one word and the blanks behind it, which there must be. */
function readWord(text: string, from: number): [word: string, next: number] | undefined {
  const end = past(text, from, isWord);
  const next = past(text, end, isBlank);
  return end > from && next > end ? [text.slice(from, end), next] : undefined;
}

/** Reads attribute and operator. */
function readWords(text: string, from: number): [words: string, next: number] | undefined {
  const attribute = readWord(text, from);
  const operator = attribute && readWord(text, attribute[1]);
  return attribute && operator ? [`${attribute[0]} ${operator[0]}`.toLowerCase(), operator[1]] : undefined;
}

/** Where the next term begins, if an `and` stands here and a term that is known follows it. */
function nextTerm(text: string, from: number): number | undefined {
  const and = readWord(text, past(text, from, isBlank));
  if (!isBlank(text[from]) || and?.[0].toLowerCase() !== "and") return undefined;
  return KNOWN.has(readWords(text, and[1])?.[0] ?? "") ? and[1] : undefined;
}

/** The terms of a filter, or `undefined` when it is none. `split`: whether an `and` in a value may end it. */
function readSlowly(text: string, split: boolean, start = 0): Term[] | undefined {
  const words = readWords(text, past(text, start, isBlank));
  if (!words || !KNOWN.has(words[0])) return undefined;
  const [name, from] = words;
  const quoted = text[from] === '"';
  const ends = quoted ? quotes(text).filter((at) => at > from) : [past(text, from, isWord) - 1];
  for (const end of split ? ends : ends.slice(-1)) {
    const next = quoted && text[end - 1] === "\\" ? undefined : nextTerm(text, end + 1);
    const last = end === ends.at(-1);
    if (next === undefined && !(last && text.slice(end + 1).trim() === "")) continue;
    const operand = text.slice(from, end + 1);
    if (!allowed(name, operand)) return undefined;
    const value = (quoted ? operand.slice(1, -1) : operand).replaceAll('\\"', '"');
    const rest = next === undefined ? [] : split ? readSlowly(text, split, next) : undefined;
    return rest && [[name, value], ...rest];
  }
  return undefined;
}

const quotes = (text: string) => text.split("").flatMap((character, at) => (character === '"' ? [at] : []));

function allowed(name: string, operand: string): boolean {
  const bare = operand.toUpperCase();
  if (name === "favorite eq") return bare === "TRUE" || bare === "FALSE";
  if (!operand.startsWith('"') || operand.length < 2) return false;
  return name !== "category eq" || CATEGORIES.has(bare.slice(1, -1));
}

/** Every reading of a filter of Items, in the order in which they count: a title that it may be, then its terms; or one term that is all of it. */
export function readingsOf(text: string): Term[][] | undefined {
  const terms = readSlowly(text, true);
  const whole = readSlowly(text, false);
  if (!terms) return whole && [whole];
  return whole?.[0]?.[0] === "title eq" && terms.length > 1 ? [whole, terms] : [terms];
}
