import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, VAULT, ZERO_TIME } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, type Play, player } from "./replay.ts";

/**
 * external-secrets/external-secrets, the provider `onepassword`, through connect-sdk-go v1.5.3.
 *
 * Read: providers/v1/onepassword/onepassword.go, retry_client.go, go.mod, docs/provider/1password-automation.md,
 * docs/snippets/1password-secret-store.yaml and 1password-push-secret.yaml. A SecretStore names its vaults by title or id; an
 * Item is found by its title, read by the SDK, and read again by the provider. A field is found by its label, of which there
 * must be exactly one. After a push it looks for the Item, and for the value, every half second for five.
 */

const EXTERNAL_SECRETS = goHeaders("external-secrets");

async function provider(name = "staging") {
  const fresh = await connectVault(name);
  return { ...fresh, play: player(EXTERNAL_SECRETS, fresh.token) };
}

/** Finds an Item as the provider does. Out: what Go kept of it, if there is one. */
async function requireItem(play: Play, vault: string, title: string) {
  const { status, body } = await play("GET", `/v1/vaults/${vault}/items?${goTitle(title)}`);
  expect(status).toBe(200);
  const [summary] = body.map((one: unknown) => throughGo(ITEM, one));
  if (!summary) return undefined;
  const path = `/v1/vaults/${summary.vault.id}/items/${summary.id}`;
  const first = await play("GET", path);
  const second = await play("GET", path);
  expect(second.body).toEqual(first.body);
  return throughGo(ITEM, second.body);
}

/** What PushSecret sends to create an Item. In: the vault as the SecretStore names it. */
const pushed = (vault: string) =>
  goJson({
    id: "",
    title: "1pw-secret-name",
    tags: ["tag1", "tag2"],
    vault: { id: vault },
    category: "SERVER",
    fields: [{ id: "", type: "CONCEALED", label: "password", value: "my-secret" }],
    createdAt: ZERO_TIME,
    updatedAt: ZERO_TIME,
  });

const put = (play: Play, item: any) => play("PUT", `/v1/vaults/${item.vault.id}/items/${item.id}`, goJson(item));

describe("External Secrets, reading", () => {
  it("validates a store: each vault by its title or by its id", async () => {
    const { play, vault } = await provider();
    const { body } = await play("GET", `/v1/vaults?${goTitle("staging")}`);
    expect(body.map((one: unknown) => throughGo(VAULT, one))).toMatchObject([{ id: vault }]);
    expect(throughGo(VAULT, (await play("GET", `/v1/vaults/${vault}`)).body).name).toBe("staging");
  });

  it.each(["my-env-config", "3fa85f64-5717-4562-b3fc-2c963f66afa6"])("finds the field of an Item called %s", async (title) => {
    const { play, call, vault, items } = await provider();
    const fields = ["MY_ENV_VAR1", "MY.ENV", "password"].map((label) => ({ label, value: `${label}!` }));
    await call("POST", items, { body: { title, category: "LOGIN", fields } });
    const item = await requireItem(play, vault, title);
    expect(item.fields).toMatchObject(fields); // every label once
    expect(item.fields).toHaveLength(3);
  });

  it("fetches the Files of a document by content_path", async () => {
    const { play, call, token, vault, items } = await provider();
    const { body } = await call("POST", items, { body: { title: "my-cert", category: "DOCUMENT" } });
    await attach(call, `${items}/${body.id}`, "name=tls.crt", pattern(40));
    const item = await requireItem(play, vault, "my-cert");
    expect(item).toMatchObject({ category: "DOCUMENT", files: [{ name: "tls.crt" }] });
    expect((await download(EXTERNAL_SECRETS, token, item.files[0].content_path)).bytes).toEqual(pattern(40));
  });

  it("finds Items by the tags that the list of a vault shows", async () => {
    const { play, call, items } = await provider();
    await call("POST", items, { body: { title: "one", category: "LOGIN", tags: ["team:a", "prod"] } });
    await call("POST", items, { body: { title: "two", category: "LOGIN" } });
    const { body } = await play("GET", items);
    const tagged = body.map((one: unknown) => throughGo(ITEM, one)).filter(({ tags }: any) => tags?.includes("prod"));
    expect(tagged).toMatchObject([{ title: "one", tags: ["team:a", "prod"] }]);
  });
});

describe("PushSecret", () => {
  it("creates the Item that is not there, in a vault named by its id, and finds it at once", async () => {
    const { play, vault, items } = await provider();
    expect(await requireItem(play, vault, "1pw-secret-name")).toBeUndefined();
    expect((await play("POST", items, pushed(vault))).status).toBe(200);
    const item = await requireItem(play, vault, "1pw-secret-name");
    expect(item).toMatchObject({
      category: "SERVER",
      tags: ["tag1", "tag2"],
      fields: [{ label: "password", value: "my-secret" }],
    });
  });

  it("creates an Item in a vault named by its title: the path has its id, the body its title", async () => {
    const { play, vault, items } = await provider("staging");
    const { body } = await play("POST", items, pushed("staging"));
    expect(body).toMatchObject({ title: "1pw-secret-name", vault: { id: vault } });
  });

  it("changes one value by sending all of the Item back, and finds it changed at once", async () => {
    const { play, call, vault, items } = await provider();
    const fields = [
      { label: "password", value: "old", purpose: "PASSWORD" },
      { label: "code", type: "OTP", value: "JBSWY3DPEHPK3PXP" },
    ];
    const { body: made } = await call("POST", items, { body: { title: "app", category: "LOGIN", fields } });
    const file = await attach(call, `${items}/${made.id}`, "name=tls.crt", pattern(40));
    const item = await requireItem(play, vault, "app");
    item.fields[0].value = "new";
    item.fields.push({ id: "", type: "CONCEALED", label: "token", value: "t" }); // a label that was not there
    expect((await put(play, item)).status).toBe(200);
    const found = await requireItem(play, vault, "app");
    expect(found.fields).toMatchObject([{ label: "password", value: "new" }, { label: "code" }, { label: "token", value: "t" }]);
    expect(found.files).toEqual([file]);
  });

  it("deletes a value, and the Item with the last of them", async () => {
    const { play, call, vault, items } = await provider();
    const fields = [
      { label: "a", value: "1" },
      { label: "b", value: "2" },
    ];
    const { body: made } = await call("POST", items, { body: { title: "app", category: "SERVER", fields } });
    const item = await requireItem(play, vault, "app");
    expect((await put(play, { ...item, fields: [item.fields[1]] })).status).toBe(200);
    const left = await requireItem(play, vault, "app");
    expect([left.fields.length, left.files, left.sections]).toEqual([1, undefined, undefined]); // else it would be a PUT again
    expect((await play("DELETE", `${items}/${made.id}`)).status).toBe(204);
    expect(await requireItem(play, vault, "app")).toBeUndefined();
  });

  it("deletes the last value of an Item that has Files: a PUT without fields", async () => {
    const { play, call, vault, items } = await provider();
    const { body: made } = await call("POST", items, {
      body: { title: "app", category: "SERVER", fields: [{ label: "a", value: "1" }] },
    });
    const file = await attach(call, `${items}/${made.id}`, "name=tls.crt", pattern(40));
    const { fields: _fields, ...item } = await requireItem(play, vault, "app");
    expect((await put(play, item)).status).toBe(200);
    expect((await play("GET", `${items}/${made.id}`)).body).toMatchObject({ fields: [], files: [file] });
  });
});
