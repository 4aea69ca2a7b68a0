import { afterAll, describe, expect, it } from "vitest";
import { createClient } from "../../packages/client/src/index.ts";
import { runHere } from "../cli/support/here.ts";
import { startProxy } from "../cli/support/interceptor.ts";
import { vaultWithLogin } from "../cli/support/login.ts";

/** Cloudflare compresses JSON for clients that accept it, and makes the entity tag of such an answer weak (contract 10.2). */

const [made, proxy] = await Promise.all([vaultWithLogin(), startProxy({ weakens: true })]);
afterAll(() => proxy.close());

const client = () => createClient({ host: proxy.url, token: made.token });
const path = () => ({ vault: made.vault, item: made.item });

describe("where entity tags come weak", () => {
  it("a write is carried out with the tag that was read, and refused with an earlier one", async () => {
    const ITEM = "/v1/vaults/{vault}/items/{item}";
    const { etag } = await client().call(`GET ${ITEM}`, { path: path() });
    expect(etag).toMatch(/^W\//);
    const rename = (title: string) =>
      client().call(`PATCH ${ITEM}`, {
        path: path(),
        headers: { "If-Match": etag! },
        body: [{ op: "replace", path: "/title", value: title }],
      });
    expect((await rename("First")).data.title).toBe("First");
    await expect(rename("Second")).rejects.toMatchObject({ status: 412, kind: "precondition" });
  });

  it("a list that has not changed is that of before, and one that has is the new one", async () => {
    const same = client();
    const list = async () => (await same.call("GET /v1/vaults/{vault}/items", { path: { vault: made.vault } })).data;
    const before = await list();
    expect(await list()).toEqual(before);
    const { id } = await made.create({ title: "Later" });
    expect((await list()).map((item) => item.id)).toContain(id);
  });

  it("the command line edits an Item", async () => {
    const env = { ...made.env, ITEM_VAULT_HOST: proxy.url };
    const at = `${made.item} --vault ${made.vault}`;
    expect(await runHere(`item edit ${at} --title Edited`, { env })).toMatchObject({ code: 0 });
    const shown = await runHere(`item get ${at} --format json`, { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({ title: "Edited" });
  });
});
