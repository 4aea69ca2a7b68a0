import type { ServedReply } from "./history.ts";
import type { NearRead, Part } from "./near-rules.ts";
import type { PrimaryStates } from "./near-states.ts";
import type { Gateway } from "./worker.ts";
import type { World } from "./world.ts";

/** The clients of near.ts: the reads that they send, and what the answers show. */

/** Items of one title, more than the first slice of a list has (src/store/items/list.ts), and Items with a title of their own. */
const SHARED = 11;
const SINGLE = 3;
const FIRST_SLICE = 8;
const TITLE = "Shared";
export const VAULT_NAME = "Vault";
const FILE = "note.txt";

/** Milliseconds between two requests of a client, at most; the share of its requests that are writes; that of the reads after which its token is revoked. */
const PAUSE = 2_000;
const WRITES = 0.2;
const REVOKED = 0.03;
/** The share of the reads that send two bookmarks. */
const TWO = 0.3;

export interface Token {
  readonly id: string;
  readonly token: string;
  readonly hash: string;
}

/** What the clients of a run share. */
export interface Clients {
  readonly world: World;
  readonly gateways: readonly Gateway[];
  readonly states: PrimaryStates;
  readonly vault: string;
  /** Sends a request until it is carried out. */
  readonly send: (token: string, method: string, path: string, body?: string) => Promise<ServedReply>;
  readonly issue: (stale?: number) => Promise<Token>;
  readonly revoke: (token: string) => Promise<unknown>;
  readonly reads: NearRead[];
  readonly isOver: () => boolean;
}

/** The Items of the vault. */
export interface Items {
  readonly all: readonly string[];
  readonly shared: readonly string[];
  readonly single: readonly string[];
  /** Writes a value of its own into an Item. */
  readonly write: (item: string, token: string) => Promise<ServedReply>;
  readonly kinds: readonly Kind[];
}

/** A kind of read. */
interface Kind {
  readonly share: number;
  readonly request: () => { readonly method: string; readonly path: string; readonly body?: string };
  readonly parts: (reply: ServedReply) => NearRead["parts"];
  /** Whether its bookmark is that of the first call only (contract 8.14). */
  readonly streams?: true;
}

const partOf = (item: string, value: string): Part => ({ item, content: { value } });

/** Makes the Items. In: the token that writes them. */
export async function makeItems({ world, vault, send }: Clients, token: string): Promise<Items> {
  const path = `/v1/vaults/${vault}/items`;
  let written = 0;

  async function create(title: string): Promise<string> {
    const value = `value-${++written}`;
    const fields = [{ id: "current", label: "current", type: "STRING", value }];
    const body = JSON.stringify({ title, category: "LOGIN", vault: { id: vault }, tags: [value], fields });
    return (await send(token, "POST", path, body)).body.id;
  }
  const shared: string[] = [];
  const single: string[] = [];
  while (shared.length < SHARED) shared.push(await create(TITLE));
  while (single.length < SINGLE) single.push(await create(`Single ${single.length}`));
  await send(token, "POST", `${path}/${single[0]}/files?name=${FILE}`, "note");
  const all = [...shared, ...single];

  /** In: the Items that a list must have. */
  const listed =
    (expected: readonly string[]) =>
    ({ body }: ServedReply) =>
    () => {
      const entries = body as { id: string; tags: string[] }[];
      if (
        entries
          .map(({ id }) => id)
          .toSorted()
          .join() !== expected.toSorted().join()
      )
        return undefined;
      const parts = entries.map(({ id, tags: [value] }) => partOf(id, value!));
      return expected === shared ? [parts.slice(0, FIRST_SLICE), parts.slice(FIRST_SLICE)] : [parts];
    };
  const titled = `${path}?filter=${encodeURIComponent(`title eq "${TITLE}"`)}`;
  const references = [
    ...single.map((_, n) => `op://${n % 2 === 0 ? VAULT_NAME : vault}/Single ${n}/current`),
    `op://${VAULT_NAME}/Single 0/${FILE}?attribute=type`,
  ];
  const kinds: readonly Kind[] = [
    {
      share: 0.55,
      request: () => ({ method: "GET", path: `${path}/${world.pick(all)}` }),
      parts:
        ({ body, tag }) =>
        () => [[{ item: body.id, content: { entityTag: tag! } }]],
    },
    { share: 0.1, request: () => ({ method: "GET", path: titled }), parts: listed(shared), streams: true },
    { share: 0.1, request: () => ({ method: "GET", path: `${titled}&limit=100` }), parts: listed(shared) },
    { share: 0.1, request: () => ({ method: "GET", path }), parts: listed(all) },
    {
      share: 0.15,
      request: () => ({ method: "POST", path: "/v1/resolve", body: JSON.stringify({ references }) }),
      parts:
        ({ body }) =>
        () => {
          const values = body.values as { value?: string }[];
          if (values.some(({ value }) => value === undefined)) return undefined;
          // Any of them may be of a call of its own.
          return [single.map((item, n) => partOf(item, values[n]!.value!))].flatMap((parts) => parts.map((part) => [part]));
        },
    },
  ];
  return {
    all,
    shared,
    single,
    kinds,
    async write(item, by) {
      const value = `value-${++written}`;
      const edits = ["/tags/0", "/fields/current/value"].map((place) => ({ op: "replace", path: place, value }));
      return send(by, "PATCH", `${path}/${item}`, JSON.stringify(edits));
    },
  };
}

