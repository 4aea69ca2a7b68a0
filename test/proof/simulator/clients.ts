import type { Call, History, Read, Reply, Spoiled, Write, WriteKind } from "./history.ts";
import { OF_DELETED } from "./reference.ts";
import { drawKind, pathOf, requestOf } from "./requests.ts";
import { drawShortage } from "./shortages.ts";
import type { Gateway } from "./worker.ts";
import type { World } from "./world.ts";

/** The clients of one vault, each of which sends one request after the other. */

/** The Items to which most requests go. */
const HOT = 4;
/** How often a client sends a write again that was not acknowledged. */
const RETRIES = 3;
/** Milliseconds between two requests of a client, at most. */
const PAUSE = 30;
/** The share of the tokens that are issued below another one, which no client uses, and under which name that is among the tokens. */
const BELOW = 0.5;
const ABOVE = "above";

const SPOILED: readonly Spoiled[] = [
  "operation that throws",
  "operation of a newer format",
  "operation of a newer kind",
  "value that D1 refuses",
];

const READS: ReadonlySet<string> = new Set<Read["kind"]>(["item", "version", "versions", "deleted", "events"]);

/** The kinds of writes whose value is in the row of the Item. */
const WITH_VALUE: ReadonlySet<string> = new Set(["create", "put", "patch"]);

export interface Vault {
  readonly id: string;
  /** The ids of its Items, and of those that get most requests. */
  readonly items: string[];
  readonly hot: string[];
  /** The ids of the Items that were deleted. */
  readonly deleted: string[];
  /** The newest versions that an answer has shown, by Item. */
  readonly versions: Map<string, number>;
  /** The entity tags of the newest answers, by Item. */
  readonly tags: Map<string, string>;
  /** The Files of acknowledged uploads. */
  readonly files: { readonly item: string; readonly id: string; readonly name: string }[];
  /** The tokens of its clients, by the names of the clients, and one above some of them. */
  readonly tokens: Map<string, Token>;
}

export interface Token {
  readonly id: string;
  readonly token: string;
  /** The id of the token that has issued it. */
  readonly parent?: string;
}

export interface Admin {
  /** In: the token below which it is to be, unless that is refused. */
  readonly issueToken: (vault: string, parent?: Token) => Promise<Token>;
  readonly revokeToken: (id: string) => Promise<void>;
  /** A commit of the same vault that changes no Item. */
  readonly renameVault: (id: string) => Promise<void>;
  /** Starts a job that gives the vault a new key, unless one is under way, and may pause it for a while. */
  readonly renewKey: (id: string) => Promise<void>;
  /** Starts a job that backs up a vault, or all, unless one is under way. */
  readonly backUp: (vault: string | undefined) => Promise<void>;
  /** Starts a job that puts everything under the active root key of the operator, unless one is under way. */
  readonly rewrap: () => Promise<void>;
}

/** Sends a request as a call of the history. In: the write or the read. */
export async function sendCall(
  { history, world }: { history: History; world: World },
  gateway: Gateway,
  vault: string,
  { id: actor, token }: Token,
  sent: Write | Read,
): Promise<Call> {
  const write = "value" in sent ? sent : undefined;
  const read = "value" in sent ? undefined : sent;
  const item = "item" in sent ? sent.item : undefined;
  const number = history.calls.length;
  const start = world.tick();
  const call: Call = { number, write, read, vault, item, actor, start, end: Infinity, reply: undefined, operations: new Set() };
  history.calls.push(call);
  const { method, path, body } = write ? requestOf(write) : { method: "GET", path: pathOf(vault, read!), body: undefined };
  const headers = {
    Authorization: `Bearer ${token}`,
    "User-Agent": String(number), // identifies the call in its operations (worker.ts)
    ...(write?.kind === "create" && write.item !== undefined ? { "Item-Id": write.item } : {}),
    ...(write?.tag === undefined ? {} : { "If-Match": write.tag }),
    ...(write?.keyed ? { "Idempotency-Key": write.value } : {}),
  };
  call.reply = await gateway.send(method, path, { headers, body }, call);
  call.end = world.tick();
  return call;
}

