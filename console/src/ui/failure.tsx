import { explain } from "../api/explain.ts";

/** What failed, in words, with a button to try again where that can help. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{explain(error)}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
