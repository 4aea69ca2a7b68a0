import { parseId } from "@item-vault/model/ids";
import { signal } from "@preact/signals";
import { call } from "./client.ts";
import { may } from "./items.ts";
import { session } from "./session.ts";

/** Actors that write without a token (contract 13.11). */
const OTHERS: Readonly<Record<string, string>> = { admin: "the administrator", service: "the service", "": "unknown" };

const names = signal<ReadonlyMap<string, string>>(new Map());

/** The name of an id, if it was loaded; otherwise an empty text. */
export const knownName = (id: string): string => names.value.get(parseId(id) ?? id) ?? "";

export function addNames(rows: readonly (readonly [id: string, name: string])[]): void {
  names.value = new Map([...names.value, ...rows.map(([id, name]) => [parseId(id) ?? id, name] as const)]);
}

/** Returns true if the session's token or person has this id. */
export function isOwn(id: string): boolean {
  const { token, person } = session.value ?? {};
  const key = parseId(id) ?? id;
  return [token?.id, person?.id].some((each) => each !== undefined && parseId(each) === key);
}

/** Returns `you` for the session's own token or person, and the name of any other actor, or "" if it is unknown. */
const knownActor = (id: string): string => (isOwn(id) ? "you" : (OTHERS[id] ?? knownName(id)));

/** The actors that a log has shown to be tokens; others are people or rules. */
const tokens = new Set<string>();

/** Remembers whether the actor of an entry is its token (contract 13.5). */
export function noteActor(id: string, token: string | undefined): void {
  if (token !== undefined && parseId(id) === parseId(token)) tokens.add(id);
}

/** The name of an actor. Actors that only read are named to administrators alone; others see the beginning of the id. */
export const nameOf = (id: string): string => knownActor(id) || `${tokens.has(id) ? "a token" : "someone"} (${id.slice(0, 8)})`;

/** Where an actor has written: in an Item, or in a vault. */
export type Place = Readonly<{ vault: string; item?: string }>;

/** The requests that were sent: for an actor in a vault, or for an actor alone, because the answer names all editors of an Item. */
const asked = new Set<string>();
/** By place, a request that is about to be sent, and its purpose. */
const waiting = new Map<string, Place & { readonly keys: readonly string[] }>();

/**
 * Loads the name of an actor, unless it is known or the session does not list the vault. The actors that one rendering shows of a place share a
 * request (contract 24.13).
 */
export function loadName(id: string, { vault, item }: Place): void {
  const key = item === undefined ? `${id} ${vault}` : id;
  // An administrator's own session lists no vault: the service would refuse the request, and the page would treat the session as ended.
  if (!may(vault, "l") || knownActor(id) !== "" || asked.has(key)) return;
  asked.add(key);
  if (waiting.size === 0) queueMicrotask(loadWaiting);
  const place = `${vault} ${item}`;
  waiting.set(place, { vault, item, keys: [...(waiting.get(place)?.keys ?? []), key] });
}

function loadWaiting(): void {
  for (const { vault, item, keys } of waiting.values())
    call("GET /v1/vaults/{vault}/actors", { path: { vault }, query: item === undefined ? {} : { item } }).then(
      // Administrators may know the whole email.
      ({ data }) => addNames(data.filter(({ id }) => knownName(id) === "").map(({ id, name }) => [id, name])),
      // The next view of the place asks again.
      () => keys.forEach((key) => asked.delete(key)),
    );
  waiting.clear();
}
