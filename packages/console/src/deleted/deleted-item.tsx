import { useLayoutEffect } from "preact/hooks";
import type { DeletedItem, File } from "@item-vault/client";
import { damagedFiles } from "../failures/broken.ts";
import { isGone, Problem } from "../failures/explain.ts";
import { labelOfCategory } from "../items/categories.ts";
import { titleOf, marked } from "../ui/texts.ts";
import { FieldRow, Fields, FieldSection, Urls } from "../items/fields.tsx";
import { call } from "../state/client.ts";
import { loadContent } from "../state/content.ts";
import { pathOf, restoreItem } from "../state/item-writes.ts";
import { may, putItem, vaultName } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { showFailure, showToast } from "../state/toasts.ts";
import { DangerButton } from "../ui/form.tsx";
import { Failure } from "../ui/failure.tsx";
import { BackLink, Heading } from "../ui/page.tsx";
import { restorableUntil } from "../ui/retention.ts";
import { useLoaded } from "../ui/loaded.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { Skeleton } from "../ui/virtual-list.tsx";
import { WhenBy } from "../ui/who.tsx";
import { Button } from "../ui/button.tsx";

/** One deleted Item as it was. Its values are fetched when it is opened, and dropped when another place is opened. */
export function DeletedItemView({ vault, id, onGone }: Readonly<{ vault: string; id: string; onGone: () => void }>) {
  const path = { vault, item: id };
  const {
    data: answer,
    error,
    retry,
  } = useLoaded((signal) => call("GET /v1/vaults/{vault}/deleted-items/{item}", { path, signal }));
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
function Actions({ item, onGone }: Parameters<typeof Content>[0]) {
  const path = pathOf(item);
  const restore = async () => {
    const data = await restoreItem(path);
    onGone();
    putItem(data);
    showToast("Restored");
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
