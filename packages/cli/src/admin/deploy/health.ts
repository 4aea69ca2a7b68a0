import { setTimeout as wait } from "node:timers/promises";
import type { Health } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import { printable } from "../../frame/printable.ts";

/** Asks a deployment how it is (contract 13). */

const QUESTION_INTERVAL_MS = 2_000;

/**
 * Waits until /health shows the version with no dependency in ERROR: a new address and a new version take a while to reach every location.
 * Out: the warnings. Errors: throws a CliError that says what /health answered last, after `patience` milliseconds.
 */
export async function waitForHealth(url: string, version: string, patience: number): Promise<string[]> {
  const until = Date.now() + patience;
  while (true) {
    const [fault, warnings] = await ask(url, version);
    if (fault === undefined) return warnings;
    if (Date.now() + QUESTION_INTERVAL_MS > until)
      throw new CliError(`${url}/health: ${printable(fault)}`, {
        exit: "unavailable",
        hint: "Correct this and start again. `npx wrangler rollback` deploys the version before.",
      });
    await wait(QUESTION_INTERVAL_MS);
  }
}

async function ask(url: string, version: string): Promise<[fault: string | undefined, warnings: string[]]> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
  if (!response) return ["no answer", []];
  const health = (await response.json().catch(() => undefined)) as Partial<Health> | undefined;
  const { dependencies } = health ?? {};
  if (!response.ok || !dependencies) return [`status ${response.status}`, []];
  if (health?.version !== version) return [`version ${health?.version} answers, and ${version} was deployed`, []];
  const those = (wanted: string) =>
    dependencies.filter(({ status }) => status === wanted).map(({ service, message }) => `${service}: ${message}`);
  const errors = those("ERROR");
  return [errors.length > 0 ? errors.join("; ") : undefined, those("WARNING").map(printable)];
}
