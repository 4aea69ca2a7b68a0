import { LOGIN } from "../../support/service.ts";
import type { Kind, PlannedCall } from "./calls.ts";

/** The requests of the clients of a history. */

/**
 * The kind of a client's next call. In: a number from 0 to 1. `repeat` sends an acknowledged write again with its
 * Idempotency-Key.
 */
export const drawKind = (random: number): Kind | "list" | "repeat" => {
  const shares = {
    read: 0.24,
    look: 0.04,
    versions: 0.03,
    list: 0.03,
    patch: 0.26,
    put: 0.1,
    create: 0.06,
    restore: 0.07,
    undelete: 0.04,
    delete: 0.04,
    destroy: 0.02,
    purge: 0.01,
  } as const;
  let left = random;
  for (const [kind, share] of Object.entries(shares)) if ((left -= share) < 0) return kind as keyof typeof shares;
  return "repeat";
};

/** The fields of an Item of 490 KiB sealed, near the limit of 512 KiB, when its first value begins with `large`; else none. */
export const largeFields = (value: string): { id: string; value: string }[] =>
  value.startsWith("large")
    ? Array.from({ length: 6 }, (_, n) => ({ id: `${value}-text${n}`, value: value.padEnd((n === 0 ? 44 : 64) * 1024, "x") }))
    : [];

/** The request of a call. It writes the value into the tags and into the fields, which are in another sealed text. */
export function requestFor(items: string, vault: string, { kind, item, value, source }: PlannedCall) {
  const path = kind === "create" ? items : `${items}/${item}`;
  const whole = { ...LOGIN, vault: { id: vault }, tags: [value], fields: [{ id: value, value }, ...largeFields(value ?? "")] };
  const added = [
    { op: "add", path: "/tags/-", value },
    { op: "add", path: `/fields/${value}`, value: { value } },
  ];
  const deleted = `/v1/vaults/${vault}/deleted-items/${item}`;
  const requests: { readonly [K in Kind]: { method: string; path?: string; body?: object } } = {
    read: { method: "GET" },
    create: { method: "POST", body: whole },
    put: { method: "PUT", body: whole },
    patch: { method: "PATCH", body: added },
    delete: { method: "DELETE" },
    versions: { method: "GET", path: `${path}/versions` },
    look: { method: "GET", path: `${path}/versions/${source}` },
    restore: { method: "POST", path: `${path}/versions/${source}/restore` },
    destroy: { method: "DELETE", path: `${path}/versions/${source}` },
    undelete: { method: "POST", path: `${deleted}/restore` },
    purge: { method: "DELETE", path: deleted },
  };
  return { path, body: undefined, ...requests[kind] };
}
