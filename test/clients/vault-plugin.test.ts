import { describe, expect, it } from "vitest";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, ZERO_TIME } from "./go-types.ts";
import { connectVault, goHeaders, requester } from "./replay.ts";

/**
 * 1Password/vault-plugin-secrets-onepassword (HashiCorp Vault), through connect-sdk-go. It replaces Items without reading them
 * first.
 *
 * Read: plugin/backend.go, path_config.go, path_items.go, path_vaults.go, README.md. Two other users of the SDK
 * (argoproj-labs/argocd-vault-plugin pkg/backends/onepasswordconnect.go, helmfile/vals pkg/providers/onepasswordconnect) only
 * read an Item by ids or titles, as go-sdk.test.ts tests. 1Password/kubernetes-secrets-injector sends no requests itself:
 * pkg/webhook/webhook.go prefixes a container's command with `op run`, whose sources are not public.
 */

const PLUGIN = goHeaders("connect-sdk-go/1.5.3");

async function plugin() {
  const fresh = await connectVault();
  return { ...fresh, request: requester(PLUGIN, fresh.token) };
}

/** The body of `vault write op/vaults/<v>/items`: with the sections and fields of the user, and a url that may be empty. */
const bodyOf = (vault: string, id: string, value: string) =>
  goJson({
    id,
    title: "Example",
    urls: [{ primary: true, href: "" }],
    vault: { id: vault },
    category: "LOGIN",
    sections: [{ id: "95cdbc3b-7742-47ec-9056-44d6af82d562", label: "Server Details" }],
    fields: [
      { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value },
      { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", generate: true, recipe: { length: 10 } },
      { id: "s3", section: { id: "95cdbc3b-7742-47ec-9056-44d6af82d562" }, type: "STRING", label: "hostname", value: "h" },
    ],
    createdAt: ZERO_TIME,
    updatedAt: ZERO_TIME,
  });

describe("HashiCorp Vault's plugin", () => {
  it("creates an Item, and reads its values by label", async () => {
    const { request, vault, items } = await plugin();
    const { body: created } = await request("POST", items, bodyOf(vault, "", "bob"));
    expect(throughGo(ITEM, created)).toMatchObject({ category: "LOGIN", urls: [{ primary: true, href: "" }] });
    const { fields } = throughGo(ITEM, (await request("GET", `${items}/${created.id}`)).body);
    const values = Object.fromEntries(fields.map(({ label, value }: { label: string; value: string }) => [label, value]));
    expect(values).toEqual({ username: "bob", password: expect.stringMatching(/^.{10}$/), hostname: "h" });
  });

  it("lists ids and titles", async () => {
    const { request, vault, items } = await plugin();
    const { body: created } = await request("POST", items, bodyOf(vault, "", "bob"));
    expect((await request("GET", items)).body).toMatchObject([{ id: created.id, title: "Example" }]);
  });

  it("replaces an Item without reading it, and deletes it", async () => {
    const { request, vault, items } = await plugin();
    const { body: created } = await request("POST", items, bodyOf(vault, "", "bob"));
    const path = `${items}/${created.id}`;
    expect((await request("PUT", path, bodyOf(vault, created.id, "eve"))).status).toBe(200);
    expect((await request("GET", path)).body).toMatchObject({
      version: 2,
      fields: [{ value: "eve" }, { id: "password" }, { value: "h" }],
      createdAt: created.createdAt,
    });
    expect((await request("DELETE", path)).status).toBe(204);
    expect((await request("GET", `${items}?${goTitle("Example")}`)).body).toEqual([]);
  });
});
