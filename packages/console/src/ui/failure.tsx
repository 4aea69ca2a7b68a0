import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { canRepeat, explain, needsReload, isErrorKind } from "../failures/explain.ts";
import { Button } from "./button.tsx";

type Props = Readonly<{ error: unknown; retry?: () => void; children?: ComponentChildren }>;

/** In place of loading content: a notice that it is loading, or the reason why it could not be loaded. */
export const Pending = ({ error, retry }: Readonly<{ error: unknown; retry: () => void }>) =>
  error === undefined ? <p class="quiet">Loading…</p> : <Failure error={error} retry={retry} />;

/** A failure in words, with a button to retry if that can help. A failure without a network is retried when it is back. */
export function Failure({ error, retry, children }: Props) {
  const isOffline = isErrorKind(error, "network") && retry !== undefined;
  const latest = useRef(retry);
  latest.current = retry;
  // Nobody has to notice that the network is back.
  useLayoutEffect(() => {
    if (!isOffline) return undefined;
    const again = () => latest.current?.();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [isOffline]);
  return (
    <div class="failure" role="alert">
      <p>{explain(error)}</p>
      {retry && canRepeat(error) && (
        <Button
          text={needsReload(error) ? "Reload" : "Try again"}
          onClick={needsReload(error) ? () => location.reload() : retry}
        />
      )}
      {children}
    </div>
  );
}

/** A failure in a sentence. */
export const Alert = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="failure" role="alert">
    {children}
  </p>
);
