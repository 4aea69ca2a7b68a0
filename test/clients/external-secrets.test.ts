import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, VAULT, ZERO_TIME } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, type SendRequest, requester } from "./replay.ts";

/**
 * external-secrets/external-secrets, the provider `onepassword`, through connect-sdk-go v1.5.3.
 *
 * Read: providers/v1/onepassword/onepassword.go, retry_client.go, go.mod, docs/provider/1password-automation.md,
 * docs/snippets/1password-secret-store.yaml and 1password-push-secret.yaml. A SecretStore names its vaults by title or id. The
 * SDK finds an Item by its title and reads it, and the provider reads it again. The provider finds a field by its label, which
 * must be unique in the Item. After a push it polls for the Item and the value, every 0.5 s for 5 s.
 */

const EXTERNAL_SECRETS = goHeaders("external-secrets");

async function provider(name = "staging") {
  const fresh = await connectVault(name);
  return { ...fresh, request: requester(EXTERNAL_SECRETS, fresh.token) };
}

/** Finds an Item as the provider does. Out: the Item in the structs of Go, or `undefined` when there is none. */
async function requireItem(request: SendRequest, vault: string, title: string) {
  const { status, body } = await request("GET", `/v1/vaults/${vault}/items?${goTitle(title)}`);
  expect(status).toBe(200);
  const [summary] = body.map((one: unknown) => throughGo(ITEM, one));
  if (!summary) return undefined;
  const path = `/v1/vaults/${summary.vault.id}/items/${summary.id}`;
  const first = await request("GET", path);
  const second = await request("GET", path);
  expect(second.body).toEqual(first.body);
  return throughGo(ITEM, second.body);
}

/** The body with which PushSecret creates an Item. In: the vault's id or title, as in the SecretStore. */
const bodyOfPush = (vault: string) =>
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

const put = (request: SendRequest, item: any) => request("PUT", `/v1/vaults/${item.vault.id}/items/${item.id}`, goJson(item));

describe("External Secrets, when it reads", () => {
  it("validates a store by finding each vault by title or by id", async () => {
    const { request, vault } = await provider();
    const { body } = await request("GET", `/v1/vaults?${goTitle("staging")}`);
    expect(body.map((one: unknown) => throughGo(VAULT, one))).toMatchObject([{ id: vault }]);
    expect(throughGo(VAULT, (await request("GET", `/v1/vaults/${vault}`)).body).name).toBe("staging");
  });

  it.each(["my-env-config", "3fa85f64-5717-4562-b3fc-2c963f66afa6"])("finds the field of an Item called %s", async (title) => {
    const { request, call, vault, items } = await provider();
    const fields = ["MY_ENV_VAR1", "MY.ENV", "password"].map((label) => ({ label, value: `${label}!` }));
    await call("POST", items, { body: { title, category: "LOGIN", fields } });
    const item = await requireItem(request, vault, title);
    expect(item.fields).toMatchObject(fields); // every label is unique
    expect(item.fields).toHaveLength(3);
  });

  it("fetches the Files of a document by content_path", async () => {
    const { request, call, token, vault, items } = await provider();
    const { body } = await call("POST", items, { body: { title: "my-cert", category: "DOCUMENT" } });
    await attach(call, `${items}/${body.id}`, "name=tls.crt", pattern(40));
    const item = await requireItem(request, vault, "my-cert");
    expect(item).toMatchObject({ category: "DOCUMENT", files: [{ name: "tls.crt" }] });
    expect((await download(EXTERNAL_SECRETS, token, item.files[0].content_path)).bytes).toEqual(pattern(40));
  });

  it("finds Items by the tags in the list of a vault", async () => {
    const { request, call, items } = await provider();
    await call("POST", items, { body: { title: "one", category: "LOGIN", tags: ["team:a", "prod"] } });
    await call("POST", items, { body: { title: "two", category: "LOGIN" } });
    const { body } = await request("GET", items);
    const tagged = body.map((one: unknown) => throughGo(ITEM, one)).filter(({ tags }: any) => tags?.includes("prod"));
    expect(tagged).toMatchObject([{ title: "one", tags: ["team:a", "prod"] }]);
  });
});

describe("PushSecret", () => {
  it("creates a missing Item in a vault that the store names by id, and finds the Item at once", async () => {
    const { request, vault, items } = await provider();
    expect(await requireItem(request, vault, "1pw-secret-name")).toBeUndefined();
    expect((await request("POST", items, bodyOfPush(vault))).status).toBe(200);
    const item = await requireItem(request, vault, "1pw-secret-name");
    expect(item).toMatchObject({
      category: "SERVER",
      tags: ["tag1", "tag2"],
      fields: [{ label: "password", value: "my-secret" }],
    });
  });

  it("creates an Item in a vault that the store names by title: the id is in the path, the title in the body", async () => {
    const { request, vault, items } = await provider("staging");
    const { body } = await request("POST", items, bodyOfPush("staging"));
    expect(body).toMatchObject({ title: "1pw-secret-name", vault: { id: vault } });
  });

  it("changes one value by a PUT of the whole Item, and finds the change at once", async () => {
    const { request, call, vault, items } = await provider();
    const fields = [
      { label: "password", value: "old", purpose: "PASSWORD" },
      { label: "code", type: "OTP", value: "JBSWY3DPEHPK3PXP" },
    ];
    const { body: made } = await call("POST", items, { body: { title: "app", category: "LOGIN", fields } });
    const file = await attach(call, `${items}/${made.id}`, "name=tls.crt", pattern(40));
    const item = await requireItem(request, vault, "app");
    item.fields[0].value = "new";
    item.fields.push({ id: "", type: "CONCEALED", label: "token", value: "t" }); // a new label
    expect((await put(request, item)).status).toBe(200);
    const found = await requireItem(request, vault, "app");
    expect(found.fields).toMatchObject([{ label: "password", value: "new" }, { label: "code" }, { label: "token", value: "t" }]);
    expect(found.files).toEqual([file]);
  });

  it("deletes one value by a PUT, and the Item when it deletes the last value", async () => {
    const { request, call, vault, items } = await provider();
    const fields = [
      { label: "a", value: "1" },
      { label: "b", value: "2" },
    ];
    const { body: made } = await call("POST", items, { body: { title: "app", category: "SERVER", fields } });
    const item = await requireItem(request, vault, "app");
    expect((await put(request, { ...item, fields: [item.fields[1]] })).status).toBe(200);
    const left = await requireItem(request, vault, "app");
    expect([left.fields.length, left.files, left.sections]).toEqual([1, undefined, undefined]); // with Files or sections the provider would send a PUT instead of a DELETE
    expect((await request("DELETE", `${items}/${made.id}`)).status).toBe(204);
    expect(await requireItem(request, vault, "app")).toBeUndefined();
  });

  it("deletes the last value of an Item that has Files by a PUT without fields", async () => {
    const { request, call, vault, items } = await provider();
    const { body: made } = await call("POST", items, {
      body: { title: "app", category: "SERVER", fields: [{ label: "a", value: "1" }] },
    });
    const file = await attach(call, `${items}/${made.id}`, "name=tls.crt", pattern(40));
    const { fields: _fields, ...item } = await requireItem(request, vault, "app");
    expect((await put(request, item)).status).toBe(200);
    expect((await request("GET", `${items}/${made.id}`)).body).toMatchObject({ fields: [], files: [file] });
  });
});
