import * as z from "zod";
import type { ResealInput } from "../../model/job.ts";
import { ok, type Result } from "../../model/result.ts";
import { anyId } from "../../model/text.ts";
import { requireVault } from "../../store/vaults/vaults.ts";
import type { Call } from "../route.ts";
import { canonicalId } from "./job-attributes.ts";

/** What a request for a job of reseal has, and what has to exist (contract 20.21). */

export const resealRequest = {
  seals: true,
  input: z.object({ vault: canonicalId, dataKey: anyId }),
  /** Errors: `vault_not_found`. */
  async prepare({ store: { db } }: Call, input: ResealInput): Promise<Result<ResealInput>> {
    const exists = await requireVault(db, input.vault);
    return exists.ok ? ok(input) : exists;
  },
};
