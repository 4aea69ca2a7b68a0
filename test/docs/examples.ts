/** Reads the examples of a Markdown document: fenced `http` blocks, each request followed by its answer. */

type Header = readonly [name: string, value: string];

export interface Example {
  /** The heading above the example. */
  readonly heading: string;
  /** The line of the document where the request begins. */
  readonly line: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: readonly Header[];
    readonly body: string;
  };
  readonly answer: { readonly status: number; readonly headers: readonly Header[]; readonly body: string };
}

interface Block {
  readonly heading: string;
  readonly line: number;
  /** The first line: `GET /v1/vaults`, or `200`. */
  readonly start: string;
  readonly headers: readonly Header[];
  readonly body: string;
}

/** Errors: throws when a block is neither a request nor an answer, or when one lacks the other. */
export function parseExamples(markdown: string): Example[] {
  const blocks = parseBlocks(markdown);
  const examples: Example[] = [];
  for (let at = 0; at < blocks.length; at += 2) examples.push(parseExample(blocks[at]!, blocks[at + 1]));
  return examples;
}

function parseExample({ heading, line, start, headers, body }: Block, next: Block | undefined): Example {
  const [, method, path] = /^([A-Z]+) (\/\S*)$/.exec(start) ?? [];
  if (method === undefined || path === undefined) throw new Error(`line ${line}: is no request line`);
  if (next === undefined || !/^\d{3}$/.test(next.start)) throw new Error(`line ${line}: no answer follows the request`);
  const answer = { status: Number(next.start), headers: next.headers, body: next.body };
  return { heading, line, request: { method, path, headers, body }, answer };
}

function parseBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let heading = "";
  for (const match of markdown.matchAll(/^#+ (?<title>.*)$|^```http\n(?<text>[^]*?)\n```$/gm)) {
    const { title, text } = match.groups!;
    if (title !== undefined) heading = title;
    else if (text !== undefined) {
      const line = markdown.slice(0, match.index).split("\n").length + 1;
      blocks.push({ heading, line, ...parseBlock(text) });
    }
  }
  return blocks;
}

/** A first line, headers, and after an empty line the body. The body has no line feed at its end. */
function parseBlock(text: string): Pick<Block, "start" | "headers" | "body"> {
  const [head = "", ...rest] = text.split("\n\n");
  const [start = "", ...lines] = head.split("\n");
  const headers = lines.map((line): Header => {
    const [name = "", ...value] = line.split(": ");
    return [name, value.join(": ")];
  });
  return { start, headers, body: rest.join("\n\n") };
}
