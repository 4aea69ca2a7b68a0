import { plural } from "./plural.ts";
import { DAY_MS, formatTime } from "./time.ts";

/** The setting of the service, as the session has it (contract 24.4). */
type Retention = Readonly<{ deletedRetentionDays: number }>;

/** Returns the time until which a deleted Item can be restored, for people. `deletedAt` is an ISO 8601 time. */
export const restorableUntil = (deletedAt: string, { deletedRetentionDays }: Retention): string =>
  formatTime(new Date(Date.parse(deletedAt) + deletedRetentionDays * DAY_MS).toISOString());

export const explainRestore = ({ deletedRetentionDays: days }: Retention): string =>
  days === 0
    ? "This deletes it permanently: the service keeps no deleted items."
    : `You can restore it under Deleted items for ${plural(days, "day")}.`;

export function explainRetention({ deletedRetentionDays: days }: Retention): string {
  if (days === 0) return "This service keeps no deleted items: a deletion is permanent.";
  return `Deleted items can be restored for ${plural(days, "day")}.`;
}
