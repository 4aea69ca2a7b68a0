import { env } from "cloudflare:workers";
import { LIMITS } from "../../../src/model/limits.ts";
import { untilLogged } from "../../support/activity.ts";
import { backUpAll } from "../../support/backup.ts";
import { browser, signIn } from "../../support/console.ts";
import { loginCode } from "../../support/logins.ts";
import { personSession } from "../../support/person-session.ts";
import { renewKey } from "../../support/sealed-columns.ts";
import { admin, type Client, client, LOGIN, makeToken, makeVault, type Permission } from "../../support/service.ts";
import { newReceiver } from "../../support/webhooks.ts";
import { exchange, makeRule, makeWorkload } from "../../support/workloads.ts";
import { type Planted, plantVault } from "../../verify/support/vault.ts";

/** A deployment with at least two rows in every table and a value in every column, and with a backup of everything. */

export interface World {
  /** Rows of the first one are damaged. */
  readonly vaults: readonly [Planted, Planted];
  /** A vault with an earlier key and quotas: columns that are NULL otherwise are damaged in its row. */
  readonly renewed: { readonly vault: string; readonly item: string };
  /** Read and write all vaults, each in its dialect. They sign in, and are not damaged. */
  readonly uuid: Client;
  readonly connect: Client;
  readonly text: string;
  /** The ids of their tokens. */
  readonly readers: readonly string[];
}

const UNKNOWN = ["0b0b0b0b-0000-4000-8000-000000000001", "0b0b0b0b-0000-4000-8000-000000000002"];

/** Rows of tables that have rows only while something is under way, or since long: they belong to nothing else. */
const LONELY = [
  "INSERT INTO logs (vault_id, expired, dropped) SELECT id, 0, '00000000-0000-7000-8000-00000000000' || (unicode(id) % 2) FROM vaults WHERE true ON CONFLICT DO NOTHING",
  `INSERT INTO root_keys (id, proof, fingerprint) VALUES ('k0', 'a proof of a key that was removed', '0123456789abcdef')`,
  `INSERT OR IGNORE INTO root_key_uses (id) VALUES ('k0')`,
  ...UNKNOWN.map((id, place) => `INSERT INTO deleted_vaults (id, deleted_at) VALUES ('${id}', ${1_700_000_000_000 + place})`),
  `INSERT INTO past_writes (action, writes) VALUES ('CREATE', 3), ('UPDATE', 4) ON CONFLICT DO NOTHING`,
  `INSERT INTO counters (name, value) VALUES ('damaged_read_at', 1), ('backup_bytes', 2) ON CONFLICT DO NOTHING`,
  ...UNKNOWN.map((id) => `INSERT INTO job_writes (id, created_at, writes) VALUES ('${id}', 1, 1)`),
  ...UNKNOWN.map((id) => `INSERT INTO restores (vault_id, number, manifest) VALUES ('${id}', 1, 'digest')`),
];

/** Issues a token below another one, one below that, and so on, as deep as there may be. */
async function issueBelow(issuing: string, name: string, vaults: Record<string, Permission>): Promise<void> {
  let token = issuing;
  for (let depth = 1; depth <= LIMITS.tokenDepth; depth++) {
    const delegate = depth < LIMITS.tokenDepth || undefined;
    const { body } = await client(token)("POST", "/v1/tokens", { body: { name: `${name}, ${depth}`, vaults, delegate } });
    token = body.token;
  }
}

/** Leaves two entries of the log that have the type of their event. */
async function restoreAndDestroy(call: Client, path: string): Promise<void> {
  const { id } = (await call("POST", `${path}/items`, { body: LOGIN })).body;
  await call("DELETE", `${path}/items/${id}`);
  await call("POST", `${path}/deleted-items/${id}/restore`);
  await call("DELETE", `${path}/items/${id}`);
  await call("DELETE", `${path}/deleted-items/${id}`);
}

export async function plantWorld(): Promise<World> {
  const vaults = [await plantVault(), await plantVault()] as const;
  for (const { vault, call, items } of vaults) {
    await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } });
    const { id } = (await call("POST", items, { body: { title: "Fourth", category: "LOGIN" } })).body;
    await call("DELETE", `${items}/${id}`);
    await restoreAndDestroy(call, `/v1/vaults/${vault}`);
  }
  const renewed = await makeVault();
  const names = [...vaults.map(({ vault }) => vault), renewed];
  const scope = Object.fromEntries(names.map((vault) => [vault, "rwd" as const]));
  for (const name of ["a", "b"]) {
    const { token, id } = await makeToken(scope, { name });
    await signIn({ token });
    const issuing = await makeToken(scope, { name: `kept ${name}`, delegate: true });
    await issueBelow(issuing.token, `below ${name}`, scope);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const { token: used } = await makeToken(scope, { name: `signed in ${name}` });
    await signIn({ token: used });
    const workload = await makeWorkload();
    await makeRule(workload.issuer, { name: `rule ${name}`, vaults: scope });
    await exchange(await workload.token());
    const email = `${name}@example.com`;
    await admin("POST", "/v1/admin/people", { body: { email, vaults: scope } });
    await loginCode(browser(await personSession(env, email)));
  }
  const { token, id: reader } = await makeToken(scope, { name: "uuid" });
  const { token: other, id: connect } = await makeToken(scope, { name: "connect", dialect: "connect" });
  const uuid = client(token);
  const { id: item } = (await uuid("POST", `/v1/vaults/${renewed}/items`, { body: LOGIN })).body;
  const quota = { items: 1_000, bytes: 1_000_000, fileBytes: 1_000_000 };
  await admin("PATCH", `/v1/admin/vaults/${renewed}`, { body: { quota } });
  await env.DB.batch(LONELY.map((sql) => env.DB.prepare(sql)));
  await backUpAll();
  await renewKey(renewed);
  await untilLogged();
  return { vaults, renewed: { vault: renewed, item }, uuid, connect: client(other), text: token, readers: [reader, connect] };
}
