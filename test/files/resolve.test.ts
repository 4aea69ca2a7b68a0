import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { seedFiles } from "../support/seed-files.ts";
import { type Client, client, makeToken, makeVault, type Reply } from "../support/service.ts";

/** References to Files (contract 16.6 to 16.8). */

const KIB = 1024;

let vault: string;
let item: string;
let call: Client;
const files: Record<string, string> = {};

const resolve = (references: readonly string[], bindings: Partial<Env> = {}): Promise<Reply> =>
  call("POST", "/v1/resolve", { body: { references }, env: bindings });

/** The entries of the answer, without the reference, which is checked. */
async function entries(references: readonly string[], bindings: Partial<Env> = {}): Promise<any[]> {
  const { values } = (await resolve(references, bindings)).body;
  expect(values.map((entry: any) => entry.reference)).toEqual(references);
  for (const entry of values) delete entry.reference;
  return values;
}

async function upload(name: string, body: Uint8Array, section?: string): Promise<void> {
  const query = new URLSearchParams({ name, ...(section === undefined ? {} : { section }) });
  files[name] = (await call("POST", `/v1/vaults/${vault}/items/${item}/files?${query.toString()}`, { body })).body.id;
}

const bytes = (text: string) => new TextEncoder().encode(text);

beforeAll(async () => {
  vault = await makeVault("Vault");
  call = client((await makeToken({ [vault]: "rw" })).token);
  const sections = [{ id: "s1", label: "Keys" }];
  const fields = [{ id: "x", label: "both", value: "a field" }];
  const body = { title: "Doc", category: "DOCUMENT", sections, fields };
  item = (await call("POST", `/v1/vaults/${vault}/items`, { body })).body.id;
  await upload("key.pem", bytes("-----BEGIN KEY-----\nπ\n"));
  await upload("Key.PEM", bytes("in a section"), "s1");
  await upload("both", bytes("a file"));
  await upload("binary", new Uint8Array([0xff, 0xfe, 0, 1]));
  await upload("empty", new Uint8Array());
  await upload("twice", bytes("1"));
  await upload("TWICE", bytes("2"));
  await upload("large", pattern(100 * KIB + 1));
  for (let part = 0; part < 11; part++) await upload(`part${part}`, new Uint8Array(100 * KIB).fill(97));
});

describe("a reference to a File", () => {
  it("has its content, in text, or in base64 when it is not UTF-8", async () => {
    expect(
      await entries([
        "op://vault/doc/KEY.pem",
        "op://vault/doc/keys/key.pem",
        `op://vault/doc/${files["binary"]}`,
        "op://vault/doc/empty",
        "op://vault/doc/both",
      ]),
    ).toEqual([
      { value: "-----BEGIN KEY-----\nπ\n" },
      { value: "in a section" },
      { value: "//4AAQ==", encoding: "base64" },
      { value: "" },
      { value: "a field" },
    ]);
  });

  it("has its name and its type, and no one-time password", async () => {
    expect(
      await entries([
        "op://vault/doc/large?attribute=label",
        "op://vault/doc/large?attribute=type",
        "op://vault/doc/large?attribute=otp",
      ]),
    ).toEqual([{ value: "large" }, { value: "FILE" }, { status: 400, message: "a File has no one-time password" }]);
  });

  it("that fits several Files or none is a 409 or 404", async () => {
    expect((await entries(["op://vault/doc/twice", "op://vault/doc/keys/both"])).map(({ status }: any) => status)).toEqual([
      409, 404,
    ]);
  });

  it("is a 413 above the inline limit, with the path of the content", async () => {
    const path = `/v1/vaults/${vault}/items/${item}/files/${files["large"]}/content`;
    expect(await entries(["op://vault/doc/large", "op://vault/doc/both"])).toEqual([
      { status: 413, message: `File is too large to inline in request. Use the ${path} endpoint instead.` },
      { value: "a field" },
    ]);
  });

  it("is a 413 when the contents before it fill 1 MiB, and a smaller one still has its content", async () => {
    const parts = Array.from({ length: 11 }, (_, part) => `op://vault/doc/part${part}`);
    const all = await entries([...parts, "op://vault/doc/key.pem"]);
    expect(all.map(({ status }: any) => status ?? 200)).toEqual([...Array.from({ length: 10 }, () => 200), 413, 200]);
  });

  it("takes one D1 call more than one to a field, for all Files together, and reads each content once", async () => {
    await resolve(["op://vault/doc/both"]);
    const { count, db } = countingDatabase();
    let reads = 0;
    const bucket = { get: (...given: [any]) => (reads++, env.FILES.get(...given)) } as unknown as R2Bucket;
    const bindings = { DB: db, FILES: bucket };
    await entries(["op://vault/doc/key.pem", "op://vault/doc/binary", `op://vault/doc/${files["binary"]}`], bindings);
    expect([count.calls, reads]).toEqual([2, 2]);
  });

  it("is a failure of that reference alone when R2 has another content, or no answer", async () => {
    const broken = { get: () => Promise.resolve(null), head: () => Promise.resolve(null) } as unknown as R2Bucket;
    const [file, field] = await entries(["op://vault/doc/key.pem", "op://vault/doc/both"], { FILES: broken });
    expect([file.status, field.value]).toEqual([500, "a field"]);
  });

  it("is a 400 when the Items of such references have more than 2,000 Files together, and the first ones have an answer", async () => {
    const made = await Promise.all(
      Array.from({ length: 3 }, async (_, index) => {
        const body = { title: `Many ${index}`, category: "DOCUMENT" };
        const { id } = (await call("POST", `/v1/vaults/${vault}/items`, { body })).body;
        await seedFiles(
          env,
          vault,
          id,
          Array.from({ length: 900 }, (__, file) => ({ name: `file ${file}` })),
        );
        return id;
      }),
    );
    const { count, db } = countingDatabase();
    const found = await entries(
      made.map((_, index) => `op://vault/many ${index}/nothing`),
      { DB: db },
    );
    expect(found.map(({ status }: any) => status)).toEqual([404, 404, 400]);
    expect(count.rowsRead).toBeLessThan(2_100);
  });
});
