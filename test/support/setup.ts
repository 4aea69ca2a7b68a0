import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, expect, vi } from "vitest";
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

// vitest waits at the end of a file until each line of the console was sent. The pool sends a line of another Durable Object, of an alarm or
// of the queue only with the next message, and the last line of a file has none: the file would never end (cloudflare/workers-sdk#15719).
const global = globalThis as {
  flushing?: unknown;
  __vitest_worker__?: { rpc: { getCountOfFailedTests: () => Promise<number> } };
};
// oxlint-disable-next-line no-underscore-dangle -- vitest's name
global.flushing ??= setInterval(() => void global.__vitest_worker__?.rpc.getCountOfFailedTests().catch(() => undefined), 500);

// The clock of a test that failed must not be that of the next file.
afterAll(() => void vi.useRealTimers());

// Compares bytes natively: `toEqual` reads them element by element, which takes a second for a few MiB.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
    return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
  },
]);
