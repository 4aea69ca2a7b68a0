import { useLayoutEffect } from "preact/hooks";
import { FromNow } from "../ui/day.tsx";
import { Failure } from "../ui/failure.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { type Access, ACCESS_KINDS, accessTo, countUnknown } from "./access.ts";
import { people, tokens, workloads } from "./lists.ts";
import { describeVaultScope } from "./scope.ts";

const LISTS = [people, tokens, workloads];

/** The access to a vault: its people, tokens and rules, with their permissions. */
export function VaultAccess({ row: { id } }: { readonly row: { readonly id: string } }) {
  const load = () => LISTS.forEach((list) => void list.load());
  useLayoutEffect(load, []);
  const error = LISTS.map((list) => list.error.value).find((one) => one !== undefined);
  if (error !== undefined) return <Failure error={error} retry={load} />;
  const [someTokens, somePeople, someWorkloads] = [tokens.rows.value, people.rows.value, workloads.rows.value];
  if (!someTokens || !somePeople || !someWorkloads) return <p class="quiet">Loading…</p>;
  const lists = { tokens: someTokens, people: somePeople, workloads: someWorkloads };
  const access = accessTo(id, lists);
  const unknown = countUnknown(lists);
  return (
    <>
      {access.length === 0 ? (
        <p>No token, person or rule has access to this vault.</p>
      ) : (
        <Table label="Who has access" rows={access} keyOf={({ kind, id: key }) => `${kind} ${key}`} columns={COLUMNS} />
      )}
      {unknown > 0 && <p class="broken">{plural(unknown, "record")} cannot be decrypted: the vaults they name are unknown.</p>}
      <p class="quiet">Administrators can issue tokens for every vault. Workload tokens expire after a few minutes.</p>
    </>
  );
}

const COLUMNS: readonly Column<Access>[] = [
  { label: "Name", cell: ({ name }) => <span class="name">{name}</span> },
  { label: "Type", cell: ({ kind }) => ACCESS_KINDS[kind] },
  { label: "Permissions", cell: ({ scope }) => describeVaultScope(scope) },
  {
    label: "Expires",
    cell: ({ expiresAt }) => (expiresAt === undefined ? <span class="quiet">never</span> : <FromNow time={expiresAt} />),
  },
];
