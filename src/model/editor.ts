import { NIL_ID } from "./ids.ts";
import { ADMIN } from "./operation.ts";

/** The last editor of an Item. */

/** The last editor of Items restored by the admin. No token has this id. */
export const RESTORED_BY_ADMIN = NIL_ID;

/** Returns the last editor of an Item for an actor. It is always an id, because clients parse it as one. */
export const editorOf = (actor: string): string => (actor === ADMIN ? RESTORED_BY_ADMIN : actor);
