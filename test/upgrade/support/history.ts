import { type Answer, ask, type StoredRequest } from "./ask.ts";
import type { Release } from "./release.ts";

/** What the current Worker keeps of the data of a release when it writes to it, and a token that holds no text. */

export interface History {
  /** The numbers of the versions of an Item of the release, after writes of this version. */
  readonly versions: readonly { readonly version: number; readonly current: boolean }[];
  /** The version that the release wrote last, and the version of a File's Item before this version replaced a content. */
  readonly earlier: Answer;
  readonly content: Answer;
  /** A request for a token for service bindings, with an Idempotency-Key, and its answer. */
  readonly bound: { readonly request: StoredRequest; readonly answer: Answer };
}

export async function askHistory(base: string, { reads, sample, secrets }: Release): Promise<History> {
  const { token } = sample.tokens.editor;
  const items = `/v1/vaults/${sample.vaults[0]}/items`;
  const [types, full] = [`${items}/${sample.items.types}`, `${items}/${sample.items.full}`];
  const get = (path: string): Promise<Answer> => ask(base, { path, token });
  const versionOf = (name: string) => (reads[`${name} (uuid)`]!.answer.body as { version: number }).version;
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
  };
}
