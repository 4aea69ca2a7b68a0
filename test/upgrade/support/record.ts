import { setTimeout as sleep } from "node:timers/promises";
import { askAll, need } from "./ask.ts";
import { readsOf } from "./reads.ts";
import type { Release } from "./release.ts";
import { writeSample } from "./sample.ts";
import { type Build, startBuild } from "./worker.ts";

/** Lets a Worker write the sample that is stored with a release, and records its answers. */

const SECRETS = {
  ADMIN_TOKEN: "admin-token-of-the-upgrade-test-0",
  METRICS_TOKEN: "metrics-token-of-the-upgrade-test",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};

/** The longest time until the queue's consumer has inserted the last log entry, in milliseconds: `max_batch_timeout`, and a margin. */
const QUEUE_DELAY = 30_000;

interface Entry {
  readonly result: string;
  readonly actor: { readonly jti?: string };
}

/** In: the folder of a build, and that of its state, which is empty; the version and the commit of the release. */
export async function recordRelease(
  { folder, state }: Pick<Build, "folder" | "state">,
  of: Pick<Release, "version" | "commit">,
): Promise<Release> {
  const worker = await startBuild({ folder, state, secrets: SECRETS, clockOffset: 0 });
  try {
    await worker.migrate();
    const sample = await writeSample(worker.base, SECRETS.ADMIN_TOKEN);
    const activity = await loggedBy(worker.base, sample.tokens.reader.token, sample.tokens.writer.id);
    const tokens = await need<Release["tokens"]>(worker.base, { path: "/v1/admin/tokens", token: SECRETS.ADMIN_TOKEN });
    const requests = readsOf(sample);
    const answers = await askAll(worker.base, requests);
    const reads = Object.fromEntries(
      Object.entries(requests).map(([name, request]) => [name, { request, answer: answers[name]! }]),
    );
    return { ...of, keptAt: Date.now(), secrets: SECRETS, sample, reads, activity, tokens };
  } finally {
    await worker.stop();
  }
}

/** The log, after the queue has delivered the denial of a token, which is the last entry of the sample. */
async function loggedBy(base: string, token: string, denied: string): Promise<readonly Entry[]> {
  for (const until = Date.now() + QUEUE_DELAY; Date.now() < until; await sleep(100)) {
    const entries = await need<readonly Entry[]>(base, { path: "/v1/activity?limit=1000", token });
    if (entries.some(({ actor, result }) => result !== "SUCCESS" && actor.jti === denied)) return entries;
  }
  throw new Error("The queue has not delivered the entries of the log");
}
