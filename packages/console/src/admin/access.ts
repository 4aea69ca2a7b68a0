import { compareNames } from "../state/search.ts";
import { nameOfPerson, nameOfToken, nameOfWorkload, type PersonRow, type TokenRow, type WorkloadRow } from "./lists.ts";
import { canonicalScope, type TokenScope } from "./scope.ts";

/** The access to a vault, derived from the admin's lists. Pure. */

export interface Access {
  readonly id: string;
  readonly kind: keyof typeof ACCESS_KINDS;
  readonly name: string;
  readonly scope: TokenScope[string];
  /** Expiry of the token. */
  readonly expiresAt?: string;
}

/** The kinds of access to a vault, in display order. */
export const ACCESS_KINDS = { person: "Person", token: "Token", rule: "Rule for workloads" } as const;

interface Lists {
  readonly tokens: readonly TokenRow[];
  readonly people: readonly PersonRow[];
  readonly workloads: readonly WorkloadRow[];
}

/** The rows that give access. An issuer names no vaults, and an ended token gives none. */
const givers = ({ tokens, people, workloads }: Lists) => [
  ...people.map((row) => ({ kind: "person", row, name: nameOfPerson(row) }) as const),
  ...tokens.filter((row) => row.endedAt === undefined).map((row) => ({ kind: "token", row, name: nameOfToken(row) }) as const),
  ...workloads.flatMap((row) => (row.kind === "rule" ? [{ kind: "rule", row, name: nameOfWorkload(row) } as const] : [])),
];

/** Returns the access to a vault, by its canonical id: people first, then tokens and rules, each by name. */
export function accessTo(vault: string, lists: Lists): readonly Access[] {
  const kinds = Object.keys(ACCESS_KINDS);
  return givers(lists)
    .flatMap(({ kind, row, name }): readonly Access[] => {
      const scope = "vaults" in row ? canonicalScope<TokenScope[string]>(row.vaults)[vault] : undefined;
      const expiry = "expiresAt" in row && { expiresAt: row.expiresAt };
      return scope === undefined ? [] : [{ id: row.id, kind, name, scope, ...expiry }];
    })
    .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compareNames(a.name, b.name));
}

/** Returns the number of broken records, whose vaults are unknown. */
export const countUnknown = (lists: Lists): number => givers(lists).filter(({ row }) => "broken" in row).length;
