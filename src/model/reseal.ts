/** The reseal of a vault: it gets new keys, and its rows are sealed again in slices (contract 20.20 and on, decision 0032). */

/** The tables with sealed rows, in the order in which they are passed. */
export const RESEAL_STAGES = ["webhooks", "records", "items", "versions", "files", "file_versions"] as const;

export type ResealStage = (typeof RESEAL_STAGES)[number];

/** How far a reseal has come. */
export interface ResealPosition {
  readonly stage: ResealStage;
  /** The key of the last row that was passed, without the vault; empty at the begin of a stage. */
  readonly after: readonly (string | number | null)[];
  /** In the first pass, of all rows, `null`; in the next ones, of the rows that are not under it, the number of the newest key. */
  readonly notUnder: number | null;
  /**
   * The number of the newest write of the vault when this pass began; `null` before its first slice. When it is still that at the end of
   * the pass, no write has brought a text under an earlier key to where the pass had been.
   */
  readonly since: number | null;
  /** The Items that the first pass has passed, and all rows. */
  readonly items: number;
  readonly rows: number;
  /** The rows of the first pass with a text that does not open. They stay as they are. */
  readonly unreadable: number;
}

export interface Reseal {
  /** The id of the keys that are replaced. */
  readonly previous: string;
  readonly position: ResealPosition;
}

/** What the admin learns of a reseal. */
export interface ResealProgress extends Pick<ResealPosition, "items" | "rows" | "unreadable"> {
  readonly done: boolean;
  /** The table that is next; absent when it is done. */
  readonly stage?: ResealStage | undefined;
  /** The Items of the vault. */
  readonly of: number;
}

export const START: ResealPosition = {
  stage: RESEAL_STAGES[0],
  after: [],
  notUnder: null,
  since: null,
  items: 0,
  rows: 0,
  unreadable: 0,
};

/** The text in the column `vaults.resealed`. */
export const formatPosition = (position: ResealPosition): string => JSON.stringify(position);

/**
 * In: the number of the vault's newest key. A text that is none, or of a reseal under another key, begins again: rows that are under the
 * newest key stay as they are.
 */
export function parsePosition(text: string, keyNumber: number): ResealPosition {
  try {
    const position = JSON.parse(text) as ResealPosition;
    const { stage, after, notUnder, since, items, rows, unreadable } = position;
    const isCounted = [items, rows, unreadable].every((count) => Number.isSafeInteger(count) && count >= 0);
    const isPass = (notUnder === null || notUnder === keyNumber) && (since === null || Number.isSafeInteger(since));
    return RESEAL_STAGES.includes(stage) && Array.isArray(after) && isPass && isCounted ? position : START;
  } catch {
    return START;
  }
}
