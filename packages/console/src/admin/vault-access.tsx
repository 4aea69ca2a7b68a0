import { parseId } from "@item-vault/model/ids";
import { computed } from "@preact/signals";
import type { Opened } from "../state/opened.ts";
import { compareNames } from "../state/search.ts";
import { session } from "../state/session.ts";
import { FromNow } from "../ui/day.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { type List, nameOfPerson, nameOfToken, nameOfWorkload, people, tokens, workloads } from "./lists.ts";
import { ListContent } from "./rows.tsx";
import { canonicalScope, describeVaultScope, type TokenScope } from "./scope.ts";

interface Holder {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
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

const holders: List<Holder> = {
  rows: computed(() => (LISTS.every(({ rows }) => rows.value) ? loadedHolders() : undefined)),
  error: computed(() => LISTS.map(({ error }) => error.value).find((error) => error !== undefined)),
  load: async () => void (await Promise.all(LISTS.map(({ load }) => load()))),
};

type Access = Holder & { readonly scope: TokenScope[string] };

/** Returns true if a scope includes an Item, by its canonical id. */
const includes = (scope: TokenScope[string], item: string): boolean =>
  typeof scope === "string" || scope.items.some((id) => parseId(id) === item);

/** Returns the access to a vault, or to one Item of it, by canonical ids. */
const accessTo = (all: readonly Holder[], vault: string, item?: string): readonly Access[] =>
  all.flatMap((holder) => {
    const scope = canonicalScope<TokenScope[string]>(holder.vaults ?? {})[vault];
    return scope === undefined || (item !== undefined && !includes(scope, item)) ? [] : [{ ...holder, scope }];
  });

const countUnknown = (all: readonly Holder[]): number => all.filter(({ vaults }) => vaults === undefined).length;

export function VaultAccess({ row: { id }, item }: Readonly<{ row: { readonly id: string }; item?: string }>) {
  const none = `No token, person or rule has access to this ${item === undefined ? "vault" : "item"}.`;
  return (
    <>
      <ListContent list={holders} empty={none}>
        {(all) => {
          const [access, unknown] = [accessTo(all, id, item), countUnknown(all)];
          return (
            <>
              {access.length === 0 && <p>{none}</p>}
              {access.length > 0 && <Table label="Who has access" rows={access} keyOf={(one) => one.id} columns={COLUMNS} />}
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
}

/** Who can reach an Item: for an admin everybody, for others their own permissions. */
export function ItemAccess({ opened: { item } }: { readonly opened: Opened }) {
  const { admin, token } = session.value!;
  const scope = token?.vaults[item.vault.id];
  return (
    <>
      {scope !== undefined && <p>Your permissions: {describeVaultScope(scope)}.</p>}
      {admin ? (
        <VaultAccess row={{ id: parseId(item.vault.id)! }} item={parseId(item.id)} />
      ) : (
        <p class="quiet">Only an administrator can see who else has access.</p>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Access>[] = [
  { label: "Name", cell: ({ name }) => <span class="name">{name}</span> },
  { label: "Type", cell: ({ kind }) => kind },
  { label: "Permissions", cell: ({ scope }) => describeVaultScope(scope) },
  {
    label: "Expires",
    cell: ({ expiresAt }) => (expiresAt === undefined ? <span class="quiet">never</span> : <FromNow time={expiresAt} />),
  },
];
