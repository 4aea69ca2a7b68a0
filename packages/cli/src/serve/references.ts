import { createHash } from "node:crypto";
import type { Item } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";
import { isId, parseId } from "@item-vault/model/ids";
import { fits, LIMITS } from "@item-vault/model/limits";
import { fieldFinder, findFile, isIdOfFile, type NamedField } from "@item-vault/model/named";
import { type Attribute, parseReference, type Reference, SAME_TITLE_ITEMS_MAX } from "@item-vault/model/reference";
import { codeOfField } from "@item-vault/model/totp";
import { type Copy, type HeldItem, type HeldVault, isComplete, openContent, openItem } from "./copy.ts";
import { type Answer, isUnmodified, INLINE_BYTES_MAX, json, type LocalRequest, notModified } from "./request.ts";

/** `POST /v1/resolve` (contract 16), where each reference has a value. A refusal is the service's to make. */

/** The target of one reference. */
interface Resolved {
  readonly text: string;
  readonly vault: HeldVault;
  readonly item: HeldItem;
  readonly value: { readonly value: string; readonly encoding?: "base64" | undefined };
}

/** Returns undefined if a reference has no value in the copy, or if the body does not fit the contract. */
export function answerReferences(copy: Copy, request: LocalRequest): Answer | undefined {
  const texts = parseBody(request.body);
  const inline = createInliner(copy);
  const resolved: Resolved[] = [];
  let isTagged = true;
  for (const text of texts ?? []) {
    const parsed = parseReference(text);
    const one = parsed.ok ? resolve(copy, text, parsed.value, inline) : undefined;
    if (!parsed.ok || !one) return undefined;
    resolved.push(one);
    if (parsed.value.attribute === "otp") isTagged = false;
  }
  if (!texts || resolved.length === 0) return undefined;
  const tag = isTagged ? tagOf(copy, resolved) : undefined;
  const headers: Record<string, string> = tag === undefined ? {} : { ETag: tag };
  const items = [...new Set(resolved.map(({ item }) => item.id))];
  const rest = { headers, vaults: [...copy.vaults.values()], items };
  if (tag !== undefined && isUnmodified(request, tag)) return notModified(headers, rest);
  const values = resolved.map(({ text, value: { value, encoding } }) => ({ reference: text, value, encoding }));
  return json(JSON.stringify({ values }), rest);
}

const isReferenceText = (text: unknown): boolean =>
  typeof text === "string" && text.isWellFormed() && fits(text, LIMITS.reference);

function parseBody(bytes: Buffer | undefined): readonly string[] | undefined {
  try {
    const body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as { references?: unknown } | null;
    const { references: texts, ...others } = body ?? {};
    if (Object.keys(others).length > 0) return undefined; // a later release may give them a meaning
    const isList = Array.isArray(texts) && texts.length <= LIMITS.references;
    return isList && texts.every(isReferenceText) ? (texts as string[]) : undefined;
  } catch {
    return undefined;
  }
}

function resolve(copy: Copy, text: string, reference: Reference, inline: Inliner): Resolved | undefined {
  const vault = findVault(copy, reference.vault);
  const item = vault && isComplete(vault) ? findItem(vault, reference.item) : undefined;
  const value = item && valueOf(copy, vault!, item, reference, inline);
  return value && { text, vault: vault!, item, value };
}

/** The vault of this id, else the only one of this name. */
function findVault({ vaults }: Copy, part: string): HeldVault | undefined {
  const byId = vaults.get(parseId(part) ?? "");
  if (byId) return byId;
  const folded = fold(part);
  const named = [...vaults.values()].filter(({ row }) => fold(row.name) === folded);
  return named.length === 1 ? named[0] : undefined;
}

/** The Item of this id, else the only one of this title that is not archived. */
function findItem(vault: HeldVault, part: string): HeldItem | undefined {
  const id = parseId(part);
  const byId = id !== undefined && isId(id) ? vault.items.get(id) : undefined;
  if (byId) return byId;
  const folded = fold(part);
  const titled = [...vault.items.values()].filter((item) => item.folded === folded);
  const active = titled.filter(({ summary }) => summary.state !== "ARCHIVED");
  return titled.length < SAME_TITLE_ITEMS_MAX && active.length === 1 ? active[0] : undefined;
}

type ItemField = Item["fields"][number];
type NamedItemField = NamedField & { readonly field: ItemField };

function valueOf(
  copy: Copy,
  vault: HeldVault,
  held: HeldItem,
  reference: Reference,
  inline: Inliner,
): Resolved["value"] | undefined {
  const item = openItem(copy, vault, held);
  const fields = item.fields.map((field): NamedItemField => ({
    id: field.id,
    section: field.section?.id,
    label: field.label,
    field,
  }));
  const found = fieldFinder(item.sections, fields)(reference);
  if (!found.ok) return undefined;
  const { field, within } = found.value;
  if (field) {
    const value = FIELD_ATTRIBUTES[reference.attribute](field.field);
    return value === undefined ? undefined : { value };
  }
  const files = item.files.map(({ id, name, size, section }) => ({ id: parseId(id)!, name, size, section: section?.id }));
  const file = findFile(files, reference, within);
  if (!file.ok || !file.value) return undefined;
  // A broken File may have the name in the reference.
  if (item.brokenFiles && !isIdOfFile(file.value, reference.field)) return undefined;
  return FILE_ATTRIBUTES[reference.attribute](file.value.name, () => inline(vault, held, file.value!));
}

/** Contract 16.7. The values have the dialect of the copy already. */
const FIELD_ATTRIBUTES: Readonly<Record<Attribute, (field: ItemField) => string | undefined>> = {
  value: ({ value }) => value,
  type: ({ type }) => type,
  label: ({ label }) => label,
  otp: (field) => codeOfField(field, Date.now()),
};

type Value = Resolved["value"] | undefined;

const FILE_ATTRIBUTES: Readonly<Record<Attribute, (name: string, content: () => Value) => Value>> = {
  value: (_, content) => content(),
  type: () => ({ value: "FILE" }),
  label: (name) => ({ value: name }),
  otp: () => undefined,
};

type Inliner = (vault: HeldVault, item: HeldItem, file: { readonly id: string; readonly size: number }) => Value;

/** Contents of Files, within the limits of one answer (contract 16.8). */
function createInliner(copy: Copy): Inliner {
  let sum = 0;
  return (vault, item, { id, size }) => {
    sum += size;
    const content = item.contents.get(id);
    if (!content || size > INLINE_BYTES_MAX.file || sum > INLINE_BYTES_MAX.answer) return undefined;
    const bytes = openContent(copy, [vault.id, item.id, id], content);
    try {
      return { value: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      return { value: bytes.toString("base64"), encoding: "base64" };
    }
  };
}

/** The entity tag of the answer, as the service makes it: of the references and the states of their Items, without a value. */
function tagOf({ token }: Copy, resolved: readonly Resolved[]): string {
  const states = resolved.map(({ text, vault, item }) => {
    const [, version, nonce] = /^"(\d+)-(\w+)"$/.exec(item.etag) ?? [];
    return [text, 200, vault.id, item.id, Number(version), nonce];
  });
  const parts = [token!.info.dialect, JSON.stringify(states)].map((part) => Buffer.from(part));
  const lengths = Buffer.from(parts.map(({ length }) => length).join());
  return `"${createHash("sha256")
    .update(Buffer.concat([lengths, ...parts]))
    .digest()
    .subarray(0, 16)
    .toString("base64")}"`;
}
