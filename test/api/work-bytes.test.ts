import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { admitBytes, closeShare, openShare, UNCOUNTED_BYTES_MAX, WORK_BYTES_MAX } from "../../src/memory-budget.ts";
import type { Item } from "../../src/model/item.ts";
import { SECOND } from "../../src/model/time.ts";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { itemIn, lengthOf, pattern } from "../support/files.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, fetchRaw, freshVault, LOGIN, type Reply } from "../support/service.ts";
import { until } from "../support/waits.ts";
import { deleteIssuers, exchange, makeRule, makeWorkload, type Workload } from "../support/workloads.ts";

/** The bytes that requests of an isolate have in work (contract 12.9). */

/** A secret field of 60 KiB. */
const field = (_: unknown, index: number) => ({ id: `f${index}`, type: "STRING", label: `f${index}`, value: "v".repeat(60_000) });

/** An Item of 400 KiB, as it is stored. */
const large = (vault: string, title: string): Item =>
  login(vault, title, { fields: Array.from({ length: 5 }, field) as unknown as Item["fields"], tags: ["t".repeat(16_000)] });

const ITEMS = 26;

let vault: Awaited<ReturnType<typeof freshVault>>;
let files: Awaited<ReturnType<typeof itemIn>>;
let item: string;
let workload: Workload;

beforeAll(async () => {
  vault = await freshVault();
  files = await itemIn(vault);
  await files.upload(pattern(100_000), "?name=a");
  await files.upload(pattern(100_000), "?name=b");
  const items = Array.from({ length: ITEMS }, (_, index) => large(vault.vault, `Large ${index}`));
  await seedItems(env, vault.vault, items);
  item = items[0]!.id;
  workload = await makeWorkload();
  const claims = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`c${index}`, "v".repeat(1_000)]));
  for (let rules = 0; rules < 5; rules++) await makeRule(workload.issuer, { claims });
  await makeRule(workload.issuer, { claims: { job: "deploy" } });
});

afterAll(deleteIssuers);

/** References to the first Items, 10 MiB for all of them. */
const references = (count: number) => Array.from({ length: count }, (_, index) => `op://${vault.vault}/Large ${index}/f0`);

const resolve = (count: number): Promise<Reply> => vault.call("POST", "/v1/resolve", { body: { references: references(count) } });

const refusalOf = ({ status, headers }: Pick<Reply, "status" | "headers">) => [
  status,
  headers.get("Item-Vault-Error"),
  headers.get("Retry-After"),
];
const REFUSED = [429, "rate", "1"];

/** Lets another request have all bytes. */
function useUp(since?: number) {
  const share = newShare(since);
  expect(admitBytes(share, WORK_BYTES_MAX).ok).toBe(true);
  return share;
}

/** A share that the test returns at its end. */
function newShare(since = Date.now()) {
  const share = openShare(since);
  onTestFinished(() => closeShare(share));
  return share;
}

const body = { ...LOGIN, notes: "n", fields: Array.from({ length: 3 }, field) };

const LARGE: readonly (readonly [string, () => Promise<Reply>])[] = [
  ["references to large Items", () => resolve(2)],
  ["a large Item", () => vault.call("GET", `${vault.items}/${item}`)],
  ["a list", () => vault.call("GET", vault.items)],
  ["a page of a list", () => vault.call("GET", `${vault.items}?limit=20`)],
  ["the rules of all issuers", () => admin("GET", "/v1/admin/rules")],
  ["an exchange by an issuer with large rules", async () => exchange(await workload.token({ job: "deploy" }))],
  ["the contents of Files in an answer", () => vault.call("GET", `${files.files}?inline_files=true`)],
  ["a large body", () => vault.call("POST", vault.items, { body: { ...body, vault: { id: vault.vault } } })],
  [
    "a large body with its length",
    () => {
      const text = JSON.stringify(body);
      return vault.call("POST", vault.items, { body: text, headers: { "Content-Length": String(text.length) } });
    },
  ],
];

