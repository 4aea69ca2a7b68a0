import { partsOf, type Row } from "../../src/api/openapi/operation.ts";
import type { FailureKind } from "../../src/model/failure.ts";
import { type Permission, PERMISSIONS } from "../../src/model/permission.ts";
import { NARROW_ADMIN_NAMES, type NarrowAdmin } from "../../src/model/token-kind.ts";

/**
 * The matrix of authorization (contract 4.5 to 4.7, 8.4, 8.5, 8.9): each operation with each caller, and with each object that is not its
 * own. What is expected follows from the row of the operation, so a new operation is in the matrix without being added.
 */

/** Callers without a token that the service accepts. */
const STRANGERS = ["nobody", "a text that is no token", "a revoked token", "the holder of METRICS_TOKEN"] as const;

interface Granted {
  /** What a token may do in the target's own vault, and in the vaults `readable` and `deleted`. Absent: nothing. */
  readonly own?: Permission;
  readonly others?: Permission;
  /** In its own vault only with the Item of the target, or only with another one (contract 8.15). */
  readonly items?: "own" | "other";
  /** It may issue tokens (contract 8.16), and has issued the target's own. */
  readonly delegates?: true;
}

export const TOKENS: Readonly<Record<string, Granted>> = {
  // What its claims name is compared with the path before D1 is asked whether it is revoked (contract 4.5).
  "a revoked token": { own: "rwd" },
  "a token of other vaults": { others: "rwd" },
  "a token of no vault": {},
  "a token that issues tokens": { own: "rwd", delegates: true },
  "a token below it": { own: "rwd" },
  "a token of the Item": { own: "rwd", others: "rwd", items: "own" },
  "a token of another Item": { own: "rwd", others: "rwd", items: "other" },
  ...Object.fromEntries(
    (Object.keys(PERMISSIONS) as Permission[]).map((one) => [`a token with ${one}`, { own: one, others: one }]),
  ),
};

/** Tokens that serve some of the admin routes, by their attribute (contract 8.19, 8.20). */
const NARROW = new Map<string, NarrowAdmin>(NARROW_ADMIN_NAMES.map((name) => [`a token with ${name}`, name]));

export const CALLERS: readonly string[] = [...new Set([...STRANGERS, ...Object.keys(TOKENS), ...NARROW.keys(), "the admin"])];

/** The parameters of paths, with the objects that are tried in place of the target's own. All but `absent` exist. */
const FOREIGN = {
  /** `readable`, `deleted`: vaults in which the tokens may do the same. `foreign`: one that no token of the matrix names. */
  vault: ["readable", "deleted", "foreign", "absent"],
  /** `deleted`: on a path of deleted Items, one that is not deleted. */
  item: ["of another vault", "deleted", "absent"],
  file: ["of another Item", "absent"],
  version: ["absent"],
  webhook: ["of another vault", "absent"],
  // The id of a person is one of a token too (contract 25.8).
  token: ["that is a vault", "below another token", "absent"],
  person: ["that is a token", "absent"],
  issuer: ["that is a token", "absent"],
  rule: ["that is an issuer", "absent"],
  job: ["that is a vault", "absent"],
} as const satisfies Readonly<Record<Parameter, readonly string[]>>;

type Parameter = ReturnType<typeof partsOf>[number];

/** An object in place of the target's own. */
export interface Change {
  readonly parameter: Parameter;
  readonly value: string;
}

export interface Case {
  readonly row: Row;
  readonly caller: string;
  /** Absent: all objects are the target's own. */
  readonly change?: Change | undefined;
}

/** A session of the console has no bearer token: its operations are in test/console/ and test/api/actors.test.ts. */
const hasBearer = ({ access }: Row): boolean => access.by !== "console" && access.by !== "session";

/** Whether an object is another one: all vaults are the admin's, and one that has nothing else in its path is as good as the target's. */
function isOther(row: Row, { parameter, value }: Change): boolean {
  if (value === "below another token") return row.access.by === "token";
  if (parameter !== "vault" || value === "absent" || value === "deleted") return true;
  return value === "foreign" ? row.access.by === "token" : partsOf(row.path).length > 1;
}

/** The cases of some operations. */
export const casesOf = (rows: readonly Row[]): Case[] =>
  rows.filter(hasBearer).flatMap((row) => {
    const changes = partsOf(row.path).flatMap((parameter) => FOREIGN[parameter].map((value): Change => ({ parameter, value })));
    const objects = [undefined, ...changes.filter((change) => isOther(row, change))];
    return CALLERS.flatMap((caller) => objects.map((change): Case => ({ row, caller, change })));
  });

/** Operations that answer for an object that does not exist, as `<operation> <parameter> <value>`. */
const SUCCEEDS_WITHOUT: ReadonlySet<string> = new Set([
  // A vault is gone before its backups are, and these after some time (contract 21.8).
  "listVaultBackups vault absent",
  "listVaultBackups vault deleted",
]);

/** The kind of the refusal; undefined for a request that succeeds. */
export function expectedOf({ row, caller, change }: Case): FailureKind | undefined {
  const { access } = row;
  if (access.by === "everybody") return undefined;
  if (access.by === "metrics") return caller === "the holder of METRICS_TOKEN" ? undefined : "unauthorized";
  const narrow = NARROW.get(caller);
  if (access.by === "admin")
    return caller === "the admin" || (narrow && access.narrow === narrow) ? notFound(row, change) : "unauthorized";
  const token = TOKENS[caller];
  if (access.by !== "token" || !token) return "unauthorized";
  const live = caller === "a revoked token" ? "unauthorized" : notFound(row, change);
  if (access.permission === undefined) {
    if (token.delegates) return live;
    if (access.delegates) return "out_of_scope";
    return live ?? (partsOf(row.path).includes("token") ? "token_not_found" : undefined);
  }
  const vault = change?.parameter === "vault" ? change.value : "own";
  const granted = { own: token.own, readable: token.others, deleted: token.others }[vault] ?? "";
  // By the letters (contract 8.4), and not by the function that the service uses.
  const grants = (letter: string): boolean => granted.includes(letter) || (letter === "l" && granted.includes("r"));
  if (![...access.permission].every(grants)) return access.outside;
  if (token.items === undefined || vault !== "own") return live;
  if (access.whole) return access.outside;
  return token.items === "other" && partsOf(row.path).includes("item") ? "item_not_found" : live;
}

/** An object is looked for in the one before it in the path, so a vault that exists lacks the Item of another one. */
function notFound(row: Row, change: Change | undefined): FailureKind | undefined {
  if (!change) return undefined;
  const { parameter, value } = change;
  if (SUCCEEDS_WITHOUT.has(`${row.operationId} ${parameter} ${value}`)) return undefined;
  const exists = parameter === "vault" && value === "readable";
  const missing = exists ? partsOf(row.path)[1]! : parameter;
  return `${missing}_not_found`;
}

/** Whether the request succeeds and may use its target up. */
export const usesUp = (one: Case): boolean => expectedOf(one) === undefined && one.row.method !== "get";

export const titleOf = ({ caller, change }: Case): string => `${caller}${change ? `, ${change.parameter} ${change.value}` : ""}`;
