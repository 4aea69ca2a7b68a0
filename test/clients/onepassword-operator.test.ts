import { afterEach, describe, expect, it, vi } from "vitest";
import { advanceClock } from "../support/faults.ts";
import { pattern } from "../support/files.ts";
import { goTitle } from "./encodings.ts";
import { ITEM, throughGo, VAULT } from "./go-types.ts";
import { attach, connectVault, download, goHeaders, requester } from "./replay.ts";

/**
 * 1Password/onepassword-operator (Kubernetes; its version was not found), through connect-sdk-go v1.5: how it reads the Item of
 * an itemPath `vaults/<id or title>/items/<id or title>`. It sends no writes.
 *
 * Read: pkg/onepassword/items.go, pkg/onepassword/client/connect/connect.go, pkg/onepassword/client/client.go,
 * pkg/onepassword/model/item.go, pkg/onepassword/secret_update_handler.go. It searches the vault by title first, also when the
 * itemPath has an id, builds the path of a content itself, and stores `version` and `vaults/<id>/items/<id>` as annotations of
 * the Secret.
 */

const OPERATOR = goHeaders("connect-sdk-go/1.5.3");

async function operator(name = "kubernetes") {
  const fresh = await connectVault(name);
  const make = async (title: string) =>
    (await fresh.call("POST", fresh.items, { body: { title, category: "LOGIN", fields: [{ label: "user", value: "bob" }] } }))
      .body;
  return { ...fresh, make, request: requester(OPERATOR, fresh.token) };
}

afterEach(() => vi.useRealTimers());

describe("the 1Password operator", () => {
  it("reads an Item by the titles of vault and Item", async () => {
    const { request, make, vault, items } = await operator("my-vault");
    const { id } = await make("my-item");
    const { body: vaults } = await request("GET", `/v1/vaults?${goTitle("my-vault")}`);
    expect(vaults.map((one: unknown) => throughGo(VAULT, one))).toMatchObject([{ id: vault, name: "my-vault" }]);
    const { body: found } = await request("GET", `${items}?${goTitle("my-item")}`);
    expect(found.map((one: unknown) => throughGo(ITEM, one))).toMatchObject([{ id, vault: { id: vault } }]);
    expect(throughGo(ITEM, (await request("GET", `${items}/${id}`)).body).fields).toMatchObject([
      { label: "user", value: "bob" },
    ]);
  });

  it("reads an Item by ids, after it found the vault by its id in the place of a title", async () => {
    const { request, make, vault, items } = await operator();
    const { id } = await make("my-item");
    const { status, body } = await request("GET", `/v1/vaults?${goTitle(vault)}`);
    expect([status, body]).toMatchObject([200, [{ id: vault }]]);
    expect((await request("GET", `${items}/${id}`)).status).toBe(200);
  });

  it("searches a title that has the form of an id, after a 404 for the id", async () => {
    const { request, make, items } = await operator();
    const title = "abcdefghijklmnopqrstuvwxyz";
    const { id } = await make(title);
    expect((await request("GET", `${items}/${title}`)).status).toBe(404);
    expect((await request("GET", `${items}?${goTitle(title)}`)).body).toMatchObject([{ id }]);
  });

  it("uses the oldest of the Items with the same title", async () => {
    const { request, make, items } = await operator();
    const { id } = await make("twin");
    advanceClock(2000);
    await make("twin");
    const { body } = await request("GET", `${items}?${goTitle("twin")}`);
    const read = body.map((one: unknown) => throughGo(ITEM, one)) as { id: string; createdAt: string }[];
    const [oldest, ...rest] = read.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
    expect([oldest?.id, rest.length]).toEqual([id, 1]);
  });

  it("downloads the contents of all Files by paths that it builds itself", async () => {
    const { request, make, call, token, vault, items } = await operator();
    const { id } = await make("my-item");
    await attach(call, `${items}/${id}`, "name=tls.crt", pattern(100));
    await attach(call, `${items}/${id}`, "name=tls.key", pattern(50));
    const { files } = throughGo(ITEM, (await request("GET", `${items}/${id}`)).body);
    const sizes = Object.fromEntries(files.map(({ name, size }: { name: string; size: number }) => [name, size]));
    expect(sizes).toEqual({ "tls.crt": 100, "tls.key": 50 });
    for (const file of files) {
      const content = await download(OPERATOR, token, `/v1/vaults/${vault}/items/${id}/files/${file.id}/content`);
      expect([content.status, content.bytes]).toEqual([200, pattern(file.size)]);
    }
  });

  it("polls a version that stays the same without a write, and grows with every write, also to a File", async () => {
    const { request, make, call, items } = await operator();
    const { id } = await make("my-item");
    const poll = async () => throughGo(ITEM, (await request("GET", `${items}/${id}`)).body);
    expect([(await poll()).version, (await poll()).version]).toEqual([1, 1]);
    const tag = "operator.1password.io:ignore-secret";
    await call("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: tag }] });
    expect(await poll()).toMatchObject({ version: 2, tags: [tag] });
    await attach(call, `${items}/${id}`, "name=tls.key", pattern(50));
    expect((await poll()).version).toBe(3);
  });

  it("gets an empty list or a 404 for a vault or an Item that does not exist", async () => {
    const { request, items } = await operator();
    expect((await request("GET", `/v1/vaults?${goTitle("nowhere")}`)).body).toEqual([]);
    expect((await request("GET", `${items}?${goTitle("nothing")}`)).body).toEqual([]);
    expect((await request("GET", `${items}/abcdefghijklmnopqrstuvwxyz`)).body).toMatchObject({ status: 404 });
  });
});
