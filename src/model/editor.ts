import { NIL_ID } from "./ids.ts";
import { ADMIN } from "./operation.ts";

/** What an Item has as its last editor. */

/** The id that Items have as their last editor when the admin has restored them: that of no token. */
export const RESTORED_BY_ADMIN = NIL_ID;

/** What an Item has as its last editor: the id of a token, because clients parse it as an id. */
export const editorOf = (actor: string): string => (actor === ADMIN ? RESTORED_BY_ADMIN : actor);