export async function runWriter({ world: { clock, random, pick }, isOver }: Clients, items: Items, token: string): Promise<void> {
  while (!isOver()) {
    await clock.sleep(PAUSE * random());
    await items.write(pick(items.all), token);
  }
}

/** Reads, and writes now and then. In: seconds; whether the client sends the bookmarks of its answers back. */
export async function runReader(clients: Clients, items: Items, stale: number | undefined, sendsBack: boolean): Promise<void> {
  const { world, gateways, states, issue, revoke, reads, isOver } = clients;
  const { clock, random, pick } = world;
  const client = `reader ${stale}${sendsBack ? " with bookmarks" : ""}`;
  let token = await issue(stale);
  let seen = new Map<string, number>();
  let bookmarks: readonly string[] = [];

  function learn(reply: ServedReply, calls: readonly (readonly Part[])[]): void {
    seen = new Map(seen);
    for (const { item, content } of calls.flat()) {
      // Of several states with one content, the client may have seen the first one.
      const index = states.of(item, content)[0]?.index ?? 0;
      seen.set(item, Math.max(index, seen.get(item) ?? 0));
    }
    // The state of an answer has what the client had before too.
    if (reply.bookmark !== null) bookmarks = [...bookmarks, reply.bookmark].slice(-2);
  }

  function drawKind(): Kind {
    let left = random();
    return items.kinds.find(({ share }) => (left -= share) < 0) ?? items.kinds[0]!;
  }

  while (!isOver()) {
    await clock.sleep(PAUSE * random());
    if (random() < WRITES) {
      const item = pick(items.all);
      const written = await items.write(item, token.token);
      if (written.status === 200) learn(written, [[{ item, content: { entityTag: written.tag! } }]]);
      if (written.status === 401) token = await issue(stale);
      continue;
    }
    const kind = drawKind();
    const { method, path, body } = kind.request();
    const sent = bookmarks.slice(random() < TWO ? -2 : -1).join(", ");
    const headers = {
      Authorization: `Bearer ${token.token}`,
      ...(sendsBack && sent !== "" && { "Item-Vault-Bookmark": sent }),
    };
    const gateway = pick(gateways);
    const start = clock.now();
    const localStart = start + gateway.clock().ahead;
    const least = sendsBack || stale === undefined ? seen : new Map<string, number>();
    const reply = (await gateway.send(method, path, { headers, body }))!;
    const parts = reply.status === 200 && !reply.isCut ? kind.parts(reply) : () => undefined;
    reads.push({ client, request: `${method} ${path}`, token: token.hash, stale, start, localStart, reply, least, parts });
    const calls = parts() ?? [];
    learn(reply, kind.streams ? calls.slice(0, 1) : calls);
    if (reply.status === 401) token = await issue(stale);
    else if (random() < REVOKED) await revoke(token.id);
  }
}
