import * as z from "zod";
import { isId } from "../../model/ids.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { explain, optional } from "../../model/text.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { runSlices } from "../../store/verify/run.ts";
import type { Position, VerifyPorts } from "../../store/verify/stage.ts";
import { firstPosition, hasVault, planOf, STAGE_NAMES } from "../../store/verify/stages.ts";
import { sendVerifyRequest } from "../coordinator.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** POST /v1/admin/verify (contract 22): checks a slice of what is stored, and repairs it when told to. */

const flag = optional(z.boolean("is not a boolean"));
const vaultId = optional(z.string("is not a string").refine(isId, "is not a canonical UUID"));
const cursor = optional(z.string("is not a string"));
const input = z.object({ vault: vaultId, cursor, quick: flag, repair: flag, acceptLoss: flag, backup: flag }, "is not an object");

type Input = z.infer<typeof input>;

interface Wanted extends Input {
  readonly position: Position;
}

export const verify = {
  parse({ body }: ParseCall): Result<Wanted> {
    const parsed = input.safeParse(body!.json);
    if (!parsed.success) return invalid(explain(parsed.error, "the request"));
    const { vault, cursor: text, backup = false, repair = false, acceptLoss = false } = parsed.data;
    if (acceptLoss && (!repair || backup || vault === undefined))
      return invalid("acceptLoss: needs repair and vault, and not backup");
    const position = text === undefined ? firstPosition(vault, backup) : parsePosition(text);
    return position ? ok({ ...parsed.data, position }) : invalid("cursor: is none that an answer gave");
  },

  async handle(call: Call, wanted: Wanted): Promise<Result<Reply>> {
    const { vault, quick = false, repair = false, acceptLoss = false, backup = false, cursor: text, position } = wanted;
    const ports = portsOf(call, { quick, acceptLoss });
    if (!ports.ok) return ports;
    const exists = vault !== undefined && text === undefined ? await hasVault(ports.value, vault, backup) : ok(true);
    if (!exists.ok) return exists;
    if (!exists.value) return backup ? fail("backup_not_found") : fail("vault_not_found", vault);
    const slices = await runSlices(ports.value, planOf(ports.value, vault), position, repair);
    if (!slices.ok) return slices;
    const { findings, checked, next } = slices.value;
    const response = call.c.json({ findings, checked, next: next ? formatPosition(next) : null });
    // One entry for a run, and one for each slice that may have repaired something.
    const first = text === undefined ? "READ" : "UNLOGGED";
    return ok({ response, action: repair ? "UPDATE" : first, ...(vault !== undefined && { made: vault }) });
  },
};

/** Errors: `misconfigured`, when no bucket of backups is bound. */
function portsOf(call: Call, wanted: Pick<VerifyPorts, "quick" | "acceptLoss">): Result<VerifyPorts> {
  const store = withBuckets(call.store, call.c.env);
  if (!store.ok) return store;
  const { files, backups } = store.value;
  const coordinators = {
    pending: (vault: string, keys: readonly string[]) => sendVerifyRequest(call, vault, { kind: "pending", keys }),
    release: (vault: string, keys: readonly string[]) => sendVerifyRequest(call, vault, { kind: "release", keys }),
    recount: (vault: string) => sendVerifyRequest(call, vault, { kind: "recount", acceptLoss: wanted.acceptLoss }),
  };
  return ok({ store: call.store, files, backups, ...wanted, coordinators });
}

const OPAQUE = { alphabet: "base64url", omitPadding: true } as const;

/** A position as an opaque text. It has ids, numbers and keys of objects alone. */
const formatPosition = ({ stage, vault, after }: Position): string =>
  new TextEncoder().encode(JSON.stringify([stage, vault, ...after])).toBase64(OPAQUE);

const written = z.tuple([z.enum(STAGE_NAMES), z.string()], z.union([z.string(), z.number()]));

/** Out: `undefined` for a text that `formatPosition` does not give. */
function parsePosition(text: string): Position | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" })));
    const parsed = written.safeParse(json);
    if (!parsed.success) return undefined;
    const [stage, vault, ...after] = parsed.data;
    return { stage, vault, after };
  } catch {
    return undefined;
  }
}
