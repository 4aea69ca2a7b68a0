import { describe, expect, it } from "vitest";
import { goTitle } from "./encodings.ts";
import { ITEM, throughGo } from "./go-types.ts";
import { connectVault, goHeaders, requester } from "./replay.ts";

/**
 * The `op` command of 1Password with OP_CONNECT_HOST and OP_CONNECT_TOKEN, as in `op read op://Production/Database/password`.
 *
 * Its source is closed and it was not run. A third party observed the requests of version 2.39: the vault by its name; the same
 * request with the vault's id in place of the name; the Item by its title; the Item by its id.
 */

async function op(name: string) {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(goHeaders("connect-sdk-go/1.5.3"), fresh.token) };
}

describe("op", () => {
  it.each(["Production", "R&D + ops", String.raw`C:\Vaults "old"`])("reads a value from the vault %j", async (name) => {
    const { request, vault, items, call } = await op(name);
    const fields = [{ purpose: "PASSWORD", value: "hunter2" }];
    const made = await call("POST", items, { body: { title: "Database", category: "DATABASE", fields } });
    const { body: named } = await request("GET", `/v1/vaults?${goTitle(name)}`);
    expect(named).toMatchObject([{ id: vault, name }]);
    expect((await request("GET", `/v1/vaults?${goTitle(vault)}`)).body).toEqual(named);
    const { body: found } = await request("GET", `${items}?${goTitle("Database")}`);
    expect(found).toMatchObject([{ id: made.body.id, vault: { id: vault } }]);
    const { body: item } = await request("GET", `${items}/${found[0].id}`);
    expect(throughGo(ITEM, item).fields).toMatchObject([{ id: "password", value: "hunter2" }]);
  });

  it("finds no vault by a name or id that the token does not have", async () => {
    const { request } = await op("Production");
    const other = await op("Staging");
    for (const text of ["Staging", other.vault]) expect((await request("GET", `/v1/vaults?${goTitle(text)}`)).body).toEqual([]);
  });
});
