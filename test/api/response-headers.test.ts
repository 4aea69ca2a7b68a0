import { describe, expect, it } from "vitest";
import { FAILURE_KINDS } from "../../src/model/failure.ts";
import { readLog } from "../support/activity.ts";
import { admin, freshVault, LOGIN, type Reply, send } from "../support/service.ts";

/** The headers `Item-Vault-Error` (contract 4.2) and `Request-Id` (contract 1.8, 3.6). */

const [contract = ""] = Object.values(
  import.meta.glob("../../docs/contract.md", { query: "?raw", import: "default", eager: true }),
);

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("Item-Vault-Error", () => {
  it("has exactly the kinds of the list in contract 4.3", () => {
    const documented = [...contract.matchAll(/^\| `([a-z_]+)` +\| +([45]\d\d) \|/gm)].map(([, kind]) => kind);
    expect(new Set(documented)).toEqual(new Set(FAILURE_KINDS));
    expect(documented).toHaveLength(FAILURE_KINDS.length);
  });

  it("contains the kind of each error", async () => {
    const { vault, items, call } = await freshVault();
    const missing = crypto.randomUUID();
    const item = (await call("POST", items, { body: LOGIN })).body.id;
    const refusals: readonly (readonly [string, Promise<Reply>])[] = [
      ["unauthorized", send("GET", items)],
      ["vault_id", call("GET", "/v1/vaults/x/items")],
      ["out_of_scope", call("GET", `/v1/vaults/${missing}`)],
      ["vault_not_found", call("GET", `/v1/vaults/${missing}/items`)],
      ["item_id", call("GET", `${items}/x`)],
      ["item_not_found", call("GET", `${items}/${missing}`)],
      ["file_not_found", call("GET", `${items}/${item}/files/${missing}`)],
      ["invalid", call("POST", items, { body: "{" })],
      ["category", call("POST", items, { body: {} })],
      ["filter", call("GET", `${items}?filter=x`)],
      ["precondition", call("DELETE", `${items}/${item}`, { headers: { "If-Match": '"7"' } })],
      ["route_not_found", call("GET", "/v1/nothing")],
      ["method_not_allowed", call("POST", `/v1/vaults/${vault}`)],
      ["token_not_found", admin("DELETE", `/v1/admin/tokens/${missing}`)],
    ];
    for (const [kind, reply] of refusals) {
      expect((await reply).headers.get("Item-Vault-Error")).toBe(kind);
    }
  });

  it("is absent from every success", async () => {
    const { items, call } = await freshVault();
    for (const reply of [await call("GET", items), await call("POST", items, { body: LOGIN }), await send("GET", "/heartbeat")]) {
      expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([200, null]);
    }
  });
});

describe("Request-Id", () => {
  it.each(["/heartbeat", "/health", "/metrics", "/v1/vaults", "/v1/nothing", "/v1/admin/vaults"])(
    "is a UUIDv7 that differs in every response: %s",
    async (path) => {
      const ids = [await send("GET", path), await send("GET", path)].map(({ headers }) => headers.get("Request-Id"));
      for (const id of ids) expect(id).toMatch(UUID_V7);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  it("is the requestId of the entry of a write and of a read in the activity log", async () => {
    const { items, vault, call } = await freshVault();
    const write = await call("POST", items, { body: LOGIN });
    const read = await call("GET", `${items}/${write.body.id}`);
    const { body: log } = await readLog(call, 3);
    const entries = log.map(({ requestId, action }: Record<string, string>) => [requestId, action]);
    expect(entries.slice(0, 2)).toEqual([
      [read.headers.get("Request-Id"), "READ"],
      [write.headers.get("Request-Id"), "CREATE"],
    ]);
    expect(entries).toHaveLength(3);
    expect(log[2].resource).toMatchObject({ type: "VAULT", vault: { id: vault } });
  });
});
