import { resolveRequest } from "../api/bodies.ts";
import type { VerifiedClaims } from "../crypto/token.ts";
import { admitBytes } from "../memory-budget.ts";
import { writeId } from "../model/dialect.ts";
import { describe, type Description } from "../model/failure.ts";
import { type KeyedFile, addressOf } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import { vaultsWith } from "../model/permission.ts";
import { parseReference, type Reference } from "../model/reference.ts";
import { fail, invalid, map, ok, type Result } from "../model/result.ts";
import { parseValue } from "../model/text.ts";
import { filesOf } from "../store/buckets/r2.ts";
import { loadContent } from "../store/contents/download.ts";
import type { Store } from "../store/d1/database.ts";
import { resolveReferences } from "../store/references/resolve.ts";
import { idIn, type Resolved } from "../store/references/search.ts";
import type { Entry } from "./read-entries.ts";

/** References and their values (contract 16), for `POST /resolve` and for service bindings (contract 18). */

/** A text of the request, and the reference that it is, if it is one. */
export interface Asked {
  readonly text: string;
  readonly parsed: Result<Reference>;
}

/** Parses `{"references": […]}`. Fails with 400 for another shape. */
export function parseReferences(body: unknown): Result<readonly Asked[]> {
  const request = parseValue(resolveRequest, body, "the body");
  return request.ok ? ok(request.value.references.map((one) => ({ text: one, parsed: parseReference(one) }))) : request;
}

export interface Reader {
  readonly env: Env;
  readonly store: Store;
  readonly claims: VerifiedClaims;
}

/** A text of the request, the Item and field that it names, and the value or refusal. */
export interface Answered extends Asked {
  readonly resolved: Result<Resolved>;
  readonly value: InlineContent | Description;
}

/** Returns the answers, in the order of the references. Fails as a whole with `unauthorized` (revoked), `unavailable` or `rate`. */
export async function answerReferences(reader: Reader, asked: readonly Asked[]): Promise<Result<readonly Answered[]>> {
  const { store, claims } = reader;
  const references = asked.flatMap(({ parsed }) => (parsed.ok ? [parsed.value] : []));
  const reading = { token: claims, vaults: vaultsWith("r", claims), scope: claims.vaults, dialect: claims.dialect };
  const found = await resolveReferences(store, reading, references);
  if (!found.ok) return found;
  const inlined = found.value.map((one) => (one.ok && typeof one.value.value !== "string" ? one.value.value.size : 0));
  const sizes = inlined.reduce((sum, size) => sum + size, 0);
  const admitted = admitBytes(store.share, Math.min(sizes, LIMITS.inlined));
  if (!admitted.ok) return admitted;
  const values = found.value.values();
  const inline = createInliner(reader);
  return ok(
    await Promise.all(
      asked.map(async (one): Promise<Answered> => {
        const resolved = one.parsed.ok ? values.next().value! : one.parsed;
        return { ...one, resolved, value: await valueOf(reader, one.parsed, resolved, inline) };
      }),
    ),
  );
}

async function valueOf(
  { claims: { dialect } }: Reader,
  parsed: Result<Reference>,
  resolved: Result<Resolved>,
  inline: ReturnType<typeof createInliner>,
): Promise<Answered["value"]> {
  if (!resolved.ok) return describe(resolved.failure);
  const { value, vault, id } = resolved.value;
  if (typeof value === "string") return { value };
  const { attribute } = parsed.ok ? parsed.value : { attribute: "value" as const };
  const content = await FILE_ATTRIBUTES[attribute](value, () => inline(vault, id, value));
  const [vaultId, itemId, file] = [vault, id, value.id].map((one) => writeId(one, dialect));
  return content.ok ? content.value : describe(content.failure, { vault: vaultId, item: itemId, file });
}

type FileAttribute = (
  file: KeyedFile,
  load: () => Promise<Result<InlineContent>>,
) => Promise<Result<InlineContent>> | Result<InlineContent>;

const FILE_ATTRIBUTES: Readonly<Record<Reference["attribute"], FileAttribute>> = {
  value: (_, load) => load(),
  type: () => ok({ value: "FILE" }),
  label: ({ name }) => ok({ value: name }),
  otp: () => invalid("a File has no one-time password"),
};

/** The answer for one reference (contract 16.1). */
export type Presented = { readonly reference: string } & (InlineContent | Pick<Description, "status" | "message">);

export const presentAnswer = ({ text: reference, value }: Answered): Presented =>
  "value" in value ? { reference, ...value } : { reference, status: value.status, message: value.message };

/** Returns the log entries (contract 16.12): for each vault, the Items whose values are in the answer, or the denial. */
export const entriesOf = (claims: VerifiedClaims, answers: readonly Answered[]): Entry[] => [
  ...readsOf(answers),
  ...denialsOf(claims, answers),
];

/** Returns one entry for each vault. */
function readsOf(answers: readonly Answered[]): Entry[] {
  const read = answers.flatMap(({ resolved, value }) => (resolved.ok && "value" in value ? [resolved.value] : []));
  return [...Map.groupBy(read, ({ vault }) => vault)].map(([vault, states]) => {
    const items = new Map(states.map(({ id, version }) => [id, { id, version }]));
    return { vault, result: "SUCCESS", items: [...items.values()] };
  });
}

/** Returns one entry for each vault that a reference names by id and that the token cannot read. */
function denialsOf(claims: VerifiedClaims, answers: readonly Answered[]): Entry[] {
  const readable = vaultsWith("r", claims);
  const ids = answers.flatMap(({ parsed, resolved }) => (parsed.ok && !resolved.ok ? (idIn(parsed.value.vault) ?? []) : []));
  return [...new Set(ids)].filter((id) => !readable.includes(id)).map((vault) => ({ vault, result: "DENY", items: [] }));
}

/** The contents of Files in the answer to references (contract 16.8). */

/** A content as a JSON string. */
interface InlineContent {
  readonly value: string;
  /** Absent: the value is the text itself. */
  readonly encoding?: "base64";
}

/**
 * Returns a function that loads contents, each once, within the limits of one answer. It must be called for one File after
 * another. It fails with `too_large_to_inline`, and as loading a content does.
 */
function createInliner({ env, store }: Reader): (vault: string, item: string, file: KeyedFile) => Promise<Result<InlineContent>> {
  const contents = new Map<string, Promise<Result<Uint8Array>>>();
  let sum = 0;
  return async (vault, item, file) => {
    // Before the first await: the Files are counted in the order of the calls.
    if (file.size > store.settings.inlineLimit || sum + file.size > LIMITS.inlined) return fail("too_large_to_inline");
    sum += file.size;
    const content = contents.get(file.generation) ?? loadContent(filesOf(env), addressOf(vault, item, file), file);
    contents.set(file.generation, content);
    return map(await content, toText);
  };
}

function toText(bytes: Uint8Array): InlineContent {
  try {
    return { value: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { value: bytes.toBase64(), encoding: "base64" };
  }
}
