import type { Entry as ListedItem } from "../state/search.ts";
import { addressOf } from "../state/route.ts";
import { knownName } from "../state/names.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { type Columns, Table } from "../ui/table.tsx";
import { DAY_MS, formatDate, formatHour, formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { nameAgent } from "./agents.ts";
import { type Entry, isBroken, itemsOf, kindOf, type Listed, vaultOf } from "./entries.ts";
import { itemName } from "./filter-bar.tsx";
import { foldByDay, type Row } from "./fold.ts";
import { vaultNameOf } from "./names.ts";
import { sentenceOf, subjectId, verbOf, VIEWED_LIST } from "./sentences.ts";
import { shorten } from "../ui/texts.ts";
import { may } from "../state/items.ts";

interface Props {
  readonly entries: readonly Listed[];
  readonly items: readonly ListedItem[];
  /** Absent: the names of the vaults of the session. */
  readonly nameOfVault?: (id: string) => string;
}

/** The entries by day, the newest first. A run of reads of lists is one row. */
export const EntryTable = ({ entries, items, nameOfVault = vaultNameOf }: Props) => (
  <>
    {foldByDay(entries).map(({ timestamp, rows }) => (
      <section key={timestamp} aria-label={nameOfDay(timestamp)}>
        <h2>{nameOfDay(timestamp)}</h2>
        <Table label={`Entries, ${nameOfDay(timestamp)}`} rows={rows} keyOf={keyOf} columns={columnsOf({ items, nameOfVault })} />
      </section>
    ))}
  </>
);

const keyOf = ({ entry }: Row): string => `${entry.requestId}${isBroken(entry) ? "" : vaultOf(entry)}`;

/** The functions that name the Items and the vaults of entries. */
type Names = Required<Omit<Props, "entries">>;

const columnsOf = (names: Names): Columns<Row> => [
  { label: "Time", cell: ({ entry: { timestamp = "" } }) => <Time timestamp={timestamp} /> },
  { label: "Who", cell: ({ entry }) => !isBroken(entry) && <Who id={entry.actor.id} vault={writtenVault(entry)} /> },
  {
    label: "What",
    cell: ({ entry, count }) =>
      isBroken(entry) ? "damaged entry" : count > 1 ? `${VIEWED_LIST} (${count}×)` : <What entry={entry} names={names} />,
  },
  { label: "Client", cell: ({ entry }) => !isBroken(entry) && <From actor={entry.actor} /> },
];

/** The vault in which the actor has written; empty for other entries, because the service names only those who write. */
const writtenVault = (entry: Entry): string => (kindOf(entry) === "writes" ? vaultOf(entry) : "");

/** In words within the last day, then the hour. */
const Time = ({ timestamp }: { readonly timestamp: string }) => {
  const isRecent = timestamp !== "" && Date.now() - Date.parse(timestamp) < DAY_MS;
  return (
    <time class="day" dateTime={timestamp} title={formatTime(timestamp)}>
      {isRecent ? formatFromNow(timestamp, Date.now()) : timestamp === "" ? "unknown time" : formatHour(timestamp)}
    </time>
  );
};

function nameOfDay(timestamp: string): string {
  if (timestamp === "") return "Unknown time";
  const [day, today, yesterday] = [new Date(timestamp), new Date(), new Date(Date.now() - DAY_MS)].map((time) =>
    time.toDateString(),
  );
  return day === today ? "Today" : day === yesterday ? "Yesterday" : formatDate(timestamp);
}

const From = ({ actor: { requestIp, userAgent } }: Pick<Entry, "actor">) => (
  <span class="quiet">
    <span class="agent" title={userAgent}>
      {nameAgent(userAgent)}
    </span>
    {requestIp}
  </span>
);

interface WhatProps {
  readonly entry: Entry;
  readonly names: Names;
}

const What = ({ entry, names }: WhatProps) => (
  <>
    {entry.result === "DENY" && <strong class="denied">refused: </strong>}
    {itemsOf(entry).length > 0 ? <Subject entry={entry} names={names} /> : <Sentence entry={entry} names={names} />}
  </>
);

/** The title has the id of the entry's subject. */
const Sentence = ({ entry, names: { nameOfVault } }: WhatProps) => (
  <span title={subjectId(entry)}>
    {sentenceOf(entry, (id) => shorten(id === vaultOf(entry) ? nameOfVault(id) : knownName(id)))}
  </span>
);

function Subject({ entry, names: { items, nameOfVault } }: WhatProps) {
  const vault = vaultOf(entry);
  const shortName = shorten(nameOfVault(vault)) || "a deleted vault";
  const ids = itemsOf(entry);
  const version = "itemVersion" in entry.resource ? entry.resource.itemVersion : undefined;
  return (
    <>
      {" "}
      {verbOf(entry)}{" "}
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          {may(vault, "r") ? (
            <a href={addressOf({ view: "items", vault, item: id })}>{shorten(itemName(items, id))}</a>
          ) : (
            shorten(itemName(items, id))
          )}
        </span>
      ))}
      {version !== undefined && <span class="quiet"> version {version}</span>} in {shortName}
    </>
  );
}
