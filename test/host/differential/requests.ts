import type { Operation } from "../../../src/api/operation.ts";
import { OPERATIONS, type OperationId } from "../../../src/api/operations.ts";
import { spoiled } from "./bodies.ts";
import { DRAWS } from "./draws.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { SECRETS, type Sent } from "./pair.ts";
import { Refs } from "./refs.ts";
import type { Ids, Kind, World } from "./world.ts";

/** Random requests: each operation of the API, mostly as clients send it, some with what is wrong or rare. */

/** A request, and what it is about. */
export interface Drawn extends Sent {
  readonly operation: OperationId | undefined;
  readonly ids: Readonly<Record<string, string>>;
}

const TOTAL = Object.values(DRAWS).reduce((sum, [weight]) => sum + weight, 0);

function drawOperation(w: World): OperationId {
  let left = w.random() * TOTAL;
  for (const [id, [weight]] of Object.entries(DRAWS)) if ((left -= weight) < 0) return id as OperationId;
  return "getItem";
}

/** Parameters of paths, the deepest first: a path that has one is a path to a thing of this kind. */
const PARAMETERS = ["file", "webhook", "item", "vault", "token", "job", "person", "issuer", "rule"] as const;

/** Paths whose last parameter names something of another kind. */
const OTHER_KINDS: readonly (readonly [beginning: string, kind: Kind])[] = [
  ["/v1/vaults/:vault/deleted-items/:item/files/", "deletedFile"],
  ["/v1/vaults/:vault/deleted-items/", "deleted"],
  ["/v1/tokens/", "child"],
];

/** Draws the parameters of a path: of what exists, as a rule. */
function drawIds(w: World, path: string, wanted?: Kind): { readonly ids: Ids; readonly place: Ids } {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!);
  const deepest = PARAMETERS.find((name) => names.includes(name));
  const kind = wanted ?? OTHER_KINDS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? deepest;
  const place = kind === undefined ? {} : w.place(kind);
  const ids: Record<string, string> = {};
  for (const name of names) {
    ids[name] = name === "version" ? w.pick(VERSIONS) : (place[name] ?? w.one(name as Kind));
    if (w.chance(0.015)) ids[name] = w.pick(["no-id", "a".repeat(26), w.uuid(), "%zz", "x".repeat(80)]);
    else if (w.chance(0.03)) ids[name] = Refs.as(w.pick(["upper", "short"]), ids[name]);
  }
  return { ids, place };
}

const VERSIONS = ["1", "1", "1", "2", "2", "3", "4", "0", "01", "999"];

const CONSOLE = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };

const bearer = (text: string) => ({ Authorization: `Bearer ${text}` });

/** Draws who asks: the one who may, as a rule. */
function drawCaller(w: World, { access: { by }, path }: Operation, place: Ids): Readonly<Record<string, string | undefined>> {
  const session = (of: Ids = {}) => ({ ...CONSOLE, Cookie: w.one("cookie", of) });
  if (w.chance(0.03))
    return w.pick([
      {},
      bearer("x"),
      bearer(w.one("bearer")),
      { Authorization: "Basic x" },
      bearer(Refs.as("tail", w.one("bearer"))),
      session(),
      { Cookie: w.one("cookie") },
      bearer(SECRETS.ADMIN_TOKEN),
    ]);
  if (by === "admin") return w.chance(0.05) ? session() : bearer(SECRETS.ADMIN_TOKEN);
  if (by === "metrics") return bearer(SECRETS.METRICS_TOKEN);
  if (by === "console") return w.chance(0.6) ? session() : CONSOLE;
  if (by === "everybody") return {};
  const { vault, parent } = place;
  const owner: Ids = parent ? { token: parent } : vault ? { vault } : {};
  if (by === "session") return session(owner);
  return w.chance(0.03) ? session() : bearer(w.one(path === "/v1/tokens" ? "parent" : "bearer", owner));
}

