import { type Answer, ask, type StoredRequest, need } from "./ask.ts";
import { contentOf, EVERY_CATEGORY, EVERY_TYPE, FULL } from "./sample-items.ts";

/** Writes the sample that is stored with a release, over the API. */

/** A token as its creation returns it. */
export interface Token {
  readonly id: string;
  readonly token: string;
}

export interface Sample {
  readonly tokens: Readonly<Record<"reader" | "connect" | "writer" | "editor" | "narrow" | "revoked" | "expired", Token>>;
  /** The ids of both vaults. The token `narrow` has a permission for the first one only. */
  readonly vaults: readonly [string, string];
  /** The Item with Files, the one with every type of field, the one that was deleted, and the others of the second vault. */
  readonly items: { readonly full: string; readonly types: string; readonly deleted: string; readonly others: readonly string[] };
  readonly files: { readonly small: string; readonly large: string; readonly replaced: string; readonly empty: string };
  /** Writes with an Idempotency-Key, and their answers. */
  readonly repeatable: readonly { readonly request: StoredRequest; readonly answer: Answer }[];
}

const HOUR = 60 * 60;
/** The lifetime of the token `expired`, in seconds. The tests run an hour after the sample was written. */
const SHORT_LIFETIME = 10 * 60;

interface Created {
  readonly id: string;
}

/** Writes the sample. `base`: the address of a Worker with an empty database. */
export async function writeSample(base: string, adminToken: string): Promise<Sample> {
  const admin = <Body = Created>(path: string, body?: object, method = "POST") =>
    need<Body>(base, { method, path: `/v1/admin/${path}`, token: adminToken, body });
  const production = (await admin("vaults", { name: "Production", description: "Grüße 🔑" })).id;
  const personal = (await admin("vaults", { name: "Personal, old name" })).id;
  await admin(`vaults/${personal}`, { name: "Personal" }, "PATCH");
  const issue = (name: string, permission: string, more: object = {}, ids = [production, personal]) =>
    admin<Token>("tokens", { name, vaults: Object.fromEntries(ids.map((id) => [id, permission])), ...more });
  const tokens = {
    reader: await issue("reader", "r", { expiresIn: 365 * 24 * HOUR }),
    connect: await issue("connect", "rw", { dialect: "connect" }),
    writer: await issue("writer", "w"),
    editor: await issue("editor – ä", "rw"),
    narrow: await issue("narrow", "rw", {}, [production]),
    revoked: await issue("revoked", "rw"),
    expired: await issue("expired", "rw", { expiresIn: SHORT_LIFETIME }),
  };

  const edit = <Body = Created>(method: string, path: string, body?: unknown, headers = {}, token = tokens.editor.token) =>
    need<Body>(base, { method, path: `/v1/vaults/${path}`, token, body, headers });
  const items = `${production}/items`;
  const full = (await edit("POST", items, FULL)).id;
  const types = (await edit("POST", items, EVERY_TYPE, {}, tokens.writer.token)).id;
  const deleted = (await edit("POST", items, { category: "SECURE_NOTE", title: "To be deleted" }, {}, tokens.revoked.token)).id;
  const others: string[] = [];
  for (const item of EVERY_CATEGORY) others.push((await edit("POST", `${personal}/items`, item)).id);

  // Several versions, by tokens of both dialects.
  await edit("PATCH", `${items}/${full}`, [{ op: "replace", path: "/fields/username/value", value: "grace" }]);
  await edit("PATCH", `${items}/${full}`, [{ op: "add", path: "/tags/-", value: "third" }], {}, tokens.connect.token);
  const replacement = { ...EVERY_TYPE, title: "Every type of field, replaced", vault: { id: production } };
  await edit("PUT", `${items}/${types}`, replacement, {}, tokens.connect.token);

  const files = `${items}/${full}/files`;
  const upload = async (query: string, body: unknown) => (await edit("POST", `${files}?${query}`, body)).id;
  const small = await upload("name=hello.txt", "Hello from an earlier release.\n");
  const large = await upload("name=large%20%F0%9F%94%91.bin&section=network", contentOf(40_000));
  const replaced = await upload("name=notes.md", contentOf(20_000, 2));
  const empty = await upload("name=empty", new Uint8Array(0));
  await edit("PUT", `${files}/${replaced}/content`, contentOf(17_000, 3));
  await edit("DELETE", `${files}/${await upload("name=gone", "gone")}`);

  const repeatable = [
    await repeat("POST", `${personal}/items`, { category: "LOGIN", title: "With a key" }, "kept-create"),
    await repeat("PATCH", `${items}/${types}`, [{ op: "replace", path: "/favorite", value: true }], "kept-change"),
  ];
  await edit("DELETE", `${items}/${deleted}`);
  await admin(`tokens/${tokens.revoked.id}`, undefined, "DELETE");
  // Denials, which the activity log records.
  for (const token of [tokens.writer.token, tokens.revoked.token])
    await ask(base, { path: `/v1/vaults/${items}/${full}`, token });
  return {
    tokens,
    vaults: [production, personal],
    items: { full, types, deleted, others },
    files: { small, large, replaced, empty },
    repeatable,
  };

  async function repeat(method: string, path: string, body: unknown, key: string) {
    const headers = { "Idempotency-Key": key };
    const request = { method, path: `/v1/vaults/${path}`, token: tokens.editor.token, headers, body };
    return { request, answer: { status: 200, body: await need<unknown>(base, request) } };
  }
}
