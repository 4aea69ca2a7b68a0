import "./platform/bytes.ts";
import * as z from "zod";
import type { Clock, Timer } from "./clock.ts";
import { DigestStream, FixedLengthStream } from "./platform/streams.ts";
import { subtle } from "./platform/web-crypto.ts";

/** The globals that the service uses, replaced for a run: time and randomness depend on the seed alone. */

// workerd forbids the compilation of code at run time, which zod would do here.
z.config({ jitless: true });

const isTimer = (timer: unknown): timer is Timer => typeof timer === "object" && timer !== null && "order" in timer;

/** Installs the globals of a run. Out: a function that restores those of Node. In: random numbers from 0 to 1. */
export function installGlobals({ after, now }: Clock, random: () => number): () => void {
  const replaced = {
    setTimeout: (run: () => void, milliseconds = 0) => after(milliseconds, run),
    clearTimeout: (timer: unknown) => void (isTimer(timer) && (timer.run = undefined)),
    crypto: seededCrypto(random),
    FixedLengthStream,
  };
  const before = Object.keys(replaced).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  const [{ now: realNow }, { random: realRandom }] = [Date, Math];
  const console_ = { warn: console.warn, error: console.error };
  for (const [name, value] of Object.entries(replaced)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  Object.assign(Date, { now });
  Object.assign(Math, { random });
  Object.assign(console, { warn: process.env["TRACE"] ? console.log : () => undefined }); // the service reports every fault
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
    Object.assign(Date, { now: realNow });
    Object.assign(Math, { random: realRandom });
    Object.assign(console, console_);
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
