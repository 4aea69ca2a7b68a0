import type { Presented, Schemas } from "../../api/answer.ts";
import { writeId } from "../../model/dialect.ts";
import { type KeyedFile, addressOf } from "../../model/file.ts";
import { LIMITS } from "../../model/limits.ts";
import { parseBoolean, parseVersionOf } from "../../model/query.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { admitBytes } from "../../work.ts";
import { loadContent } from "../../store/contents/download.ts";
import { loadFile, loadFiles } from "../../store/items/files.ts";
import { loadFileOfVersion } from "../../store/items/versions.ts";
import { sendContent } from "../download.ts";
import { brokenHeader } from "../headers.ts";
import { presentFile } from "../present/items.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";
import { filesOf } from "../../store/buckets/r2.ts";

/** Endpoints 7 to 9: the Files of an Item, and their contents. */

/** `inline_files`, or `inline_content`: whether the answer contains the contents. Errors: 400. */
const parseInline = ({ query: { rest } }: ParseCall): Result<boolean> => parseBoolean(rest, "inline_files", "inline_content");

export const listFiles = serveBy({
  parse: parseInline,
  async handle(call: Call, inline: boolean): ReplyTo<"listFiles"> {
    const { store, claims: token, vault, item } = call;
    const files = await loadFiles(store, { token, vault }, item);
    if (!files.ok) return files;
    const presented = await presentFiles(call, files.value.files, inline);
    const { brokenFiles } = files.value;
    return presented.ok
      ? ok({ json: presented.value, headers: brokenHeader(brokenFiles?.length), broken: brokenFiles !== undefined })
      : presented;
  },
});

export const getFile = serveBy({
  parse: parseInline,
  async handle(call: Call, inline: boolean): ReplyTo<"getFile"> {
    const { store, claims: token, vault, item } = call;
    const file = await loadFile(store, { token, vault }, item, call.file);
    if (!file.ok) return file;
    const presented = await presentFiles(call, [file.value], inline);
    return presented.ok ? ok({ json: presented.value[0]! }) : presented;
  },
});

/** The content of a File of the current version, or of the version that the query names (contract 14.5). */
export const getFileContent = serveBy({
  parse: ({ query }: ParseCall): Result<number | undefined> => parseVersionOf(query.rest, "version"),
  async handle(call: Call, version: number | undefined): ReplyTo<"getFileContent"> {
    const { store, claims: token, vault, item } = call;
    const access = { token, vault };
    const file = await (version === undefined
      ? loadFile(store, access, item, call.file)
      : loadFileOfVersion(store, access, item, version, call.file));
    const reply = await sendFile(call, file);
    return reply.ok && version !== undefined ? ok({ ...reply.value, version }) : reply;
  },
});

/** Sends the content of a File that was looked for. */
export async function sendFile({ c, vault, item }: Call, file: Result<KeyedFile>): Promise<Result<Reply<never>>> {
  if (!file.ok) return file;
  const response = await sendContent(c, addressOf(vault, item, file.value), file.value);
  return response.ok ? ok({ response: response.value }) : response;
}

/** Fails with `too_large_to_inline`, `rate`, and as the load of a content. */
async function presentFiles(
  call: Call,
  files: readonly KeyedFile[],
  inline: boolean,
): Promise<Result<Presented<Schemas.File>[]>> {
  const { c, store, dialect, vault, item } = call;
  const large = inline ? firstTooLarge(files, store.settings.inlineLimit) : undefined;
  if (large) return fail("too_large_to_inline", writeId(large.id, dialect));
  const admitted = admitBytes(store.share, inline ? files.reduce((sum, { size }) => sum + size, 0) : 0);
  if (!admitted.ok) return admitted;
  const presented: Presented<Schemas.File>[] = [];
  for (const file of files) {
    const content = inline ? await loadContent(filesOf(c.env), addressOf(vault, item, file), file) : ok(undefined);
    if (!content.ok) return content;
    presented.push(presentFile(file, { id: item, vault }, dialect, content.value));
  }
  return ok(presented);
}

/** The first File that is larger than `limit`, or with which the sum of the sizes exceeds its own limit (contract 9.9). */
function firstTooLarge(files: readonly KeyedFile[], limit: number): KeyedFile | undefined {
  let sum = 0;
  return files.find(({ size }) => {
    sum += size;
    return size > limit || sum > LIMITS.inlined;
  });
}
