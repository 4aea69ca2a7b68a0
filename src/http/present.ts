import { currentCode } from "../crypto/totp.ts";
import type { Activity } from "../model/activity.ts";
import type { File } from "../model/file.ts";
import { type Dialect, timeOf, writeId } from "../model/ids.ts";
import type { Field, Item, Summary } from "../model/item.ts";
import { ADMIN } from "../model/operation.ts";
import type { Vault } from "../model/vault.ts";

/** From the model to the wire (contract 1.2 and 1.3), in the dialect of the token. The only place that knows either. */

const time = (milliseconds: number) => new Date(milliseconds).toISOString();

export function presentSummary(item: Summary, dialect: Dialect): object {
  return {
    id: writeId(item.id, dialect),
    title: item.title,
    vault: { id: writeId(item.vault, dialect) },
    category: item.category,
    urls: item.urls,
    favorite: item.favorite,
    tags: item.tags,
    version: item.version,
    state: item.state,
    createdAt: time(item.createdAt),
    updatedAt: time(item.updatedAt),
    lastEditedBy: writeId(item.lastEditedBy, dialect),
  };
}

/** In: Unix milliseconds, for the codes of OTP fields. */
export function presentItem(item: Item, dialect: Dialect, now: number): object {
  const files = item.files.map((file) => presentFile(file, item, dialect));
  return {
    ...presentSummary(item, dialect),
    sections: item.sections,
    fields: item.fields.map((field) => presentField(field, dialect, now)),
    files,
  };
}

/** What PUT answers. In the dialect `connect` the version is the one that was replaced: the Terraform provider waits for +1. */
export function presentReplaced(item: Item, dialect: Dialect, now: number): object {
  return presentItem(dialect === "connect" ? { ...item, version: item.version - 1 } : item, dialect, now);
}

function presentField({ section, ...field }: Field, dialect: Dialect, now: number): object {
  const value = dialect === "connect" ? connectValue(field) : field.value;
  const totp = field.type === "OTP" ? currentCode(field.value, now) : undefined;
  return { ...field, value, section: section === undefined ? undefined : { id: section }, totp };
}

/** Connect takes two forms of a date and gives one, which is all that the Terraform provider reads: Unix seconds of the day's noon, and YYYYMM. */
function connectValue({ type, value }: Omit<Field, "section">): string {
  if (type === "MONTH_YEAR") return value.replace("/", "");
  return type === "DATE" && /^\d{4}-/.test(value) ? String(Date.parse(`${value}T12:00:00Z`) / 1000) : value;
}

/** A File of an Item. `content` is its bytes, where they were asked for. */
export function presentFile(file: File, item: Pick<Item, "id" | "vault">, dialect: Dialect, content?: Uint8Array): object {
  const [vaultId, itemId, id] = [item.vault, item.id, file.id].map((one) => writeId(one, dialect));
  const path = `v1/vaults/${vaultId}/items/${itemId}/files/${id}/content`;
  return {
    id,
    name: file.name,
    size: file.size,
    content_path: dialect === "connect" ? `/${path}` : path,
    section: file.section === undefined ? undefined : { id: file.section },
    content: content?.toBase64(),
  };
}

export function presentVault(vault: Vault, dialect: Dialect): object {
  return {
    id: writeId(vault.id, dialect),
    name: vault.name,
    description: vault.description,
    attributeVersion: vault.attributeVersion,
    contentVersion: vault.contentVersion,
    items: vault.items,
    type: "USER_CREATED",
    createdAt: time(vault.createdAt),
    updatedAt: time(vault.updatedAt),
  };
}

/** One entry of the activity log. Its own id, and that of the token's row, are UUIDs in either dialect. */
export function presentActivity(activity: Activity, dialect: Dialect): object {
  const { id, log, action, result, actor, item, version, origin } = activity;
  const admin = actor === ADMIN;
  // Only the admin creates, changes and deletes vaults; everybody else's writes are to Items.
  const type = item !== null || (action !== "READ" && !admin) ? "ITEM" : "VAULT";
  return {
    requestId: id,
    timestamp: time(timeOf(id)),
    action,
    result,
    actor: { id: admin ? ADMIN : writeId(actor, dialect), jti: admin ? undefined : actor, ...origin },
    resource: {
      type,
      vault: log === actor ? undefined : { id: writeId(log, dialect) },
      item: item === null ? undefined : { id: writeId(item, dialect) },
      itemVersion: version ?? undefined,
    },
  };
}
