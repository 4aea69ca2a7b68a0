import type { ComponentChildren } from "preact";
import { entries as items, may } from "../state/items.ts";
import { knownName } from "../state/names.ts";
import { addressOf } from "../state/route.ts";
import { Button } from "../ui/button.tsx";
import { FromNow, Time } from "../ui/day.tsx";
import { Failure } from "../ui/failure.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { shorten, titleOf } from "../ui/texts.ts";
import { DAY_MS, formatDate, formatHour, formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { type Entry, foldByDay, isBroken, itemsOf, kindOf, type Row, vaultOf } from "./entries.ts";
import { type Entries, vaultNameOf } from "./load.ts";
import { nameAgent, sentenceOf, subjectId, verbOf, VIEWED_LIST } from "./sentences.ts";

type Props = Readonly<{ entries: Entries; nameOfVault?: (id: string) => string; children?: ComponentChildren }>;

/** The entries by day, the newest first, which of them may be missing, and the button that loads older ones. A run of reads of lists is one row. */
export function EntryList({ entries: { loaded, state, failure, more }, nameOfVault = vaultNameOf, children }: Props) {
  const { entries, next, gap } = loaded.value;
  const isLoading = state.value === "loading";
  return (
    <>
      {state.value === "failed" && <Failure error={failure.value} retry={() => void more()} />}
      {foldByDay(entries).map(({ timestamp, rows }) => (
        <section key={timestamp} aria-label={nameOfDay(timestamp)}>
          <h2>{nameOfDay(timestamp)}</h2>
          <Table label={`Entries, ${nameOfDay(timestamp)}`} rows={rows} keyOf={keyOf} columns={columnsOf(nameOfVault)} />
        </section>
      ))}
      {gap !== undefined && (
        <p class="quiet">Up to {formatTime(gap)}, reads, denials and sign-ins may be missing: a log had too many entries.</p>
      )}
      <p class="more">
        {state.value === "loaded" && children}
        {next !== undefined && <Button text="Load older entries" disabled={isLoading} onClick={() => void more()} />}
        {isLoading && <span class="quiet">Loading…</span>}
      </p>
    </>
  );
}

const keyOf = ({ entry }: Row): string => `${entry.requestId}${isBroken(entry) ? "" : vaultOf(entry)}`;

const columnsOf = (nameOfVault: (id: string) => string): readonly Column<Row>[] => [
  { label: "Time", cell: ({ entry: { timestamp = "" } }) => <When timestamp={timestamp} /> },
  { label: "Who", cell: ({ entry }) => !isBroken(entry) && <Who id={entry.actor.id} vault={writtenVault(entry)} /> },
  {
    label: "What",
    cell: ({ entry, count, ofVaults }) =>
      isBroken(entry) ? (
        "damaged entry"
      ) : count > 1 ? (
        `${ofVaults ? "viewed vaults" : VIEWED_LIST} (${count}×)`
      ) : (
        <>
          {entry.result === "DENY" && <strong class="denied">refused: </strong>}
          <What entry={entry} nameOfVault={nameOfVault} />
        </>
      ),
  },
  {
    label: "Client",
    cell: ({ entry }) =>
      !isBroken(entry) && (
        <span class="quiet">
          <span class="agent" title={entry.actor.userAgent}>
            {nameAgent(entry.actor.userAgent)}
          </span>
          {entry.actor.requestIp}
        </span>
      ),
  },
];

/** The vault in which the actor has written; empty for other entries, because the service names only those who write. */
const writtenVault = (entry: Entry): string => (kindOf(entry) === "writes" ? vaultOf(entry) : "");

/** In words within the last day, then the hour. */
const When = ({ timestamp: time }: { readonly timestamp: string }) => {
  if (time === "") return <>unknown time</>;
  return Date.now() - Date.parse(time) < DAY_MS ? <FromNow time={time} /> : <Time time={time} words={formatHour(time)} />;
};

function nameOfDay(timestamp: string): string {
  if (timestamp === "") return "Unknown time";
  const [day, today, yesterday] = [new Date(timestamp), new Date(), new Date(Date.now() - DAY_MS)].map((time) =>
    time.toDateString(),
  );
  return day === today ? "Today" : day === yesterday ? "Yesterday" : formatDate(timestamp);
}

/** The title of an Item that the session lists; words with the beginning of its id otherwise. */
export function itemName(id: string): string {
  const found = items.value.find(({ item }) => item.id === id);
  return found ? titleOf(found.item) : `an item (${id.slice(0, 8)})`;
}

/** The action of an entry and its subject. The title of a sentence has the id of the subject. */
function What({ entry, nameOfVault }: { readonly entry: Entry; readonly nameOfVault: (id: string) => string }) {
  const vault = vaultOf(entry);
  const ids = itemsOf(entry);
  const version = "itemVersion" in entry.resource ? entry.resource.itemVersion : undefined;
  if (ids.length === 0)
    return (
      <span title={subjectId(entry)}>{sentenceOf(entry, (id) => shorten(id === vault ? nameOfVault(id) : knownName(id)))}</span>
    );
  return (
    <>
      {" "}
      {verbOf(entry)}{" "}
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          {may(vault, "r") ? (
            <a href={addressOf({ view: "items", vault, item: id })}>{shorten(itemName(id))}</a>
          ) : (
            shorten(itemName(id))
          )}
        </span>
      ))}
      {version !== undefined && <span class="quiet"> version {version}</span>} in{" "}
      {shorten(nameOfVault(vault)) || "a deleted vault"}
    </>
  );
}
