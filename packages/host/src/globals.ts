import { registerHooks } from "node:module";
import { addByteMethods } from "./platform/bytes.ts";
import { addMapMethods } from "./platform/maps.ts";
import { HostResponse } from "./platform/response.ts";
import { addReaderMethods, DigestStream, FixedLengthStream, IdentityTransformStream } from "./platform/streams.ts";
import { subtle } from "./platform/web-crypto.ts";
import * as workers from "./platform/workers-module.ts";
import { LocalSocketPair } from "./web-sockets.ts";

/** Gives the Worker the globals and the module that workerd has and Node lacks, and its own `fetch`. */
export function installGlobals(fetcher: typeof fetch): void {
  registerWorkersModule();
  addByteMethods();
  addMapMethods();
  addReaderMethods();
  const own = crypto;
  define({
    fetch: fetcher,
    FixedLengthStream,
    IdentityTransformStream,
    Response: HostResponse,
    WebSocketPair: LocalSocketPair,
    Cloudflare: { compatibilityFlags: {} },
    crypto: {
      subtle,
      DigestStream,
      randomUUID: () => own.randomUUID(),
      getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => own.getRandomValues(bytes),
    },
  });
}

const define = (properties: object): void => {
  for (const [name, value] of Object.entries(properties))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
};

const WORKERS = Symbol.for("item-vault.workers-module");
const WORKERS_URL = "item-vault:workers";

/** Lets the Worker's code import `cloudflare:workers`. */
function registerWorkersModule(): void {
  Reflect.set(globalThis, WORKERS, workers);
  const source = `export const { ${Object.keys(workers).join(", ")} } = globalThis[Symbol.for("item-vault.workers-module")];`;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers" ? { url: WORKERS_URL, shortCircuit: true } : next(specifier, context),
    load: (url, context, next) => (url === WORKERS_URL ? { format: "module", source, shortCircuit: true } : next(url, context)),
  });
}
