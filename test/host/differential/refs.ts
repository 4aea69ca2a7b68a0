/** Texts that differ between the servers, such as ids and tokens. A request names them by their number. */

type Both = readonly [left: string, right: string];

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The 26 characters of a UUID (contract 3.2). */
function shortOf(uuid: string): string {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`) << 2n;
  return Array.from({ length: 26 }, (_, at) => ALPHABET[Number((bits >> BigInt(5 * (25 - at))) & 31n)]).join("");
}

const FORMS: Readonly<Record<string, (text: string) => string>> = {
  upper: (text) => text.toUpperCase(),
  short: (text) => (/^[0-9a-f-]{36}$/.test(text) ? shortOf(text) : text),
  tail: (text) => text.slice(1),
};

export type Form = "upper" | "short" | "tail";

const MARK = /⟦(\d+)(?::(\w+))?⟧/g;

export class Refs {
  readonly #both: Both[] = [];
  readonly #numbers = new Map<string, number>();

  /** Returns what stands for a text of each server in a request: the text itself, if both have it. */
  of(left: string, right: string): string {
    if (left === right) return left;
    const key = `${left}\n${right}`;
    const number = this.#numbers.get(key) ?? this.#both.push([left, right]) - 1;
    this.#numbers.set(key, number);
    return `⟦${number}⟧`;
  }

  /** Returns another form of what `of` has returned. */
  static as(form: Form, text: string): string {
    return text.startsWith("⟦") ? `${text.slice(0, -1)}:${form}⟧` : FORMS[form]!(text);
  }

  /** Returns the text that one of the servers gets. */
  fill(text: string, side: 0 | 1): string {
    return text.replaceAll(MARK, (_, number: string, form = "") => {
      const value = this.#both[Number(number)]![side];
      return FORMS[form]?.(value) ?? value;
    });
  }
}
