import { session } from "../state/session.ts";

/** Who an entry names: the session's own token, what has no token, else the beginning of an id. */
export function actorName(id: string): string {
  if (id === session.value?.token?.id) return "you";
  return id === "admin" || id === "service" ? id : id.slice(0, 8);
}
