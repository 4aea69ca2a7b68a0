import { IS_WRITE } from "../activity/entry-rows.ts";
import { fault, type Fault } from "../checks/fault.ts";

/**
 * The numbers of writes in the log of a vault (contract 15.3). Each write has the number after its predecessor's. After a restore, entries
 * outside the backup lose their numbers (decision 0034), so a gap beside such an entry is not a finding. The clean-up records the numbers
 * past the retention.
 */

/** Two entries that follow each other by their numbers. */
export interface Gap {
  readonly before: number;
  readonly sequence: number;
}

export interface LastNumber {
  /** NULL when the log has no numbered entry. */
  readonly last: number | null;
  readonly first: number | null;
  /** The number of the last write that is past the retention; NULL when there is none. */
  readonly expired: number | null;
  /** 1 if the log has writes without a number. */
  readonly unnumbered: number;
}

const UNNUMBERED = `vault_id = ?1 AND sequence IS NULL AND ${IS_WRITE}`;

/** SQL: the first entries of the vault ?1 with a gap before their number, among writes since ?2. */
export const FIRST_GAPS = `
  SELECT before, gap.sequence FROM (
    SELECT sequence, lag(sequence) OVER (ORDER BY sequence) AS before FROM activity
    WHERE vault_id = ?1 AND sequence IS NOT NULL) AS gap
  WHERE gap.sequence <> before + 1
    AND EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence = gap.before AND at >= ?2)
    AND NOT EXISTS (SELECT 1 FROM activity WHERE ${UNNUMBERED}
      AND id > (SELECT min(id) FROM activity WHERE vault_id = ?1 AND sequence = gap.before))
  LIMIT 20`;

export const LAST_NUMBER = `
  SELECT max(sequence) AS last, min(sequence) AS first,
    (SELECT logs.expired FROM logs WHERE vault_id = ?1) AS expired, EXISTS (
    SELECT 1 FROM activity WHERE ${UNNUMBERED} AND id > coalesce((
      SELECT id FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1), '')) AS unnumbered
  FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL`;

interface Head {
  readonly content_version: number;
  readonly attribute_version: number;
  readonly updated_at: number;
}

/** Returns the faults of the numbers. The log has every entry from `since` on, in Unix milliseconds. */
export function checkSequence(
  vault: string,
  { content_version, attribute_version, updated_at }: Head,
  gaps: readonly Gap[],
  numbers: LastNumber | undefined,
  since: number,
): Fault[] {
  const head = content_version + attribute_version;
  const place = { vault, table: "activity" };
  const { last = null, unnumbered = 0 } = numbers ?? {};
  const [first, expired] = [numbers?.first ?? null, numbers?.expired ?? 0];
  const isShort = (updated_at >= since && last !== head) || Math.max(last ?? 0, expired) < head;
  const isBehind = unnumbered === 0 && isShort;
  const beginsLate = first !== null && first > expired + 1 && unnumbered === 0;
  return [
    ...gaps.map(({ before, sequence }) =>
      fault("sequence_wrong", place, sequence === before ? `write ${sequence} is there twice` : `${sequence} follows ${before}`),
    ),
    ...(beginsLate
      ? [fault("sequence_wrong", place, `the log begins with ${first}, and the last write past the retention has ${expired}`)]
      : []),
    ...(isBehind ? [fault("sequence_wrong", place, `the last write has the number ${last ?? 0}, and the vault ${head}`)] : []),
  ];
}
