import { OPERATIONS, type OperationId } from "../../../src/api/operations.ts";
import { Refs } from "./refs.ts";

/** What the requests so far have made, by which further ones are chosen. Every text is one of `Refs`. */

/** Kinds of things. Those that paths name have the names of their parameters. */
export type Kind =
  | "vault"
  | "item"
  | "file"
  | "webhook"
  | "token"
  | "job"
  | "person"
  | "issuer"
  | "rule"
  | "deleted"
  | "deletedFile"
  | "bearer"
  | "parent"
  | "child"
  | "tag"
  | "page"
  | "code"
  | "cookie"
  | "cursor"
  | "object"
  | "dataKey";

/** Parameters of a path. */
export type Ids = Readonly<Record<string, string>>;

interface Thing {
  readonly text: string;
  /** Of the path at which it is. */
  readonly ids: Ids;
}

/** How many of a kind are known: the newest. */
const KNOWN_MAX: Partial<Record<Kind, number>> = { vault: 4, item: 24, file: 12, bearer: 80, tag: 48 };
const KNOWN_OTHERS_MAX = 8;

/** The parameters of paths that name things of other kinds. */
const PARAMETERS: Partial<Record<Kind, string>> = { deleted: "item", deletedFile: "file", child: "token" };

export interface Reply {
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON. */
  readonly body: any;
}

/** What an answer names, of each operation that makes something. `ref` gives a text of both answers. */
type Learn = (w: World, ids: Ids, ref: (of: (reply: Reply) => unknown) => string) => void;

const made = (kind: Kind): Learn => {
  return (w, ids, ref) =>
    w.add(
      kind,
      ref(({ body }) => body?.id),
      ids,
    );
};
const named = (kind: Kind, of: (reply: Reply) => unknown): Learn => {
  return (w, ids, ref) => w.add(kind, ref(of), ids);
};

const MADE: Partial<Record<OperationId, Learn>> = {
  createVault(w, _, ref) {
    const vault = ref(({ body }) => body?.id);
    w.add("vault", vault);
    w.add(
      "dataKey",
      ref(({ body }) => body?.dataKey?.id),
      { vault },
    );
  },
  createItem: made("item"),
  deleteItem(w, { vault = "", item = "" }) {
    const files = w.all("file", { item });
    w.forget(item);
    w.add("deleted", item, { vault });
    for (const { text } of files) w.add("deletedFile", text, { vault, item });
  },
  restoreDeletedItem(w, { vault = "", item = "" }) {
    w.forget(item);
    w.add("item", item, { vault });
  },
  uploadFile: made("file"),
  createWebhook: made("webhook"),
  createJob: made("job"),
  addPerson: made("person"),
  createIssuer: made("issuer"),
  createRule: made("rule"),
  exchangeToken: named("bearer", ({ body }) => body.access_token),
  createSignInCode: named("code", ({ body }) => body.code),
  createAdminSignInCode: named("code", ({ body }) => body.code),
  signIn(w, _, ref) {
    const cookie = ref(({ headers }) => /^[^;]*/.exec(headers["set-cookie"] ?? "")?.[0]);
    const vault = ref(({ body }) => Object.keys(body.token?.vaults ?? {})[0]);
    w.add("cookie", cookie, vault === "" ? {} : { vault });
  },
  listEvents: named("cursor", ({ body }) => body?.last),
  listBackupObjects: named("object", ({ body }) => body?.objects?.at(-1)?.key),
  createToken: learnToken,
  createChildToken: learnToken,
};

/** Records a token under each vault in which it may read and write. */
function learnToken(w: World, _: Ids, ref: (of: (reply: Reply) => unknown) => string): void {
  const token = ref(({ body }) => body.id);
  const bearer = ref(({ body }) => body.token);
  w.add("token", token);
  const parent = ref(({ body }) => body.parent);
  if (parent !== "") w.add("child", token, { parent });
  for (let at = 0; at < 8; at++) {
    const entry = ({ body }: Reply) => Object.entries(body.vaults ?? {})[at] ?? [];
    const [vault, permission] = [ref((reply) => entry(reply)[0]), ref((reply) => entry(reply)[1])];
    if (vault === "" || !permission.startsWith("rw")) continue;
    w.add("bearer", bearer, { vault, token });
    if (ref(({ body }) => String(body.delegate)) === "true") w.add("parent", bearer, { vault, token });
  }
  w.add("bearer", bearer, { token });
}

