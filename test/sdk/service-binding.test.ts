import { describe, expect, inject, it } from "vitest";
import type { Asked } from "./support/consumer/index.ts";
import { admin, attach, freshVault, makeItems, makeVault } from "./support/vault.ts";

/** Another Worker of the same local process, which binds the entrypoint `Secrets` of the bundled service (contract 18.1 to 18.7). */

/** What the other Worker got from its binding: `value`, or `refused`. */
async function ask(binding: Asked["binding"], references: Asked["references"]): Promise<unknown> {
  const url = new URL("consumer/", inject("url"));
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ binding, references }) });
  return response.json();
}

/** Issues a token whose id is that in support/consumer/wrangler.toml. */
async function issue(key: string, vault: string, binding: boolean): Promise<void> {
  const response = await fetch(new URL("v1/admin/tokens", inject("url")), {
    method: "POST",
    body: JSON.stringify({ name: key, vaults: { [vault]: "r" }, binding }),
    headers: { Authorization: `Bearer ${inject("secrets").ADMIN_TOKEN}`, "Idempotency-Key": key },
  });
  if (!response.ok) throw new Error(`${key}: ${response.status} ${await response.text()}`);
}

const refused = (status: number, kind: string, message: string) => ({ refused: { name: "Error", message, kind, status } });
const UNAUTHORIZED = refused(401, "unauthorized", "Invalid token signature");

const bound = await freshVault("Bound");
await makeVault("Not bound");
const [item] = await makeItems(bound, "Database");
await attach(bound, item!, "file content", "name=key.pem");
await issue("consumer", bound.canonical, true);
await issue("consumer-revoked", bound.canonical, true);
await issue("consumer-client", bound.canonical, false);

describe("a Worker that binds the service", () => {
  it("gets values, and what each reference stands for", async () => {
    expect(await ask("SECRETS", "op://bound/database/key.pem")).toEqual({ value: "file content" });
    const references = ["op://bound/database/key.pem?attribute=type", "op://bound/database/nothing"];
    expect(await ask("SECRETS", references)).toEqual({
      value: [
        { reference: references[0], value: "FILE" },
        { reference: references[1], status: 404, message: "The reference names no field or File of the Item" },
      ],
    });
  });

  it("gets the refusal of a reference as an Error with its message, kind and status", async () => {
    const noVault = refused(404, "reference_not_found", "The reference names no vault that the token reads");
    for (const name of ["not bound", "missing"]) expect(await ask("SECRETS", `op://${name}/a/b`)).toEqual(noVault);
    expect(await ask("SECRETS", "nonsense")).toEqual(refused(400, "invalid", "the reference does not begin with op://"));
  });

  it("is refused by the next call after its token was revoked", async () => {
    expect(await ask("REVOKED", "op://bound/database/key.pem")).toEqual({ value: "file content" });
    await admin("DELETE", "tokens/ff688081-19b4-403b-a6f7-4ad478b63af7");
    expect(await ask("REVOKED", "op://bound/database/key.pem")).toEqual(UNAUTHORIZED);
    expect(await ask("REVOKED", ["op://bound/database/key.pem"])).toEqual(UNAUTHORIZED);
  });

  it("is refused in the same words when its props name the token of a client, or nothing", async () => {
    expect(await ask("CLIENT", "op://bound/database/key.pem")).toEqual(UNAUTHORIZED);
    expect(await ask("WITHOUT_PROPS", "op://bound/database/key.pem")).toEqual(UNAUTHORIZED);
  });
});
