import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";

// The files share two workers; each file begins with empty storage: no row, no object, no Durable Object of another one.
await reset();
await applyD1Migrations(env.DB, (env as unknown as { SCHEMA: D1Migration[] }).SCHEMA);

// Compares bytes natively: `toEqual` reads them element by element, which takes a second for a few MiB.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
    return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
  },
]);
