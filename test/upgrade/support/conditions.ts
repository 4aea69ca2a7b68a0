import { JSON_TYPE } from "./ask.ts";
import type { Release } from "./release.ts";

/** Conditional requests for an Item of the sample. They change nothing. */

export interface Conditions {
  /** The header `ETag` of the Item. */
  readonly tag: string | null;
  /** The statuses of an empty PATCH, by its `If-Match`. */
  readonly ifMatch: {
    /** The tag of the answer. */
    readonly own: number;
    /** The version in quotes. */
    readonly version: number;
    /** A tag of the same form, with other random bytes. */
    readonly other: number;
  };
}

export async function askConditions(base: string, { sample }: Release): Promise<Conditions> {
  const url = `${base}/v1/vaults/${sample.vaults[0]}/items/${sample.items.full}`;
  const headers = { Authorization: `Bearer ${sample.tokens.editor.token}`, "Content-Type": JSON_TYPE };
  const read = await fetch(url, { headers });
  const tag = read.headers.get("ETag");
  const { version } = (await read.json()) as { version: number };
  const patch = async (ifMatch: string): Promise<number> => {
    const response = await fetch(url, { method: "PATCH", body: "[]", headers: { ...headers, "If-Match": ifMatch } });
    await response.arrayBuffer();
    return response.status;
  };
  const [own, bare, other] = [await patch(tag ?? ""), await patch(`"${version}"`), await patch(`"${version}-0123456789abcdef"`)];
  return { tag, ifMatch: { own, version: bare, other } };
}
