import { APPLY_MIGRATIONS } from "../../model/failure.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { CREATE_AGAIN, loadSchema, SCHEMA } from "../d1/schema.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";

/** The checks of /health on the storage. Each error is `unavailable` or `schema`, with a detail in words. */

export async function probeDatabase(db: D1Database): Promise<Result<undefined>> {
  const answer = await runBatch<[unknown]>(db, db.prepare("SELECT 1"));
  return answer.ok ? ok(undefined) : { ...answer, ...fail("unavailable", "The database does not answer") };
}

/** Returns a warning if the schema is supported and is not the newest known to this version. */
export async function probeSchema(db: D1Database): Promise<Result<string | undefined>> {
  const schema = await loadSchema(db);
  if (!schema.ok) return { ...schema, ...fail("unavailable", "The database does not answer") };
  const { version, missing, foreign } = schema.value;
  const found = `The schema has version ${version}`;
  if (version < SCHEMA.oldest)
    return fail("schema", `${found}, and ${SCHEMA.oldest} is the oldest that is served: ${APPLY_MIGRATIONS}`);
  if (version < SCHEMA.newest) return ok(`${found}, and ${SCHEMA.newest} is the newest that is known: ${APPLY_MIGRATIONS}`);
  if (version > SCHEMA.newest) return ok(`${found}, which is newer than this version of the service`);
  const names = missing.map(({ type, name }) => `the ${type} ${name}`).join(", ");
  const lacks = names === "" ? [] : [`The database lacks ${names}: ${CREATE_AGAIN}`];
  const has = foreign.length === 0 ? [] : [`The database has ${foreign.length} unknown or altered triggers`];
  return lacks.length + has.length === 0 ? ok(undefined) : fail("schema", [...lacks, ...has].join(". "));
}

export async function probeBucket(bucket: Bucket): Promise<Result<undefined>> {
  const answer = await tryBucket(() => bucket.head("health")); // there is no such object: every key has slashes
  return answer.ok ? ok(undefined) : { ...answer, ...fail("unavailable", "The bucket does not answer") };
}
