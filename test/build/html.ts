/** A strict reader of the HTML that the build writes: each element is closed in its order, and no text contains markup. */

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const VOID = new Set(["link", "meta", "wbr"]);
const TOKEN = /<!doctype html>|<\/([a-z][a-z0-9]*)>|<([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*) ?\/?>|([^<>]+)/gy;
const ENTITY = /&(?:amp|lt|gt|quot|#39);/g;
const DECODED: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

const decode = (text: string): string => {
  if (text.replaceAll(ENTITY, "").includes("&")) throw new Error(`an ampersand that is not escaped: ${text}`);
  return text.replaceAll(ENTITY, (entity) => DECODED[entity]!);
};

/** Out: the elements in their order, and the text. Throws at anything that is not well-formed. */
export function readHtml(html: string): { readonly elements: readonly Element[]; readonly text: string } {
  const elements: Element[] = [];
  const open: string[] = [];
  let text = "";
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < html.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(html);
    if (token === null) throw new Error(`not well-formed: ${html.slice(at, at + 80)}`);
    const [, closed, name, attributes, characters] = token;
    if (closed !== undefined && open.pop() !== closed) throw new Error(`</${closed}> closes another element at ${at}`);
    if (characters !== undefined) text += decode(characters);
    if (name === undefined) continue;
    const pairs = [...attributes!.matchAll(/ ([a-z-]+)="([^"]*)"/g)].map(([, key, value]) => [key, decode(value!)]);
    elements.push({ name, attributes: Object.fromEntries(pairs) as Record<string, string> });
    if (!VOID.has(name)) open.push(name);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(", ")}`);
  return { elements, text };
}
