import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Client, ItemVaultError } from "@item-vault/client";
import { NARROW_ADMIN_NAMES } from "@item-vault/model/token-kind";
import { CliError } from "../frame/failure.ts";
import { writeWholeFile } from "../frame/output-file.ts";
import { requireFolder } from "../frame/paths.ts";
import { plural } from "../frame/printable.ts";
import { type Attributes, FORMS, type Kind, KINDS, type Wanted } from "./file.ts";
import type { Live, Step } from "./plan.ts";

/** The effects of `apply`: reads the things of the service, and makes, changes and deletes them. */

/** For each kind: the path of its list, and the attribute with its name. */
const PLACES: Readonly<Record<Kind, readonly [path: string, name: string]>> = {
  vault: ["/v1/admin/vaults", "name"],
  issuer: ["/v1/admin/issuers", "name"],
  rule: ["/v1/admin/rules", "name"],
  token: ["/v1/admin/tokens", "name"],
  person: ["/v1/admin/people", "email"],
  webhook: ["/v1/admin/vaults/{vault}/webhooks", "url"],
};

/** Sends a request whose operation follows from a kind. Returns the answer. */
const send = async (admin: Client, operation: string, options: object = {}): Promise<any> =>
  (await (admin.call as unknown as (operation: string, options: object) => Promise<{ data: unknown }>)(operation, options)).data;

/**
 * Returns all things, and the webhooks of some vaults. Throws a CliError if something cannot be decrypted: its name may be one of the file.
 */
export async function loadThings(admin: Client, hasWebhooks: (vault: Live) => boolean): Promise<Live[]> {
  const things: Live[] = [];
  for (const kind of KINDS.slice(0, -1)) things.push(...(await loadKind(admin, kind)));
  const vaults = things.filter((one) => one.kind === "vault" && hasWebhooks(one));
  for (const { id } of vaults) things.push(...(await loadKind(admin, "webhook", id)));
  return things;
}

async function loadKind(admin: Client, kind: Kind, vault?: string): Promise<Live[]> {
  const [path, nameAttribute] = PLACES[kind];
  const rows: readonly Attributes[] = await send(admin, `GET ${path}`, { path: { vault } });
  const broken = rows.filter((row) => "broken" in row);
  if (broken.length > 0)
    throw new CliError(`${plural(broken.length, "record")} of ${FORMS[kind].section} cannot be decrypted`, {
      hint: "Run `item-vault admin verify`: a name of the file may be that of such a record.",
    });
  const known = new Set([...Object.keys(FORMS[kind].attributes), "rule"]);
  return rows.filter(kind === "token" ? isOfFile : () => true).map((row) => ({
    kind,
    vault,
    id: row["id"],
    name: row[nameAttribute],
    managedBy: row["managedBy"],
    createdAt: Date.parse(row["createdAt"]),
    attributes: {
      ...Object.fromEntries(Object.entries(row).filter(([name]) => known.has(name))),
      ...(kind === "token" && { expiresIn: Math.round((Date.parse(row["expiresAt"]) - Date.parse(row["createdAt"])) / 1000) }),
    },
  }));
}

/** Returns false for tokens that have ended, tokens issued by another token, and tokens of administrators' logins. */
const isOfFile = ({ endedAt, parent, admin, ...row }: Attributes): boolean =>
  endedAt === undefined && parent === undefined && (!admin || NARROW_ADMIN_NAMES.some((name) => row[name]));

/** A request that makes a secret, in a file of the folder until the secret is in one of its own. Has no secret. */
interface Pending {
  readonly host: string;
  readonly key: string;
  readonly operation: string;
  readonly options: { readonly path: object; readonly body: Attributes };
  /** The beginning of the name of the file with the secret. */
  readonly file: string;
}

const PENDING = /^\.apply-[\w-]+\.json$/;

export interface Target {
  readonly admin: Client;
  readonly host: string;
  /** The folder for secrets; absent if no step makes one. */
  readonly out: string | undefined;
}

/**
 * Makes a token or a webhook, and writes its secret to a file. The request is written down before it is sent, with its Idempotency-Key. So a
 * run after a crash asks for the same secret again, and none is lost.
 */
async function makeSecret(target: Target, request: Pick<Pending, "operation" | "options" | "file">): Promise<string> {
  const pending: Pending = { host: target.host, key: randomUUID(), ...request };
  const record = join(target.out!, `.apply-${pending.key}.json`);
  await writeWholeFile(record, JSON.stringify(pending), {});
  return sendPending(target, pending, record);
}

