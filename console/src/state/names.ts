import { parseId } from "@item-vault/model/ids";
import { signal } from "@preact/signals";
import { call } from "../api/client.ts";
import { session } from "./session.ts";

/** The names of who wrote: tokens and people, by their ids. */

/** Who writes without a token (contract 13.11). */
const OTHERS: Readonly<Record<string, string>> = { admin: "the administrator", service: "the service" };

const names = signal<ReadonlyMap<string, string>>(new Map());

/**
 * The name of a token or a person for a text. Out: `you` for the session's own; the name where an administrator's session has loaded
 * it; otherwise the first 8 characters of the id.
 */
export function nameOf(id: string): string {
  const { token, person } = session.value ?? {};
  const key = parseId(id) ?? id;
  const own = [token?.id, person?.id].some((each) => each !== undefined && parseId(each) === key);
  if (own) return "you";
  return OTHERS[id] ?? names.value.get(key) ?? id.slice(0, 8);
}

let loadedFor: string | undefined;

/** Loads the names that an administrator may know, once in a session. A failure leaves the ids in their place. */
export async function loadNames(): Promise<void> {
  const { admin = false, expiresAt } = session.value ?? {};
  if (!admin || loadedFor === expiresAt) return;
  loadedFor = expiresAt;
  try {
    const [tokens, people] = await Promise.all([call("GET /v1/admin/tokens"), call("GET /v1/admin/people")]);
    names.value = new Map([
      ...tokens.data.flatMap((token) => ("name" in token && token.name !== "" ? [[token.id, token.name] as const] : [])),
      ...people.data.flatMap((person) => ("email" in person ? [[person.id, person.email] as const] : [])),
    ]);
  } catch {
    loadedFor = undefined;
  }
}
