import { Marked } from "marked";
import { escape, type Html } from "./html.ts";
import { ruleHref } from "./prose.ts";

/** The contract as a page, whose sections and rules have their numbers as anchors. */

export interface Rule {
  /** `4.2`, or `4` of a section. */
  readonly number: string;
  /** The title of a section; of a rule the beginning of its text. */
  readonly title: string;
  readonly text: string;
}

export interface Contract {
  readonly page: Html;
  readonly rules: readonly Rule[];
  /** When an error of each kind occurs (contract 4.3). */
  readonly occasions: ReadonlyMap<string, Html>;
}

const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1");

/** The number at the beginning of a heading, and at that of a rule. */
const SECTION = /^(\d+) (.*)/;
const RULE = /^\*\*(\d+\.\d+)\*\* ([^]*)/;
const TITLE_CHARACTERS_MAX = 120;

/** Returns the HTML of the contract, and its sections and rules in their order. HTML in the text is shown as text. */
export function readContract(markdown: string): Contract {
  const rules: Rule[] = [];
  const occasions = new Map<string, Html>();
  const numbers = new Set([...markdown.matchAll(/^\*\*(\d+\.\d+)\*\* /gm)].map(([, number]) => number!));
  /** Links the numbers of rules. The number of a section of an RFC gets no link. */
  const linked = (text: string): string =>
    text.replaceAll(/(?<!section |[\d.])\d+\.\d+(?!\.?\d)/g, (number) =>
      numbers.has(number) ? `<a href="${ruleHref(number)}">${number}</a>` : number,
    );
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escape(text),
      text(token) {
        return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : linked(escape(token.text));
      },
      // The documents beside the contract are not served.
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        return href.startsWith("https:") ? `<a href="${escape(href)}" rel="noreferrer">${text}</a>` : text;
      },
      heading({ depth, text, tokens }) {
        const [, number, title] = SECTION.exec(text) ?? [];
        const content = this.parser.parseInline(tokens);
        if (number === undefined) return depth === 1 ? "" : `<h${depth}>${content}</h${depth}>`;
        rules.push({ number, title: plain(title!), text: "" });
        return `<h2 id="${number}"><a href="${ruleHref(number)}">${content}</a></h2>`;
      },
      paragraph({ text, tokens }) {
        const [, number, rest] = RULE.exec(text) ?? [];
        if (number === undefined) return `<p>${this.parser.parseInline(tokens)}</p>`;
        const words = plain(rest!).replaceAll(/\s+/g, " ");
        rules.push({ number, title: words.slice(0, TITLE_CHARACTERS_MAX), text: words.slice(TITLE_CHARACTERS_MAX) });
        return `<p id="${number}"><a class="rule" href="${ruleHref(number)}">${number}</a>${this.parser.parseInline(tokens.slice(1))}</p>`;
      },
      table(token) {
        const row = (name: string, cells: typeof token.header) =>
          `<tr>${cells.map((cell) => `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`).join("")}</tr>`;
        if (token.header[3]?.text === "when")
          for (const [kind, , , when] of token.rows)
            occasions.set(plain(kind!.text), { html: this.parser.parseInline(when?.tokens ?? []) });
        const body = token.rows.map((cells) => row("td", cells)).join("");
        return `<div class="table" role="region" aria-label="Table" tabindex="0"><table><thead>${row("th", token.header)}</thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  return { page: { html: marked.parse(markdown, { async: false }) }, rules, occasions };
}
