import { describe, expect, it } from "vitest";
import { admin, client, freshVault, makeToken, makeVault } from "./support/service.ts";

describe("GET /v1/vaults", () => {
  it("lists the vaults that the token reads, and no others", async () => {
    const [read, written, other] = [await makeVault("Read"), await makeVault("Written"), await makeVault("Other")];
    const { token } = await makeToken({ [read]: "r", [written]: "w" });
    const { status, body } = await client(token)("GET", "/v1/vaults");
    expect(status).toBe(200);
    expect(body.map((vault: { id: string }) => vault.id)).toEqual([read]);
    expect(other).not.toBe(read);
  });

  it("gives each vault its whole shape", async () => {
    const { vault, call } = await freshVault();
    const { body } = await call("GET", `/v1/vaults/${vault}`);
    expect(body).toEqual({
      id: vault,
      name: "Test",
      description: "",
      attributeVersion: 1,
      contentVersion: 0,
      items: 0,
      type: "USER_CREATED",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: body.createdAt,
    });
  });
});

describe("DELETE /v1/admin/vaults/{v}", () => {
  it("makes the vault and its Items unreachable", async () => {
    const { vault, items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: { title: "Gone", category: "LOGIN" } });
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual({ status: 404, message: `vault ${vault} not found` });
  });
});