/** Returns the id of the thing that a request has made. */
async function sendPending({ admin, out }: Target, pending: Pending, record: string): Promise<string> {
  const { key, operation, options, file } = pending;
  const { id, token, secret } = await send(admin, operation, { ...options, headers: { "Idempotency-Key": key } });
  await writeWholeFile(join(out!, `${file}.${id}`), `${token ?? secret}\n`, { force: true });
  await rm(record);
  return id;
}

/**
 * Finishes the requests to this service that a killed run has left in the folder. Returns how many there were. With another person's token,
 * the request makes a second token, and the plan ends the first one as replaced.
 */
export async function finishPending(target: Target): Promise<number> {
  if (target.out === undefined) return 0;
  await requireFolder("--out", target.out, true);
  await mkdir(target.out, { recursive: true, mode: 0o700 });
  let finished = 0;
  for (const name of (await readdir(target.out)).filter((one) => PENDING.test(one))) {
    const record = join(target.out, name);
    const pending = JSON.parse(await readFile(record, "utf8")) as Pending;
    if (pending.host !== target.host) continue;
    await sendPending(target, pending, record).catch(async (error: unknown) => {
      // The service refuses it, the vault of the webhook is deleted, or the token has ended since.
      if (!(error instanceof ItemVaultError) || ![400, 404, 409].includes(error.status)) throw error;
      await rm(record);
    });
    finished++;
  }
  return finished;
}

/** Returns true if the step makes a secret. The token of a service binding has none. */
export const makesSecret = (step: Step): boolean =>
  step.action === "create" &&
  (step.wanted.kind === "webhook" || (step.wanted.kind === "token" && !step.wanted.attributes["binding"]));

/** Does a step. `ids` has the ids of vaults and issuers by their names, and gets those of new ones. */
export async function runStep(target: Target, set: string, step: Step, ids: Map<string, string>): Promise<void> {
  const { admin } = target;
  if (step.action === "replace" || step.action === "delete") {
    const { kind, id, vault } = step.live;
    await send(admin, `DELETE ${PLACES[kind][0]}/{id}`, { path: { vault, id } }).catch(unlessGone);
  }
  if (step.action === "delete") return;
  const { kind, name } = step.wanted;
  const [place] = PLACES[kind];
  const vault = ids.get(`vault ${step.wanted.vault}`);
  const body = bodyOf(step.wanted, ids);
  if (step.action === "change") {
    await send(admin, `PATCH ${place}/{id}`, { path: { vault, id: step.live.id }, body: changeOf(step.wanted, body) });
    return;
  }
  const operation = `POST ${place}`;
  const options = { path: { vault }, body: kind === "vault" ? body : { ...body, managedBy: set } };
  const file = `${kind}-${encodeURIComponent((kind === "webhook" ? new URL(name).host : name).toWellFormed()).slice(0, 100)}`;
  const id = makesSecret(step)
    ? await makeSecret(target, { operation, options, file })
    : (await send(admin, operation, options)).id;
  ids.set(`${kind} ${name}`, id);
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ItemVaultError) || error.status !== 404) throw error;
}

/** Returns the body that makes a thing, with ids in place of names. */
function bodyOf({ kind, name, attributes }: Wanted, ids: ReadonlyMap<string, string>): Attributes {
  const { vaults, issuer, ...given } = attributes;
  const isNarrow = NARROW_ADMIN_NAMES.some((one) => given[one]);
  const hasVaults = kind === "token" ? !isNarrow || vaults : kind === "rule" || kind === "person";
  return {
    [PLACES[kind][1]]: name,
    ...given,
    ...(hasVaults && {
      vaults: Object.fromEntries(Object.entries(vaults ?? {}).map(([one, scope]) => [ids.get(`vault ${one}`), scope])),
    }),
    ...(issuer !== undefined && { issuer: kind === "rule" ? ids.get(`issuer ${issuer}`) : issuer }),
  };
}

/** Returns the body that changes a thing: an attribute that the file leaves out becomes the default. */
function changeOf({ kind }: Wanted, body: Attributes): Attributes {
  if (kind === "person") return { admin: false, ...body, email: undefined };
  if (kind === "webhook") return { enabled: true, ...body };
  return { description: "", ...body, quota: { items: null, bytes: null, fileBytes: null, ...body["quota"] } };
}
