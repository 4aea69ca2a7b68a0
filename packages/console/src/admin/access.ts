import { canonicalScope, type TokenScope } from "./scope.ts";
import type { PersonRow, TokenRow, WorkloadRow } from "./lists.ts";
import { nameOfPerson, nameOfToken, nameOfWorkload } from "./row-names.ts";
import { compareNames } from "../state/search.ts";

/** Who reaches a vault: derived from the lists of the admin. Pure. */

export interface Access {
  readonly id: string;
  readonly kind: keyof typeof ACCESS_KINDS;
  readonly name: string;
  readonly scope: TokenScope[string];
  /** When a token ends. */
  readonly expiresAt?: string;
}

/** What may reach a vault, in the order in which it is shown. */
export const ACCESS_KINDS = { person: "Person", token: "Token", rule: "Rule for workloads" } as const;

interface Lists {
  readonly tokens: readonly TokenRow[];
  readonly people: readonly PersonRow[];
  readonly workloads: readonly WorkloadRow[];
}

type Row = Lists[keyof Lists][number];

/** What a row may open, by the canonical id of the vault; nothing of one that has ended, or whose record does not open. */
const scopeOfRow = (row: Row): TokenScope =>
  "vaults" in row && !("endedAt" in row && row.endedAt !== undefined) ? canonicalScope(row.vaults) : {};

/** In: the canonical id of the vault. Out: people first, then tokens and rules, each by name. */
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

/** How many records do not open, so that nobody knows which vaults they name. An issuer names none. */
export const countUnknown = ({ tokens, people, workloads }: Lists): number =>
  [
    ...tokens.filter(({ endedAt }) => endedAt === undefined),
    ...people,
    ...workloads.filter(({ kind }) => kind === "rule"),
  ].filter((row) => "broken" in row).length;
