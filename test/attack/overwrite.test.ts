import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { backUp } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { inOperator, serviceWith, startJob, endOfJob } from "../support/jobs.ts";
import { client, LOGIN, makeToken, makeVault } from "../support/service.ts";

it("a restore with overwrite replaces a vault that is written to while the restore copies contents (21.23)", async () => {
  const vault = await makeVault();
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const write = (title: string) => call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, title } });
  await write("first");
  await backUp(vault);
  await write("second");
  let jobs = 0;
  const DB = wrapDatabase(env.DB, {
    // A writer that never pauses: one write between the comparison and the deletion of the row is enough.
    before: async () => void (jobs < 30 && (await write(`during ${jobs++}`))),
  });
  const service = await serviceWith({}, { DB });
  const id = await startJob(service, { kind: "restore", vault, overwrite: true });
  expect(await endOfJob(service, id)).toMatchObject({ state: "done", reason: undefined });
  expect(await inOperator(service, (sql) => sql.exec("SELECT 1 FROM jobs").toArray().length)).toBe(1);
});
