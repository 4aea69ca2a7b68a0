import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { migrate } from "./migrate.ts";

// The files share two workers, and each file begins with empty storage: D1, R2 and Durable Objects.
await reset();

// After a file with large objects, some of them were still there.
for (const bucket of [env.FILES, env.BACKUPS])
  for (let { objects } = await bucket.list(); objects.length > 0; { objects } = await bucket.list())
    await bucket.delete(objects.map(({ key }) => key));

await migrate();

// Compares bytes natively: `toEqual` reads them element by element, which takes a second for a few MiB.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
    return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
  },
]);
