import { lengthOf, pattern } from "./files.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "./service.ts";
import { newReceiver } from "./webhooks.ts";

/** A vault with every kind of sealed row: versions, a deleted Item, Files with earlier contents, records and a webhook. */

/** A PATCH of the password. */
export const passwordTo = (value: string) => [{ op: "replace", path: "/fields/password/value", value }];

export async function fullVault() {
  const vault = await makeVault("Everything");
  const { id: actor, token } = await makeToken({ [vault]: "rwd" });
  const [items, call] = [`/v1/vaults/${vault}/items`, client(token)];
  const make = async (title: string): Promise<string> =>
    (await call("POST", items, { body: { ...LOGIN, title, fields: [{ purpose: "PASSWORD", value: "one" }] } })).body.id;
  const upload = (method: string, path: string, size: number) =>
    call(method, path, { body: pattern(size), headers: lengthOf(pattern(size)) });
  const [kept, deleted] = [await make("Kept"), await make("Deleted")];
  await call("PATCH", `${items}/${kept}`, { body: passwordTo("two"), headers: { "Idempotency-Key": "change" } });
  const file: string = (await upload("POST", `${items}/${kept}/files?name=f`, 100)).body.id;
  await upload("PUT", `${items}/${kept}/files/${file}/content`, 200);
  await upload("POST", `${items}/${deleted}/files?name=g`, 50);
  await call("DELETE", `${items}/${deleted}`);
  const hooks = `/v1/admin/vaults/${vault}/webhooks`;
  const hook: string = (await admin("POST", hooks, { body: { url: newReceiver().url, enabled: false } })).body.id;
  return { vault, items, call, token, actor, kept, deleted, file, hooks, hook, make, upload };
}

export type FullVault = Awaited<ReturnType<typeof fullVault>>;

/** What a client sees of all of it. */
export async function everythingIn({ vault, items, call, kept, deleted, file, hooks }: FullVault) {
  const paths = [
    `${items}/${kept}`,
    `${items}/${kept}/versions/1`,
    `${items}/${kept}/files/${file}?inline_files=true`,
    `${items}/${kept}/files/${file}/content?version=3`,
    `/v1/vaults/${vault}/deleted-items/${deleted}`,
  ];
  // New keys change the version of the vault, and with it the tags of its lists (contract 11.11).
  const lists = [`${items}?filter=${encodeURIComponent('title eq "Kept"')}`, items];
  const answers = [];
  for (const path of [...paths, ...lists]) {
    const { status, body, text, headers } = await call("GET", path);
    answers.push({ path, status, body: body ?? text, tag: lists.includes(path) ? null : headers.get("ETag") });
  }
  const headers = { "Idempotency-Key": "change" };
  const repeated = await call("PATCH", `${items}/${kept}`, { body: passwordTo("two"), headers });
  const resolved = await call("POST", "/v1/resolve", { body: { references: [`op://${vault}/kept/password`] } });
  const urls = (await admin("GET", hooks)).body.map(({ url }: { url: string }) => url);
  return { answers, repeated: repeated.body, resolved: resolved.body, urls };
}
