import { h } from "preact";
import { beforeAll, describe, expect, it } from "vitest";
import { isolateTexts } from "../../../packages/console/src/ui/isolate.ts";

/** What elements do with texts of people. In this folder, whose types have the DOM. */

const text = ({ props }: { readonly props: object }): unknown => (props as { children?: unknown }).children;

describe("an element", () => {
  beforeAll(isolateTexts);

  it("shows marks in its text and in the attributes that people read", () => {
    expect(text(h("p", null, "a\u202eb"))).toBe("a[U+202E]b");
    expect(h("button", { title: "a\u200bb", "aria-label": "c\u200bd" }).props).toMatchObject({
      title: "a[U+200B]b",
      "aria-label": "c[U+200B]d",
    });
  });

  it("shows a secret and a content of a File as they are", () => {
    expect(text(h("span", { class: "value secret" }, "a\u200bb"))).toBe("a\u200bb");
    expect(text(h("pre", null, "a\u200bb"))).toBe("a\u200bb");
  });
});
