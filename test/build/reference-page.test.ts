import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operationsOf, resolve } from "../../scripts/build/document.ts";
import { referenceFiles } from "../../scripts/build/reference/page.ts";
import { prose } from "../../scripts/build/reference/prose.ts";
import { TASKS } from "../../scripts/build/reference/tasks.ts";
import type { Found } from "../../scripts/build/reference/types.ts";
import { document } from "../../src/api/openapi/document.ts";
import type { Document, Response, Schema } from "../../src/api/openapi/types.ts";
import { FAILURE_KINDS } from "../../src/model/failure.ts";
import { CHARACTER } from "../support/characters.ts";
import { contract } from "../support/contract.ts";
import { runs } from "../support/runs.ts";
import { type Element, readHtml } from "./html.ts";

/** The reference of the API (contract 19.15). */

const files = referenceFiles(document, contract);
/** The pages by their addresses. */
const pagesOf = (all: Record<string, string>) =>
  new Map(
    Object.entries(all)
      .filter(([path]) => path.endsWith(".html"))
      .map(([path, text]) => [`/${path.replace(/index\.html$/, "")}`, readHtml(text)]),
  );
const pages = pagesOf(files);
const elements = [...pages.values()].flatMap((page) => page.elements);
const valuesOf = (among: readonly Element[], attribute: string) => among.flatMap(({ attributes }) => attributes[attribute] ?? []);

/** The addresses of all elements with an id. */
const anchors = new Set([...pages].flatMap(([path, page]) => valuesOf(page.elements, "id").map((id) => `${path}#${id}`)));
const search = JSON.parse(files["docs/search.json"]!) as Found[];
/** A text without spaces and without what marks code and lists. */
const plain = (text: string) => text.replaceAll(/[\s`*-]/g, "");

describe("the reference", () => {
  it("has one script, no style of its own, and no element or attribute that loads or sends something else", () => {
    const names = new Set(elements.map(({ name }) => name));
    const allowed =
      "html head meta title link script body header nav main article details summary h1 h2 h3 h4 p ul ol li dl div dt dd " +
      "table thead tbody tr th td a b strong em code pre span wbr";
    expect(names.difference(new Set(allowed.split(" ")))).toEqual(new Set());
    const attributes = new Set(elements.flatMap((element) => Object.keys(element.attributes)));
    const harmless =
      "lang charset name content rel href id class role tabindex type src open aria-label aria-current data-path data-query data-token";
    expect(attributes.difference(new Set(harmless.split(" ")))).toEqual(new Set());
    expect(new Set(valuesOf(elements, "src"))).toEqual(new Set(["/docs/reference.js"]));
  });

  it("has a page or an element for each of its links, and no id twice on a page", () => {
    const beside = new Set(["/docs/style.css", "/openapi.json", "/console/icon.svg"]);
    const broken = [...pages].flatMap(([path, page]) => {
      const ids = valuesOf(page.elements, "id");
      expect(new Set(ids).size).toBe(ids.length);
      const links = valuesOf(page.elements, "href").map((href) => (href.startsWith("#") ? path + href : href));
      return links.filter(
        (href) => !pages.has(href) && !anchors.has(href) && !beside.has(href) && !/^https:\/\/[\w.-]+\//.test(href),
      );
    });
    expect(broken).toEqual([]);
    expect(search.filter(([, , , href]) => !anchors.has(href))).toEqual([]);
  });

  it("has every task, operation, schema, header and kind of error of the document, and every rule of the contract, in its search", () => {
    const { schemas } = document.components;
    const operations = [...operationsOf(document), ...operationsOf(document, document.webhooks)];
    const sent = operationsOf(document).flatMap(({ parameters }) => parameters.filter((one) => one.in === "header"));
    const answered = operationsOf(document)
      .flatMap(({ operation }) => Object.values(operation.responses))
      .flatMap((response) => Object.keys(resolve<Response>(document, response).headers ?? {}));
    const found = search.map(([kind, title, detail]) => (kind === "operation" ? detail : title));
    const expected = [
      ...operations.map(({ method, path }) => `${method} ${path}`),
      ...Object.keys(schemas),
      ...new Set(sent.map(({ name }) => name)),
      ...new Set(answered),
      ...TASKS.map(({ title }) => title),
      ...FAILURE_KINDS,
      ...[...contract.matchAll(/^\*\*(\d+\.\d+)\*\*|^## (\d+) /gm)].map(([, rule, section]) => rule ?? section!),
    ];
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it("says what the attributes of an object hold whose names are free", () => {
    expect(pages.get("/docs/admin-tokens/")!.text).toMatch(/vaults\s+object of\s+Permission\s+or\s+ItemScope\s+or\s+null/);
  });

  it("says of each kind of error when it occurs, with links to the rules", () => {
    const [, row] = /<div id="precondition">([^]*?)<\/dd>/.exec(files["docs/errors/index.html"]!)!;
    expect(row).toContain('see <a href="/docs/contract/#10.3">10.3</a>');
    const occasions = [...contract.matchAll(/^\| `(\w+)` \| \d+ \| .* \| (.*) \|$/gm)].map(([, , when]) => plain(when!));
    const text = plain(pages.get("/docs/errors/")!.text);
    expect(occasions.filter((when) => !text.includes(when))).toEqual([]);
    expect(occasions.length).toBeGreaterThan(40);
  });

  it("links the numbers of rules in the contract, and no number of another document", () => {
    const page = files["docs/contract/index.html"]!;
    expect(page).toContain('(<a href="/docs/contract/#10.23">10.23</a>)');
    expect(page).toContain("WHATWG HTML, section 9.2");
  });

  it("describes every way to authorize", () => {
    const names = Object.keys(document.components.securitySchemes).map((name) => `/docs/#security-${name}`);
    expect(names.filter((name) => !anchors.has(name))).toEqual([]);
  });

  it("has every description of the document, and the contract, as text", () => {
    const text = plain([...pages.values()].map((page) => page.text).join());
    const missing = operationsOf(document).filter(({ operation }) => !text.includes(plain(operation.description)));
    expect(missing.map(({ operation }) => operation.operationId)).toEqual([]);
    const words = contract.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").split(/[^\p{L}\p{N}]+/u);
    const shown = pages.get("/docs/contract/")!.text;
    expect([...new Set(words)].filter((word) => !shown.includes(word))).toEqual([]);
  });
});

