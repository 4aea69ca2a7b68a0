import type { Entry as ListedItem } from "../state/search.ts";
import { formatRoute } from "../routes.ts";
import { vaultName } from "../state/items.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { type Entry, isBroken, itemsOf, type Listed, vaultOf } from "./entries.ts";
import { itemName } from "./filter-bar.tsx";
import { isolate, shorten } from "../ui/texts.ts";

interface Props {
  readonly entries: readonly Listed[];
  readonly items: readonly ListedItem[];
}

const ACTIONS = { READ: "read", CREATE: "created", UPDATE: "changed", DELETE: "deleted" } as const;

/** The entries, the newest first. */
export const EntryTable = ({ entries, items }: Props) => (
  <Table
    label="Entries"
    rows={entries}
    keyOf={(entry) => `${entry.requestId}${isBroken(entry) ? "" : vaultOf(entry)}`}
    columns={[
      { label: "Time", cell: ({ timestamp = "" }) => <time dateTime={timestamp}>{formatTime(timestamp)}</time> },
      { label: "Who", cell: (entry) => !isBroken(entry) && <Who id={entry.actor.id} /> },
      {
        label: "What",
        cell: (entry) => (isBroken(entry) ? "damaged entry: it does not open" : <What entry={entry} items={items} />),
      },
      { label: "From", cell: (entry) => !isBroken(entry) && <From actor={entry.actor} /> },
    ]}
  />
);

const From = ({ actor: { requestIp, userAgent } }: Pick<Entry, "actor">) => (
  <span class="quiet">
    {requestIp}
    <span class="agent" title={userAgent}>
      {userAgent}
    </span>
  </span>
);

interface WhatProps {
  readonly entry: Entry;
  readonly items: readonly ListedItem[];
}

const What = ({ entry, items }: WhatProps) => (
  <>
    {entry.result === "DENY" && <strong class="denied">refused: </strong>}
    {ACTIONS[entry.action]} <Subject entry={entry} items={items} />
  </>
);

const nameOfVault = (id = ""): string => shorten(vaultName(id)) || id.slice(0, 8);

function Subject({ entry, items }: WhatProps) {
  const vault = vaultOf(entry);
  const ids = itemsOf(entry);
  const version = "itemVersion" in entry.resource ? entry.resource.itemVersion : undefined;
  if (ids.length === 0) return <>{vault ? `the vault ${isolate(nameOfVault(vault))}` : subjectOf(entry)}</>;
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <a href={formatRoute({ view: "items", vault, item: id })}>{shorten(itemName(items, id))}</a>
        </span>
      ))}
      {version !== undefined && <span class="quiet"> version {version}</span>} in {nameOfVault(vault)}
    </>
  );
}

/** What an entry without a vault is about, with the beginning of its id. */
function subjectOf({ resource }: Entry): string {
  if (resource.type === "VAULT") return "the list of vaults";
  const named = Object.values(resource).find((value): value is { id: string } => typeof value === "object" && "id" in value);
  return `${resource.type.toLowerCase()} ${named?.id.slice(0, 8) ?? ""}`.trim();
}
