import { useLayoutEffect } from "preact/hooks";
import { loadNames, nameOf } from "../state/names.ts";

/** The name of an actor, if it is known. The title has the whole id. */
export function Who({ id }: { readonly id: string }) {
  useLayoutEffect(() => void loadNames(), []);
  return <span title={id}>{nameOf(id)}</span>;
}
