import { describe, expect, it } from "vitest";
import { admin, makeVault } from "../../sdk/support/vault.ts";
import { ADMIN, ends, runHere } from "../support/here.ts";
import { type InterceptorOptions, startInterceptor } from "../support/interceptor.ts";
import { vaultOf } from "../support/login.ts";

/** `admin keys renew` and `admin keys rewrite` (docs/cli.md). */

const keys = (args: string, host?: string) =>
  runHere(`admin keys ${args}`, { env: { ...ADMIN, ...(host && { ITEM_VAULT_HOST: host }) } });

/** A vault with earlier versions, a File, an archived Item and a deleted one. */
async function usedVault() {
  const { vault, send, create } = await vaultOf("Leaked", "rwd");
  const make = async (title: string) => (await create({ title, fields: [{ purpose: "PASSWORD", value: "secret" }] })).id;
  const [kept, archived, deleted] = [await make("Kept"), await make("Archived"), await make("Deleted")];
  const { id: file } = await send("POST", `/items/${kept}/files?name=notes.txt`, "content of the file");
  await send("POST", `/items/${archived}/archive`);
  await send("DELETE", `/items/${deleted}`);
  const content = async () => (await send("GET", `/items/${kept}/files/${file}?inline_files=true`)).content as string;
  /** What a rewrite must not change. */
  const read = async () => {
    const shown = await Promise.all([kept, archived].map((id) => send("GET", `/items/${id}`)));
    const about = shown.map(({ title, state, fields, files }) => ({
      title,
      state,
      fields,
      files: files?.map(({ id }: any) => id),
    }));
    return [await content(), ...about];
  };
  /** How many versions the two Items have, and how many deleted Items there are. */
  const counts = async () => {
    const lists = await Promise.all([kept, archived].map((id) => send("GET", `/items/${id}/versions`)));
    return [...lists, await send("GET", "/deleted-items")].map((list) => list.length as number);
  };
  return { vault, kept, file, send, content, read, counts };
}

const liveTokens = async (): Promise<string[]> => {
  const tokens = (await admin("GET", "tokens")) as unknown as { name: string; endedAt?: string }[];
  return tokens.flatMap(({ name, endedAt }) => (endedAt === undefined && name === "admin keys rewrite" ? [name] : []));
};

describe("admin keys renew", () => {
  it("gives each vault a new key, and names it", async () => {
    const [one, other] = [await makeVault("One"), await makeVault("Other")];
    const { code, stdout } = await keys(`renew ${one} ${other} --format json`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([one, other].map((id) => ({ id, earlierKeys: 1 })));
    expect((await keys(`renew ${one}`)).stdout).toMatch(new RegExp(`${one} +One +\\S+ +2\\s*$`));
  });

  it("needs a vault that exists", async () => {
    expect((await keys("renew")).code).toBe(2);
    expect(await keys(`renew ${crypto.randomUUID()}`)).toMatchObject(ends(4, "does not exist"));
  });
});

describe("admin keys rewrite", () => {
  it("writes all again, destroys earlier versions and deleted items, and leaves no token", async () => {
    const { vault, read, counts } = await usedVault();
    const before = await read();
    await keys(`renew ${vault}`);
    expect(await keys(`rewrite ${vault}`)).toMatchObject(ends(0, "Rewrote Leaked: 2 items"));
    expect([await read(), await counts(), await liveTokens()]).toEqual([before, [1, 1, 0], []]);
  });

  it("destroys nothing with --keep-versions", async () => {
    const { vault, read, counts } = await usedVault();
    const [before, [one, other, deleted]] = [await read(), await counts()];
    await keys(`renew ${vault}`);
    expect((await keys(`rewrite ${vault} --keep-versions`)).code).toBe(0);
    expect([await read(), await counts()]).toEqual([before, [one! + 2, other! + 1, deleted]]);
  });

  it("writes nothing in a vault that has no earlier key", async () => {
    const { vault, counts } = await usedVault();
    const before = await counts();
    expect(await keys(`rewrite ${vault}`)).toMatchObject(ends(0, "nothing is under an earlier key"));
    expect(await counts()).toEqual(before);
  });

  it.each(["PATCH", "PUT", "DELETE"])("that ends at a %s loses nothing, and is finished by another one", async (method) => {
    const { vault, read, counts } = await usedVault();
    const before = await read();
    await keys(`renew ${vault}`);
    const refuse = (name: string) => (name.startsWith(`${method} /v1/vaults`) ? 403 : undefined);
    const { url } = await startInterceptor({ refuse });
    expect((await keys(`rewrite ${vault}`, url)).code).not.toBe(0);
    expect(await read()).toEqual(before);
    expect((await keys(`rewrite ${vault}`)).code).toBe(0);
    expect([await read(), await counts()]).toEqual([before, [1, 1, 0]]);
  });

  it("keeps what others write at the same time", async () => {
    const { vault, kept, file, send, content } = await usedVault();
    await keys(`renew ${vault}`);
    const others: Record<string, () => Promise<unknown>> = {
      PATCH: () => send("PATCH", `/items/${kept}`, [{ op: "replace", path: "/favorite", value: true }]),
      PUT: () => send("PUT", `/items/${kept}/files/${file}/content`, "another content"),
    };
    const before: InterceptorOptions["before"] = async (name) => {
      const [method = ""] = name.split(" ");
      const other = others[method];
      delete others[method];
      await other?.();
    };
    const { url } = await startInterceptor({ before });
    expect((await keys(`rewrite ${vault}`, url)).code).toBe(0);
    const { favorite } = await send("GET", `/items/${kept}`);
    expect([favorite, atob(await content()), Object.keys(others)]).toEqual([true, "another content", []]);
  });
});
