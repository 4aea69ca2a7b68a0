import { describe, expect, it } from "vitest";
import { pattern } from "../support/files.ts";
import { goJson, goTitle } from "./encodings.ts";
import { ITEM, throughGo, VAULT, ZERO_TIME } from "./go-types.ts";
import { attach, connectVault, goHeaders, ID, player } from "./replay.ts";

/**
 * 1Password/connect-sdk-go v1.5.3: its requests for vaults and Items. The Terraform provider, both operators, HashiCorp's
 * plugin, argocd-vault-plugin and vals send theirs through it.
 *
 * Read: connect/client.go, connect/version.go, connect/config_helper.go, onepassword/items.go, USAGE.md of that repository;
 * onepassword/errors.go and vaults.go in the copy that tellerops/teller vendors; zipkin/propagation.go of
 * jaegertracing/jaeger-client-go for the trace headers. A status other than the expected one is an error, and its body is
 * read as {status, message}. Every request says application/json, GET and DELETE too.
 */

const GO_SDK = goHeaders("connect-sdk-go/1.5.3");

/** The example of the README: what Go leaves empty it sends as "" and as its zero time. */
const SECRET = `{"id":"","title":"Secret String","tags":["1password-connect"],"vault":{"id":""},"category":"LOGIN","fields":[{"id":"","type":"STRING","value":"mysecret"}],"createdAt":"${ZERO_TIME}","updatedAt":"${ZERO_TIME}"}`;

async function sdk(name?: string, base = "") {
  const fresh = await connectVault(name);
  return { ...fresh, play: player(GO_SDK, fresh.token, base) };
}

