import { parseItem, parsePatch } from "../../../src/model/item-input.ts";
import { type Change, type Idempotency, type Operation, OPERATION_FORMAT } from "../../../src/model/operation.ts";
import type { Result } from "../../../src/model/result.ts";
import { ACTOR, ITEM, tagsOf, TOKEN_HASH, VAULT } from "./store.ts";

/** Operations on the Item of the model. */

let operations = 0;

export const operationOf = (change: Change, idempotency?: Idempotency): Operation => {
  const origin = { userAgent: "", requestIp: "" };
  return {
    format: OPERATION_FORMAT,
    id: `operation ${++operations}`,
    vault: VAULT,
    actor: ACTOR,
    token: { id: ACTOR, hash: TOKEN_HASH },
    size: 0,
    origin,
    change,
    idempotency,
  };
};

/** The writes to versions and deleted Items. */
const OF_VERSIONS = {
  restore: { kind: "restore-version", item: ITEM, version: 1 },
  destroy: { kind: "destroy-version", item: ITEM, version: 1 },
  undelete: { kind: "restore-item", item: ITEM },
  purge: { kind: "destroy-item", item: ITEM },
} as const satisfies Record<string, Change>;

export type ChangeKind = "put" | "patch" | "delete" | keyof typeof OF_VERSIONS;

export function changeOf(kind: ChangeKind, value: string, ifMatch?: number): Change {
  if (kind in OF_VERSIONS) return OF_VERSIONS[kind as keyof typeof OF_VERSIONS];
  const condition = { item: ITEM, ifMatch: ifMatch === undefined ? undefined : tagsOf(ifMatch) };
  const body = { vault: { id: VAULT }, category: "LOGIN", tags: [value] };
  if (kind === "put") return { kind: "replace-item", ...condition, input: unwrap(parseItem(body, VAULT, "replace")) };
  if (kind === "delete") return { kind: "delete-item", ...condition };
  return { kind: "patch-item", ...condition, edits: unwrap(parsePatch([{ op: "add", path: "/tags/-", value }])) };
}

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.kind);
  return result.value;
}
