import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { DeletedItem, File } from "@item-vault/client";
import { call } from "../state/client.ts";
import { isGone } from "../failures/error-kind.ts";
import { labelOfCategory, titleOf } from "../items/categories.ts";
import { Fields } from "../items/fields.tsx";
import { Urls } from "../items/urls.tsx";
import { addressOf, navigate, route } from "../state/route.ts";
import { vaultName, may, putItem } from "../state/items.ts";
import { session } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { formatTime } from "../ui/time.ts";
import { Skeleton } from "../ui/virtual-list.tsx";
import { Who } from "../ui/who.tsx";
import { restorableUntil } from "../ui/retention.ts";
import { dropDeleted } from "./state.ts";
import { explain } from "../failures/explain.ts";
import { type ItemPath, restoreItem } from "../state/item-writes.ts";
import { summaryOf } from "../state/summary.ts";
import { showToast } from "../state/toasts.ts";
import { Confirm } from "../ui/confirm.tsx";
import { damagedFiles } from "../failures/broken.ts";
import { loadContent } from "../state/content.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { marked } from "../ui/texts.ts";

/** One deleted Item as it was. Its values are fetched when it is opened, and dropped when another place is opened. */
export function DeletedItemView({ vault, id }: { readonly vault: string; readonly id: string }) {
  const loaded = useSignal<{ readonly item?: DeletedItem; readonly error?: unknown }>({});
  const load = () => {
    loaded.value = {};
    call("GET /v1/vaults/{vault}/deleted-items/{item}", { path: { vault, item: id } }).then(
      ({ data }) => (loaded.value = { item: data }),
      (error: unknown) => {
        if (isGone(error)) dropDeleted(id);
        loaded.value = { error };
      },
    );
  };
  useLayoutEffect(load, []);
  const { item, error } = loaded.value;
  if (error !== undefined) return <Failure error={error} retry={load} />;
  return item ? <Content item={item} /> : <Skeleton />;
}

function Content({ item }: { readonly item: DeletedItem }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article class="item">
      <header>
        <a class="back button plain" href={addressOf({ view: "deleted" })}>
          <Icon name="back" />
          Deleted items
        </a>
        <h1 ref={heading} tabIndex={-1}>
          {titleOf(item)}
        </h1>
        <p class="quiet">
          {labelOfCategory(item.category)} in {vaultName(item.vault.id)} · deleted{" "}
          <time dateTime={item.deletedAt}>{formatTime(item.deletedAt)}</time> by <Who id={item.deletedBy} /> · can be restored
          until {restorableUntil(item.deletedAt, session.value!.settings)}
        </p>
        <DeletedActions item={item} />
      </header>
      <Fields item={item} />
      <Urls opened={{ item, etag: "" }} />
      <DeletedFiles item={item} />
      {item.tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {item.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** The actions on a deleted Item: restoring it, or destroying it after a second step. */
function DeletedActions({ item }: { readonly item: DeletedItem }) {
  const busy = useSignal(false);
  const asking = useSignal(false);
  const path = { vault: item.vault.id, item: item.id };
  const restore = async () => {
    busy.value = true;
    try {
      const data = await restoreItem(path);
      dropDeleted(item.id);
      putItem(summaryOf(data));
      showToast("Restored");
      // After a slow request the user may be elsewhere.
      if (route.value.item === item.id) navigate({ view: "items", ...path });
    } catch (error) {
      showToast(explain(error), "failed");
    }
    busy.value = false;
  };
  const destroy = async () => {
    await destroyItem(path);
    asking.value = false;
    dropDeleted(item.id);
    navigate({ view: "deleted" }, { replace: true });
    showToast("Permanently deleted");
  };
  return (
    <div class="actions">
      <button type="button" class="primary" disabled={busy.value} onClick={() => void restore()}>
        Restore
      </button>
      {may(item.vault.id, "d") && (
        <button type="button" class="danger" onClick={() => (asking.value = true)}>
          Delete permanently…
        </button>
      )}
      {asking.value && (
        <Confirm
          title="Delete permanently?"
          action="Delete permanently"
          onConfirm={destroy}
          onClose={() => (asking.value = false)}
        >
          <p>
            <b>{titleOf(item)}</b>
            {item.files.length > 0 ? ", its versions and files " : " and its versions "}will be permanently deleted.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** An Item that is not among the deleted ones is destroyed, unless somebody has restored it. */
async function destroyItem(path: ItemPath): Promise<void> {
  try {
    await call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path });
  } catch (error) {
    if (!isGone(error)) throw error;
    const restored = await call("GET /v1/vaults/{vault}/items/{item}", { path }).catch((failure: unknown) => {
      if (!isGone(failure)) throw failure;
    });
    if (restored) throw error;
  }
}

/** The Files of a deleted Item, which can be downloaded. */
function DeletedFiles({ item }: { readonly item: DeletedItem }) {
  const damaged = damagedFiles(item);
  if (item.files.length + damaged.length === 0) return null;
  return (
    <section class="fields" aria-label="Files">
      <h2>Files</h2>
      <dl>
        {item.files.map((file) => (
          <div key={file.id} class="field-row">
            <dt>{formatSize(file.size)}</dt>
            <dd>
              <bdi class="value">{marked(file.name)}</bdi>
              <Download item={item} file={file} />
            </dd>
          </div>
        ))}
        {damaged.map(({ id, name }) => (
          <div key={id} class="field-row">
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Download({ item, file }: { readonly item: DeletedItem; readonly file: File }) {
  const busy = useSignal(false);
  const download = async () => {
    busy.value = true;
    try {
      saveFile(file.name, await loadContent(item, file));
    } catch (error) {
      showToast(explain(error), "failed");
    }
    busy.value = false;
  };
  return (
    <button type="button" aria-label={`Download ${file.name}`} disabled={busy.value} onClick={() => void download()}>
      Download
    </button>
  );
}
