import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { Secrets } from "../../src/index.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { type Permission, makeToken } from "./service.ts";

/** Service bindings to the entrypoint `Secrets`, as other Workers have them. */

/** What another Worker sees of a refusal. */
export interface Refused {
  readonly message: string;
  readonly kind: unknown;
  readonly status: unknown;
}

/** The binding of another Worker with these props: its calls are RPC. */
export const bind = (props?: unknown): Pick<Secrets, "get" | "resolve"> =>
  (exports as unknown as { Secrets: (options: object) => Secrets }).Secrets(props === undefined ? {} : { props });

/**
 * Calls the entrypoint without RPC, with bindings that replace its own. Out: what the call returned, after the flush of its log entries,
 * which does not wait until its window ends.
 */
export async function callWith<T>(props: unknown, bindings: Partial<Env>, call: (secrets: Secrets) => Promise<T>): Promise<T> {
  const context = createExecutionContext();
  Object.defineProperty(context, "props", { value: props });
  const bound = { ...env, ...bindings };
  try {
    return await call(new Secrets(context, bound));
  } finally {
    await flushBatch(bound);
  }
}

/** Issues a token for service bindings. */
export const makeBindingToken = (
  vaults: Record<string, Permission>,
  options: Parameters<typeof makeToken>[1] = {},
): ReturnType<typeof makeToken> => makeToken(vaults, { ...options, binding: true });

/** Out: what the other Worker sees of the error of a call. Errors: throws when the call was not refused. */
export const refusalOf = (call: Promise<unknown>): Promise<Refused> =>
  call.then(
    (value) => {
      throw new Error(`The call was not refused: ${JSON.stringify(value)}`);
    },
    (error: Error & Refused): Refused => {
      const { message, kind, status } = error;
      return { message, kind, status };
    },
  );
