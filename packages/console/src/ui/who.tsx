import { useLayoutEffect } from "preact/hooks";
import { loadName, nameOf, type Place } from "../state/names.ts";
import { named } from "./texts.ts";
import { formatTime } from "./time.ts";

/** The name of an actor, which is loaded where the actor has written. The title has the whole id. */
export function Who({ id, vault, item }: Place & { readonly id: string }) {
  useLayoutEffect(() => loadName(id, { vault, item }), [id, vault, item]);
  return <span title={id}>{named(nameOf(id))}</span>;
}

/** When and by whom something was written. */
export const WhenBy = ({ time, ...who }: Parameters<typeof Who>[0] & { readonly time: string }) => (
  <>
    <time dateTime={time}>{formatTime(time)}</time> by <Who {...who} />
  </>
);
