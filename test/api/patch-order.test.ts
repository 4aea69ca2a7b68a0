import { describe, expect, it } from "vitest";
import { freshVault, LOGIN } from "../support/service.ts";

/** Contract 1.6: operations apply in order, `/` replaces the whole Item, and a field may ask for a value. */

async function made(item: object = LOGIN) {
  const { vault, items, call } = await freshVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  return { vault, before, patch: (...operations: object[]) => call("PATCH", path, { body: operations }) };
}

describe("PATCH with several operations", () => {
  it("applies each to what the ones before it left, and moves the version by one", async () => {
    const { patch } = await made({ ...LOGIN, tags: ["a", "b", "c"] });
    const { body } = await patch(
      { op: "remove", path: "/tags/0" },
      { op: "replace", path: "/tags/0", value: "B" },
      { op: "add", path: "/tags/0", value: "first" },
      { op: "replace", path: "/title", value: "one" },
      { op: "replace", path: "/title", value: "two" },
    );
    expect(body).toMatchObject({ tags: ["first", "B", "c"], title: "two", version: 2 });
  });

  it("lets one name a field by the id that an earlier one gave it", async () => {
    const { patch } = await made();
    const { body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", value: "1" } },
      { op: "replace", path: "/fields/x/value", value: "2" },
    );
    expect(body.fields).toMatchObject([{ id: "x", value: "2" }]);
  });

  it("lets one name a field by the id that its purpose gave it", async () => {
    const { patch } = await made();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { purpose: "USERNAME", value: "ann" } },
      { op: "replace", path: "/fields/username/value", value: "bob" },
    );
    expect({ status, fields: body.fields }).toMatchObject({ status: 200, fields: [{ id: "username", value: "bob" }] });
  });

  it("lets one name a section that a field of an earlier one brought in", async () => {
    const { patch } = await made();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", section: { id: "s" } } },
      { op: "replace", path: "/sections/s/label", value: "Label" },
    );
    expect({ status, sections: body.sections }).toEqual({ status: 200, sections: [{ id: "s", label: "Label" }] });
  });

  it("reads ~1 as / and ~0 as ~ in an id", async () => {
    const { patch } = await made({ ...LOGIN, fields: [{ id: "a/b~1" }] });
    const { body } = await patch({ op: "replace", path: "/fields/a~1b~01/value", value: "found" });
    expect(body.fields).toMatchObject([{ id: "a/b~1", value: "found" }]);
  });
});

describe("PATCH of /", () => {
  it("replaces the whole Item: what the value does not name is gone", async () => {
    const { before, patch } = await made({ ...LOGIN, tags: ["a"], favorite: true, fields: [{ id: "x" }] });
    const { body } = await patch({ op: "replace", path: "/", value: { title: "New", category: "SERVER" } });
    const rest = { version: 2, updatedAt: body.updatedAt };
    expect(body).toEqual({ ...before, title: "New", category: "SERVER", tags: [], favorite: false, fields: [], ...rest });
  });

  it("keeps the category that the value does not name", async () => {
    const { patch } = await made({ ...LOGIN, category: "SERVER" });
    expect((await patch({ op: "replace", path: "/", value: { title: "New" } })).body.category).toBe("SERVER");
  });

  it("keeps the category that an operation before it set", async () => {
    const { patch } = await made();
    const { body } = await patch(
      { op: "replace", path: "/category", value: "SERVER" },
      { op: "replace", path: "/", value: { title: "New" } },
    );
    expect(body.category).toBe("SERVER");
  });

  it("ignores the read-only attributes of the value, so that an Item that was read can be sent back", async () => {
    const { before, patch } = await made({ ...LOGIN, fields: [{ id: "x", value: "1" }] });
    const { body } = await patch({
      op: "replace",
      path: "/",
      value: { ...before, title: "New", version: 77, state: "ARCHIVED" },
    });
    expect(body).toEqual({ ...before, title: "New", version: 2, updatedAt: body.updatedAt });
  });

  it("is the start for the operations that follow it", async () => {
    const { patch } = await made({ ...LOGIN, tags: ["a"] });
    const { body } = await patch(
      { op: "replace", path: "/", value: { title: "New", tags: ["x"] } },
      { op: "add", path: "/tags/-", value: "y" },
    );
    expect(body.tags).toEqual(["x", "y"]);
  });

  it("refuses a value that names another vault than the path", async () => {
    const { patch } = await made();
    const value = { ...LOGIN, vault: { id: crypto.randomUUID() } };
    expect((await patch({ op: "replace", path: "/", value })).status).toBe(400);
  });
});

describe("PATCH that asks for a value", () => {
  const field = { id: "p", purpose: "PASSWORD" };
  const recipe = { length: 6, characterSets: ["DIGITS"] };

  it("gives one to an added field that has none", async () => {
    const { patch } = await made();
    const { body } = await patch({ op: "add", path: "/fields", value: { ...field, generate: true, recipe } });
    expect(body.fields).toMatchObject([{ value: expect.stringMatching(/^\d{6}$/), entropy: 19.93 }]);
  });

  it("gives one to a field that is there without one, by its attributes generate and recipe", async () => {
    const { patch } = await made({ ...LOGIN, fields: [field] });
    const { body } = await patch(
      { op: "add", path: "/fields/p/generate", value: true },
      { op: "add", path: "/fields/p/recipe", value: recipe },
    );
    expect(body.fields[0].value).toMatch(/^\d{6}$/);
  });

  it("leaves a field alone that has a value", async () => {
    const { patch } = await made({ ...LOGIN, fields: [{ ...field, value: "mine" }] });
    expect((await patch({ op: "add", path: "/fields/p/generate", value: true })).body.fields[0].value).toBe("mine");
  });

  it("gives none later: to have asked once is not kept", async () => {
    const { patch } = await made({ ...LOGIN, fields: [{ ...field, generate: true }] });
    const { body } = await patch({ op: "remove", path: "/fields/p/value" });
    expect(body.fields[0].value).toBe("");
  });
});
