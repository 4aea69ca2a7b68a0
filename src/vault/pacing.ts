/** How often the commit loop (group.ts) calls D1, and how long. docs/consistency.md adds up the times. */

/** How often a group is written from snapshots that were loaded. */
export const SNAPSHOT_WRITES_MAX = 5;

/**
 * The time in which a group begins D1 calls: from its start, and once more from the end of the first attempt of unknown
 * outcome, because only a read tells whether that attempt took effect.
 */
export const GROUP_PATIENCE_MS = 10_000;

/** The ports of the commit loop to time. */
export interface PacingPorts {
  /** Waits before retry 1, 2, 3…: exponential backoff with jitter. */
  readonly backOff: (retry: number) => Promise<void>;
  /** The current time: Unix milliseconds. */
  readonly clock: () => number;
}

/** How far a group has come. */
export interface PacedGroup {
  /** The time after which the group begins no D1 call: Unix milliseconds. */
  readonly until: number;
  /** Whether an attempt may still take effect. */
  readonly uncertain: boolean;
}

export const isOver = ({ clock }: PacingPorts, { until }: PacedGroup): boolean => clock() >= until;

/**
 * Waits before each read but the first. In: how many reads there were. Out: whether the next one may begin. A group that
 * nothing can have happened to gets one read more than writes: the last one tells why the write before it was refused.
 */
export async function waitForRead(ports: PacingPorts, group: PacedGroup, reads: number): Promise<boolean> {
  if (reads > SNAPSHOT_WRITES_MAX && !group.uncertain) return false;
  if (reads > 0 && !isOver(ports, group)) await ports.backOff(reads);
  return !isOver(ports, group);
}
