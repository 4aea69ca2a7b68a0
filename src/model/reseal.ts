/** The reseal of a vault: it gets new keys, and its rows are sealed again in slices (contract 20.20 and on, decision 0032). */

/** The tables with texts under the keys of vaults, in the order in which they are passed. `test/promises/reseal.test.ts` requires all of them. */
export const RESEAL_STAGES = ["webhooks", "replays", "items", "item_versions", "files", "file_versions"] as const;

export type ResealStage = (typeof RESEAL_STAGES)[number];

/** Counts of processed data. */
export interface Resealed {
  /** The Items that the first pass has passed, and all rows. */
  readonly items: number;
  readonly rows: number;
  /** Rows of the first pass with a text that cannot be decrypted. They are not changed. */
  readonly unreadable: number;
}

export interface ResealPosition extends Resealed {
  readonly stage: ResealStage;
  /** The key of the last row that was passed, without the vault; empty at the begin of a stage, and in the last pass. */
  readonly after: readonly (string | number | null)[];
  /** `null` in the first pass, which takes all rows. In the last pass: the numbers of the earlier keys, whose rows are left. */
  readonly under: readonly number[] | null;
}

export interface Reseal {
  /** The id of the keys that are replaced. */
  readonly previous: string;
  readonly position: ResealPosition;
}

export const START: ResealPosition = {
  stage: RESEAL_STAGES[0],
  after: [],
  under: null,
  items: 0,
  rows: 0,
  unreadable: 0,
};

export const countsOf = ({ items, rows, unreadable }: ResealPosition): Resealed => ({ items, rows, unreadable });

/** Returns the text in the column `vaults.resealed`. */
export const formatPosition = (position: ResealPosition): string => JSON.stringify(position);

/**
 * Parses the column `vaults.resealed`. `earlier` has the numbers of the vault's earlier keys. An invalid text, or a text from a
 * reseal of other keys, starts from the beginning; rows under the newest key stay unchanged. A wrong position costs no row: see
 * store/rotation/reseal.ts.
 */
export function parsePosition(text: string, earlier: readonly number[]): ResealPosition {
  try {
    const position = JSON.parse(text) as ResealPosition;
    const { stage, after, under } = position;
    const isCounted = Object.values(countsOf(position)).every((count) => Number.isSafeInteger(count) && count >= 0);
    const isPass = under === null ? after.every(isKeyValue) : under.join() === earlier.join() && after.length === 0;
    return RESEAL_STAGES.includes(stage) && isPass && isCounted ? position : START;
  } catch {
    return START;
  }
}

const isKeyValue = (value: unknown): boolean => typeof value === "string" || Number.isFinite(value);
