import type { Entry as ListedItem } from "../items/search.ts";
import { formatRoute } from "../routes.ts";
import { vaultName } from "../state/items.ts";
import { formatTime } from "../ui/time.ts";
import { type Entry, itemsOf, vaultOf } from "./entries.ts";
import { itemName } from "./filter-bar.tsx";
import { Who } from "../ui/who.tsx";

interface Props {
  readonly entries: readonly Entry[];
  readonly items: readonly ListedItem[];
}

const ACTIONS = { READ: "read", CREATE: "created", UPDATE: "changed", DELETE: "deleted" } as const;

/** The entries, the newest first. The cells name their column, because on a narrow screen they are below each other. */
export function EntryTable({ entries, items }: Props) {
  return (
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={`${entry.requestId}${vaultOf(entry)}`} class={entry.result === "DENY" ? "denied" : ""}>
            <td data-label="Time">
              <time dateTime={entry.timestamp}>{formatTime(entry.timestamp)}</time>
            </td>
            <td data-label="Who">
              <Who id={entry.actor.id} />
            </td>
            <td data-label="What">
              {entry.result === "DENY" && <strong>refused: </strong>}
              {ACTIONS[entry.action]} <Subject entry={entry} items={items} />
            </td>
            <td data-label="From" class="quiet">
              {entry.actor.requestIp}
              <span class="agent" title={entry.actor.userAgent}>
                {entry.actor.userAgent}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Subject({ entry, items }: { readonly entry: Entry; readonly items: readonly ListedItem[] }) {
  const vault = vaultOf(entry);
  const ids = itemsOf(entry);
  const version = "itemVersion" in entry.resource ? entry.resource.itemVersion : undefined;
  if (ids.length === 0) return <>{vault ? `the vault ${vaultName(vault) || vault.slice(0, 8)}` : subjectOf(entry)}</>;
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <a href={formatRoute({ view: "items", vault, item: id })}>{itemName(items, id)}</a>
        </span>
      ))}
      {version !== undefined && <span class="quiet"> version {version}</span>} in {vaultName(vault) || vault.slice(0, 8)}
    </>
  );
}

/** What an entry without a vault is about, with the beginning of its id. */
function subjectOf({ resource }: Entry): string {
  if (resource.type === "VAULT") return "the list of vaults";
  const named = Object.values(resource).find((value): value is { id: string } => typeof value === "object" && "id" in value);
  return `${resource.type.toLowerCase()} ${named?.id.slice(0, 8) ?? ""}`.trim();
}