/** Texts that look like markup, in one part or another of a document. */
const hostile = fc.oneof(
  fc.string({ unit: CHARACTER, maxLength: 40 }),
  fc
    .array(fc.constantFrom("<script>", "</p>", "&lt;", "&", '"', "'", " onclick=x", "`", "\n- ", "\n\n", "a", "-->", "]]>"), {
      maxLength: 12,
    })
    .map((parts) => parts.join("")),
);

describe("a text of the document", () => {
  it("never becomes markup, whatever it contains", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const schema: Schema = {
          description: text,
          type: "object",
          properties: { [text]: { type: "string", enum: [text], pattern: text } },
        };
        const media = { "text/x": { schema, example: text, examples: { one: { summary: text, value: { [text]: text } } } } };
        const hostileDocument: Document = {
          ...document,
          info: { ...document.info, title: text, summary: text, description: text },
          tags: [{ name: "Items", description: text }],
          webhooks: {},
          paths: {
            "/x": {
              post: {
                operationId: "x",
                tags: ["Items"],
                summary: text,
                description: text,
                security: [],
                parameters: [{ name: text, in: "query", description: text, schema }],
                requestBody: { description: text, content: media },
                responses: {
                  200: { description: text, headers: { [text]: { description: text, schema } }, content: media },
                  400: { description: text },
                },
              },
            },
          },
          components: {
            schemas: { X: schema },
            parameters: {},
            headers: { X: { description: text, schema } },
            responses: {},
            securitySchemes: {},
          },
        };
        const all = [...pagesOf(referenceFiles(hostileDocument, text)).values()].flatMap((page) => page.elements);
        expect(
          new Set(
            valuesOf(
              all.filter(({ name }) => name === "script"),
              "src",
            ),
          ),
        ).toEqual(new Set(["/docs/reference.js"]));
        expect(valuesOf(all, "onclick")).toEqual([]);
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  it("is on the page with all its characters but those that mark code and lists", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(plain(readHtml(prose(text)?.html ?? "").text)).toBe(plain(text));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it.each([
    ["one\ntwo", "<p>one\ntwo</p>"],
    ["one\n\ntwo", "<p>one</p><p>two</p>"],
    ["see:\n- `a`: <b>\n- b\n  c", "<p>see:</p><ul><li><code>a</code>: &lt;b&gt;</li><li>b\n  c</li></ul>"],
    ["- a", "<ul><li>a</li></ul>"],
    ["a `b", "<p>a `b</p>"],
    ["a -b", "<p>a -b</p>"],
    [
      "as so (contract 4.2, 5 and 6.1).",
      '<p>as so (contract <a href="/docs/contract/#4.2">4.2</a>, <a href="/docs/contract/#5">5</a> and <a href="/docs/contract/#6.1">6.1</a>).</p>',
    ],
  ])("is Markdown with paragraphs, lists, code and citations: %j", (text, html) => {
    expect(prose(text)!.html.replaceAll(/>\s+</g, "><").trim()).toBe(html);
  });
});
