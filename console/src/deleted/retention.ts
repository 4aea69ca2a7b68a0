import { formatTime } from "../ui/time.ts";

/** How long deleted Items can be restored. */

/** The setting of the service, as the session has it (contract 24.4). */
interface Retention {
  readonly deletedRetentionDays: number;
}

const DAY = 24 * 60 * 60 * 1000; // milliseconds

/** Until when a deleted Item can be restored, for people. In: an ISO 8601 time. */
export const restorableUntil = (deletedAt: string, { deletedRetentionDays }: Retention): string =>
  formatTime(new Date(Date.parse(deletedAt) + deletedRetentionDays * DAY).toISOString());

/** Out: a sentence. */
export function explainRetention({ deletedRetentionDays: days }: Retention): string {
  if (days === 0) return "This service keeps no deleted Items: a deletion destroys the Item at once.";
  return `They can be restored for ${days.toLocaleString("en")} ${days === 1 ? "day" : "days"} after their deletion.`;
}
