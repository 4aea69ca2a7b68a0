import { describe, expect, it } from "vitest";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, ZERO_TIME } from "./go-types.ts";
import { connectVault, goHeaders, player } from "./replay.ts";

/**
 * 1Password/vault-plugin-secrets-onepassword (HashiCorp Vault), through connect-sdk-go: it writes Items that it has not read.
 *
 * Read: plugin/backend.go, path_config.go, path_items.go, path_vaults.go, README.md. The other users of the SDK that were read
 * (argoproj-labs/argocd-vault-plugin pkg/backends/onepasswordconnect.go, helmfile/vals pkg/providers/onepasswordconnect)
 * only read an Item by ids or titles, which go-sdk.test.ts plays. 1Password/kubernetes-secrets-injector sends nothing
 * itself: pkg/webhook/webhook.go puts the closed `op run` before a container's command, whose requests could not be found.
 */

const PLUGIN = goHeaders("connect-sdk-go/1.5.3");

async function plugin() {
  const fresh = await connectVault();
  return { ...fresh, play: player(PLUGIN, fresh.token) };
}

/** What `vault write op/vaults/<v>/items` sends: sections and fields as the user wrote them, a url that may be empty. */
const written = (vault: string, id: string, value: string) =>
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
  it("creates an Item and reads its values by their labels", async () => {
    const { play, vault, items } = await plugin();
    const { body: made } = await play("POST", items, written(vault, "", "bob"));
    expect(throughGo(ITEM, made)).toMatchObject({ category: "LOGIN", urls: [{ primary: true, href: "" }] });
    const { fields } = throughGo(ITEM, (await play("GET", `${items}/${made.id}`)).body);
    const values = Object.fromEntries(fields.map(({ label, value }: { label: string; value: string }) => [label, value]));
    expect(values).toEqual({ username: "bob", password: expect.stringMatching(/^.{10}$/), hostname: "h" });
  });

  it("lists ids and titles", async () => {
    const { play, vault, items } = await plugin();
    const { body: made } = await play("POST", items, written(vault, "", "bob"));
    expect((await play("GET", items)).body).toMatchObject([{ id: made.id, title: "Example" }]);
  });

  it("replaces an Item that it has not read, and deletes it", async () => {
    const { play, vault, items } = await plugin();
    const { body: made } = await play("POST", items, written(vault, "", "bob"));
    const path = `${items}/${made.id}`;
    expect((await play("PUT", path, written(vault, made.id, "eve"))).status).toBe(200);
    expect((await play("GET", path)).body).toMatchObject({
      version: 2,
      fields: [{ value: "eve" }, {}, {}],
      createdAt: made.createdAt,
    });
    expect((await play("DELETE", path)).status).toBe(204);
    expect((await play("GET", `${items}?${goTitle("Example")}`)).body).toEqual([]);
  });
});
