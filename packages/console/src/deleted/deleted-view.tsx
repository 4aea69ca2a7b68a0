import { useLayoutEffect, useRef } from "preact/hooks";
import { route, addressOf } from "../state/route.ts";
import { session } from "../state/session.ts";
import { DeletedItemView } from "./deleted-item.tsx";
import { loadDeleted, deletedError, deletedState, deletedVault, listed, restorable } from "./state.ts";
import type { DeletedItemSummary } from "@item-vault/client";
import { titleOf } from "../items/categories.ts";
import { Tile } from "../items/tile.tsx";
import { vaultName, vaults } from "../state/items.ts";
import { Failure } from "../ui/failure.tsx";
import { plural } from "../ui/plural.ts";
import { formatTime } from "../ui/time.ts";
import { isolate } from "../ui/texts.ts";
import { VaultFilter } from "../ui/vault-filter.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { Who } from "../ui/who.tsx";
import { explainRetention } from "../ui/retention.ts";

/** The deleted Items, and beside them the Item in the address. A narrow screen shows one of the two. */
export function DeletedView() {
  const { vault, item } = route.value;
  const token = session.value?.token;
  useLayoutEffect(() => void loadDeleted(), [token]);
  return (
    <div class={`panes ${item !== undefined ? "has-item" : ""}`}>
      <DeletedList />
      <section class="pane content" aria-label="Item">
        {vault !== undefined && item !== undefined ? (
          <DeletedItemView key={`${vault}/${item}`} vault={vault} id={item} />
        ) : (
          listed.value.length > 0 && <p class="empty">Select a deleted item to restore it.</p>
        )}
      </section>
    </div>
  );
}

/** The list of deleted Items, the last one first. */

function DeletedList() {
  const heading = useRef<HTMLHeadingElement>(null);
  const { item } = route.value;
  // Also when an Item was closed or destroyed: the focused element is gone.
  useLayoutEffect(() => {
    if (item === undefined) heading.current?.focus({ preventScroll: true });
  }, [item]);
  return (
    <section class="pane list" aria-label="Deleted items">
      <header class="deleted-header">
        <div class="shown-list">
          <h1 ref={heading} tabIndex={-1}>
            Deleted items
          </h1>
        </div>
        <p class="quiet">{explainRetention(session.value!.settings)}</p>
        <div class="filters">
          <VaultFilter
            label="Vault"
            vaults={vaults.value.filter(({ id }) => restorable().includes(id))}
            value={deletedVault.value ?? ""}
            onChange={(id) => (deletedVault.value = id || undefined)}
          />
          {deletedState.value === "loaded" && listed.value.length > 0 && (
            <output class="quiet count">{plural(listed.value.length, "item")}</output>
          )}
        </div>
      </header>
      <Content />
    </section>
  );
}

function Content() {
  if (deletedState.value === "failed") return <Failure error={deletedError.value} retry={() => void loadDeleted()} />;
  if (deletedState.value === "loading") return <p class="empty">Loading…</p>;
  if (restorable().length === 0)
    return <p class="empty">You need read and write access to a vault to restore its items. Ask an administrator.</p>;
  if (listed.value.length === 0) return <p class="empty">No deleted items.</p>;
  return (
    <VirtualList
      label="Deleted items"
      rows={listed.value}
      keyOf={({ id }) => id}
      current={route.value.item}
      row={(item, tabIndex) => <Row item={item} tabIndex={tabIndex} />}
    />
  );
}

function Row({ item, tabIndex }: { readonly item: DeletedItemSummary; readonly tabIndex: number }) {
  return (
    <a
      href={addressOf({ view: "deleted", vault: item.vault.id, item: item.id })}
      tabIndex={tabIndex}
      aria-current={route.value.item === item.id ? "page" : undefined}
    >
      <Tile title={item.title} category={item.category} />
      <span class="title">{titleOf(item)}</span>
      <span class="quiet">
        {formatTime(item.deletedAt)} by <Who id={item.deletedBy} />
        {restorable().length > 1 && ` · ${isolate(vaultName(item.vault.id))}`}
      </span>
    </a>
  );
}
