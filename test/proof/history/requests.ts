import type { Kind } from "./facts.ts";
import type { Asked } from "./record.ts";
import { LOGIN } from "../../support/service.ts";

/** What the clients of a history send. */

/** What a client does next, for a number from 0 to 1: `again` is a write that was acknowledged, once more with its key. */
export const drawKind = (what: number): Kind | "list" | "again" => {
  const shares = { read: 0.3, list: 0.04, patch: 0.27, put: 0.13, create: 0.07, delete: 0.03 } as const;
  let left = what;
  for (const [kind, share] of Object.entries(shares)) if ((left -= share) < 0) return kind as keyof typeof shares;
  return "again";
};

/** The request of a call: the value goes into the tags and, apart from them in storage, into the fields. */
export function requestFor(items: string, vault: string, { kind, item, value }: Asked) {
  const path = kind === "create" ? items : `${items}/${item}`;
  const whole = { ...LOGIN, vault: { id: vault }, tags: [value], fields: [{ id: value, value }] };
  const added = [
    { op: "add", path: "/tags/-", value },
    { op: "add", path: `/fields/${value}`, value: { value } },
  ];
  const requests = {
    read: { method: "GET", body: undefined },
    create: { method: "POST", body: whole },
    put: { method: "PUT", body: whole },
    patch: { method: "PATCH", body: added },
    delete: { method: "DELETE", body: undefined },
  };
  return { path, ...requests[kind] };
}
