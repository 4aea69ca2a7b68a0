import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A service with one vault of many Items, of which it has no database: for sizes and times that the Worker of the tests would take minutes for. */

export const VAULT = "11111111-1111-4111-8111-111111111111";
const DIGITS = 12;

export interface LargeService {
  readonly url: string;
  readonly itemIds: readonly string[];
  /** Writes to an Item, in turn. Out: its version, which is also the value of its first field. */
  readonly write: () => number;
  /** Forgets the events, and changes an Item without one, as a restore of the database does (contract 15.5). Out: the id of the Item. */
  readonly restore: () => string;
  readonly close: () => void;
}

const idOf = (at: number): string => `22222222-2222-4222-8222-${at.toString(16).padStart(DIGITS, "0")}`;
const TIME = "2026-01-01T00:00:00.000Z";

function summaryOf(id: string, version: number) {
  const title = `Item ${Number.parseInt(id.slice(-DIGITS), 16)}`;
  const urls = [{ href: "https://example.com/sign-in", primary: true }];
  const common = { category: "LOGIN", urls, favorite: false, tags: ["production", "web"], version };
  return { id, title, vault: { id: VAULT, name: "Large" }, ...common, createdAt: TIME, updatedAt: TIME, lastEditedBy: VAULT };
}

/** About 1.5 KB of JSON: a Login with a note. */
const itemOf = (id: string, version: number) => ({
  ...summaryOf(id, version),
  sections: [{ id: "s", label: "Section" }],
  fields: [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: String(version) },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: `password of ${id}`, entropy: 100.5 },
    ...Array.from({ length: 5 }, (_, at) => ({
      id: `f${at}`,
      section: { id: "s", label: "Section" },
      type: "STRING",
      label: `field ${at}`,
      value: "value",
    })),
    { id: "notesPlain", type: "STRING", purpose: "NOTES", label: "notesPlain", value: "note ".repeat(60) },
  ],
  files: [],
});

export async function startLargeService(count: number): Promise<LargeService> {
  const versions = new Map(Array.from({ length: count }, (_, at) => [idOf(at), 1]));
  const itemIds = [...versions.keys()];
  const events: { sequence: number; item: string }[] = [];
  const waiting = new Set<() => void>();
  let firstKept = 0;
  const row = () => ({
    id: VAULT,
    name: "Large",
    description: "",
    contentVersion: events.length,
    items: count,
    createdAt: TIME,
    updatedAt: TIME,
  });
  const token = {
    id: VAULT,
    name: "large",
    dialect: "uuid",
    vaults: { [VAULT]: "r" },
    createdAt: TIME,
    expiresAt: "2099-01-01T00:00:00.000Z",
  };
  const server = createServer((incoming, answer) => {
    const { pathname, searchParams } = new URL(incoming.url!, "http://host");
    answer.setHeader("Request-Id", "0198c5a0-0000-7000-8000-000000000000");
    const json = (body: unknown) => void answer.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
    const [, item = ""] = /\/items\/(.+)$/.exec(pathname) ?? [];
    if (pathname === "/v1/token") return json(token);
    if (pathname === "/v1/vaults") return json([row()]);
    if (pathname === `/v1/vaults/${VAULT}`) return json(row());
    if (pathname.endsWith("/items")) {
      const from = Number(searchParams.get("cursor") ?? 0);
      const page = itemIds.slice(from, from + 1000);
      if (from + page.length < count)
        answer.setHeader("Link", `<${pathname}?limit=1000&cursor=${from + page.length}>; rel="next"`);
      return json(page.map((id) => summaryOf(id, versions.get(id)!)));
    }
    if (pathname.endsWith("/events")) {
      const after = searchParams.get("after")!;
      const position = after === "latest" ? events.length : Number(after);
      const gone = () => void answer.writeHead(410, { "Item-Vault-Error": "cursor_gone" }).end('{"status":410,"message":"gone"}');
      if (position < firstKept) return gone();
      const send = () => {
        waiting.delete(send);
        clearTimeout(timer);
        if (position < firstKept) gone();
        else json({ events: events.slice(position), last: String(events.length) });
      };
      const timer = setTimeout(send, Number(searchParams.get("wait") ?? 0) * 1000);
      if (events.length > position || searchParams.get("wait") !== null) waiting.add(send);
      if (events.length > position || after === "latest") send();
      return undefined;
    }
    const etag = `"${versions.get(item)}-0000000000000000"`;
    answer.setHeader("ETag", etag);
    if (incoming.headers["if-none-match"] === etag) return void answer.writeHead(304).end();
    return json(itemOf(item, versions.get(item)!));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    itemIds,
    write() {
      const item = itemIds[events.length % count]!;
      const version = versions.get(item)! + 1;
      versions.set(item, version);
      events.push({ sequence: events.length + 1, item });
      for (const send of waiting) send();
      return version;
    },
    restore() {
      const item = itemIds.at(-1)!;
      versions.set(item, versions.get(item)! + 1);
      events.push({ sequence: events.length + 1, item: itemIds[0]! });
      firstKept = events.length;
      for (const send of waiting) send();
      return item;
    },
    close,
  };
}
