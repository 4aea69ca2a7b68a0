import { NOWHERE } from "../../crypto/seal.ts";
import type { Activity, BrokenActivity, ListedActivity } from "../../model/activity.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import { timeOf } from "../../model/ids.ts";
import { ADMIN, WITHOUT_TOKEN } from "../../model/operation.ts";
import { isTime } from "../../model/time.ts";
import { presentTime } from "./time.ts";

/** One entry of the activity log (contract 13). Its own id and the id of the token's row are UUIDs in both dialects. */
export function presentActivity(activity: ListedActivity, dialect: Dialect): object {
  if ("broken" in activity) return presentBroken(activity);
  const { id, log, action, result, actor, origin } = activity;
  const { unknown: originUnknown, ...texts } = origin;
  return {
    requestId: id,
    timestamp: presentTime(timeOf(id)),
    action,
    result,
    actor: { id: writeActor(actor, dialect), jti: WITHOUT_TOKEN.has(actor) ? undefined : actor, ...texts, originUnknown },
    resource: log === NOWHERE ? presentAdminResource(activity, dialect) : presentResource(activity, dialect),
  };
}

/** An entry of an export (contract 23.2): as its log shows it, and which log that is. */
export const presentExported = (activity: ListedActivity, dialect: Dialect): object => ({
  ...presentActivity(activity, dialect),
  log: activity.log === NOWHERE ? ADMIN : writeId(activity.log, dialect),
});

/** An entry that does not open (contract 13.27). */
function presentBroken({ id, broken }: BrokenActivity): object {
  const time = timeOf(id);
  return { requestId: id, timestamp: isTime(time) ? presentTime(time) : undefined, broken };
}

/** An actor in the form of the dialect: the id of a token, `admin` or `service`. */
export const writeActor = (actor: string, dialect: Dialect): string =>
  WITHOUT_TOKEN.has(actor) ? actor : writeId(actor, dialect);

function presentResource({ log, action, actor, item, items, version }: Activity, dialect: Dialect): object {
  // Only the admin writes vaults; every write of a token is to an Item.
  const type = item !== null || items || (action !== "READ" && actor !== ADMIN) ? "ITEM" : "VAULT";
  return {
    type,
    vault: log === actor ? undefined : { id: writeId(log, dialect) },
    item: item === null ? undefined : { id: writeId(item, dialect) },
    items: items?.map((id) => ({ id: writeId(id, dialect) })),
    itemVersion: version ?? undefined,
  };
}

function presentAdminResource({ item, items, resource }: Activity, dialect: Dialect): object {
  const type = resource ?? "VAULT";
  const vaults = items?.map((id) => ({ id: writeId(id, dialect) }));
  return { type, [type.toLowerCase()]: item === null ? undefined : { id: writeId(item, dialect) }, vaults };
}
