import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { startOnHost } from "../../../sdk/support/host.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the server. */
    readonly data: string;
  }
}

/** Starts `item-vault server` once for the tests that only send requests. Returns the function that stops it. */
export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  const { secrets } = config.provide as ProvidedContext;
  const { url, data, close } = await startOnHost(secrets, ["--origin", "https://vault.test", "--trust-proxy", "1"]);
  provide("url", url);
  provide("data", data);
  return close;
}
