import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { emptyBucket } from "./empty-bucket.ts";
import { emptyDatabase } from "./migrate.ts";

// The files share the workers, and each file begins with an empty D1 and empty buckets. `reset()` of cloudflare:test does not do this
// reliably: on a machine under load D1 sometimes kept its rows, and objects disappeared that a file had put after it. Durable Objects
// stay, because those of other vaults do not matter to a file; but there is one operator, whose jobs are those of the database of before.
await emptyDatabase();
await runInDurableObject(env.OPERATOR.getByName("operator"), (_, { storage }) => {
  for (const table of ["jobs", "job_findings"]) storage.sql.exec(`DELETE FROM ${table}`);
});

await emptyBucket(env.FILES);
await emptyBucket(env.BACKUPS);

// Compares bytes natively: `toEqual` reads them element by element, which takes a second for a few MiB.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
    return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
  },
]);
