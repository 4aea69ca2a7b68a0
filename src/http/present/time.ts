/** Formats Unix milliseconds as ISO 8601 in UTC. */
export const presentTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
