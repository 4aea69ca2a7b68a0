import type { ComponentChildren } from "preact";
import { ItemVaultError } from "@item-vault/client";
import { explain } from "../api/explain.ts";

interface Props {
  readonly error: unknown;
  readonly retry?: () => void;
  /** What can be done instead. */
  readonly children?: ComponentChildren;
}

/** Statuses that the same request gets again. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404]);
const canRepeat = (error: unknown): boolean => !(error instanceof ItemVaultError && FINAL.has(error.status));

/** What failed, in words, with a button to try again where that can help. */
export function Failure({ error, retry, children }: Props) {
  return (
    <div class="failure" role="alert">
      <p>{explain(error)}</p>
      {retry && canRepeat(error) && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}
