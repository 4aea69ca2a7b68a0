import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";

// The files share two workers, and each file begins with empty storage: D1, R2 and Durable Objects.
await reset();

/** The table in which wrangler records the migrations. */
const RECORDS = `CREATE TABLE d1_migrations
  (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;
const RECORD = "INSERT INTO d1_migrations (name) VALUES (?)";

const { DB, MIGRATIONS } = env as Env & { readonly MIGRATIONS: D1Migration[] };
const statements = MIGRATIONS.flatMap(({ name, queries }) =>
  queries.map((query) => DB.prepare(query)).concat(DB.prepare(RECORD).bind(name)),
);
// One batch, because `applyD1Migrations` waits for five D1 calls. It remains for a D1 that `reset` has not emptied.
await DB.batch([DB.prepare(RECORDS), ...statements]).catch(() => applyD1Migrations(DB, MIGRATIONS));

// Compares bytes natively: `toEqual` reads them element by element, which takes a second for a few MiB.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
    return a.length === b.length && crypto.subtle.timingSafeEqual(a, b);
  },
]);
