import { type Html, html } from "./html.ts";

/**
 * The descriptions of the document. They are Markdown (CommonMark), of which they use paragraphs, lists with `- ` and code spans; all
 * else is text. `(contract 4.2)` cites a rule, which is on the page of the contract.
 */
export function prose(text: string | undefined): Html | undefined {
  if (!text) return undefined;
  return html`${text
    .trim()
    .split(/\n{2,}/)
    .map(block)}`;
}

function block(text: string): Html {
  const [before = "", ...items] = `\n${text}`.split(/\n- /);
  const paragraph = before.trim() === "" ? undefined : html`<p>${inline(before.trim())}</p> `;
  return items.length === 0
    ? html`${paragraph}`
    : html`${paragraph}
        <ul>
          ${items.map((item) => html`<li>${inline(item.trim())}</li>`)}
        </ul> `;
}

/** A text of one line: its code spans are marked, and its citations of the contract are links. */
export const inline = (text: string): Html => withCode(text, cited);

/** A text of one line whose code spans are marked. `write` writes the rest. */
export const withCode = (text: string, write: (rest: string) => Html | string = (rest) => rest): Html =>
  html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : write(part)))}`;

const CITATION = /(\bcontract \d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)/;

const cited = (text: string): Html =>
  html`${text
    .split(CITATION)
    .map((part, index) =>
      index % 2 === 0
        ? part
        : part
            .split(/(\d+(?:\.\d+)?)/)
            .map((piece, at) => (at % 2 === 0 ? piece : html`<a href="${ruleHref(piece)}">${piece}</a>`)),
    )}`;

/** The place of a rule, or of a section, on the page of the contract. */
export const ruleHref = (number: string): string => `/docs/contract/#${number}`;
