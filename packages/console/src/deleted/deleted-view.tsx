import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type DeletedItemSummary, entriesOf } from "@item-vault/client";
import { vaultsWith } from "@item-vault/model/permission";
import { asDeleted } from "../failures/broken.ts";
import { titleOf } from "../items/categories.ts";
import { Tile } from "../items/tile.tsx";
import { sessionClient } from "../state/client.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { vaultName, vaults } from "../state/items.ts";
import { addressOf, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { plural } from "../ui/plural.ts";
import { explainRetention } from "../ui/retention.ts";
import { isolate } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { VaultFilter } from "../ui/controls.tsx";
import { Skeleton, VirtualList } from "../ui/virtual-list.tsx";
import { Who } from "../ui/who.tsx";
import { DeletedItemView } from "./deleted-item.tsx";

/** The ids of the vaults whose deleted Items the session may list (contract 14.9). */
const restorable = (): string[] => vaultsWith("rw", session.value?.token ?? { vaults: {} });

/** The summaries of the deleted Items, the last one first: no value of a field is among them. */
const deleted = signal<{ readonly items?: readonly DeletedItemSummary[]; readonly error?: unknown }>({});
/** The id of the vault whose deleted Items are listed; "" for all vaults. */
const chosenVault = signal("");

/** Only the last started load counts. */
let lastLoad = 0;
/** The keys of the Items that were left out since that load began: its answers may still hold them. */
const dropped = new Set<string>();

/** Loads all lists to their last pages: pages are in the order of ids, and the last deleted Item has to come first. */
async function loadDeleted(): Promise<void> {
  const own = ++lastLoad;
  dropped.clear();
  deleted.value = {};
  let loaded: (typeof deleted)["value"];
  try {
    const lists = await Promise.all(restorable().map(loadList));
    loaded = {
      items: lists
        .flat()
        .filter(isLeft)
        .toSorted((a, b) => (a.deletedAt < b.deletedAt ? 1 : -1)),
    };
  } catch (error) {
    loaded = { error };
  }
  if (own === lastLoad) deleted.value = loaded;
}

async function loadList(vault: string): Promise<DeletedItemSummary[]> {
  const items: DeletedItemSummary[] = [];
  const entries = entriesOf(sessionClient, "GET /v1/vaults/{vault}/deleted-items", { path: { vault } });
  for await (const item of entries) items.push(asDeleted(item));
  return items;
}

const isLeft = (item: DeletedItemSummary): boolean => !dropped.has(keyOfItem(item));

/** Leaves out an Item that is not deleted any more, or destroyed. */
const dropDeleted = (key: string): void => {
  dropped.add(key);
  const { items } = deleted.value;
  if (items) deleted.value = { items: items.filter(isLeft) };
};

/** Returns the key of the Item in the address. */
function currentKey(): string | undefined {
  const { vault, item } = route.value;
  return vault === undefined || item === undefined ? undefined : itemKey(vault, item);
}

/** The deleted Items, and beside them the Item in the address. A narrow screen shows one of the two. */
export function DeletedView() {
  const { vault, item } = route.value;
  const listed = deleted.value.items?.filter((one) => chosenVault.value === "" || one.vault.id === chosenVault.value);
  useLayoutEffect(() => void loadDeleted(), [session.value?.token]);
  return (
    <div class={`panes ${item !== undefined ? "has-item" : ""}`}>
      <DeletedList listed={listed} />
      <section class="pane content" aria-label="Item">
        {vault !== undefined && item !== undefined ? (
          <DeletedItemView key={itemKey(vault, item)} vault={vault} id={item} onGone={() => dropDeleted(itemKey(vault, item))} />
        ) : (
          listed && listed.length > 0 && <p class="empty">Select a deleted item to restore it.</p>
        )}
      </section>
    </div>
  );
}

interface ListProps {
  readonly listed: readonly DeletedItemSummary[] | undefined;
}

function DeletedList({ listed }: ListProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { item } = route.value;
  // Also when an Item was closed or destroyed: the focused element is gone.
  useLayoutEffect(() => {
    if (item === undefined) heading.current?.focus({ preventScroll: true });
  }, [item]);
  return (
    <section class="pane list" aria-label="Deleted items">
      <header class="deleted-header">
        <h1 ref={heading} tabIndex={-1}>
          Deleted items
        </h1>
        <p class="quiet">{explainRetention(session.value!.settings)}</p>
        <div class="filters">
          <VaultFilter
            label="Vault"
            vaults={vaults.value.filter(({ id }) => restorable().includes(id))}
            value={chosenVault.value}
            onChange={(id) => (chosenVault.value = id)}
          />
          {listed && listed.length > 0 && <output class="quiet count">{plural(listed.length, "item")}</output>}
        </div>
      </header>
      <Rows listed={listed} />
    </section>
  );
}

function Rows({ listed }: ListProps) {
  const { error } = deleted.value;
  if (error !== undefined) return <Failure error={error} retry={() => void loadDeleted()} />;
  if (!listed) return <Skeleton />;
  if (restorable().length === 0)
    return <p class="empty">You need read and write access to a vault to restore its items. Ask an administrator.</p>;
  if (listed.length === 0) return <p class="empty">No deleted items.</p>;
  return (
    <VirtualList
      label="Deleted items"
      rows={listed}
      keyOf={keyOfItem}
      current={currentKey()}
      row={(item, tabIndex) => (
        <a
          href={addressOf({ view: "deleted", vault: item.vault.id, item: item.id })}
          tabIndex={tabIndex}
          aria-current={keyOfItem(item) === currentKey() ? "page" : undefined}
        >
          <Tile title={item.title} category={item.category} />
          <span class="title">{titleOf(item)}</span>
          <span class="quiet">
            {formatTime(item.deletedAt)} by <Who id={item.deletedBy} vault={item.vault.id} />
            {restorable().length > 1 && ` · ${isolate(vaultName(item.vault.id))}`}
          </span>
        </a>
      )}
    />
  );
}
