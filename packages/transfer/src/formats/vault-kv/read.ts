import { sourceFault } from "../../error.ts";
import type { ReadOptions } from "../../format.ts";
import { emptyState } from "../../item-parts.ts";
import type { Transfer, TransferField, TransferItem, TransferState } from "../../item.ts";
import { type JsonValue, parseJson } from "../../json.ts";
import { Losses } from "../../losses.ts";
import { decodeText } from "../../text.ts";

/** A secret as one document has it: a version of it in KV version 2. */
interface Secret {
  /** The path of the secret, if the document has it. */
  readonly path: string | undefined;
  /** 0 in KV version 1. */
  readonly version: number;
  /** `undefined` when this version was deleted. */
  readonly fields: TransferField[] | undefined;
  readonly createdAt: number | undefined;
}

/**
 * Reads the output of `vault kv get -format=json` or `bao kv get -format=json`, of KV version 1 or 2. The output does not name the secret, so
 * the title is the file's name. An attribute `path` added to a document gives title and tag, and joins the versions of one secret.
 */
export function readVaultKv(bytes: Uint8Array, { fileName }: ReadOptions): Transfer {
  const losses = new Losses();
  const groups = new Map<string, Secret[]>();
  for (const [n, document] of parseDocuments(decodeText(bytes, "The file")).entries()) {
    const secret = readSecret(document);
    const key = secret.path === undefined ? `document ${n}` : `path ${secret.path}`;
    groups.set(key, [...(groups.get(key) ?? []), secret]);
  }
  const base = fileName.replace(/\.(json|jsonl|ndjson)$/i, "") || "secret";
  let unnamed = 0;
  const items = [...groups.values()].flatMap((versions): TransferItem[] => {
    const { path } = versions[0]!;
    const number = path === undefined ? ++unnamed : 0;
    const segments = path?.split("/").filter(Boolean) ?? [];
    const title = segments.at(-1) ?? (number > 1 ? `${base} ${number}` : base);
    const item = readItem(versions, { title, tags: segments.length > 1 ? [segments.slice(0, -1).join("/")] : [] }, losses);
    return item ? [item] : [];
  });
  return { source: "vault-kv", items, losses: losses.list() };
}

function readItem(
  versions: readonly Secret[],
  { title, tags }: Pick<TransferState, "title" | "tags">,
  losses: Losses,
): TransferItem | undefined {
  const ordered = versions.toSorted((a, b) => a.version - b.version);
  const states = ordered.flatMap(({ fields, createdAt }): TransferState[] => {
    if (!fields) return [];
    const dates = createdAt === undefined ? {} : { changedAt: createdAt };
    const hasMetadata = fields.some(({ section }) => section);
    return [{ ...emptyState(title, "API_CREDENTIAL"), tags, fields, sections: hasMetadata ? [METADATA] : [], ...dates }];
  });
  losses.add("versions that were deleted", title, ordered.length - states.length);
  const current = states.pop();
  if (!current) return undefined;
  const date = current.changedAt === undefined ? {} : { updatedAt: current.changedAt };
  return { ...current, ...date, sourceId: undefined, vault: undefined, archived: false, files: [], history: states };
}

const METADATA = { id: "custom-metadata", label: "Custom metadata" };

function readSecret(document: JsonValue): Secret {
  const data = document.get("data");
  if (document.object() === undefined || data.absent) throw document.get("data").fault("is missing: this is no secret of KV");
  const path = document.get("path").text();
  const metadata = data.get("metadata");
  // Version 1 has the values here; they could be named `data` and `metadata`, but not with these attributes.
  const isVersion2 = isObject(metadata) && !metadata.get("version").absent && !metadata.get("created_time").absent;
  if (!isVersion2) return { path, version: 0, fields: fieldsOf(data), createdAt: undefined };
  const created = Date.parse(metadata.get("created_time").text() ?? "");
  const custom = metadata.get("custom_metadata").entries();
  return {
    path,
    version: metadata.get("version").number() ?? 0,
    fields: data.get("data").absent ? undefined : [...fieldsOf(data.get("data")), ...custom.map(metadataField)],
    createdAt: Number.isNaN(created) ? undefined : created,
  };
}

const isObject = ({ value }: JsonValue): boolean => typeof value === "object" && !Array.isArray(value);

/** Each value as a concealed field. A value that is not text is written as JSON. */
function fieldsOf(data: JsonValue): TransferField[] {
  if (!isObject(data)) throw data.fault("is no object");
  return data.entries().map(([label, { value }]) => ({
    label,
    type: "CONCEALED",
    value: typeof value === "string" ? value : JSON.stringify(value ?? null),
  }));
}

const metadataField = ([label, value]: [string, JsonValue]): TransferField => ({
  label,
  type: "STRING",
  value: value.scalar() ?? "",
  section: METADATA,
});

/**
 * The JSON documents of a text: one, several one after the other as a shell's loop writes them, or an array of them.
 * A number that JavaScript cannot hold exactly is read as a text of its digits.
 */
function parseDocuments(text: string): JsonValue[] {
  const documents = splitDocuments(text).map((part, n) => parseJson(part, `Document ${n + 1}`));
  if (documents.length === 0) throw sourceFault("The file", "has no JSON");
  return documents.flatMap((document) => (Array.isArray(document.value) ? document.list() : [document]));
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function splitDocuments(text: string): string[] {
  const documents: string[] = [];
  let [depth, document, copied] = [0, "", 0];
  const flush = (until: number) => {
    document += text.slice(copied, until);
    copied = until;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if ("-0123456789".includes(character)) {
      NUMBER.lastIndex = at;
      const digits = NUMBER.exec(text)?.[0];
      if (digits === undefined) continue; // the parser reports the fault
      if (String(Number(digits)) !== digits) {
        flush(at);
        document += JSON.stringify(digits);
        copied = at + digits.length;
      }
      at += digits.length - 1;
    } else if ("{[".includes(character)) depth++;
    else if ("}]".includes(character) && --depth === 0) {
      flush(at + 1);
      documents.push(document);
      document = "";
    }
  }
  flush(text.length);
  // The rest is not a complete document: the parser reports it.
  return document.trim() === "" ? documents : [...documents, document];
}

/** Returns the index of the closing quote. `start` is the opening quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
