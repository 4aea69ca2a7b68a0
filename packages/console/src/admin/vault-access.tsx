import { computed } from "@preact/signals";
import { compareNames } from "../state/search.ts";
import { FromNow } from "../ui/day.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { type List, nameOfPerson, nameOfToken, nameOfWorkload, people, tokens, workloads } from "./lists.ts";
import { ListContent } from "./rows.tsx";
import { canonicalScope, describeVaultScope, type TokenScope } from "./scope.ts";

/** A person, a token or a rule that may give access to vaults. */
interface Holder {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  /** Expiry of the token. */
  readonly expiresAt?: string;
  /** Absent: its record is damaged, so its vaults are unknown. */
  readonly vaults?: TokenScope;
}

/** An issuer names no vaults, and an ended token gives no access. People come first, then tokens and rules, each by name. */
const loadedHolders = (): readonly Holder[] =>
  [
    (people.rows.value ?? []).flatMap((row) => [{ ...row, kind: "Person", name: nameOfPerson(row) }]),
    (tokens.rows.value ?? []).flatMap((row) => (row.endedAt ? [] : [{ ...row, kind: "Token", name: nameOfToken(row) }])),
    (workloads.rows.value ?? []).flatMap((row) =>
      row.kind === "rule" ? [{ ...row, kind: "Rule for workloads", name: nameOfWorkload(row) }] : [],
    ),
  ].flatMap((group: readonly Holder[]) => group.toSorted((a, b) => compareNames(a.name, b.name)));

const LISTS = [people, tokens, workloads];

/** All holders of access, derived from the admin's lists. */
const HOLDERS: List<Holder> = {
  rows: computed(() => (LISTS.every(({ rows }) => rows.value) ? loadedHolders() : undefined)),
  error: computed(() => LISTS.map(({ error }) => error.value).find((error) => error !== undefined)),
  load: async () => void (await Promise.all(LISTS.map(({ load }) => load()))),
};

/** The access to a vault: its people, tokens and rules, with their permissions. */
export const VaultAccess = ({ row: { id } }: { readonly row: { readonly id: string } }) => (
  <>
    <ListContent list={HOLDERS} empty={NONE}>
      {(all) => {
        const access = all.filter(({ vaults = {} }) => id in canonicalScope(vaults));
        const unknown = all.filter(({ vaults }) => vaults === undefined).length;
        return (
          <>
            {access.length === 0 && <p>{NONE}</p>}
            {access.length > 0 && <Table label="Who has access" rows={access} keyOf={(one) => one.id} columns={columnsFor(id)} />}
            {unknown > 0 && (
              <p class="broken">{plural(unknown, "record")} cannot be decrypted: the vaults they name are unknown.</p>
            )}
          </>
        );
      }}
    </ListContent>
    <p class="quiet">Administrators can issue tokens for every vault. Workload tokens expire after a few minutes.</p>
  </>
);

const NONE = "No token, person or rule has access to this vault.";

const columnsFor = (vault: string): readonly Column<Holder>[] => [
  { label: "Name", cell: ({ name }) => <span class="name">{name}</span> },
  { label: "Type", cell: ({ kind }) => kind },
  { label: "Permissions", cell: ({ vaults = {} }) => describeVaultScope(canonicalScope(vaults)[vault]!) },
  {
    label: "Expires",
    cell: ({ expiresAt }) => (expiresAt === undefined ? <span class="quiet">never</span> : <FromNow time={expiresAt} />),
  },
];
