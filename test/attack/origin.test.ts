import { describe, expect, it } from "vitest";
import { backUp } from "../support/backup.ts";
import { inOperator, JOBS, serviceWith } from "../support/jobs.ts";
import { admin, makeVault } from "../support/service.ts";

describe("the state of a job", () => {
  it("has no name and no address of a client in clear: the log seals them (13.5)", async () => {
    const vault = await makeVault();
    await backUp(vault);
    const service = await serviceWith({});
    const headers = { "User-Agent": "canary-agent/1", "CF-Connecting-IP": "203.0.113.77" };
    const started = await admin("POST", JOBS, { body: { kind: "restore", vault, dryRun: true }, headers, env: service.bindings });
    expect(started.status).toBe(202);
    const rows = await inOperator(service, (sql) => JSON.stringify(sql.exec("SELECT * FROM jobs").toArray()));
    expect(rows).not.toMatch(/canary-agent|203\.0\.113\.77/);
  });
});
