import type * as z from "zod/mini";
import { newRule } from "../../api/bodies.ts";
import type { Claims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { NEVER_SECONDS } from "../../model/time.ts";
import { failedClaims, ruleFault } from "../../model/workload-rule.ts";
import { requireRoom } from "../../store/health/room.ts";
import { loadOfKind, type OpenedRow, openRow } from "../../store/tokens/issuers-and-rules.ts";
import { insertToken } from "../../store/tokens/tokens.ts";
import { loadPastExchanges } from "../../store/workloads/exchanges.ts";
import { endOne, getOne, isAdministrator, refuseOfAdministrator } from "../administrators.ts";
import { adminEntry } from "../audit.ts";
import { newId } from "../new-id.ts";
import { presentRow } from "../present/tokens.ts";
import { presentPastExchange, presentRule } from "../present/workloads.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/**
 * /v1/admin/rules (contract 27.3 to 27.5, 25.13): the workload tokens that can be exchanged, the people who can sign in, and
 * their permissions.
 */

type NewRule = z.output<typeof newRule>;

const RULE = { resource: "RULE" } as const;

const parse = ({ body }: ParseCall): Result<NewRule> => parseValue(newRule, body!.json, "the rule");

/**
 * Returns the issuer of a rule. Fails with `issuer_not_found`, with `invalid` if the claims do not fit its preset, and as
 * decrypting its row does.
 */
async function issuerOf({ store }: Call, { issuer, ...rule }: NewRule): Promise<Result<OpenedRow>> {
  const opened = await openRow(store, "issuer", issuer);
  if (!opened.ok) return opened;
  // The preset of a platform does not tell which claims identify a person.
  const wrong = ruleFault(rule.people ? "generic" : opened.value.claims.issuer!.preset, rule);
  return wrong ? invalid(`${wrong.attribute}: ${wrong.fault}`) : opened;
}

export const createRule = serveBy({
  parse,
  async handle(call: Call, input: NewRule): ReplyTo<"createRule"> {
    const { c, store } = call;
    if (input.admin && isAdministrator(c)) return refuseOfAdministrator();
    const issuer = await issuerOf(call, input);
    if (!issuer.ok) return issuer;
    const room = await requireRoom(store);
    if (!room.ok) return room;
    const { row, claims: above } = issuer.value;
    const { name = above.name, vaults, dialect = "uuid", claims: needed, anyRepository, allowSubject, people, admin } = input;
    const id = await newId(call, "new rule");
    const claims: Claims = {
      id,
      name,
      dialect,
      vaults,
      issuedAt: Math.floor(store.now / 1000),
      expiresAt: NEVER_SECONDS,
      kind: "rule",
      admin: admin || undefined,
      managedBy: input.managedBy,
      descent: { ancestors: [row.id], issuedAt: above.issuedAt },
      rule: {
        claims: needed,
        anyRepository: anyRepository || undefined,
        allowSubject: allowSubject || undefined,
        lifetime: input.lifetime ?? (people ? LIMITS.ruleLifetime : LIMITS.ruleLifetimeDefault),
        people: people || undefined,
      },
    };
    const added = await insertToken(store, claims, adminEntry(RULE, c, "CREATE", id), { id: row.id });
    if (!added.ok && added.failure.kind === "unauthorized") return fail("issuer_not_found", row.id);
    return added.ok ? ok({ json: presentRule(added.value.claims), made: id }) : added;
  },
});

export const listRules = async ({ store }: Call): ReplyTo<"listRules"> =>
  map(await loadOfKind(store, "rule"), (rules) => ({ json: rules.map(presentRow(presentRule)) }));

export const getRule = getOne("rule", presentRule);

export const deleteRule = endOne("rule");

/** Reports which recent workload tokens a rule would match, without the values of their claims. */
export const testRule = serveBy({
  parse,
  async handle(call: Call, input: NewRule): ReplyTo<"testRule"> {
    const issuer = await issuerOf(call, input);
    if (!issuer.ok) return issuer;
    const { url } = issuer.value.claims.issuer!;
    const past = await loadPastExchanges(call.store, { id: issuer.value.row.id, url });
    if (!past.ok) return past;
    const entries = past.value.map(({ at, payload }) => presentPastExchange(at, url, failedClaims(input, payload)));
    return ok({ json: entries });
  },
});
