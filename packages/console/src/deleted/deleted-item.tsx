import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { DeletedItem, File } from "@item-vault/client";
import { damagedFiles } from "../failures/broken.ts";
import { isGone, explain, Problem } from "../failures/explain.ts";
import { labelOfCategory, titleOf } from "../items/categories.ts";
import { Fields, Urls } from "../items/fields.tsx";
import { call } from "../state/client.ts";
import { loadContent } from "../state/content.ts";
import { restoreItem } from "../state/item-writes.ts";
import { may, putItem, vaultName } from "../state/items.ts";
import { addressOf, navigate, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { FormDialog } from "../ui/form.tsx";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { restorableUntil } from "../ui/retention.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { marked } from "../ui/texts.ts";
import { Skeleton } from "../ui/virtual-list.tsx";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { Button } from "../ui/button.tsx";

/** One deleted Item as it was. Its values are fetched when it is opened, and dropped when another place is opened. */
export function DeletedItemView({ vault, id, onGone }: Readonly<{ vault: string; id: string; onGone: () => void }>) {
  const loaded = useSignal<{ readonly item?: DeletedItem; readonly error?: unknown }>({});
  const load = () => {
    loaded.value = {};
    call("GET /v1/vaults/{vault}/deleted-items/{item}", { path: { vault, item: id } }).then(
      ({ data }) => (loaded.value = { item: data }),
      (error: unknown) => {
        if (isGone(error)) onGone();
        loaded.value = { error };
      },
    );
  };
  useLayoutEffect(load, []);
  const { item, error } = loaded.value;
  if (error !== undefined) return <Failure error={error} retry={load} />;
  return item ? <Content item={item} onGone={onGone} /> : <Skeleton />;
}

interface ItemProps {
  readonly item: DeletedItem;
  readonly onGone: () => void;
}

function Content({ item, onGone }: ItemProps) {
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
          <time dateTime={item.deletedAt}>{formatTime(item.deletedAt)}</time> by <Who id={item.deletedBy} vault={item.vault.id} />{" "}
          · can be restored until {restorableUntil(item.deletedAt, session.value!.settings)}
        </p>
        <Actions item={item} onGone={onGone} />
      </header>
      <Fields item={item} />
      <Urls item={item} />
      <Files item={item} />
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
function Actions({ item, onGone }: ItemProps) {
  const asking = useSignal(false);
  const path = { vault: item.vault.id, item: item.id };
  const onRestore = () =>
    tellFailure(async () => {
      const data = await restoreItem(path);
      onGone();
      putItem(data);
      showToast("Restored");
      // After a slow request the user may be elsewhere.
      if (route.value.item === item.id) navigate({ view: "items", ...path });
    });
  const destroy = async () => {
    await call("DELETE /v1/vaults/{vault}/deleted-items/{item}", { path }).catch((error: unknown) => {
      throw isGone(error)
        ? new Problem("This item is not in this list any more: it was restored or permanently deleted.")
        : error;
    });
    asking.value = false;
    onGone();
    navigate({ view: "deleted" }, { replace: true });
    showToast("Permanently deleted");
  };
  return (
    <div class="actions">
      <Button text="Restore" class="primary" onClick={onRestore} />
      {may(item.vault.id, "d") && <Button text="Delete permanently…" class="danger" onClick={() => (asking.value = true)} />}
      {asking.value && (
        <FormDialog
          title="Delete permanently?"
          action={destroy}
          submit="Delete permanently"
          danger
          onClose={() => (asking.value = false)}
        >
          <p>
            <b>{titleOf(item)}</b>
            {item.files.length > 0 ? ", its versions and files " : " and its versions "}will be permanently deleted.
          </p>
        </FormDialog>
      )}
    </div>
  );
}

const tellFailure = (act: () => Promise<void>): void => void act().catch((error: unknown) => showToast(explain(error), "failed"));

function Files({ item }: { readonly item: DeletedItem }) {
  const damaged = damagedFiles(item);
  if (item.files.length + damaged.length === 0) return null;
  const download = (file: File) => tellFailure(async () => saveFile(file.name, await loadContent(item, file)));
  return (
    <section class="fields" aria-label="Files">
      <h2>Files</h2>
      <dl>
        {item.files.map((file) => (
          <div key={file.id} class="field-row">
            <dt>{formatSize(file.size)}</dt>
            <dd>
              <bdi class="value">{marked(file.name)}</bdi>
              <Button text="Download" label={`Download ${file.name}`} onClick={() => download(file)} />
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