/** Runs a client until `more` says that there are enough requests. */
export async function runClient(
  world: World,
  name: string,
  vault: Vault,
  parts: { gateway: Gateway; history: History; admin: Admin; more: () => boolean },
): Promise<void> {
  const { random, pick, clock, faults } = world;
  const { gateway, history, admin, more } = parts;
  const acknowledged: Write[] = [];
  let writes = 0;

  async function renewToken(): Promise<void> {
    const parent = random() < BELOW ? (vault.tokens.get(ABOVE) ?? (await admin.issueToken(vault.id))) : undefined;
    if (parent) vault.tokens.set(ABOVE, parent);
    const issued = await admin.issueToken(vault.id, parent);
    // The one above has ended, or its answer was lost.
    if (parent && issued.parent === undefined) vault.tokens.delete(ABOVE);
    vault.tokens.set(name, issued);
    acknowledged.length = 0; // a key belongs to a token (contract 10.1)
  }

  const send = (sent: Write | Read) => sendCall({ history, world }, gateway, vault.id, vault.tokens.get(name)!, sent);

  const pickItem = (): string => pick(random() < 0.9 && vault.hot.length > 0 ? vault.hot : vault.items);
  /** The position of the client in the events of the vault. */
  let cursor = "0";

  function nextRead(kind: Read["kind"]): Read {
    if (kind === "events") return { kind, after: cursor, limit: 1 + Math.floor(random() * 30) };
    const item = kind === "deleted" && vault.deleted.length > 0 ? pick(vault.deleted) : pickItem();
    return kind === "version"
      ? { kind, item, version: 1 + Math.floor(random() * (vault.versions.get(item) ?? 1)) }
      : { kind, item };
  }

  /** Out: an earlier version, most often one that is kept; `undefined` when no answer has shown a later one. */
  function earlierVersion(item: string): number | undefined {
    const newest = vault.versions.get(item) ?? 1;
    return newest < 2 ? undefined : Math.max(1, newest - 1 - Math.floor(random() * 12));
  }

  /** The `Item-Id` of a creation: none, a new one, or that of an Item that was made before. */
  function chooseId(): string | undefined {
    if (random() < 0.5) return undefined;
    return random() < 0.5 && vault.items.length > 0 ? pick([...vault.items, ...vault.deleted]) : crypto.randomUUID();
  }

  function nextRequest(): Write | Read {
    const kind = vault.hot.length < 2 && vault.items.length < HOT ? "create" : drawKind(random());
    if (READS.has(kind)) return nextRead(kind as Read["kind"]);
    if (kind === "again") return acknowledged.length > 0 ? pick(acknowledged) : nextRead("item");
    return nextWrite(kind as WriteKind) ?? nextRead("item");
  }

  /** Out: `undefined` to read instead. */
  function nextWrite(kind: WriteKind): Write | undefined {
    const file = kind === "delete-file" && vault.files.length > 0 ? pick(vault.files) : undefined;
    if (kind === "delete-file" && !file) return undefined;
    const deleted = OF_DELETED.has(kind) && vault.deleted.length > 0 ? pick(vault.deleted) : undefined;
    const item = file?.item ?? deleted ?? (kind === "create" ? chooseId() : pickItem());
    const ofVersion = kind === "restore-version" || kind === "destroy-version";
    const version = ofVersion ? earlierVersion(item!) : undefined;
    if (ofVersion && version === undefined) return undefined;
    const conditional = !OF_DELETED.has(kind) && kind !== "destroy-version" && kind !== "create";
    const tag = conditional && item !== undefined && random() < 0.3 ? vault.tags.get(item) : undefined;
    const drawn = faults.draw(SPOILED) as Spoiled | undefined;
    const spoiled = drawn === "value that D1 refuses" && !WITH_VALUE.has(kind) ? undefined : drawn;
    const keyed = random() < 0.6;
    return { kind, vault: vault.id, item, version, value: `${name}-${++writes}`, file, keyed, tag, spoiled };
  }

  function learn({ write, read, item, reply }: Call): void {
    const isDeleted = reply?.status === 204 && write?.kind === "delete";
    const isGone = reply?.failure === "item_not_found" || isDeleted;
    if (isGone && vault.hot.includes(item!)) vault.hot.splice(vault.hot.indexOf(item!), 1);
    if (isDeleted && !vault.deleted.includes(item!)) vault.deleted.push(item!);
    if (reply?.failure === "quota" && vault.hot.length < 2) vault.hot.push(pick(vault.items)); // creations do not help
    if (!reply || reply.status >= 300) return;
    if (read?.kind === "events") cursor = reply.body.last;
    if (write?.kind === "restore-item") {
      if (vault.deleted.includes(item!)) vault.deleted.splice(vault.deleted.indexOf(item!), 1);
      if (!vault.hot.includes(item!)) vault.hot.push(item!);
    }
    if (write?.kind === "add-file") vault.files.push({ item: item!, id: reply.body.id, name: write.value });
    if (write?.keyed) acknowledged.push(write);
    if (write?.kind === "create" && !vault.items.includes(reply.body.id)) {
      vault.items.push(reply.body.id);
      vault.hot[vault.hot.length < HOT ? vault.hot.length : Math.floor(random() * HOT)] = reply.body.id;
    }
    const shown: string | undefined = write?.kind === "create" ? reply.body.id : item;
    if (read && read.kind !== "item") return;
    if (shown !== undefined && reply.tag) vault.tags.set(shown, reply.tag);
    if (shown !== undefined && reply.tag) vault.versions.set(shown, Math.max(reply.body.version, vault.versions.get(shown) ?? 0));
  }

  await renewToken();
  while (more()) {
    await clock.sleep(PAUSE * random());
    const request = nextRequest();
    const write = "value" in request ? request : undefined;
    for (let retries = write ? RETRIES : 0; retries >= 0; retries--) {
      const call = await send(request);
      learn(call);
      if (call.reply?.status === 401) await renewToken();
      if (!more() || !mayRepeat(write, call.reply)) break;
      await clock.sleep(PAUSE * random());
    }
    drawShortage(world, history);
    const change = faults.draw(["vault renamed", "key renewed", "root keys rewrapped", "backup started"]);
    if (change === "backup started") await admin.backUp(pick([vault.id, vault.id, undefined]));
    if (change === "vault renamed") await admin.renameVault(vault.id);
    if (change === "root keys rewrapped") await admin.rewrap();
    if (change === "key renewed") await admin.renewKey(vault.id);
    if (faults.draw(["isolate ended"])) gateway.end();
    // That of clients of the vault, whose requests go on meanwhile: the one above theirs, if there is one, or that of any.
    if (faults.draw(["token revoked"])) await admin.revokeToken((vault.tokens.get(ABOVE) ?? pick([...vault.tokens.values()])).id);
  }
}

/** Whether a write may be sent again (contract 10.14 and 10.15): it did not happen, or its key makes it happen once. */
function mayRepeat(write: Write | undefined, reply: Reply | undefined): boolean {
  if (!write) return false;
  if (reply?.status === 507 || (reply?.status === 503 && reply.retryAfter !== null)) return true;
  return write.keyed && (!reply || reply.status === 503);
}
