import { useLayoutEffect } from "preact/hooks";
import { Dialog, Done } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { plural } from "../ui/plural.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { Table } from "../ui/table.tsx";
import { named } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { type Access, ACCESS_KINDS, accessTo, countUnknown } from "./access.ts";
import { people, tokens, workloads } from "./lists.ts";
import { describeVaultScope } from "./scope.ts";

/** The access to a vault: its people, tokens and rules, with their permissions. */

interface Props {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

const LISTS = [people, tokens, workloads];

export function VaultAccess({ id, name, onClose }: Props) {
  const load = () => LISTS.forEach((list) => void list.load());
  useLayoutEffect(load, []);
  const error = LISTS.map((list) => list.error.value).find((one) => one !== undefined);
  return (
    <Dialog title={`Who has access to ${named(name)}`} onClose={onClose}>
      <div class="rows">{error === undefined ? <Content vault={id} /> : <Failure error={error} retry={load} />}</div>
      <Done onClose={onClose} />
    </Dialog>
  );
}

function Content({ vault }: { readonly vault: string }) {
  const [someTokens, somePeople, someWorkloads] = [tokens.rows.value, people.rows.value, workloads.rows.value];
  if (!someTokens || !somePeople || !someWorkloads) return <p class="quiet">Loading…</p>;
  const lists = { tokens: someTokens, people: somePeople, workloads: someWorkloads };
  const access = accessTo(vault, lists);
  const unknown = countUnknown(lists);
  return (
    <>
      {access.length === 0 ? (
        <p>No token, person or rule has access to this vault.</p>
      ) : (
        <Table label="Who has access" rows={access} keyOf={({ kind, id }) => `${kind} ${id}`} columns={COLUMNS} />
      )}
      {unknown > 0 && <p class="broken">{plural(unknown, "record")} cannot be decrypted: the vaults they name are unknown.</p>}
      <p class="quiet explanation">
        Administrators can issue tokens for every vault. Workload tokens expire after a few minutes.
      </p>
    </>
  );
}

const COLUMNS = [
  { label: "Name", cell: ({ name }: Access) => <span class="name">{name}</span> },
  { label: "Type", cell: ({ kind }: Access) => ACCESS_KINDS[kind] },
  { label: "Permissions", cell: ({ scope }: Access) => describeVaultScope(scope) },
  {
    label: "Expires",
    cell: ({ expiresAt }: Access) =>
      expiresAt === undefined ? (
        <span class="quiet">never</span>
      ) : (
        <time class="day" dateTime={expiresAt} title={formatTime(expiresAt)}>
          {formatFromNow(expiresAt, Date.now())}
        </time>
      ),
  },
] as const;
