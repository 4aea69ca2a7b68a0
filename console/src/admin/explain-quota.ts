import { ItemVaultError } from "@item-vault/client";
import { InputError } from "../ui/form.tsx";

/** Throws the failure of a request. The quotas of people and issuers are none of a vault, which the general message is about. */
export function explainQuota(error: unknown): never {
  throw error instanceof ItemVaultError && error.kind === "quota" ? new InputError(`${error.message}.`) : error;
}
