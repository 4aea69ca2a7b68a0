import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { document } from "../../src/api/openapi/document.ts";
import type { Document, Schema } from "../../src/api/openapi/types.ts";
import { operationsOf } from "../../scripts/build/document.ts";
import { referencePage } from "../../scripts/build/reference/page.ts";
import { prose } from "../../scripts/build/reference/prose.ts";
import { runs } from "../support/runs.ts";
import { type Element, readHtml } from "./html.ts";
import { CHARACTER } from "../support/characters.ts";

/** The reference page of the API (contract 19.15). */

const page = readHtml(referencePage(document));
const valuesOf = (elements: readonly Element[], attribute: string) =>
  elements.flatMap(({ attributes }) => attributes[attribute] ?? []);

/** The anchors of named parts: `schema-Item`. */
const named = (prefix: string, values: object) => Object.keys(values).map((name) => `${prefix}-${name}`);
/** A text without spaces and without what marks code and lists. */
const plain = (text: string) => text.replaceAll(/[\s`-]/g, "");

describe("the reference page", () => {
  it("has no script, no style of its own, and no element or attribute that loads or sends something", () => {
    const names = new Set(page.elements.map(({ name }) => name));
    const allowed =
      "html head meta title link body header nav main section article details summary h1 h2 h3 h4 p ul li dl div dt dd";
    expect(names.difference(new Set([...allowed.split(" "), "a", "b", "code", "pre", "span", "wbr"]))).toEqual(new Set());
    const attributes = new Set(page.elements.flatMap((element) => Object.keys(element.attributes)));
    const harmless = ["lang", "charset", "name", "content", "rel", "href", "id", "class", "aria-label"];
    expect(attributes.difference(new Set(harmless))).toEqual(new Set());
  });

  it("links to itself, its document and its stylesheet only", () => {
    const links = new Set(valuesOf(page.elements, "href").filter((href) => !href.startsWith("#")));
    expect(links).toEqual(new Set(["/docs/style.css", "/openapi.json"]));
  });

  it("has an element for each link into it, and no id twice", () => {
    const ids = valuesOf(page.elements, "id");
    expect(new Set(ids).size).toBe(ids.length);
    const targets = new Set(valuesOf(page.elements, "href").filter((href) => href.startsWith("#")));
    expect(targets.difference(new Set(ids.map((id) => `#${id}`)))).toEqual(new Set());
  });

  it("describes every operation, schema, header and way to authorize of the document", () => {
    const { schemas, headers, securitySchemes } = document.components;
    const operations = [...operationsOf(document), ...operationsOf(document, document.webhooks)];
    const expected = [
      ...operations.map(({ operation }) => operation.operationId),
      ...named("schema", schemas),
      ...named("header", headers),
      ...named("security", securitySchemes),
    ];
    expect(new Set(expected).difference(new Set(valuesOf(page.elements, "id")))).toEqual(new Set());
  });

  it("has every description of the document as text", () => {
    const text = plain(page.text);
    const missing = operationsOf(document).filter(({ operation }) => !text.includes(plain(operation.description)));
    expect(missing.map(({ operation }) => operation.operationId)).toEqual([]);
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
        const names = new Set(readHtml(referencePage(hostileDocument)).elements.map(({ name }) => name));
        expect(names.has("script")).toBe(false);
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
  ])("is Markdown with paragraphs, lists and code: %j", (text, html) => {
    expect(prose(text)!.html.replaceAll(/>\s+</g, "><").trim()).toBe(html);
  });
});
