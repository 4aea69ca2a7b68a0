import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { startReceiver } from "../../../scripts/webhook-receiver.ts";
import { startWorker } from "../../sdk/support/worker.ts";
import type { Browser, Found } from "./chromium.ts";
import { unpackChromium } from "./unpack.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly browser: Browser;
  }
}

const prepare = (found: Found): Promise<Browser> =>
  "packaged" in found ? unpackChromium(found.packaged) : Promise.resolve({ ...found, env: {} });

/** Starts the Worker once for all browser tests, and unpacks the browser. Returns the function that stops the Worker. */
export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  const { secrets, found } = config.provide as ProvidedContext;
  const receiver = await startReceiver();
  const [{ url, close }, browser] = await Promise.all([startWorker(secrets, { WEBHOOK_TEST_ORIGIN: receiver }), prepare(found)]);
  provide("url", url);
  provide("receiver", receiver);
  provide("browser", browser);
  return close;
}
