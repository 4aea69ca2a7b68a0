import * as z from "zod";
import { parseId } from "../../model/ids.ts";
import type { ResealInput } from "../../model/job.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { createRequestId } from "../../requests/request-id.ts";
import { checkRootKeys } from "../../store/keys/root-keys.ts";
import { hasVault } from "../../store/vaults/vaults.ts";
import type { Call } from "../route.ts";
import { canonicalId } from "./verify.ts";

/** What a request for a job of reseal has, and what has to exist (contract 20.21). */

const keyId = z.string("is not a string").transform((id, context): string => {
  const parsed = parseId(id);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: "custom", message: "is not a UUID or its 26 characters of base32" });
  return z.NEVER;
});

interface Wanted {
  readonly vault: string;
  /** The id of the keys that are to be replaced. */
  readonly dataKey: string;
}

export const resealRequest = {
  input: z.object({ vault: canonicalId, dataKey: keyId }),
  /** Errors: `vault_not_found`; `misconfigured`, when the root keys are not those of the database. */
  async prepare({ store: { db, keyring } }: Call, { vault, dataKey }: Wanted): Promise<Result<ResealInput>> {
    const checked = await checkRootKeys(db, keyring);
    if (!checked.ok) return checked;
    const exists = await hasVault(db, vault);
    if (!exists.ok) return exists;
    if (!exists.value) return fail("vault_not_found", vault);
    return ok({ vault, dataKeyId: dataKey, operation: createRequestId(Date.now()) });
  },
};