describe("connect-sdk-go", () => {
  it("lists the vaults as a bare array", async () => {
    const { play, vault } = await sdk("R&D");
    const { status, body } = await play("GET", "/v1/vaults");
    expect([status, body.length]).toEqual([200, 1]);
    expect(throughGo(VAULT, body[0])).toMatchObject({ id: vault, name: "R&D", type: "USER_CREATED" });
    expect(throughGo(VAULT, (await play("GET", `/v1/vaults/${vault}`)).body)).toEqual(throughGo(VAULT, body[0]));
  });

  it.each(["Team 1", "R&D + ops", "50% (old)", "Büro"])("finds the one vault of the title %j", async (title) => {
    const { play, vault } = await sdk(title);
    const { status, body } = await play("GET", `/v1/vaults?${goTitle(title)}`);
    expect([status, body.length, body[0].id]).toEqual([200, 1, vault]);
    expect((await play("GET", `/v1/vaults?${goTitle(`${title}?`)}`)).body).toEqual([]);
  });

  it("creates an Item out of empty ids, an empty vault and zero times", async () => {
    const { play, vault, items } = await sdk();
    const { status, body, text } = await play("POST", items, SECRET);
    expect(status).toBe(200);
    expect(throughGo(ITEM, body)).toMatchObject({ id: expect.stringMatching(ID), title: "Secret String", vault: { id: vault } });
    expect(body.fields).toMatchObject([{ id: expect.stringMatching(/./), type: "STRING", value: "mysecret" }]);
    expect(body.createdAt).not.toContain("0001-01-01");
    expect(text).toMatch(/"version":1[,}]/); // an int: Go reads neither 1.0 nor "1"
  });

  it.each(["Secret String", "a+b & c", 'say "hi"', "x <y>"])(
    "finds the Item of the title %j, and reads it whole",
    async (title) => {
      const { play, vault, items } = await sdk();
      const made = (await play("POST", items, SECRET.replace('"Secret String"', goJson(title)))).body;
      const { body: summaries } = await play("GET", `${items}?${goTitle(title)}`);
      expect(summaries.map(({ id }: { id: string }) => id)).toEqual([made.id]);
      expect(throughGo(ITEM, summaries[0]).vault.id).toBe(vault); // the next path is made of both ids
      const { body } = await play("GET", `/v1/vaults/${summaries[0].vault.id}/items/${summaries[0].id}`);
      expect(throughGo(ITEM, body)).toMatchObject({ title, fields: [{ value: "mysecret" }] });
    },
  );

  it("finds by its title an Item whose title looks like an id, once the id is a 404", async () => {
    const { play, items } = await sdk();
    const title = "abcdefghijklmnopqrstuvwxyz";
    const made = (await play("POST", items, SECRET.replace("Secret String", title))).body;
    expect((await play("GET", `${items}/${title}`)).status).toBe(404);
    expect((await play("GET", `${items}?${goTitle(title)}`)).body).toMatchObject([{ id: made.id }]);
  });

  it("changes an Item by sending all of it back, with version, entropy, files and dates", async () => {
    const { play, call, items } = await sdk();
    const fields = [
      { id: "", type: "CONCEALED", purpose: "PASSWORD", generate: true },
      { id: "", section: { id: "s1" }, type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" },
    ];
    const posted = {
      id: "",
      title: "Login",
      vault: { id: "" },
      category: "LOGIN",
      fields,
      createdAt: ZERO_TIME,
      updatedAt: ZERO_TIME,
    };
    const path = `${items}/${(await play("POST", items, goJson(posted))).body.id}`;
    await attach(call, path, "name=key.pem&section=s1", pattern(20));
    const before = (await play("GET", path)).body;
    const sent = { ...throughGo(ITEM, before), title: "R&D" };
    expect(sent).toMatchObject({
      version: 2,
      files: [{ size: 20 }],
      fields: [{ entropy: 194.71 }, { totp: expect.any(String) }],
    });
    const { status, body } = await play("PUT", path, goJson(sent));
    expect([status, body.title, body.version]).toEqual([200, "R&D", 2]); // in the dialect `connect`: the one that it replaced
    const after = (await play("GET", path)).body;
    expect(throughGo(ITEM, after)).toMatchObject({ title: "R&D", version: 3, files: sent.files, createdAt: sent.createdAt });
    expect(after.fields.map(({ value }: { value: string }) => value)).toEqual(before.fields.map((field: any) => field.value));
  });

  it("adds the section that a field names and the Item does not", async () => {
    const { play, items } = await sdk();
    const sectioned = SECRET.replace('"type":"STRING"', '"section":{"id":"s1"},"type":"STRING","label":"host"');
    const { body } = await play("POST", items, sectioned);
    expect(throughGo(ITEM, body)).toMatchObject({ sections: [{ id: "s1" }], fields: [{ section: { id: "s1" }, label: "host" }] });
  });

  it("may send null for a list or an object that is nil (from the design's list alone: v1.5.3 leaves them out)", async () => {
    const { play, items } = await sdk();
    const nil = { urls: null, tags: null, sections: null, files: null, lastEditedBy: null };
    const fields = [{ id: "", type: "CONCEALED", section: null, purpose: "", label: null, value: "v", recipe: null, totp: null }];
    const { status, body } = await play("POST", items, goJson({ ...JSON.parse(SECRET), ...nil, fields }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ urls: [], tags: [], sections: [], files: [], fields: [{ type: "CONCEALED", value: "v" }] });
  });

  it("deletes an Item: 204 without a body, and a 404 that says so the second time", async () => {
    const { play, items } = await sdk();
    const path = `${items}/${(await play("POST", items, SECRET)).body.id}`;
    expect((await play("DELETE", path)).status).toBe(204);
    expect((await play("DELETE", path)).body).toMatchObject({ status: 404, message: expect.stringContaining("not found") });
  });

  it("may be given a base URL that ends in a slash", async () => {
    const { play, items, vault } = await sdk("Team 1", "/");
    const made = (await play("POST", items, SECRET)).body;
    expect((await play("GET", `/v1/vaults?${goTitle("Team 1")}`)).body).toMatchObject([{ id: vault }]);
    expect((await play("GET", `${items}?${goTitle("Secret String")}`)).body).toMatchObject([{ id: made.id }]);
    expect((await play("PUT", `${items}/${made.id}`, goJson(throughGo(ITEM, made)))).status).toBe(200);
    expect((await play("DELETE", `${items}/${made.id}`)).status).toBe(204);
  });

  it("reads the errors of a strange vault and of a strange token", async () => {
    const { play, vault, items } = await sdk();
    const other = await connectVault();
    expect((await play("GET", other.items.replace("/items", ""))).body).toMatchObject({ status: 403 });
    expect((await player(GO_SDK, "x.y.z")("GET", items)).body).toEqual({ status: 401, message: "Invalid token signature" });
    expect((await play("POST", items, SECRET.replace("LOGIN", "NO_SUCH"))).body.message).toBe("Invalid item category");
    expect((await play("GET", `${items}/${vault}`)).body).toMatchObject({ status: 404 });
  });
});
