import { describe, expect, it } from "vitest";
import { type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Contract 7.8: one request generates at most 64 values. */

/** Fields that ask for a value. In: the number of the first, and the value that they have. */
const generated = (size: number, from = 0, value?: string) =>
  Array.from({ length: size }, (_, index) => ({ id: `g${from + index}`, generate: true, value }));

/** A vault with an Item of a field that has no value. */
async function world() {
  const { vault, items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: { ...LOGIN, fields: [{ id: "empty" }] } });
  return { vault, items, call, item, path: `${items}/${item.id}` };
}

type World = Awaited<ReturnType<typeof world>>;
type Ask = (world: World, size: number) => Promise<Reply>;

const patch = (call: Client, path: string, operations: object[]) => call("PATCH", path, { body: operations });

const REQUESTS: readonly (readonly [string, Ask])[] = [
  ["POST", ({ call, items }, size) => call("POST", items, { body: { ...LOGIN, fields: generated(size) } })],
  [
    "PUT",
    ({ call, path, vault }, size) => call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, fields: generated(size) } }),
  ],
  [
    "a PATCH of /",
    ({ call, path }, size) => patch(call, path, [{ op: "replace", path: "/", value: { fields: generated(size) } }]),
  ],
  [
    "a PATCH of /fields",
    ({ call, path }, size) => patch(call, path, [{ op: "replace", path: "/fields", value: generated(size) }]),
  ],
  [
    "a PATCH that adds the fields one by one",
    ({ call, path }, size) =>
      patch(
        call,
        path,
        generated(size).map((value) => ({ op: "add", path: "/fields", value })),
      ),
  ],
  [
    "a PATCH that adds fields and asks for the value of another one",
    ({ call, path }, size) =>
      patch(call, path, [
        ...generated(size - 1).map((value) => ({ op: "add", path: "/fields", value })),
        { op: "add", path: "/fields/empty/generate", value: true },
      ]),
  ],
];

describe("values that one request generates", () => {
  it.each(REQUESTS)("%s: 64 are accepted", async (_, ask) => {
    const { status, body } = await ask(await world(), 64);
    expect(status).toBe(200);
    const values = body.fields.map(({ value }: { value: string }) => value).filter((value: string) => value !== "");
    expect(new Set(values).size).toBe(64);
  });

  it.each(REQUESTS)("%s: 65 are a 400 that names the limit, and nothing is stored", async (_, ask) => {
    const made = await world();
    const { call, vault, items, item, path } = made;
    const { status, headers, body } = await ask(made, 65);
    expect([status, headers.get("Item-Vault-Error")]).toEqual([400, "invalid"]);
    expect(body).toEqual({ status: 400, message: "fields: has more than 64 generated values" });
    expect((await call("GET", path)).body).toEqual(item);
    expect((await call("GET", items)).body).toHaveLength(1);
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ items: 1, contentVersion: 1 });
  });

  it("are not those of fields that have a value", async () => {
    const { call, items } = await world();
    const fields = [...generated(64), ...generated(100, 64, "mine")];
    const { status, body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect([status, body.fields.length]).toEqual([200, 164]);
  });

  it("are not those that an earlier request generated", async () => {
    const { call, path } = await world();
    for (const from of [0, 64]) {
      const operations = generated(64, from).map((value) => ({ op: "add", path: "/fields", value }));
      expect((await patch(call, path, operations)).status).toBe(200);
    }
    expect((await call("GET", path)).body.fields).toHaveLength(129);
  });

  it("are those that are left after the last operation of a PATCH", async () => {
    const { call, path } = await world();
    const { status, body } = await patch(call, path, [
      { op: "replace", path: "/fields", value: generated(65) },
      { op: "remove", path: "/fields/g64/generate" },
    ]);
    expect(status).toBe(200);
    expect(body.fields[64].value).toBe("");
  });
});