/** Draws what a request may have besides. No header is empty: Cloudflare drops such a header, as the server does, and workerd alone passes it on. */
function drawHeaders(w: World, operation: Operation, { item = "" }: Ids): Record<string, string> {
  const ofItem = () => w.newest("tag", { item });
  const tag = () =>
    w.pick([
      ofItem(),
      ofItem(),
      ofItem(),
      w.one("tag", { item }),
      '"1-0000000000000000"',
      "*",
      `W/${ofItem()}`,
      "x",
      `"x", ${w.one("tag")}`,
    ]);
  return {
    ...(operation.conditional && w.chance(0.2) && { "If-Match": tag() }),
    ...(operation.method === "GET" && w.chance(0.15) && { "If-None-Match": tag() }),
    ...(operation.idempotent &&
      w.chance(0.25) && {
        "Idempotency-Key": w.chance(0.9) ? `key ${w.next()}`.replace(" ", "-") : w.pick(["key-1", "key 1", "ä", "x".repeat(256)]),
      }),
    ...(w.chance(0.01) && { "Content-Encoding": w.pick(["gzip", "identity"]) }),
    ...(w.chance(0.02) && { "Item-Vault-Bookmark": "x" }),
  };
}

function bodyOf(w: World, { json }: Operation, body: unknown): string | Uint8Array | undefined {
  if (body === undefined) return undefined;
  const plain = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return json && typeof plain === "string" && w.chance(0.03) ? spoiled(w, plain) : plain;
}

/** Spellings and methods that another request of the operation would have. */
function drawVariant(w: World, method: string, path: string): { readonly method: string; readonly path: string } {
  if (!w.chance(0.05)) return { method, path };
  const [name = "", text = ""] = path.split("?", 2);
  return w.pick([
    { method: method === "GET" ? "HEAD" : method, path },
    { method: "OPTIONS", path },
    { method: w.pick(["GET", "POST", "PUT", "DELETE", "PATCH"]), path },
    { method, path: `${name}/?${text}` },
    { method, path: `/${path}` },
    { method, path: `${name.replace("/", "//")}?${text}` },
    { method, path: `${path}${path.includes("?") ? "&" : "?"}unknown=%zz&a=+` },
  ]);
}

const OTHERS = [
  ["GET", "/"],
  ["GET", "/favicon.ico"],
  ["GET", "/nothing"],
  ["POST", "/v1"],
  ["GET", "/v1/vaults/../vaults"],
  ["GET", "/openapi.json"],
  ["GET", "/docs"],
  ["HEAD", "/docs/"],
  ["POST", "/docs/"],
  ["GET", "/console/"],
  ["GET", "/v1/health"],
  ["GET", "/v1/heartbeat?x"],
] as const;

function drawOther(w: World): Drawn {
  const [method, path] = w.pick(OTHERS);
  const headers = { ...(w.chance(0.3) && { Accept: "text/html" }) };
  return { operation: undefined, ids: {}, method, path, headers, body: undefined, fault: undefined };
}

function drawFault(w: World, { method, path }: Operation): Fault {
  if (path.includes("/files") && w.chance(0.4)) return "bucket";
  return method === "GET" ? "reads" : w.pick(FAULTS);
}

/** Draws a request: of the operation, and about a thing of the kind, if they are given. */
export function drawRequest(w: World, wanted?: OperationId, kind?: Kind): Drawn {
  if (wanted === undefined && w.chance(0.02)) return drawOther(w);
  const pages = w.all("page");
  const id = wanted ?? drawOperation(w);
  const operation: Operation = OPERATIONS[id];
  const { ids, place } = drawIds(w, operation.path, kind);
  const { query: text = "", body, headers } = DRAWS[id][1](w, ids);
  const filled = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name]!) + (text && `?${text}`);
  const isPage = operation.method === "GET" && pages.length > 0 && w.chance(0.03);
  const { method, path } = drawVariant(w, operation.method, isPage ? w.pick(pages).text : filled);
  const all = { ...drawCaller(w, operation, place), ...drawHeaders(w, operation, ids), ...headers } as Record<string, string>;
  const fault = wanted === undefined && w.chance(operation.method === "GET" ? 0.03 : 0.15) ? drawFault(w, operation) : undefined;
  return {
    operation: isPage || method !== operation.method ? undefined : id,
    ids,
    method,
    path,
    headers: all,
    body: method === "GET" || method === "HEAD" || method === "OPTIONS" ? undefined : bodyOf(w, operation, body),
    fault,
  };
}
