import type * as z from "zod/mini";
import { newIssuer } from "../../api/bodies.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { NEVER_SECONDS } from "../../model/time.ts";
import { onceByDefault, presetOf } from "../../model/workload-presets.ts";
import { requireRoom } from "../../store/health/room.ts";
import { loadOfKind } from "../../store/tokens/issuers-and-rules.ts";
import { insertNamed } from "../../store/tokens/named-rows.ts";
import { endOne, getOne } from "../administrators.ts";
import { adminEntry } from "../audit.ts";
import { newId } from "../new-id.ts";
import { presentRow } from "../present/tokens.ts";
import { presentIssuer } from "../present/workloads.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/issuers (contract 27.1, 27.2): the issuers whose workload tokens can be exchanged. */

type NewIssuer = z.output<ReturnType<typeof newIssuer>>;

const ISSUER = { resource: "ISSUER" } as const;

export const createIssuer = serveBy({
  parse: ({ body, store }: ParseCall): Result<NewIssuer> =>
    parseValue(newIssuer(store.settings.allowedOrigins), body!.json, "the issuer"),
  async handle(call: Call, input: NewIssuer): ReplyTo<"createIssuer"> {
    const { c, store } = call;
    const room = await requireRoom(store);
    if (!room.ok) return room;
    const { name, issuer: url, preset = presetOf(url), once = onceByDefault(preset), jwks: keys, managedBy } = input;
    const id = await newId(call, "new issuer");
    const times = { issuedAt: Math.floor(store.now / 1000), expiresAt: NEVER_SECONDS };
    const claims = {
      id,
      name,
      dialect: "uuid",
      vaults: {},
      ...times,
      kind: "issuer",
      issuer: { url, preset, once, keys },
      managedBy,
    } as const;
    const added = await insertNamed(store, claims, adminEntry(ISSUER, c, "CREATE", id));
    return added.ok ? ok({ json: presentIssuer(added.value), made: id }) : added;
  },
});

export const listIssuers = async ({ store }: Call): ReplyTo<"listIssuers"> =>
  map(await loadOfKind(store, "issuer"), (issuers) => ({ json: issuers.map(presentRow(presentIssuer)) }));

export const getIssuer = getOne("issuer", presentIssuer);

export const deleteIssuer = endOne("issuer");