export class World {
  readonly refs = new Refs();
  readonly random: () => number;
  readonly #known = new Map<Kind, Thing[]>();
  #count = 0;

  constructor(random: () => number) {
    this.random = random;
  }

  chance = (probability: number): boolean => this.random() < probability;

  int = (below: number): number => Math.floor(this.random() * below);

  pick = <T>(values: readonly T[]): T => values[this.int(values.length)]!;

  /** A number that no other call returns. */
  next = (): number => ++this.#count;

  /** A UUID that both servers get, so it is equal on both. */
  uuid(): string {
    const digits = Array.from({ length: 30 }, () => this.int(16).toString(16)).join("");
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-a${digits.slice(15, 18)}-${digits.slice(18)}`;
  }

  /** The things of a kind whose ids have these values. */
  all = (kind: Kind, ids: Ids = {}): readonly Thing[] =>
    (this.#known.get(kind) ?? []).filter((thing) => Object.entries(ids).every(([name, id]) => thing.ids[name] === id));

  /** Returns one of the kind and with these ids, as a rule; any other one if there is none; a new id if there is none at all. */
  thing(kind: Kind, ids: Ids = {}): Thing {
    const own = this.chance(0.03) ? [] : this.all(kind, ids);
    const known = own.length > 0 ? own : this.all(kind);
    return known.length > 0 ? this.pick(known) : { text: this.uuid(), ids: {} };
  }

  one = (kind: Kind, ids: Ids = {}): string => this.thing(kind, ids).text;

  /** Returns the newest of the kind with these ids; another one if there is none. */
  newest = (kind: Kind, ids: Ids): string => this.all(kind, ids).at(-1)?.text ?? this.one(kind);

  /** The ids of a path down to a thing of this kind. */
  place(kind: Kind): Record<string, string> {
    const { text, ids } = this.thing(kind);
    return { ...ids, [PARAMETERS[kind] ?? kind]: text };
  }

  add(kind: Kind, text: string, ids: Ids = {}): void {
    const known = this.#known.get(kind) ?? [];
    if (text === "" || known.some((thing) => thing.text === text && thing.ids["vault"] === ids["vault"])) return;
    known.push({ text, ids });
    this.#known.set(kind, known);
    const oldest = known.length > (KNOWN_MAX[kind] ?? KNOWN_OTHERS_MAX) ? known.shift() : undefined;
    if (oldest && kind === "vault") this.forget(oldest.text);
  }

  /** Forgets what does not exist any more and what is in it, as a rule: requests for it are refused. */
  forget(gone: string): void {
    if (gone === "" || this.chance(0.1)) return;
    for (const [kind, known] of this.#known)
      this.#known.set(
        kind,
        known.filter(({ text, ids }) => text !== gone && !Object.values(ids).includes(gone)),
      );
  }

  /** Records what an answer that succeeded names. `ids`: those of the path. */
  learn(operation: OperationId, ids: Ids, [left, right]: readonly [Reply, Reply]): void {
    const ref = (of: (reply: Reply) => unknown): string => {
      const [a, b] = [of(left), of(right)];
      return typeof a === "string" && typeof b === "string" ? this.refs.of(a, b) : "";
    };
    const ends = OPERATIONS[operation].method === "DELETE" && operation !== "destroyVersion" && operation !== "deleteItem";
    if (ends) this.forget(Object.values(ids).at(-1) ?? "");
    MADE[operation]?.(this, ids, ref);
    this.add(
      "tag",
      ref(({ headers }) => headers["etag"]),
      { item: ids["item"] ?? "" },
    );
    this.add(
      "page",
      ref(({ headers }) => linkOf(headers)),
    );
  }
}

/** The path of the next page; empty if there is none. */
export const linkOf = (headers: Reply["headers"]): string => /^<https?:\/\/[^/]+([^>]*)>/.exec(headers["link"] ?? "")?.[1] ?? "";
