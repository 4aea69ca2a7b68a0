import { describe, expect, it } from "vitest";
import { tagAt } from "../support/etags.ts";
import { freshVault, LOGIN } from "../support/service.ts";

const FULL = {
  title: "Full",
  category: "SERVER",
  favorite: true,
  tags: ["a", "b"],
  urls: [{ href: "https://a.test", label: "A", primary: true }],
  sections: [{ id: "s", label: "S" }],
  fields: [{ id: "f", type: "CONCEALED", label: "F", value: "secret" }],
};

describe("GET /v1/vaults/{v}/items", () => {
  it("is an empty list in a vault without Items", async () => {
    const { items, call } = await freshVault();
    const { status, body } = await call("GET", items);
    expect(status).toBe(200);
    expect(body).toEqual([]);
  });

  it("returns each Item as a summary, without sections, fields and files (contract 2.1)", async () => {
    const { items, call } = await freshVault();
    const { sections: _, fields: __, files: ___, ...summary } = (await call("POST", items, { body: FULL })).body;
    const { status, text, body } = await call("GET", items);
    expect(status).toBe(200);
    expect(body).toEqual([summary]);
    expect(Object.keys(body[0]).toSorted()).toEqual(
      "category createdAt favorite id lastEditedBy tags title updatedAt urls vault version".split(" "),
    );
    expect(text).not.toContain("secret");
  });

  it("returns empty lists as empty arrays", async () => {
    const { items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    expect((await call("GET", items)).body[0]).toMatchObject({ tags: [], urls: [], favorite: false });
  });

  it("returns the latest version of each Item and no deleted Item", async () => {
    const { vault, items, call } = await freshVault();
    const ids: string[] = [];
    for (const title of ["A", "B", "C"]) ids.push((await call("POST", items, { body: { ...LOGIN, title } })).body.id);
    await call("PUT", `${items}/${ids[0]}`, { body: { ...LOGIN, title: "A2", vault: { id: vault } } });
    await call("DELETE", `${items}/${ids[1]}`);
    const { body } = await call("GET", items);
    const summaries = body.map(({ id, title, version }: Record<string, unknown>) => ({ id, title, version }));
    expect(summaries).toHaveLength(2);
    expect(summaries).toEqual(
      expect.arrayContaining([
        { id: ids[0], title: "A2", version: 2 },
        { id: ids[2], title: "C", version: 1 },
      ]),
    );
  });

  it("returns the Items in the order of their ids (contract 11.1)", async () => {
    const { items, call } = await freshVault();
    const ids: string[] = [];
    for (let made = 0; made < 6; made++) ids.push((await call("POST", items, { body: LOGIN })).body.id);
    expect((await call("GET", items)).body.map(({ id }: { id: string }) => id)).toEqual(ids.toSorted());
  });

  it("returns only the Items of the vault in the path", async () => {
    const [one, other] = [await freshVault(), await freshVault()];
    await one.call("POST", one.items, { body: LOGIN });
    expect((await other.call("GET", other.items)).body).toEqual([]);
  });
});

describe("GET /v1/vaults/{v}/items/{i}", () => {
  it("answers 200 with the whole Item that POST created, with its ETag", async () => {
    const { vault, items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: FULL });
    const { status, headers, body } = await call("GET", `${items}/${item.id}`);
    expect(status).toBe(200);
    expect(headers.get("ETag")).toEqual(tagAt(1));
    const { id, createdAt, lastEditedBy } = item;
    const rest = { version: 1, createdAt, updatedAt: createdAt, lastEditedBy, files: [] };
    expect(body).toEqual({ ...FULL, id, vault: { id: vault, name: "Test" }, ...rest });
  });

  it("is a 404 for an Item of another vault", async () => {
    const [one, other] = [await freshVault(), await freshVault()];
    const { id } = (await one.call("POST", one.items, { body: LOGIN })).body;
    const { status, body } = await other.call("GET", `${other.items}/${id}`);
    expect(status).toBe(404);
    expect(body).toEqual({ status: 404, message: `item ${id} not found` });
  });

  it.each(["GET", "PUT", "PATCH", "DELETE"])(
    "is a 404 for an Item that does not exist, with every method: %s",
    async (method) => {
      const { vault, items, call } = await freshVault();
      const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
      const bodies: Record<string, unknown> = { PUT: { ...LOGIN, vault: { id: vault } }, PATCH: [] };
      const { status, body } = await call(method, `${items}/${id}`, { body: bodies[method] });
      expect(status).toBe(404);
      expect(body).toEqual({ status: 404, message: `item ${id} not found` });
    },
  );
});

describe("PATCH /v1/vaults/{v}/items/{i}", () => {
  it("answers 200 with the whole patched Item, with its ETag", async () => {
    const { items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: FULL });
    const patch = [{ op: "replace", path: "/title", value: "New" }];
    const { status, headers, body } = await call("PATCH", `${items}/${item.id}`, { body: patch });
    expect(status).toBe(200);
    expect(headers.get("ETag")).toEqual(tagAt(2));
    expect(body).toEqual({ ...item, title: "New", version: 2, updatedAt: body.updatedAt });
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(body);
  });
});

describe("DELETE /v1/vaults/{v}/items/{i}", () => {
  it("answers 204 without a body, and the Item is a 404 after it", async () => {
    const { items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: FULL })).body;
    const { status, text, headers } = await call("DELETE", `${items}/${id}`);
    expect(status).toBe(204);
    expect(text).toBe("");
    expect(headers.get("Content-Type")).toBeNull();
    expect((await call("GET", `${items}/${id}`)).status).toBe(404);
    expect((await call("GET", items)).body).toEqual([]);
  });

  it("is a 404 for an Item that was deleted", async () => {
    const { items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await call("DELETE", `${items}/${id}`);
    expect((await call("DELETE", `${items}/${id}`)).body).toEqual({ status: 404, message: `item ${id} not found` });
  });
});
