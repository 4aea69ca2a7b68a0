import { sealedFileSize } from "../../model/chunk-sizes.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { addressOf, type ContentAddress, type KeyedFile } from "../../model/file.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { contentKey } from "../contents/object-keys.ts";
import { runBatch } from "../d1/database.ts";
import { type NamedTable, TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { FILE_COLUMNS, type FileRow, openFile } from "../items/files.ts";
import { authenticateContent, type ContentFault, sizeFault } from "./content.ts";
import { fault, type Fault, type Repair } from "../checks/fault.ts";
import { DONE, isSpent, keyAfter, type Position, type Slice, stepBytesMax, type VerifyPorts } from "./stage.ts";
import { loadMoment } from "./vault-keys.ts";
import { backupContentKey } from "../backup/object-keys.ts";

/** The stage `contents` checks that each content that a row names exists, has its size, and opens in every chunk. */

/** The most Items of a slice. Only Items that have Files count. */
const SLICE_ITEMS_MAX = 20;

const next = ({ name }: NamedTable) =>
  `SELECT item_id FROM (SELECT DISTINCT item_id FROM ${name} WHERE vault_id = ?1 AND item_id >= ?2 ORDER BY item_id LIMIT ${SLICE_ITEMS_MAX})`;

const LAST_ITEM = `SELECT max(item_id) FROM (${TABLES_OF_CONTENTS.map(next).join(" UNION ")} ORDER BY item_id LIMIT ${SLICE_ITEMS_MAX})`;

const rowsIn = ({ name }: NamedTable) =>
  `SELECT ${FILE_COLUMNS} FROM ${name} WHERE vault_id = ?1 AND item_id >= ?2 AND item_id <= (${LAST_ITEM})`;

const SQL = {
  rows: TABLES_OF_CONTENTS.map(rowsIn).join(" UNION ALL "),
  exists: TABLES_OF_CONTENTS.map(
    ({ name }) => `SELECT 1 FROM ${name} WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3 AND generation = ?4`,
  ),
};

/** A content that is to be checked, and the chunk to begin with. */
interface Wanted {
  readonly address: ContentAddress;
  readonly row: FileRow;
  readonly chunk: number;
}

/** The position is `[item, file/generation, chunk]`: everything before it was checked. */
export async function checkContents(ports: VerifyPorts, { vault, after }: Position): Promise<Result<Slice>> {
  const [item = "", name = "", chunk = 0] = after as [string?, string?, number?];
  const rows = ports.store.db.prepare(SQL.rows).bind(vault, item);
  const moment = await loadMoment<[FileRow]>(ports, vault, rows);
  if (!moment.ok) return moment;
  if (!moment.value || moment.value.rows[0].length === 0) return ok(DONE);
  const wanted = distinct(vault, moment.value.rows[0]).filter(({ address }) => address.item > item || nameOf(address) >= name);
  if (wanted.length === 0) return ok({ ...DONE, after: [afterId(moment.value.rows[0])] });
  const first = wanted[0]!;
  const resumed =
    first.address.item === item && nameOf(first.address) === name ? [{ ...first, chunk }, ...wanted.slice(1)] : wanted;
  return checkWanted(ports, moment.value.keys, resumed);
}

const nameOf = ({ file, generation }: ContentAddress): string => `${file}/${generation}`;

/** The position at which the Items after these rows begin. */
const afterId = (rows: readonly FileRow[]): string =>
  keyAfter(rows.reduce((last, { item_id }) => (item_id > last ? item_id : last), ""));

/** Each content once, in the order of positions: several rows may share one. */
function distinct(vault: string, rows: readonly FileRow[]): Wanted[] {
  const contents = new Map(rows.map((row) => [`${row.item_id}/${row.id}/${row.generation}`, row]));
  return [...contents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => ({ address: addressOf(vault, row.item_id, row), row, chunk: 0 }));
}

async function checkWanted(ports: VerifyPorts, keys: VaultKeys, wanted: readonly Wanted[]): Promise<Result<Slice>> {
  const faults: Fault[] = [];
  let [bytes, contents] = [0, 0];
  for (const one of wanted) {
    const { address } = one;
    const until = (chunk: number) => ok({ faults, checked: { contents, bytes }, after: [address.item, nameOf(address), chunk] });
    if (bytes >= stepBytesMax(ports) || (contents > 0 && isSpent(ports))) return until(one.chunk);
    const opened = await openFile(keys, address.vault, one.row);
    if (!opened.ok) continue; // a row that does not open is a finding of the stage `items`
    const file = opened.value;
    const checked = await checkContent(ports, address, file, one.chunk, stepBytesMax(ports) - bytes);
    // The next slice begins with the content that failed, so that its failure costs no finding of the others.
    if (!checked.ok) return contents > 0 ? until(one.chunk) : checked;
    bytes += checked.value.bytes;
    if (checked.value.fault) faults.push(...(await confirm(ports, address, file, checked.value.fault)));
    const { chunk } = checked.value;
    if (chunk !== undefined) return until(chunk);
    contents++;
  }
  return ok({ faults, checked: { contents, bytes }, after: [`${wanted.at(-1)!.address.item}~`] });
}

interface CheckedContent {
  readonly bytes: number;
  readonly fault?: ContentFault | undefined;
  /** The next chunk, when the content is not at its end. */
  readonly chunk?: number | undefined;
}

async function checkContent(
  { files, quick }: VerifyPorts,
  address: ContentAddress,
  file: KeyedFile,
  chunk: number,
  bytesMax: number,
): Promise<Result<CheckedContent>> {
  const key = contentKey(address);
  if (!quick) {
    const read = () => authenticateContent(files, key, address, file, chunk, bytesMax);
    const first = await read();
    // A lost connection looks the same, so only a content that fails twice is damaged.
    return first.ok && first.value.fault?.kind === "content_damaged" ? read() : first;
  }
  const sizeAnswer = await sizeFault(files, key, sealedFileSize(file.size));
  return sizeAnswer.ok ? ok({ bytes: 0, fault: sizeAnswer.value }) : sizeAnswer;
}

/** Out: the finding, if a row still names the content. A content whose row was deleted meanwhile was released, and may be deleted. */
async function confirm(
  ports: VerifyPorts,
  address: ContentAddress,
  file: KeyedFile,
  contentFault: ContentFault,
): Promise<Fault[]> {
  const { store } = ports;
  const { vault, item, file: id, generation } = address;
  const bind = (sql: string) => store.db.prepare(sql).bind(vault, item, id, generation);
  const read = await runBatch<unknown[]>(store.db, ...SQL.exists.map(bind));
  if (read.ok && read.value.flat().length === 0) return [];
  const repair = await repairContent(ports, address, file);
  return [fault(contentFault.kind, { vault, item, file: id, id: generation }, contentFault.detail, repair)];
}

/**
 * The repair of a content that is missing or damaged: the copy of a backup, when the bucket of backups has one that opens. Out:
 * `undefined` without one. A content is sealed under a key of its own, so the copy is the same bytes.
 */
async function repairContent(ports: VerifyPorts, address: ContentAddress, file: KeyedFile): Promise<Repair | undefined> {
  const key = backupContentKey(address);
  const copy = await authenticateContent(ports.backups, key, address, file, 0, Infinity);
  if (!copy.ok || copy.value.fault) return undefined;
  return { by: "call", key, run: () => copyContent(ports, address, file) };
}

async function copyContent(
  { files, backups }: VerifyPorts,
  address: ContentAddress,
  file: KeyedFile,
): Promise<Result<undefined>> {
  const object = await backups.get(backupContentKey(address));
  if (!object || object.size !== sealedFileSize(file.size)) {
    await object?.body.cancel(); // a body that nobody reads holds its file open
    return fail("backup_damaged", "the copy changed");
  }
  await files.put(contentKey(address), { pieces: object.body, length: object.size });
  return ok(undefined);
}
