import type { ComponentChildren } from "preact";
import { signal, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type DeletedItemSummary, entriesOf } from "@item-vault/client";
import { vaultsWith } from "@item-vault/model/permission";
import { asDeleted } from "../failures/broken.ts";
import { titleOf, isolate } from "../ui/texts.ts";
import { Tile } from "../items/tile.tsx";
import { sessionClient } from "../state/client.ts";
import { keyOfItem } from "../state/item-key.ts";
import { vaultName, vaults } from "../state/items.ts";
import { addressOf, keyInAddress, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { plural } from "../ui/plural.ts";
import { explainRetention } from "../ui/retention.ts";
import { formatTime } from "../ui/time.ts";
import { VaultFilter } from "../ui/controls.tsx";
import { Skeleton, VirtualList } from "../ui/virtual-list.tsx";
import { Who } from "../ui/who.tsx";
import { DeletedItemView } from "./deleted-item.tsx";

/** The ids of the vaults whose deleted Items the session may list (contract 14.9). */
const restorable = (): string[] => vaultsWith("rw", session.value?.token ?? { vaults: {} });

/** The id of the vault whose deleted Items are listed; "" for all vaults. */
const chosenVault = signal("");

/** Loads all lists to their last pages: pages are in the order of ids, and the last deleted Item has to come first. */
async function loadDeleted(): Promise<DeletedItemSummary[]> {
  const lists = await Promise.all(restorable().map(loadList));
  return lists.flat().toSorted((a, b) => (a.deletedAt < b.deletedAt ? 1 : -1));
}

/** Loads summaries: no value of a field is among them. */
async function loadList(vault: string): Promise<DeletedItemSummary[]> {
  const items: DeletedItemSummary[] = [];
  const entries = entriesOf(sessionClient, "GET /v1/vaults/{vault}/deleted-items", { path: { vault } });
  for await (const item of entries) items.push(asDeleted(item));
  return items;
}

/** The deleted Items, and beside them the Item in the address. A narrow screen shows one of the two. */
export function DeletedView() {
  const { vault, item } = route.value;
  /** The keys of the Items that were restored or destroyed since the load began: its answers may still hold them. */
  const gone = useSignal<ReadonlySet<string>>(new Set());
  const load = () => {
    gone.value = new Set();
    return loadDeleted();
  };
  const { data, error, retry } = useLoaded(load, [session.value?.token]);
  const isListed = (one: DeletedItemSummary) =>
    !gone.value.has(keyOfItem(one)) && (chosenVault.value === "" || one.vault.id === chosenVault.value);
  const listed = data?.filter(isListed);
  const key = keyInAddress();
  return (
    <div class={`panes ${item !== undefined ? "has-item" : ""}`}>
      <DeletedList listed={listed}>
        {error !== undefined ? <Failure error={error} retry={retry} /> : <Rows listed={listed} />}
      </DeletedList>
      <section class="pane content" aria-label="Item">
        {key !== undefined ? (
          <DeletedItemView key={key} vault={vault!} id={item!} onGone={() => (gone.value = new Set(gone.value).add(key))} />
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

function DeletedList({ listed, children }: ListProps & { readonly children: ComponentChildren }) {
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
      {children}
    </section>
  );
}

function Rows({ listed }: ListProps) {
  if (!listed) return <Skeleton />;
  if (restorable().length === 0)
    return <p class="empty">You need read and write access to a vault to restore its items. Ask an administrator.</p>;
  if (listed.length === 0) return <p class="empty">No deleted items.</p>;
  return (
    <VirtualList
      label="Deleted items"
      rows={listed}
      keyOf={keyOfItem}
      current={keyInAddress()}
      row={(item, tabIndex) => (
        <a
          href={addressOf({ view: "deleted", vault: item.vault.id, item: item.id })}
          tabIndex={tabIndex}
          aria-current={keyOfItem(item) === keyInAddress() ? "page" : undefined}
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
