import { ItemVaultError } from "@item-vault/client";
import { explain } from "../api/explain.ts";
import { Transfer } from "./transfer.tsx";
import { removeUpload, retryUpload, type Upload } from "./uploads.ts";
import { marked } from "../ui/texts.ts";
import { afterRender } from "../ui/after-render.ts";

/** An upload that waits, is being sent or has failed. */
export function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, name, size, sent, state, error } = upload;
  if (state === "failed")
    return (
      <li>
        <div class="failure" role="alert">
          <p>
            <bdi>{marked(name)}</bdi> was not stored. {explain(error)}
          </p>
          <p class="actions">
            {canRepeat(error) && (
              <button type="button" onClick={() => retryUpload(id)}>
                Try again
              </button>
            )}
            <button type="button" aria-label={`Dismiss ${name}`} onClick={() => dismiss(id)}>
              Dismiss
            </button>
          </p>
        </div>
      </li>
    );
  return (
    <li>
      <div class="file">
        <span class="name">
          <bdi>{marked(name)}</bdi>
          <span class="quiet">{state === "waiting" ? "Waiting…" : sent < size ? "Sending…" : "Storing…"}</span>
        </span>
      </div>
      <Transfer label={`Upload of ${name}`} done={sent} size={size} onCancel={() => dismiss(id)} />
    </li>
  );
}

function dismiss(id: number): void {
  removeUpload(id);
  afterRender(() => document.activeElement === document.body && document.querySelector<HTMLElement>(".files h2")?.focus());
}

const FINAL: ReadonlySet<string> = new Set(["file_too_large", "file_changed"]);
const canRepeat = (error: unknown): boolean => !(error instanceof ItemVaultError && FINAL.has(error.kind));
