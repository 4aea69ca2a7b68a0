import { possibleTime } from "../../model/time.ts";

/** Formats Unix milliseconds as ISO 8601 in UTC. An impossible time of a damaged row is shown as 1970-01-01. */
export const presentTime = (milliseconds: number): string => new Date(possibleTime(milliseconds)).toISOString();
