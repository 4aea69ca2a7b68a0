import { describe, expect, it } from "vitest";
import { LOGIN, shareVault } from "../support/service.ts";

/** The order of operations, the path `/` and generated values of PATCH (contract 6.1, 6.4, 6.7, 6.10, 6.11 and 7.1). */

const sharedVault = shareVault();

async function makeItem(item: object = LOGIN) {
  const { vault, items, call } = await sharedVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  return { vault, before, patch: (...operations: object[]) => call("PATCH", path, { body: operations }) };
}

describe("PATCH with several operations", () => {
  it("applies each operation to the result of the one before it, and raises the version by 1", async () => {
    const { patch } = await makeItem({ ...LOGIN, tags: ["a", "b", "c"] });
    const { body } = await patch(
      { op: "remove", path: "/tags/0" },
      { op: "replace", path: "/tags/0", value: "B" },
      { op: "add", path: "/tags/0", value: "first" },
      { op: "replace", path: "/title", value: "one" },
      { op: "replace", path: "/title", value: "two" },
    );
    expect(body).toMatchObject({ tags: ["first", "B", "c"], title: "two", version: 2 });
  });

  it("finds a field that an earlier operation created, by its id", async () => {
    const { patch } = await makeItem();
    const { body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", value: "1" } },
      { op: "replace", path: "/fields/x/value", value: "2" },
    );
    expect(body.fields).toMatchObject([{ id: "x", value: "2" }]);
  });

  it("finds a field that an earlier operation created, by the id that its purpose gives", async () => {
    const { patch } = await makeItem();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { purpose: "USERNAME", value: "ann" } },
      { op: "replace", path: "/fields/username/value", value: "bob" },
    );
    expect({ status, fields: body.fields }).toMatchObject({ status: 200, fields: [{ id: "username", value: "bob" }] });
  });

  it("finds a section that a field of an earlier operation added", async () => {
    const { patch } = await makeItem();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", section: { id: "s" } } },
      { op: "replace", path: "/sections/s/label", value: "Label" },
    );
    expect({ status, sections: body.sections }).toEqual({ status: 200, sections: [{ id: "s", label: "Label" }] });
  });

  it("decodes ~1 as / and ~0 as ~ in an id", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ id: "a/b~1" }] });
    const { body } = await patch({ op: "replace", path: "/fields/a~1b~01/value", value: "found" });
    expect(body.fields).toMatchObject([{ id: "a/b~1", value: "found" }]);
  });
});

describe("PATCH of /", () => {
  it("replaces the whole Item and resets the attributes that the value does not contain", async () => {
    const { before, patch } = await makeItem({ ...LOGIN, tags: ["a"], favorite: true, fields: [{ id: "x" }] });
    const { body } = await patch({ op: "replace", path: "/", value: { title: "New", category: "SERVER" } });
    const rest = { version: 2, updatedAt: body.updatedAt };
    expect(body).toEqual({ ...before, title: "New", category: "SERVER", tags: [], favorite: false, fields: [], ...rest });
  });

  it("keeps the category if the value has none", async () => {
    const { patch } = await makeItem({ ...LOGIN, category: "SERVER" });
    expect((await patch({ op: "replace", path: "/", value: { title: "New" } })).body.category).toBe("SERVER");
  });

  it("keeps the category that an earlier operation set", async () => {
    const { patch } = await makeItem();
    const { body } = await patch(
      { op: "replace", path: "/category", value: "SERVER" },
      { op: "replace", path: "/", value: { title: "New" } },
    );
    expect(body.category).toBe("SERVER");
  });

  it("ignores the read-only attributes of the value, so that clients can send an Item back as they read it", async () => {
    const { before, patch } = await makeItem({ ...LOGIN, fields: [{ id: "x", value: "1" }] });
    const { body } = await patch({
      op: "replace",
      path: "/",
      value: { ...before, title: "New", version: 77, state: "ARCHIVED" },
    });
    expect(body).toEqual({ ...before, title: "New", version: 2, updatedAt: body.updatedAt });
  });

  it("is the state to which later operations apply", async () => {
    const { patch } = await makeItem({ ...LOGIN, tags: ["a"] });
    const { body } = await patch(
      { op: "replace", path: "/", value: { title: "New", tags: ["x"] } },
      { op: "add", path: "/tags/-", value: "y" },
    );
    expect(body.tags).toEqual(["x", "y"]);
  });

  it("refuses a value that names another vault than the path", async () => {
    const { patch } = await makeItem();
    const value = { ...LOGIN, vault: { id: crypto.randomUUID() } };
    expect((await patch({ op: "replace", path: "/", value })).status).toBe(400);
  });
});

describe("a section that a field names", () => {
  const named = { ...LOGIN, fields: [{ id: "f", section: { id: "s" }, value: "x" }], sections: [{ id: "s", label: "before" }] };
  const label = { op: "replace", path: "/sections/s/label", value: "after" };

  it("is declared again, without its label, when the sections are replaced, and the next operation can name it", async () => {
    const { patch } = await makeItem(named);
    const { status, body } = await patch({ op: "replace", path: "/sections", value: [] }, label);
    expect([status, body.sections]).toEqual([200, [{ id: "s", label: "after" }]]);
  });

  it("is declared when the field gets it, and the next operation can name it", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ id: "f", value: "x" }] });
    const { body } = await patch({ op: "add", path: "/fields/f/section", value: { id: "s" } }, label);
    expect(body.sections).toEqual([{ id: "s", label: "after" }]);
  });

  it("is gone for the next operation when it was removed", async () => {
    const { patch } = await makeItem(named);
    expect((await patch({ op: "remove", path: "/sections/s" }, label)).status).toBe(400);
  });
});

describe("PATCH with generate", () => {
  const field = { id: "p", purpose: "PASSWORD" };
  const recipe = { length: 6, characterSets: ["DIGITS"] };

  it("generates a value for an added field without a value", async () => {
    const { patch } = await makeItem();
    const { body } = await patch({ op: "add", path: "/fields", value: { ...field, generate: true, recipe } });
    expect(body.fields).toMatchObject([{ value: expect.stringMatching(/^\d{6}$/), entropy: 19.93 }]);
  });

  it("generates a value for an existing field without a value, by its attributes generate and recipe", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [field] });
    const { body } = await patch(
      { op: "add", path: "/fields/p/generate", value: true },
      { op: "add", path: "/fields/p/recipe", value: recipe },
    );
    expect(body.fields[0].value).toMatch(/^\d{6}$/);
  });

  it("does not change a field that has a value", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, value: "mine" }] });
    expect((await patch({ op: "add", path: "/fields/p/generate", value: true })).body.fields[0].value).toBe("mine");
  });

  it("replaces a value that an earlier operation removes (contract 7.7)", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, generate: true }] });
    const rotate = async () =>
      (
        await patch(
          { op: "remove", path: "/fields/p/value" },
          { op: "add", path: "/fields/p/generate", value: true },
          { op: "add", path: "/fields/p/recipe", value: { length: 64 } },
        )
      ).body.fields[0].value;
    const [first, second] = [await rotate(), await rotate()];
    expect([first.length, second.length, first === second]).toEqual([64, 64, false]);
  });

  it("is not stored: a later removal of the value generates no new one", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, generate: true }] });
    const { body } = await patch({ op: "remove", path: "/fields/p/value" });
    expect(body.fields[0].value).toBe("");
  });
});
