import type { ComponentChildren } from "preact";
import { canRepeat, explain } from "../api/explain.ts";

interface Props {
  readonly error: unknown;
  readonly retry?: () => void;
  /** What can be done instead. */
  readonly children?: ComponentChildren;
}

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
