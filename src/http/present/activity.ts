import type { Presented, Schemas } from "../../api/answer.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import type { Activity, BrokenActivity, ListedActivity } from "../../model/activity.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import { timeOf } from "../../model/ids.ts";
import { ADMIN, WITHOUT_TOKEN } from "../../model/operation.ts";
import { isTime } from "../../model/time.ts";
import { presentTime } from "./time.ts";

/** An entry of a log, or the entry of a broken row. */
type Entry<Schema> = Presented<Schema | Schemas.BrokenActivityEntry>;

/** Presents an entry in the log of a vault or token (contract 13.5), including a broken entry. */
export const presentActivity = (activity: ListedActivity, dialect: Dialect): Entry<Schemas.ActivityEntry> =>
  "broken" in activity
    ? presentBroken(activity)
    : { ...presentRequest(activity, dialect), resource: presentResource(activity, dialect) };

/** Presents an entry in the admin's log (contract 13.21), including a broken entry. */
export const presentAdminActivity = (activity: ListedActivity, dialect: Dialect): Entry<Schemas.AdminActivityEntry> =>
  "broken" in activity
    ? presentBroken(activity)
    : { ...presentRequest(activity, dialect), resource: presentAdminResource(activity, dialect) };

/** Presents the attributes of entries in all logs. The entry's id and the id of the token's row are UUIDs in both dialects. */
function presentRequest({ id, action, result, actor, origin }: Activity, dialect: Dialect) {
  const { unknown: originUnknown, token = actor, ...texts } = origin;
  const jti = WITHOUT_TOKEN.has(token) ? undefined : token;
  return {
    requestId: id,
    timestamp: presentTime(timeOf(id)),
    action,
    result,
    actor: { id: writeActor(actor, dialect), jti, ...texts, originUnknown },
  };
}

/** Presents an entry of an export (contract 23.2): as its log shows it, with the name of the log. */
export const presentExported = (activity: ListedActivity, dialect: Dialect): Entry<Schemas.ExportedEntry> => ({
  ...(activity.log === NOWHERE ? presentAdminActivity : presentActivity)(activity, dialect),
  log: activity.log === NOWHERE ? ADMIN : writeId(activity.log, dialect),
});

/** Presents an entry that cannot be decrypted (contract 13.27). */
function presentBroken({ id, broken }: BrokenActivity): Presented<Schemas.BrokenActivityEntry> {
  const time = timeOf(id);
  return { requestId: id, timestamp: isTime(time) ? presentTime(time) : undefined, broken, log: undefined };
}

/** Formats an actor in the dialect: the id of a token, `admin` or `service`. */
export const writeActor = (actor: string, dialect: Dialect): string =>
  WITHOUT_TOKEN.has(actor) ? actor : writeId(actor, dialect);

function presentResource(
  { log, action, actor, item, items, version }: Activity,
  dialect: Dialect,
): Presented<Schemas.ActivityResource> {
  // Only the admin writes vaults; every write of a token to a vault is to an Item.
  const isWrite = action !== "READ" && actor !== ADMIN && log !== actor;
  const type = item !== null || items || isWrite ? "ITEM" : "VAULT";
  return {
    type,
    vault: log === actor ? undefined : { id: writeId(log, dialect) },
    item: item === null ? undefined : { id: writeId(item, dialect) },
    items: items?.map((id) => ({ id: writeId(id, dialect) })),
    itemVersion: version ?? undefined,
  };
}

function presentAdminResource(
  { item, items, reason, resource }: Activity,
  dialect: Dialect,
): Pick<Presented<Schemas.AdminActivityResource>, "type" | "vaults" | "reason"> {
  const type = resource ?? "VAULT";
  const vaults = items?.map((id) => ({ id: writeId(id, dialect) }));
  // The other attributes of the schema, one of which an entry has, are named after the types.
  return { type, [type.toLowerCase()]: item === null ? undefined : { id: writeId(item, dialect) }, vaults, reason };
}
