import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { buildPackages } from "../../../scripts/build/packages.ts";
import { startReceiver } from "../../../scripts/webhook-receiver.ts";
import { startWorker } from "./worker.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL on which the service listens, with a slash at the end. */
    readonly url: string;
    /** The origin of a receiver of webhooks (scripts/webhook-receiver.ts). */
    readonly receiver: string;
  }
}

/** A Worker that has service bindings to the service. It serves the paths below `/consumer/`. */
const CONSUMER = "test/sdk/support/consumer/wrangler.toml";

export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  const { secrets } = config.provide as ProvidedContext;
  const receiver = await startReceiver();
  const [{ url, close }] = await Promise.all([
    startWorker(secrets, { WEBHOOK_TEST_ORIGIN: receiver }, [CONSUMER]),
    buildPackages(),
  ]);
  provide("url", url);
  provide("receiver", receiver);
  return close;
}
