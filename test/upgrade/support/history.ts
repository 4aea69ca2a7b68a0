import { type Answer, ask, type StoredRequest } from "./ask.ts";
import type { Release } from "./release.ts";

/**
 * What this version adds to the data of a release: versions from its next write on, the index of folded titles, and a token for
 * service bindings.
 */

export interface History {
  /** The numbers of the versions of an Item of the release, after writes of this version. */
  readonly versions: readonly { readonly version: number; readonly current: boolean }[];
  /** The version that the release wrote last, and the version of a File's Item before this version replaced a content. */
  readonly earlier: Answer;
  readonly content: Answer;
  /** The answers to writes while the cron trigger indexed the titles. */
  readonly writes: readonly Answer[];
  /** How many vaults are not indexed yet, before and after the run of the cron trigger. */
  readonly unindexed: readonly [before: number, after: number];
  /** The answer to references by name. */
  readonly references: Answer;
  /** A request for a token for service bindings, with an Idempotency-Key, and its answer. */
  readonly bound: { readonly request: StoredRequest; readonly answer: Answer };
}

const METRIC = /^item_vault_vaults_unindexed (\d+)$/m;

/** In: the secret METRICS_TOKEN of the Worker. */
export async function askHistory(base: string, { reads, sample, secrets }: Release, metricsToken: string): Promise<History> {
  const { token } = sample.tokens.editor;
  const items = `/v1/vaults/${sample.vaults[0]}/items`;
  const [types, full] = [`${items}/${sample.items.types}`, `${items}/${sample.items.full}`];
  const get = (path: string): Promise<Answer> => ask(base, { path, token });
  const versionOf = (name: string) => (reads[`${name} (uuid)`]!.answer.body as { version: number }).version;
  const unindexed = async (): Promise<number> => {
    const response = await fetch(`${base}/metrics`, { headers: { Authorization: `Bearer ${metricsToken}` } });
    return Number(METRIC.exec(await response.text())?.[1]);
  };

  const before = await unindexed();
  const patch: StoredRequest = { method: "PATCH", path: types, token, body: [{ op: "add", path: "/tags/-", value: "load" }] };
  const [writes] = await Promise.all([
    Promise.all(Array.from({ length: 4 }, () => ask(base, patch))),
    fetch(`${base}/cdn-cgi/handler/scheduled`),
  ]);
  // The second vault is called "Personal", and the title of its first Item is "PASSWORD".
  const resolve = { method: "POST", path: "/v1/resolve", token: sample.tokens.reader.token };
  const bound: StoredRequest = {
    method: "POST",
    path: "/v1/admin/tokens",
    token: secrets.ADMIN_TOKEN,
    headers: { "Idempotency-Key": "for-service-bindings" },
    body: { name: "bound", vaults: { [sample.vaults[0]]: "r" }, binding: true },
  };
  return {
    bound: { request: bound, answer: await ask(base, bound) },
    versions: (await get(`${types}/versions`)).body as History["versions"],
    earlier: await get(`${types}/versions/${versionOf("an Item with every type of field")}`),
    content: await get(`${full}/files/${sample.files.small}/content?version=${versionOf("an Item of several versions")}`),
    writes,
    unindexed: [before, await unindexed()],
    references: await ask(base, { ...resolve, body: { references: ["op://PERSONAL/password/Password"] } }),
  };
}
