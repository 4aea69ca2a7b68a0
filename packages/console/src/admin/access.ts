import { canonicalScope, type TokenScope } from "./scope.ts";
import type { PersonRow, TokenRow, WorkloadRow } from "./lists.ts";
import { nameOfPerson, nameOfToken, nameOfWorkload } from "./row-names.ts";
import { compareNames } from "../state/search.ts";

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

type Row = Lists[keyof Lists][number];

/** Returns the scope of a row, by canonical vault id; empty for an ended or broken row. */
const scopeOfRow = (row: Row): TokenScope =>
  "vaults" in row && !("endedAt" in row && row.endedAt !== undefined) ? canonicalScope(row.vaults) : {};

/** Returns the access to a vault, by its canonical id: people first, then tokens and rules, each by name. */
export function accessTo(vault: string, { tokens, people, workloads }: Lists): readonly Access[] {
  const entry = (kind: Access["kind"], name: string, row: Row): readonly Access[] => {
    const scope = scopeOfRow(row)[vault];
    return scope === undefined
      ? []
      : [{ id: row.id, kind, name, scope, ...(kind === "token" && "expiresAt" in row && { expiresAt: row.expiresAt }) }];
  };
  const found = [
    people.flatMap((row) => entry("person", nameOfPerson(row), row)),
    tokens.flatMap((row) => entry("token", nameOfToken(row), row)),
    workloads.flatMap((row) => (row.kind === "rule" ? entry("rule", nameOfWorkload(row), row) : [])),
  ];
  return found.flatMap((group) => group.toSorted((a, b) => compareNames(a.name, b.name)));
}

/** Returns the number of broken records, whose vaults are unknown. An issuer names no vaults. */
export const countUnknown = ({ tokens, people, workloads }: Lists): number =>
  [
    ...tokens.filter(({ endedAt }) => endedAt === undefined),
    ...people,
    ...workloads.filter(({ kind }) => kind === "rule"),
  ].filter((row) => "broken" in row).length;
