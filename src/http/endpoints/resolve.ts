import { fingerprint } from "../../crypto/seal.ts";
import { hasTag } from "../../model/item.ts";
import { ok, type Result } from "../../model/result.ts";
import {
  answerReferences,
  type Answered,
  type Asked,
  entriesOf,
  parseReferences,
  presentAnswer,
} from "../../requests/references.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** Endpoint 19: resolves many references in one request (contract 16). */

export const resolveReferences = serveBy({
  parse: ({ body }: ParseCall): Result<readonly Asked[]> => parseReferences(body!.json),
  requests: (asked: readonly Asked[]): number => asked.length,

  async handle(call: Call, asked: readonly Asked[]): ReplyTo<"resolveReferences"> {
    const { c, store, claims } = call;
    const answered = await answerReferences({ env: c.env, store, claims }, asked);
    if (!answered.ok) return answered;
    const answers = answered.value;
    const tag = await tagOf(call, answers);
    const headers: Record<string, string> = tag === undefined ? {} : { ETag: tag };
    const unchanged = tag !== undefined && hasTag(c.req.header("If-None-Match"), tag);
    const content = unchanged
      ? { response: c.body(null, 304, headers) }
      : { json: { values: answers.map(presentAnswer) }, headers };
    const broken = answers.some(({ value }) => "kind" in value && value.kind === "integrity");
    return ok({ ...content, entries: entriesOf(claims, answers), broken });
  },
});

/**
 * Returns the entity tag. It contains no value: proxies may log it, and a hash of a short value can be guessed. Returns undefined
 * if a reference asks for a one-time password, which changes while its Item does not.
 */
async function tagOf({ dialect }: Call, answers: readonly Answered[]): Promise<string | undefined> {
  if (answers.some(({ parsed }) => parsed.ok && parsed.value.attribute === "otp")) return undefined;
  const states = answers.map(({ text: reference, resolved, value }) => {
    const { vault, id, version, nonce } = resolved.ok ? resolved.value : {};
    return [reference, "status" in value ? value.status : 200, vault, id, version, nonce];
  });
  return `"${await fingerprint(dialect, JSON.stringify(states))}"`;
}
