import type { OperationId } from "../../../src/api/operations.ts";
import type { Answer, Side } from "./pair.ts";

/** Compares the answers of both servers. Ids, secrets and times differ: each id of one server always stands for the same id of the other. */

/** Headers that are not compared, and why. */
const OF_TRANSPORT: Readonly<Record<string, string>> = {
  date: "workerd sends none",
  connection: "of the connection",
  "keep-alive": "of the connection",
  "cf-cache-status": "of the static files; docs/contract.md does not name it",
  "transfer-encoding": "a body without a length is cut into chunks by both, and its bytes are compared",
};

/** Seconds in headers: the age of a copy, and the rest of a session. */
const SECONDS = /(?<=^item-vault-age: )\d+|(?<=; Max-Age=)[1-9]\d*/;

/** Attributes whose values background work changes at any time, and why. */
const OF_BACKGROUND: Readonly<Record<string, string>> = {
  pending: "events that wait for their delivery",
  failures: "failed deliveries",
  lastDelivery: "the time of a delivery",
  lastError: "the failure of a delivery",
};

/** Attributes of a job that has not ended. */
const OF_RUNNING_JOB = new Set(["state", "progress", "result", "findings", "endedAt", "reason", "tries"]);

/** Kinds of texts that differ. Those of times have no pair: two times of one server may be one time of the other. */
const KINDS: readonly (readonly [kind: string, pattern: string])[] = [
  ["jwt", "eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+"],
  ["time", "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{3})?Z"],
  ["uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["cursor", "\\b\\d+-[0-9a-z]{8}\\b"],
  ["opaque", "[A-Za-z0-9_+/=-]{16,}"],
  ["timestamp", "\\b1[789]\\d{8}(?:\\d{3}|\\.\\d{1,3})?\\b"],
];
const TOKEN = new RegExp(KINDS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "g");
const WITHOUT_PAIR = new Set(["time", "timestamp", "cursor"]);

interface Token {
  readonly kind: string;
  readonly text: string;
}

/** Splits a text into what is equal on both servers and what may differ. */
function split(text: string): { readonly literals: string[]; readonly tokens: Token[] } {
  const tokens: Token[] = [];
  const literals: string[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [kind, found] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
    tokens.push({ kind, text: found });
    literals.push(text.slice(end, match.index));
    end = match.index + found.length;
  }
  return { literals: [...literals, text.slice(end)], tokens };
}

/** Values of attributes that are random, or depend on the time: they have the same form. */
const FORMS: Readonly<Record<string, RegExp>> = {
  totp: /^\d{6,8}$/,
  value: /^(?:[\w!@.*-]{1,3}|[\w!@.*-]{12,64}|\d{6,8})$/, // generated, or a one-time password
  username: /^[\w!@.*-]{12,64}$/, // generated
  milliseconds: /^\d+$/,
  used: /^\d+$/, // bytes of the database
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Shows two values from a little before the place where they differ. */
function show(left: unknown, right: unknown): string {
  const [a, b] = [left, right].map((value) => JSON.stringify(value) ?? "nothing") as [string, string];
  const start = Math.max(0, Array.from(a).findIndex((character, at) => character !== b[at]) - 80);
  return [a, b].map((text) => text.slice(start, start + 300)).join(" and ");
}

export class Comparison {
  readonly #pairs = [new Map<string, string>(), new Map<string, string>()] as const;

  /** Whether both texts are the same but for their ids, secrets and times. */
  isSameText(left: string, right: string): boolean {
    if (left === right) return true;
    const [a, b] = [split(left), split(right)];
    if (a.literals.join("\0") !== b.literals.join("\0")) return false;
    return a.tokens.every((token, at) => this.#isPair(token, b.tokens[at]!));
  }

  #isPair({ kind, text: left }: Token, { kind: other, text: right }: Token): boolean {
    if (kind !== other) return false;
    if (WITHOUT_PAIR.has(kind) || left === right) return true;
    if (left.length !== right.length) return false;
    if (kind === "uuid" && left[14] !== right[14]) return false;
    const [ofLeft, ofRight] = this.#pairs;
    if ((ofLeft.get(left) ?? right) !== right || (ofRight.get(right) ?? left) !== left) return false;
    ofLeft.set(left, right);
    ofRight.set(right, left);
    return true;
  }

  /** Returns where two JSON values differ. */
  differences(left: unknown, right: unknown, at = "body", ignored: ReadonlySet<string> = new Set()): string[] {
    if (!isObject(left) || !isObject(right)) return this.#isSameValue(left, right, at) ? [] : [`${at}: ${show(left, right)}`];
    // Ids are the names of vaults in a scope.
    const keys = [left, right].map((value) =>
      Object.keys(value).filter((key) => !(key in OF_BACKGROUND) && !ignored.has(key)),
    ) as [string[], string[]];
    if (!this.isSameText(keys[0].join(), keys[1].join())) return [`${at} has the attributes ${keys.join(" and ")}`];
    return keys[0].flatMap((key, index) => this.differences(left[key], right[keys[1][index]!], `${at}.${key}`, ignored));
  }

  #isSameValue(left: unknown, right: unknown, at: string): boolean {
    if (typeof left === "string" && typeof right === "string" && this.isSameText(left, right)) return true;
    const form = FORMS[/\w*$/.exec(at)![0]];
    return left === right || (form !== undefined && [left, right].every((value) => form.test(String(value))));
  }

  /** Returns how the answers of both servers differ. */
  ofAnswers(operation: OperationId | undefined, sides: readonly [Side, Side], answers: readonly [Answer, Answer]): string[] {
    const [left, right] = answers;
    if (left.status !== right.status) return [`status: ${left.status} and ${right.status}`];
    if (left.isCut !== right.isCut) return [`the body of ${sides[left.isCut ? 0 : 1].name} ended early`];
    const [a, b] = answers.map((answer, at) => bodyOf(answer, sides[at]!, operation));
    const ignored = operation === "createJob" ? OF_RUNNING_JOB : undefined;
    return [...this.#ofHeaders(sides, answers, operation), ...this.differences(a, b, "body", ignored)];
  }

  #ofHeaders(sides: readonly [Side, Side], answers: readonly [Answer, Answer], operation: OperationId | undefined): string[] {
    const [left, right] = answers.map((answer, at) => headersOf(answer, sides[at]!, operation)) as [string[], string[]];
    const [a, b] = [left.toSorted(), right.toSorted()];
    const length = Math.max(a.length, b.length);
    const at = Array.from({ length }, (_, index) => index).find((index) => !this.isSameText(a[index] ?? "", b[index] ?? ""));
    return at === undefined ? [] : [`header: ${a[at]} and ${b[at]}`];
  }
}

const withoutOrigin = (text: string, { origin, receiver }: Side): string =>
  text.replaceAll(origin, "{origin}").replaceAll(receiver, "{receiver}");

/** Parts of a backup are in the order of their hashes, so each server gives another one. */
function headersOf({ headers, body }: Answer, side: Side, operation: OperationId | undefined): string[] {
  const isPart = operation === "getBackupObject";
  return headers
    .filter(([name]) => !(name.toLowerCase() in OF_TRANSPORT))
    .filter(([name, value]) => !(name.toLowerCase() === "content-length" && (isPart || Number(value) === body.length)))
    .map(([name, value]) => `${name.toLowerCase()}: ${withoutOrigin(value, side)}`.replace(SECONDS, "{seconds}"));
}

/** Lists whose order is that of random ids, where they were made in one second: by the attribute that orders them here. */
const SORTED: Partial<Record<OperationId, string>> = { listTokens: "name", listChildTokens: "name", listRules: "name" };

/** Jobs that the service starts by itself, at any time. */
const OF_SERVICE = new Set(["purge", "expire"]);

/** Metrics that background work changes, and the size of the database. */
const LOOSE_METRICS = /^(item_vault_(?:database_bytes|vaults_deleting|backup_bytes)) .*$/gm;

interface Objects {
  readonly objects?: readonly { readonly key: string; readonly size: number }[];
}

/** Objects of backups. Parts have the names of hashes of sealed bytes, which differ. */
const objectsOf = ({ objects, ...rest }: Objects): object => ({
  ...rest,
  objects: objects?.map(({ key }) => key.replace(/[0-9a-f]{64}$/, "{hash}")),
});

function bodyOf({ body, headers }: Answer, side: Side, operation: OperationId | undefined): unknown {
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  // Each server has sealed it, under a name that is a hash of the sealed bytes.
  if (operation === "getBackupObject" && type.startsWith("application/octet-stream")) return "an object";
  if (type.startsWith("application/octet-stream")) return body.toString("latin1");
  const text = withoutOrigin(body.toString(), side).replace(/It uses [\d.,]+ of/, "It uses … of");
  if (operation === "getMetrics") return text.replaceAll(LOOSE_METRICS, "$1");
  if (!type.startsWith("application/json") || text === "") return text;
  const value = JSON.parse(text) as unknown;
  // Background work adds to it, and a delivery that a fault has cut off is repeated. The messages are compared at the end.
  if (operation === "listDeliveries") return undefined;
  if (operation === "listBackupObjects") return objectsOf(value as Objects);
  if (!Array.isArray(value)) return value;
  const key = operation && SORTED[operation];
  if (operation === "listJobs") return value.filter(({ kind }) => !OF_SERVICE.has(kind));
  return key ? value.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1)) : value;
}
