import { type DeletedItem, type DeletedItemSummary, entriesOf, type File } from "@item-vault/client";
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { asDeleted, damagedFiles } from "../failures/broken.ts";
import { isGone, Problem } from "../failures/explain.ts";
import { labelOfCategory } from "../items/categories.ts";
import { FieldRow, Fields, FieldSection, Tags, Urls } from "../items/fields.tsx";
import { Tile } from "../items/tile.tsx";
import { call, sessionClient } from "../state/client.ts";
import { loadContent } from "../state/content.ts";
import { keyOfItem } from "../state/item-key.ts";
import { pathOf, restoreItem } from "../state/item-writes.ts";
import { may, putItem, vaultName, vaults } from "../state/items.ts";
import { addressOf, keyInAddress, navigate, route } from "../state/route.ts";
import { session, vaultsFor } from "../state/session.ts";
import { showFailure, showToast, showWritten } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { VaultFilter } from "../ui/controls.tsx";
import { Failure } from "../ui/failure.tsx";
import { DangerButton } from "../ui/form.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { BackLink, Heading } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { explainRetention, restorableUntil } from "../ui/retention.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { isolate, marked, titleOf } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { Skeleton, VirtualList } from "../ui/virtual-list.tsx";
import { WhenBy, Who } from "../ui/who.tsx";

/** The id of the vault whose deleted Items are listed; "" for all vaults. */
const chosenVault = signal("");

/** Loads all lists to their last pages: pages are in the order of ids, and the last deleted Item has to come first. */
async function loadDeleted(): Promise<DeletedItemSummary[]> {
  const lists = await Promise.all(vaultsFor("deleted").map(loadList));
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

type ListProps = Readonly<{ listed: readonly DeletedItemSummary[] | undefined }>;

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
            vaults={vaults.value.filter(({ id }) => vaultsFor("deleted").includes(id))}
            signal={chosenVault}
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
  if (vaultsFor("deleted").length === 0)
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
            {vaultsFor("deleted").length > 1 && ` · ${isolate(vaultName(item.vault.id))}`}
          </span>
        </a>
      )}
    />
  );
}

/** One deleted Item as it was. Its values are fetched when it is opened, and dropped when another place is opened. */
function DeletedItemView({ vault, id, onGone }: Readonly<{ vault: string; id: string; onGone: () => void }>) {
  const path = { vault, item: id };
  const {
    data: answer,
    error,
    retry,
  } = useLoaded((ended) => call("GET /v1/vaults/{vault}/deleted-items/{item}", { path, signal: ended }));
  const isLost = isGone(error);
  useLayoutEffect(() => void (isLost && onGone()), [isLost]);
  if (error !== undefined) return <Failure error={error} retry={retry} />;
  return answer ? <Content item={answer.data} onGone={onGone} /> : <Skeleton />;
}

function Content({ item, onGone }: Readonly<{ item: DeletedItem; onGone: () => void }>) {
  return (
    <article class="item">
      <header>
        <BackLink to={{ view: "deleted" }} text="Deleted items" />
        <Heading>{titleOf(item)}</Heading>
        <p class="quiet">
          {labelOfCategory(item.category)} in {vaultName(item.vault.id)} · deleted{" "}
          <WhenBy time={item.deletedAt} id={item.deletedBy} vault={item.vault.id} /> · can be restored until{" "}
          {restorableUntil(item.deletedAt, session.value!.settings)}
        </p>
        <Actions item={item} onGone={onGone} />
      </header>
      <Fields item={item} />
      <Urls item={item} />
      <Files item={item} />
      <Tags tags={item.tags} />
    </article>
  );
}

/** The actions on a deleted Item: restoring it, or destroying it after a second step. */
function Actions({ item, onGone }: Parameters<typeof Content>[0]) {
  const path = pathOf(item);
  const restore = async () => {
    const data = await restoreItem(path);
    onGone();
    putItem(data);
    showWritten("Restored", data);
    // After a slow request the user may be elsewhere.
    if (route.value.item === item.id) navigate({ view: "items", ...path });
  };
  const destroy = async () => {
    await call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path }).catch((error: unknown) => {
      throw isGone(error)
        ? new Problem("This item is not in this list any more: it was restored or permanently deleted.")
        : error;
    });
    onGone();
    navigate({ view: "deleted" }, { replace: true });
    showToast("Permanently deleted");
  };
  return (
    <div class="actions">
      <Button text="Restore" class="primary" onClick={() => void restore().catch(showFailure)} />
      {may(item.vault.id, "d") && (
        <DangerButton title="Delete permanently?" action={destroy} submit="Delete permanently">
          <p>
            <b>{titleOf(item)}</b>
            {item.files.length > 0 ? ", its versions and files " : " and its versions "}will be permanently deleted.
          </p>
        </DangerButton>
      )}
    </div>
  );
}

function Files({ item }: { readonly item: DeletedItem }) {
  const damaged = damagedFiles(item);
  if (item.files.length + damaged.length === 0) return null;
  const download = (file: File) => void loadContent(item, file).then((content) => saveFile(file.name, content), showFailure);
  return (
    <FieldSection label="Files" heading>
      {item.files.map((file) => (
        <FieldRow key={file.id} name={formatSize(file.size)}>
          <bdi class="value">{marked(file.name)}</bdi>
          <Button text="Download" label={`Download ${file.name}`} onClick={() => download(file)} />
        </FieldRow>
      ))}
      {damaged.map(({ id, name }) => (
        <FieldRow key={id}>{name}</FieldRow>
      ))}
    </FieldSection>
  );
}