describe("while other requests have as many bytes in work as an isolate may have", () => {
  it.each(LARGE)("a request with many more is a 429, and is answered once they have ended: %s", async (_, ask) => {
    const others = useUp();
    expect(refusalOf(await ask())).toEqual(REFUSED);
    closeShare(others);
    expect((await ask()).status).toBe(200);
  });

  it("an upload without a length is a 429, and one with its length is not", async () => {
    useUp();
    const bytes = pattern(600_000);
    const stream = new Response(bytes).body!;
    const headers = { Authorization: `Bearer ${vault.token}` };
    const refused = await fetchRaw("POST", `${files.files}?name=c`, { headers, body: stream });
    expect(refusalOf(refused)).toEqual(REFUSED);
    expect((await files.upload(bytes, "?name=d")).status).toBe(200);
    expect(lengthOf(bytes)).toEqual({ "Content-Length": "600000" });
  });

  it("a manifest of a backup is a 429", async () => {
    const others = useUp();
    const path = `/v1/admin/backups/object?key=${encodeURIComponent(manifestKey(vault.vault, 1))}`;
    const put = () => admin("PUT", path, { body: "x".repeat(200_000), headers: { "Content-Length": "200000" } });
    expect(refusalOf(await put())).toEqual(REFUSED);
    closeShare(others);
    expect((await put()).headers.get("Item-Vault-Error")).toBe("backup_damaged");
  });

  it("a request with few bytes is answered", async () => {
    useUp();
    const made = await vault.call("POST", vault.items, { body: { ...LOGIN, title: "Small" } });
    expect(made.status).toBe(200);
    expect((await vault.call("GET", `${vault.items}/${made.body.id}`)).status).toBe(200);
    const asked = { references: [`op://${vault.vault}/Small/x?attribute=label`] };
    expect((await vault.call("POST", "/v1/resolve", { body: asked })).status).toBe(200);
    expect((await admin("GET", "/v1/admin/vaults")).status).toBe(200);
  });
});

describe("a share of the bytes", () => {
  it("expires after 30 seconds, because its request may have been killed", async () => {
    useUp(Date.now() - 30 * SECOND);
    expect((await resolve(2)).status).toBe(200);
  });

  it("is returned by each request: one that is answered, refused, or has failed", async () => {
    for (const [, ask] of LARGE) await ask();
    await vault.call("POST", vault.items, { body: `{"title": "${"x".repeat(200_000)}"` });
    await vault.call("POST", "/v1/resolve", {
      body: { references: references(2) },
      env: { DB: undefined as unknown as D1Database },
    });
    expect(useUp().bytes).toBe(WORK_BYTES_MAX);
  });

  it("may be larger than all of them, for a request that is alone", async () => {
    expect(admitBytes(newShare(), 4 * WORK_BYTES_MAX).ok).toBe(true);
  });
});

describe("large requests at the same time", () => {
  it("are answered, or refused before they have read all", async () => {
    const replies = await Promise.all([1, 2, 3, 4].map(() => resolve(ITEMS)));
    const kinds = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(kinds.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect([kinds[0], kinds[3]]).toEqual([200, 429]);
    for (const reply of replies.filter(({ status }) => status === 429)) expect(refusalOf(reply)).toEqual(REFUSED);
    expect((await resolve(ITEMS)).status).toBe(200);
  });
});

/** Begins the list of a vault, which has several slices. */
const begin = async () => {
  const { vault: id, items, token } = await freshVault();
  const tags = ["t".repeat(16_000)];
  await seedItems(
    env,
    id,
    Array.from({ length: 600 }, (_, index) => login(id, `${index}`, { tags })),
  );
  return fetchRaw("GET", items, { headers: { Authorization: `Bearer ${token}` } });
};

/** By requests that begin when the list did, so that its share does not expire. */
const isReturned = (began: number) => until(() => admitBytes(newShare(began), WORK_BYTES_MAX).ok).then(() => true);

describe("a list that is streamed", () => {
  it("is completed once it has begun, and then returns its share", async () => {
    const began = Date.now();
    const response = await begin();
    const others = newShare();
    expect(admitBytes(others, UNCOUNTED_BYTES_MAX + 1).ok).toBe(true);
    others.bytes = WORK_BYTES_MAX;
    expect(await response.json()).toHaveLength(600);
    closeShare(others);
    expect(await isReturned(began)).toBe(true);
  });

  it("returns its share when its client leaves", async () => {
    const began = Date.now();
    await (await begin()).body!.cancel();
    expect(await isReturned(began)).toBe(true);
  });
});
