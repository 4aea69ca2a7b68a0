import { describe, expect, inject, it } from "vitest";
import { admin, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { runHere } from "../support/here.ts";
import { type InterceptorOptions, startInterceptor } from "../support/interceptor.ts";

/** `admin keys renew` and `admin keys rewrite` (docs/cli.md). */

const ADMIN = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };

const keys = (args: string, host?: string) =>
  runHere(["admin", "keys", ...args.split(" ")], { env: { ...ADMIN, ...(host && { ITEM_VAULT_HOST: host }) } });

/** A vault with earlier versions, a File, an archived Item and a deleted one. */
async function usedVault() {
  const vault = await makeVault("Leaked");
  const { token } = await admin("POST", "tokens", { name: "t", vaults: { [vault]: "rwd" } });
  const items = `v1/vaults/${vault}/items`;
  const send = (method: string, path: string, body?: unknown): Promise<any> => sendRequest(method, path, token, body);
  const make = async (title: string): Promise<string> =>
    (await send("POST", items, { title, category: "LOGIN", fields: [{ purpose: "PASSWORD", value: "secret" }] })).id;
  const [kept, archived, deleted] = [await make("Kept"), await make("Archived"), await make("Deleted")];
  const { id: file } = await send("POST", `${items}/${kept}/files?name=notes.txt`, "content of the file");
  await send("POST", `${items}/${archived}/archive`);
  await send("DELETE", `${items}/${deleted}`);
  const content = () => send("GET", `${items}/${kept}/files/${file}?inline_files=true`);
  /** What a rewrite must not change. */
  const read = async () => {
    const shown = await Promise.all([kept, archived].map((id) => send("GET", `${items}/${id}`)));
    const { content: bytes } = await content();
    return [
      bytes,
      ...shown.map(({ title, state, fields, files }) => ({ title, state, fields, files: files?.map(({ id }: any) => id) })),
    ];
  };
  const versions = async () => {
    const lists = await Promise.all([kept, archived].map((id) => send("GET", `${items}/${id}/versions`)));
    return lists.map((list) => list.length);
  };
  const deletedItems = async () => (await send("GET", `v1/vaults/${vault}/deleted-items`)).length;
  return { vault, items, kept, file, send, read, versions, deletedItems };
}

const liveTokens = async (): Promise<string[]> => {
  const tokens = (await admin("GET", "tokens")) as unknown as { name: string; endedAt?: string }[];
  return tokens.flatMap(({ name, endedAt }) => (endedAt === undefined && name === "admin keys rewrite" ? [name] : []));
};

describe("admin keys renew", () => {
  it("gives each vault a new key, and names it", async () => {
    const [one, other] = [await makeVault("One"), await makeVault("Other")];
    const { code, stdout } = await keys(`renew ${one} ${other} --format json`);
    const renewed = JSON.parse(stdout) as { id: string; earlierKeys: number }[];
    expect([code, renewed.map(({ id, earlierKeys }) => [id, earlierKeys])]).toEqual([
      0,
      [
        [one, 1],
        [other, 1],
      ],
    ]);
    expect((await keys(`renew ${one}`)).stdout).toMatch(new RegExp(`${one} +One +\\S+ +2\\s*$`));
  });

  it("needs a vault that exists", async () => {
    expect((await keys("renew")).code).toBe(2);
    expect(await keys(`renew ${crypto.randomUUID()}`)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("does not exist"),
    });
  });
});

describe("admin keys rewrite", () => {
  it("writes all again, destroys earlier versions and deleted items, and leaves no token", async () => {
    const used = await usedVault();
    const before = await used.read();
    await keys(`renew ${used.vault}`);
    expect(await keys(`rewrite ${used.vault}`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Rewrote Leaked: 2 items"),
    });
    expect(await used.read()).toEqual(before);
    expect([await used.versions(), await used.deletedItems(), await liveTokens()]).toEqual([[1, 1], 0, []]);
  });

  it("destroys nothing with --keep-versions", async () => {
    const used = await usedVault();
    const [before, versions] = [await used.read(), await used.versions()];
    await keys(`renew ${used.vault}`);
    expect((await keys(`rewrite ${used.vault} --keep-versions`)).code).toBe(0);
    expect(await used.read()).toEqual(before);
    expect([await used.versions(), await used.deletedItems()]).toEqual([[versions[0]! + 2, versions[1]! + 1], 1]);
  });

  it("writes nothing in a vault that has no earlier key", async () => {
    const used = await usedVault();
    const versions = await used.versions();
    const { code, stderr } = await keys(`rewrite ${used.vault}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining("nothing is under an earlier key")]);
    expect(await used.versions()).toEqual(versions);
  });

  it.each(["PATCH", "PUT", "DELETE"])("that ends at a %s loses nothing, and is finished by another one", async (method) => {
    const used = await usedVault();
    const before = await used.read();
    await keys(`renew ${used.vault}`);
    const refuse = (name: string) => (name.startsWith(`${method} /v1/vaults`) ? 403 : undefined);
    const { url } = await startInterceptor({ refuse });
    expect((await keys(`rewrite ${used.vault}`, url)).code).not.toBe(0);
    expect(await used.read()).toEqual(before);
    expect((await keys(`rewrite ${used.vault}`)).code).toBe(0);
    expect(await used.read()).toEqual(before);
    expect([await used.versions(), await used.deletedItems()]).toEqual([[1, 1], 0]);
  });

  it("keeps what others write at the same time", async () => {
    const used = await usedVault();
    await keys(`renew ${used.vault}`);
    const item = `${used.items}/${used.kept}`;
    const others: Record<string, () => Promise<unknown>> = {
      PATCH: () => used.send("PATCH", item, [{ op: "replace", path: "/favorite", value: true }]),
      PUT: () => used.send("PUT", `${item}/files/${used.file}/content`, "another content"),
    };
    const before: InterceptorOptions["before"] = async (name) => {
      const [method = ""] = name.split(" ");
      const other = others[method];
      delete others[method];
      await other?.();
    };
    const { url } = await startInterceptor({ before });
    expect((await keys(`rewrite ${used.vault}`, url)).code).toBe(0);
    const { favorite } = await used.send("GET", item);
    const { content } = await used.send("GET", `${item}/files/${used.file}?inline_files=true`);
    expect([favorite, Buffer.from(content, "base64").toString(), Object.keys(others)]).toEqual([true, "another content", []]);
  });
});
