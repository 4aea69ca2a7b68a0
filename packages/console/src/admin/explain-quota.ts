import { isErrorKind } from "../failures/error-kind.ts";
import { InputError } from "../ui/form.tsx";

/** Throws the failure of a request. The quotas of people and issuers are none of a vault, which the general message is about. */
export function explainQuota(error: unknown): never {
  throw isErrorKind(error, "quota") ? new InputError(`${error.message}.`) : error;
}
