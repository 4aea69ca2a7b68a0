import { BACKUP_FORMAT, type Part, type PartRef, type TableRows } from "../../model/backup.ts";
import { fail, ok, type Result } from "../../model/result.ts";

/** The text of a part: a line of JSON for its head, then one line for each table. */

/** Returns the SHA-256 (FIPS 180-4) of bytes in hexadecimal: the name of a part. */
export const sha256 = async (bytes: Uint8Array): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();

interface Head {
  readonly format: number;
  readonly deployment: string;
  readonly vault: string;
}

/** The backup that a part belongs to. */
export type PartOwner = Pick<Head, "deployment" | "vault">;

/** Returns the text of a part, and its entry in the manifest. Equal rows give an equal text. */
export async function presentPart(owner: PartOwner, part: Part): Promise<{ readonly text: Uint8Array; readonly ref: PartRef }> {
  const head: Head = { format: BACKUP_FORMAT, deployment: owner.deployment, vault: owner.vault };
  const text = new TextEncoder().encode([head, ...part.tables].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const rows = part.tables.reduce((sum, table) => sum + table.rows.length, 0);
  return { text, ref: { sha256: await sha256(text), bytes: text.length, rows } };
}

/**
 * Parses the text of a part that a manifest names. The manifest is authenticated and has the hash of the text, so a text with this hash is
 * trusted. Fails with `backup_damaged`, whose detail names the part and the fault, and with `backup_too_new`.
 */
export async function parsePart(owner: PartOwner, ref: PartRef, text: Uint8Array): Promise<Result<Part>> {
  const refused = (fault: string) => fail("backup_damaged", `part ${ref.sha256} ${fault}`);
  if (text.length !== ref.bytes) return refused(`has ${text.length} bytes instead of ${ref.bytes}`);
  if ((await sha256(text)) !== ref.sha256) return refused("has another content than its manifest says");
  const [first, ...lines] = splitLines(new TextDecoder().decode(text));
  const head = JSON.parse(first) as Head;
  // Before the other lines: a later format may have lines of another form.
  if (!(head.format <= BACKUP_FORMAT))
    return fail("backup_too_new", `part ${ref.sha256} has the format ${head.format}, which this release does not know`);
  if (head.deployment !== owner.deployment) return refused("belongs to another deployment");
  if (head.vault !== owner.vault) return refused("belongs to another vault");
  return ok({ tables: lines.map(parseTable) });
}

const splitLines = (text: string) => text.trimEnd().split("\n") as [string, ...string[]];

const parseTable = (line: string) => JSON.parse(line) as TableRows;

/** Parses a part without checks. Returns `undefined` for any other text. */
export function readPart(text: string): Part | undefined {
  try {
    const tables = splitLines(text).slice(1).map(parseTable);
    return tables.every(({ columns, rows }) => Array.isArray(columns) && Array.isArray(rows)) ? { tables } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the rows of one table of a part as objects; none if the part does not have the table. */
export const rowsOf = <Row>({ tables }: Part, name: string): Row[] =>
  tables
    .filter(({ table }) => table === name)
    .flatMap(({ columns, rows }) =>
      rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null]))),
    ) as Row[];
