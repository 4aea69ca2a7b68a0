import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { canary, captureLog, dumpOfDatabase, found, words } from "../support/canary.ts";
import { freshFile, pattern } from "../support/files.ts";
import type { Reply } from "../support/service.ts";

/** Random words in the names, sections and contents of Files. None of them may be in D1 or R2 unencrypted, in a log or in an error. */

const lines = captureLog();
const bytesWith = (word: string): Uint8Array => new TextEncoder().encode(`${word} ${"x".repeat(20_000)} ${word}`);

/** The keys, metadata and bytes of every object in R2. */
async function dumpOfBucket(): Promise<string> {
  const { objects } = await env.FILES.list({ include: ["customMetadata", "httpMetadata"] });
  const latin1 = new TextDecoder("latin1");
  const dumps = objects.map(async ({ key, customMetadata, httpMetadata }) => {
    const bytes = await (await env.FILES.get(key))!.arrayBuffer();
    return JSON.stringify([key, customMetadata, httpMetadata]) + latin1.decode(bytes);
  });
  return (await Promise.all(dumps)).join("\n");
}

async function sendEveryInput(): Promise<{ accepted: Reply[]; refused: Reply[] }> {
  const { upload, call, files, one } = await freshFile(bytesWith(canary()));
  const key = { "Idempotency-Key": canary() };
  const name = canary();
  const disposition = { "Content-Disposition": `attachment; filename="${canary()}"; filename*=UTF-8''${canary()}` };
  const accepted = [
    await upload(bytesWith(canary()), `?name=${name}&section=${canary()}`, { headers: key }),
    await upload(bytesWith(canary()), "", { headers: disposition }),
    await upload(new Blob([bytesWith(canary())]).stream(), `?name=${canary()}`),
    await call("PUT", `${one}/content`, { body: bytesWith(canary()), headers: { "Content-Type": `text/${canary()}` } }),
  ];
  const failing = new Proxy(env.FILES, {
    get: () => () => {
      throw new Error(`R2 quotes ${name}`);
    },
  });
  const refused = [
    await upload(bytesWith(canary()), `?name=${canary()}&section=other`, { headers: key }),
    await upload(bytesWith(canary()), `?name=${canary()}`, { headers: { "Content-Digest": `sha-256=:${canary()}:` } }),
    await upload(bytesWith(canary()), `?name=${canary()}`, {
      headers: { "Content-Digest": `sha-256=:${btoa("x".repeat(32))}:` },
    }),
    await upload(bytesWith(canary()), `?name=${canary()}`, { headers: { "Content-Encoding": canary() } }),
    await upload(bytesWith(canary()), `?name=${canary()}`, { headers: { "If-Match": canary() } }),
    await upload(bytesWith(canary()), `?name=${canary()}`, { headers: { "If-Match": '"99"' } }),
    await upload(bytesWith(canary()), `?name=${canary().padEnd(2_000, "x")}`),
    await upload(bytesWith(canary()), `?name=f&section=${canary().padEnd(70_000, "x")}`),
    await upload(bytesWith(canary()), "", { headers: { "Content-Disposition": canary() } }),
    await upload(bytesWith(canary()), `?name=${canary()}`, { env: { FILES: failing } }),
    await upload(new Blob([bytesWith(canary())]).stream(), `?name=${canary()}`, { env: { FILES: failing } }),
    await call("GET", `${files}?inline_files=${canary()}`),
    await call("GET", `${one}/content`, { env: { FILES: failing } }),
    await call("GET", `${one}/content`, { headers: { Range: "bytes=99999999-" } }),
    await call("GET", `${one}?inline_files=true`, { env: { FILES: failing } }),
  ];
  return { accepted, refused };
}

it("no text that a user sent with a File is unencrypted in D1 or R2, in a log line or in an error", async () => {
  const { accepted, refused } = await sendEveryInput();
  expect(accepted.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(refused.map(({ status }) => status).filter((status) => status < 400)).toEqual([]);
  const [database, bucket] = [await dumpOfDatabase(), await dumpOfBucket()];
  expect(database.length).toBeGreaterThan(3_000);
  expect(bucket.length).toBeGreaterThan(5 * 20_000);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(words.length).toBeGreaterThan(30);
  expect(found(database)).toEqual([]);
  expect(found(bucket)).toEqual([]);
  expect(found(lines.join("\n"))).toEqual([]);
  expect(found(refused.map((reply) => reply.text + JSON.stringify([...reply.headers])).join("\n"))).toEqual([]);
});

it("the search finds a word in the key of an object, in its bytes and in base64", async () => {
  const word = canary();
  await env.FILES.put(`some/${word}`, pattern(1));
  expect(found(await dumpOfBucket())).toContain(word);
  await env.FILES.delete(`some/${word}`);
  await env.FILES.put("some/key", bytesWith(word));
  expect(found(await dumpOfBucket())).toContain(word);
  for (const before of ["", "a", "ab", "abc"]) expect(found(btoa(`${before}${word} and more`))).toEqual([word]);
});
