import * as z from "zod/mini";
import { addByteMethods } from "../../../packages/host/src/platform/bytes.ts";
import { addMapMethods } from "../../../packages/host/src/platform/maps.ts";
import {
  addReaderMethods,
  DigestStream,
  FixedLengthStream,
  IdentityTransformStream,
} from "../../../packages/host/src/platform/streams.ts";
import { subtle } from "../../../packages/host/src/platform/web-crypto.ts";
import type { Clock, Timer } from "./clock.ts";
import { currentServing, keepServing } from "./serving.ts";

/** The globals that the service uses, replaced for a run: time and randomness depend on the seed alone. */

// The modules of the service use these methods as soon as they are loaded. So this file is loaded first: by vitest.config.ts, or main.ts.
addByteMethods();
addMapMethods();
addReaderMethods();
// workerd forbids the compilation of code at run time, which zod would do here.
z.config({ jitless: true });

const isTimer = (timer: unknown): timer is Timer => typeof timer === "object" && timer !== null && "order" in timer;

/** Installs the globals of a run. Out: a function that restores those of Node. In: random numbers from 0 to 1. */
export function installGlobals({ after, now }: Clock, random: () => number): () => void {
  const replaced: readonly (readonly [owner: object, properties: object])[] = [
    [
      globalThis,
      {
        setTimeout: (run: () => void, milliseconds = 0) => after(milliseconds, keepServing(run)),
        clearTimeout: (timer: unknown) => void (isTimer(timer) && (timer.run = undefined)),
        crypto: seededCrypto(random),
        FixedLengthStream,
        IdentityTransformStream,
        Cloudflare: { compatibilityFlags: {} },
      },
    ],
    [Date, { now: () => now() + (currentServing()?.clock.ahead ?? 0) }],
    [Math, { random }],
    // The service reports each of the thousands of faults, and nobody reads their stacks.
    [console, { warn: () => undefined }],
    [Error, { stackTraceLimit: 0 }],
  ];
  const restore = replaced.flatMap(([owner, properties]) =>
    Object.entries(properties).map(([name, value]) => {
      const before = Object.getOwnPropertyDescriptor(owner, name);
      Object.defineProperty(owner, name, { value, configurable: true, writable: true });
      return () => (before ? Object.defineProperty(owner, name, before) : Reflect.deleteProperty(owner, name));
    }),
  );
  return () => {
    for (const one of restore) one();
  };
}

function seededCrypto(random: () => number) {
  const getRandomValues = (bytes: Uint8Array): Uint8Array => {
    for (let at = 0; at < bytes.length; at += 4) {
      let word = (random() * 4294967296) >>> 0;
      for (let n = at; n < at + 4 && n < bytes.length; n++, word >>>= 8) bytes[n] = word & 255;
    }
    return bytes;
  };
  const randomUUID = (): string => {
    const bytes = getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6]! & 15) | 64; // RFC 9562 section 5.4
    bytes[8] = (bytes[8]! & 63) | 128;
    return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  return { subtle, getRandomValues, randomUUID, DigestStream };
}
