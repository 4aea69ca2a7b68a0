import { writeId } from "../../model/dialect.ts";
import { isId, NAMES_NOTHING, parseId } from "../../model/ids.ts";
import { isForItem } from "../../model/permission.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { loadActorNames } from "../../store/tokens/actors.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { accessOf } from "./items.ts";

/** The names of the actors who wrote in a vault, for sessions (contract 24.13). */
export const listActors = serveBy({
  /** Returns the id of the Item, or undefined without one. */
  parse({ query: { rest }, vault, vaults }: ParseCall): Result<string | undefined> {
    const text = rest.get("item");
    if (!text) return ok(undefined);
    const item = parseId(text);
    if (item === undefined || !isId(item)) return invalid("item: is not the id of an Item");
    return ok(isForItem(vaults[vault], item) ? item : NAMES_NOTHING);
  },
  async handle(call: Call, item: string | undefined): ReplyTo<"listActors"> {
    const actors = await loadActorNames(call.store, accessOf(call), item);
    if (!actors.ok && actors.failure.kind === "item_not_found") return fail("item_not_found", call.c.req.query("item"));
    return map(actors, (names) => ({ json: names.map(({ id, name }) => ({ id: writeId(id, call.dialect), name })) }));
  },
});
