import * as z from "zod";
import { fingerprint } from "../../crypto/seal.ts";
import { writeId } from "../../model/dialect.ts";
import { describe, type Names } from "../../model/failure.ts";
import type { KeyedFile } from "../../model/file.ts";
import { LIMITS } from "../../model/limits.ts";
import { parseReference, type Reference } from "../../model/reference.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { explain, text } from "../../model/text.ts";
import { idIn, type Resolved } from "../../store/resolve-search.ts";
import { resolveReferences } from "../../store/resolve.ts";
import { hasTag } from "../conditions.ts";
import { createInliner, type InlineContent } from "../inline-contents.ts";
import { limitToken } from "../rate-limit.ts";
import type { Call, Entry, ParseCall, Reply } from "../route.ts";
import { readableVaults } from "./vaults.ts";

/** Endpoint 19: resolves many references in one request (contract 16). */

const input = z.object({
  references: z.array(text(LIMITS.reference)).max(LIMITS.references, `has more than ${LIMITS.references} entries`),
});

/** A text of the request, and the reference that it is, if it is one. */
interface Asked {
  readonly text: string;
  readonly parsed: Result<Reference>;
}

/** A text of the request, and what it stands for. */
interface Answered extends Asked {
  readonly resolved: Result<Resolved>;
}

export const resolve = {
  parse({ body }: ParseCall): Result<readonly Asked[]> {
    const given = input.safeParse(body!.json);
    if (!given.success) return invalid(explain(given.error, "the body"));
    return ok(given.data.references.map((one) => ({ text: one, parsed: parseReference(one) })));
  },

  async handle(call: Call, asked: readonly Asked[]): Promise<Result<Reply>> {
    const { c, store, actor, claims: token, dialect } = call;
    // The request has counted as one already.
    const limited = asked.length > 1 && (await limitToken(c, actor, store.now, asked.length - 1));
    if (limited) return limited;
    const references = asked.flatMap(({ parsed }) => (parsed.ok ? [parsed.value] : []));
    const found = await resolveReferences(store, { token, vaults: readableVaults(call), dialect }, references);
    if (!found.ok) return found;
    const values = found.value.values();
    const answers = asked.map((one): Answered => ({ ...one, resolved: one.parsed.ok ? values.next().value! : one.parsed }));
    const inline = createInliner(call);
    const entries = await Promise.all(answers.map((answer) => present(call, answer, inline)));
    // A code changes while its Item stays the same.
    const tag = references.some(({ attribute }) => attribute === "otp") ? undefined : await tagOf(call, answers, entries);
    const headers: Record<string, string> = tag === undefined ? {} : { ETag: tag };
    const unchanged = tag !== undefined && hasTag(c.req.header("If-None-Match"), tag);
    const response = unchanged ? c.body(null, 304, headers) : c.json({ values: entries }, 200, headers);
    return ok({ response, entries: [...readsOf(answers, entries), ...denialsOf(call, answers)] });
  },
};

type Presented = { readonly reference: string } & (InlineContent | { readonly status: number; readonly message: string });

async function present(
  { dialect }: Call,
  { text: reference, parsed, resolved }: Answered,
  inline: ReturnType<typeof createInliner>,
): Promise<Presented> {
  const refused = (result: Result<unknown> & { ok: false }, names: Names = {}): Presented => {
    const { status, message } = describe(result.failure, names);
    return { reference, status, message };
  };
  if (!resolved.ok) return refused(resolved);
  const { value, vault, id } = resolved.value;
  if (typeof value === "string") return { reference, value };
  const { attribute } = parsed.ok ? parsed.value : { attribute: "value" as const };
  const content = await FILE_ATTRIBUTES[attribute](value, () => inline(vault, id, value));
  const [vaultId, itemId, file] = [vault, id, value.id].map((one) => writeId(one, dialect));
  return content.ok ? { reference, ...content.value } : refused(content, { vault: vaultId, item: itemId, file });
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

/** The tag contains no value: proxies may log it, and a hash of a short value can be guessed. */
async function tagOf({ dialect }: Call, answers: readonly Answered[], entries: readonly Presented[]): Promise<string> {
  const states = answers.map(({ text: reference, resolved }, place) => {
    const entry = entries[place]!;
    const { vault, id, version, nonce } = resolved.ok ? resolved.value : {};
    return [reference, "status" in entry ? entry.status : 200, vault, id, version, nonce];
  });
  return `"${await fingerprint(dialect, JSON.stringify(states))}"`;
}

/** One entry per vault, with the Items of which the answer contains values. */
function readsOf(answers: readonly Answered[], entries: readonly Presented[]): Entry[] {
  const read = answers.flatMap(({ resolved }, place) => (resolved.ok && "value" in entries[place]! ? [resolved.value] : []));
  return [...Map.groupBy(read, ({ vault }) => vault)].map(([vault, states]) => {
    const items = new Map(states.map(({ id, version }) => [id, { id, version }]));
    return { vault, result: "SUCCESS", items: [...items.values()] };
  });
}

/** One entry for each vault that a reference names by its id and that the token does not read. */
function denialsOf(call: Call, answers: readonly Answered[]): Entry[] {
  const readable = readableVaults(call);
  const ids = answers.flatMap(({ parsed, resolved }) => (parsed.ok && !resolved.ok ? (idIn(parsed.value.vault) ?? []) : []));
  return [...new Set(ids)].filter((id) => !readable.includes(id)).map((vault) => ({ vault, result: "DENY", items: [] }));
}
