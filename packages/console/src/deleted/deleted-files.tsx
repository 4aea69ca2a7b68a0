import { useSignal } from "@preact/signals";
import type { DeletedItem, File } from "@item-vault/client";
import { damagedFiles } from "../api/broken.ts";
import { loadContent } from "../api/content.ts";
import { explain } from "../api/explain.ts";
import { showToast } from "../state/toasts.ts";
import { saveFile } from "../ui/save-file.ts";
import { formatSize } from "../ui/size.ts";
import { marked } from "../ui/texts.ts";

/** The Files of a deleted Item, which can be downloaded. */
export function DeletedFiles({ item }: { readonly item: DeletedItem }) {
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
