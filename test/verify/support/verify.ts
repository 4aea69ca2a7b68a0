import type { Checked, Finding } from "../../../src/model/finding.ts";
import { findingsOf, runJob, serviceWith } from "../../support/jobs.ts";
import type { Request_ } from "../../support/service.ts";

/** Runs `verify` as a job. */

export interface Options {
  readonly vault?: string;
  readonly quick?: boolean;
  readonly repair?: boolean;
  readonly acceptLoss?: boolean;
  readonly backup?: boolean;
}

export interface Run {
  readonly findings: readonly Finding[];
  readonly checked: Checked;
}

export async function verifyAll(options: Options = {}, bindings: Request_["env"] = {}): Promise<Run> {
  const service = await serviceWith(bindings);
  const job = await runJob(service, { kind: "verify", ...options });
  if (job.state !== "done") throw new Error(JSON.stringify(job));
  return { findings: await findingsOf(service, job.id), checked: job.result.checked };
}

/** What a finding names, for comparisons. */
export const namesOf = ({ findings }: Run) => findings.map(({ detail: _detail, repairable: _repairable, ...rest }) => rest);

export { runSql as run } from "../../support/sql.ts";
