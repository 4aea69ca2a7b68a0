import { describe, expect, it } from "vitest";

/** The links between the documents. */

const documents: Readonly<Record<string, string>> = import.meta.glob("../../{*,docs/**/*,cli/*,client/*}.md", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The path from the root of the checkout, for example `docs/cli.md`. */
const pathOf = (key: string): string => key.replace("../../", "");

const texts = new Map(Object.entries(documents).map(([key, text]) => [pathOf(key), text]));

/** The anchors that GitHub gives the headings of a document. Repeated headings get numbers. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/^#{1,6} (.*)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    for (let number = 0; ; number++) {
      const name = number === 0 ? anchor : `${anchor}-${number}`;
      if (anchors.has(name)) continue;
      anchors.add(name);
      break;
    }
  }
  return anchors;
}

interface Link {
  readonly from: string;
  readonly to: string;
}

const links: Link[] = [...texts].flatMap(([from, text]) =>
  [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = ""]) => ({ from, to }))
    .filter(({ to }) => !/^[a-z]+:/.test(to) && /\.md(#|$)|^#/.test(to)),
);

function isBroken({ from, to }: Link): boolean {
  const [path = "", anchor] = to.split("#");
  const target = path === "" ? from : new URL(path, `file:///${from}`).pathname.slice(1);
  const text = texts.get(target);
  return text === undefined || (anchor !== undefined && !anchorsOf(text).has(anchor));
}

describe("a link from one document to another", () => {
  it("leads to a document, and to one of its headings", () => {
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(isBroken)).toEqual([]);
  });
});
