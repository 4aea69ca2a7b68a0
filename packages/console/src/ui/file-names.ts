import { named } from "./texts.ts";

/** Names of Files, which may hold any characters. */

/** The name under which a content is saved: without folders, control characters, and characters that change the order of others. */
export function savedName(name: string): string {
  const usable = name
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "");
  return /^\.*$/.test(usable) ? "file" : usable;
}

/** A name within a message. */
export const quoted = (name: string): string => `“${named(name)}”`;
