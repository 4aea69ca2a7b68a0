import { env } from "cloudflare:workers";
import type { Checked, Finding } from "../../../src/model/finding.ts";
import { addChecked, NOTHING_CHECKED } from "../../../src/model/finding.ts";
import { admin, type Request_ } from "../../support/service.ts";

/** Runs `verify` as the command line does: slice after slice. */

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
  readonly slices: number;
}

export async function verifyAll(options: Options = {}, bindings: Request_["env"] = {}): Promise<Run> {
  const findings: Finding[] = [];
  let checked = NOTHING_CHECKED;
  let cursor: string | null | undefined;
  let slices = 0;
  for (; cursor !== null; slices++) {
    const body = { ...options, ...(cursor !== undefined && { cursor }) };
    const reply = await admin("POST", "/v1/admin/verify", { body, env: bindings });
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    findings.push(...(reply.body.findings as Finding[]));
    checked = addChecked(checked, reply.body.checked as Checked);
    cursor = reply.body.next as string | null;
  }
  return { findings, checked, slices };
}

/** What a finding names, for comparisons. */
export const namesOf = ({ findings }: Run) => findings.map(({ detail: _detail, repairable: _repairable, ...rest }) => rest);

/** One statement on D1. */
export const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();
