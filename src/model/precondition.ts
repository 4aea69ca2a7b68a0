import { entityTag, type Item } from "./item.ts";

/**
 * An `If-Match` or `If-None-Match` header (RFC 9110 section 13.1): any version, or those with one of these entity tags. A
 * Worker of release 0.1.0 sends version numbers, which match nothing.
 */
export type Precondition = "any" | readonly string[];

/** Whether an Item fulfils the header. */
export const fulfils = (item: Item, header: Precondition): boolean => header === "any" || header.includes(entityTag(item));
