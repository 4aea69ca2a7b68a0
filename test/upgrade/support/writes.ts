import { type Answer, ask, type StoredRequest, need } from "./ask.ts";
import type { Release } from "./release.ts";
import { contentOf } from "./sample-items.ts";

/** Writes of every kind, to records of the kept release and to new ones. */

export interface Written {
  /** The answer to each write. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** Reads of what was written. */
  readonly reads: Readonly<Record<string, StoredRequest>>;
  /** A write that carried an Idempotency-Key. */
  readonly keyed: StoredRequest;
}

export const UPLOADED = contentOf(30_000, 4);
export const REPLACED = contentOf(100, 5);

/** Writes to the vault of the sample. `writer` names the Worker that carries them out; titles, names and keys contain it. */
export async function writeAll(base: string, { secrets, sample }: Release, writer: string): Promise<Written> {
  const { token } = sample.tokens.editor;
  const [vault] = sample.vaults;
  const items = `/v1/vaults/${vault}/items`;
  const types = `${items}/${sample.items.types}`;
  const files = `${items}/${sample.items.full}/files`;
  const answers: Record<string, Answer> = {};
  const write = async (name: string, request: StoredRequest) => {
    const answer = await ask(base, request);
    answers[name] = answer;
    return (answer.body as { id?: string } | null)?.id ?? "none";
  };

  const login = { category: "LOGIN", title: `Of the ${writer}`, fields: [{ purpose: "PASSWORD", generate: true }] };
  const created = await write("a new Item", { method: "POST", path: items, token, body: login });
  const headers = { "Idempotency-Key": `key-of-${writer}` };
  const field = { op: "add", path: `/fields/${writer}`, value: { id: writer, label: writer, value: "new" } };
  const keyed = { method: "PATCH", path: types, token, headers, body: [field] };
  await write("a change of a kept Item", keyed);
  await write("another change of a kept Item", { ...keyed, headers: {}, body: [{ op: "add", path: "/tags/-", value: writer }] });
  const upload = { method: "POST", path: `${files}?name=${writer}.bin`, token, body: UPLOADED };
  const uploaded = await write("an upload", upload);
  const content = `${files}/${sample.files.small}/content`;
  await write("a new content of a kept File", { method: "PUT", path: content, token, body: REPLACED });
  const toDelete = await need<{ id: string }>(base, { method: "POST", path: items, token, body: login });
  await write("a deletion", { method: "DELETE", path: `${items}/${toDelete.id}`, token });

  const admin = { method: "POST", token: secrets.ADMIN_TOKEN };
  const createdVault = await write("a new vault", { ...admin, path: "/v1/admin/vaults", body: { name: writer } });
  const grant = { name: writer, vaults: { [createdVault]: "r", [vault]: "r" } };
  await write("a new token", { ...admin, path: "/v1/admin/tokens", body: grant });
  const issued = answers["a new token"]!.body as { token: string };

  const reads: Record<string, StoredRequest> = {
    [`the Item of the ${writer}`]: { path: `${items}/${created}`, token: sample.tokens.connect.token },
    [`the Item that the ${writer} deleted`]: { path: `${items}/${toDelete.id}`, token },
    [`the upload of the ${writer}`]: { path: `${files}/${uploaded}/content`, token },
    [`the content of the ${writer}`]: { path: content, token },
    [`the vault of the ${writer}`]: { path: `/v1/vaults/${createdVault}`, token: issued.token },
    [`the Items, with the token of the ${writer}`]: { path: items, token: issued.token },
  };
  return { answers, reads, keyed };
}
