import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { DAY } from "../../src/model/time.ts";
import { removeOldRows } from "../../src/store/activity/retention.ts";
import { filesOf } from "../../src/store/buckets/r2.ts";
import { messageOf, recordingQueue, untilLogged } from "../support/activity.ts";
import { backUpAll } from "../support/backup.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { canary, captureLog, dumpOfDatabase, found, words } from "../support/canary.ts";
import { kv } from "../support/kv.ts";
import { objectsIn } from "../support/restores.ts";
import { admin, client, makeToken, makeVault, type Reply, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Random words in every input. None of them may be in D1 or R2 unencrypted, in a queue message, in a log line or in an error. */

const lines = captureLog();
const { rows: queued, bindings } = recordingQueue();

const item = () => ({
  title: canary(),
  category: "LOGIN",
  tags: [canary()],
  urls: [{ href: canary(), label: canary() }],
  sections: [{ id: canary(), label: canary() }],
  fields: [
    { purpose: "USERNAME", value: canary() },
    { purpose: "PASSWORD", value: canary() },
    { id: canary(), label: canary(), value: canary(), section: { id: canary() } },
    { label: canary(), generate: true, recipe: { excludeCharacters: canary() } },
  ],
  [canary()]: canary(),
});

const headers = () => ({ "Idempotency-Key": canary(), "User-Agent": canary(), "X-Canary": canary() });

async function sendEveryInput(): Promise<{ accepted: Reply[]; refused: Reply[] }> {
  const { body: vault } = await admin("POST", "/v1/admin/vaults", {
    body: { name: canary(), description: canary() },
  });
  const { token } = await makeToken({ [vault.id]: "rw" }, { name: canary() });
  const call = client(token);
  const items = `/v1/vaults/${vault.id}/items`;
  const created = await call("POST", items, { body: item(), headers: headers() });
  const path = `${items}/${created.body.id}`;
  const ignored = { headers: headers(), env: bindings, undocumented: "canaries are also where the service ignores them" };
  const accepted = [
    created,
    await call("PUT", path, { body: { ...item(), vault: { id: vault.id } }, headers: headers() }),
    await call("PATCH", path, {
      body: [{ op: "add", path: `/fields/${canary()}`, value: { value: canary() } }],
      headers: headers(),
    }),
    await call("GET", `${items}?filter=title+eq+"${canary()}"&x=${canary()}`, ignored),
    await call("POST", "/v1/resolve", {
      ...ignored,
      body: {
        references: [
          `op://${canary()}/${canary()}/${canary()}/${canary()}`,
          `op://${vault.id}/${canary()}/${canary()}?${canary()}`,
        ],
      },
    }),
    await admin("PATCH", `/v1/admin/vaults/${vault.id}`, { body: { name: canary() }, headers: { "Idempotency-Key": canary() } }),
    await admin("POST", "/v1/admin/people", {
      body: { email: `${canary()}@${canary()}`, vaults: { [vault.id]: "r" } },
      headers: headers(),
    }),
  ];
  const refused = [
    await admin("POST", "/v1/admin/people", { body: { email: canary(), vaults: {} } }),
    await admin("POST", "/v1/admin/people", { body: { email: `${canary()}@x.test`, vaults: { [canary()]: canary() } } }),
    await call("POST", items, { body: { ...item(), category: canary() } }),
    await call("POST", items, { body: { ...item(), favorite: canary() } }),
    await call("POST", items, { body: { ...item(), fields: [{ type: canary(), value: canary() }] } }),
    await call("POST", items, { body: { ...item(), fields: [{ type: "DATE", value: canary() }] } }),
    await call("POST", items, { body: { ...item(), fields: [{ recipe: { length: canary(), characterSets: [canary()] } }] } }),
    await call("POST", items, { body: `{"title":"${canary()}",` }),
    await call("POST", items, { body: { ...item(), vault: canary() } }),
    await call("PATCH", path, { body: [{ op: canary(), path: "/title", value: canary() }] }),
    await call("PATCH", path, { body: [{ op: "replace", path: "/tags", value: canary() }] }),
    await call("PATCH", path, { body: [{ op: "replace", path: "/fields/username/value", value: [canary()] }] }),
    await call("PUT", path, { body: { ...item(), vault: { id: vault.id } }, headers: { "If-Match": canary() } }),
    await call("DELETE", path, { headers: { "If-Match": `"${canary()}"` } }),
    await call("GET", `${items}?filter=${canary()}`),
    await call("GET", `${items}?filter=title+ne+"${canary()}"`),
    await call("GET", `${items}?include=${canary()}`),
    await call("POST", "/v1/resolve", { body: { references: [canary(), 1], [canary()]: canary() } }),
    await send("GET", items, { headers: { Authorization: `Bearer ${canary()}` } }),
    await admin("POST", "/v1/admin/tokens", { body: { name: canary(), vaults: { [vault.id]: canary() } } }),
    await admin("POST", "/v1/admin/vaults", { body: { name: 1, description: canary() } }),
  ];
  accepted.push(await kv("GET", `${vault.id}/data/${created.body.id}?${canary()}=${canary()}`, { token, headers: headers() }));
  refused.push(
    await kv("GET", `${vault.id}/data/${canary()}/${canary()}`, { token, headers: headers() }),
    await kv("GET", `${vault.id}/data/${created.body.id}?version=${canary()}`, { token }),
    await kv("GET", `${vault.id}/metadata/${canary()}?list=true`, { token }),
    await kv("GET", `${canary()}/data/${canary()}`, { token }),
    await kv("GET", `sys/internal/ui/mounts/${canary()}/${canary()}`, { token }),
    await kv("GET", `${vault.id}/data/x`, { token: canary() }),
    await kv("GET", `${vault.id}/data/x`, { token, headers: { Authorization: `Bearer ${canary()}` } }),
    await kv("GET", `${vault.id}/data/x`, { token, headers: { "X-Vault-Namespace": canary() } }),
    await kv("GET", `${vault.id}/data/x`, { token, headers: { "X-Vault-Wrap-TTL": canary() } }),
    await kv("POST", `auth/${canary()}/login`, { body: { jwt: canary(), role: canary(), [canary()]: canary() } }),
    await kv("PUT", `${vault.id}/data/${canary()}`, { token, body: { data: { [canary()]: canary() } } }),
  );
  // Faults that are logged: D1 fails on a read, and code throws in the Worker and in the coordinator.
  const failingD1 = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
  refused.push(await call("GET", path, { env: { DB: failingD1 } }));
  const throwingD1 = new Proxy(env.DB, {
    get: () => () => {
      throw new Error(`a bug that quotes ${canary()}`);
    },
  });
  refused.push(await call("GET", path, { env: { DB: throwingD1 } }));
  await rebindCoordinator(vault.id, { DB: throwingD1 });
  refused.push(await call("PUT", path, { body: { ...item(), vault: { id: vault.id } } }));
  await rebindCoordinator(vault.id, { DB: env.DB });
  return { accepted, refused };
}

it("no text that a user sent is unencrypted in D1, or in a queue message, a log line or an error", async () => {
  const { accepted, refused } = await sendEveryInput();
  expect(accepted.map((reply) => reply.status)).toEqual(accepted.map(() => 200));
  expect(refused.map((reply) => reply.status).filter((status) => status < 400)).toEqual([]);
  const messages = accepted[4]!.body.values.map(({ message }: any) => message);
  expect([messages.length, found(messages.join("\n"))]).toEqual([2, []]);
  await untilLogged();
  const dump = await dumpOfDatabase();
  expect(dump.length).toBeGreaterThan(5_000);
  expect(lines.length).toBeGreaterThan(2);
  expect(words.length).toBeGreaterThan(100);
  await vi.waitFor(() => expect(queued).toHaveLength(1), UNDER_LOAD);
  expect(found(dump)).toEqual([]);
  expect(found(JSON.stringify(await messageOf(queued)))).toEqual([]);
  expect(found(lines.join("\n"))).toEqual([]);
  expect(found(refused.map((reply) => reply.text + JSON.stringify([...reply.headers])).join("\n"))).toEqual([]);
});

it("none is in an object of the two buckets, with Files, backups and the archive of the log, or in a finding of verify", async () => {
  const vault = await makeVault(canary());
  const { token } = await makeToken({ [vault]: "rw" }, { name: canary() });
  const items = `/v1/vaults/${vault}/items`;
  const { id } = (await client(token)("POST", items, { body: item() })).body;
  const content = new TextEncoder().encode(canary());
  const length = { "Content-Length": String(content.length) };
  const upload = await client(token)("POST", `${items}/${id}/files?name=${canary()}`, { body: content, headers: length });
  expect(upload.status).toBe(200);
  await backUpAll();
  await env.DB.batch([
    env.DB.prepare("UPDATE items SET details = overview, title_index = '' WHERE id = ?").bind(id),
    env.DB.prepare("UPDATE vaults SET items = items + 1 WHERE id = ?").bind(vault),
    env.DB.prepare("UPDATE tokens SET sealed = claims"),
  ]);
  await backUpAll();
  await removeOldRows(env.DB, filesOf(env), Date.now() + DAY, () => true);
  expect([...(await objectsIn(env.FILES))].some(([key]) => key.startsWith("log/"))).toBe(true);
  const findings = [...(await verifyAll()).findings, ...(await verifyAll({ backup: true })).findings];
  expect(findings.length).toBeGreaterThan(2);
  expect(found(JSON.stringify(findings))).toEqual([]);
  for (const bucket of [env.FILES, env.BACKUPS]) {
    const objects = [...(await objectsIn(bucket))];
    expect(objects.length).toBeGreaterThan(1);
    const texts = objects.map(([key, bytes]) => key + new TextDecoder().decode(bytes));
    expect(found(texts.join("\n"))).toEqual([]);
  }
  expect(found(lines.join("\n"))).toEqual([]);
});

it("the search finds a word in plain text and in base64", () => {
  const word = canary();
  for (const before of ["", "a", "ab", "abc"]) expect(found(btoa(`${before}${word} and more`))).toEqual([word]);
  expect(found(`x${word}x`)).toEqual([word]);
});
