import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ItemVaultError } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";
import { interruptible } from "../frame/interrupt.ts";
import type { Io } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { tell } from "../output/format.ts";
import type { LoginRequest, LoginToken } from "./login-request.ts";

/** `login --device`: for a machine without a browser (RFC 8628). The person types a code into the console elsewhere. */

/** By how many seconds the pause grows when the service says `slow_down` (RFC 8628 section 3.5). */
const SLOWER_SECONDS = 5;

/**
 * Shows the code and asks until a person has confirmed. In: a client without a token, and what is asked for. Errors: throws a CliError when the code
 * has expired, and what the client throws.
 */
export async function loginOnDevice(io: Io, client: Client, request: LoginRequest): Promise<LoginToken> {
  const { data: device } = await client.call("POST /v1/login/device", { body: request });
  const { user_code, verification_uri, expires_in, interval } = device;
  await tell(io, `Open ${printable(verification_uri)} in a browser and type the code ${printable(user_code)}`);
  return interruptible(async (signal) => {
    const body = { device_code: device.device_code };
    const end = Date.now() + expires_in * 1000;
    for (let pause = interval; Date.now() < end;) {
      await sleep(pause * 1000, undefined, { signal }).catch(() => signal.throwIfAborted());
      try {
        return (await client.call("POST /v1/login/token", { body, signal })).data;
      } catch (error) {
        pause += pauseAfter(error);
      }
    }
    throw new CliError("Nobody has confirmed the login in time");
  });
}

/** How much longer the next pause is, in seconds. Errors: throws what ends the login. */
function pauseAfter(error: unknown): number {
  if (!(error instanceof ItemVaultError)) throw error;
  if (error.kind === "authorization_pending") return 0;
  // Also where the service does not answer: the code may still be confirmed.
  if (error.kind === "slow_down" || error.status === 0 || error.status === 429 || error.status >= 500) return SLOWER_SECONDS;
  throw error;
}
