import * as z from "zod/mini";
import { parseId } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { fault } from "./text.ts";
import { isPermission, type Permission, PERMISSIONS } from "./permission.ts";

/** The permissions of a request for a token or a person (contract 8.4). */

export const oneOf = (words: readonly string[]) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(words);

/** The scope of a token or a person: `{"<vault id>": "<permission>"}`. `z.record` would drop a key `__proto__` silently. */
export const scope = z.pipe(
  z.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), fault("is not an object")),
  z.transform((object, { issues }): Record<string, Permission> => {
    const entries = Object.entries(object).map(([id, permission]) => [parseId(id), permission as unknown] as const);
    const ids = new Set(entries.map(([id]) => id));
    const refuse = (message: string) => issues.push({ code: "custom", message, input: object });
    if (entries.length > LIMITS.tokenVaults) refuse(`names more than ${LIMITS.tokenVaults} vaults`);
    else if (ids.has(undefined)) refuse("has a key that is no vault id");
    else if (ids.size < entries.length) refuse("names a vault twice");
    else if (!entries.every(([, permission]) => isPermission(permission)))
      refuse(`has a permission that is not ${oneOf(Object.keys(PERMISSIONS))}`);
    return Object.fromEntries(entries) as Record<string, Permission>;
  }),
);
