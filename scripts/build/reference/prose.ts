import { type Html, html } from "./html.ts";

/**
 * The descriptions of the document. They are Markdown (CommonMark), of which they use paragraphs, lists with `- ` and code spans; all
 * else is text.
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

/** A text of one line: only its code spans are marked. */
export const inline = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
