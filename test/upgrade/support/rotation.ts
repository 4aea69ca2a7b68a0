import { randomBytes } from "node:crypto";
import { type Answer, ask, askAll, type StoredRequest } from "./ask.ts";
import type { Release } from "./release.ts";
import { type Build, startBuild } from "./worker.ts";
import { writeAll, type Written } from "./writes.ts";

/** A rotation of the root key by the current Worker, and then the kept Worker on what it has rewrapped. */

export interface Rotation {
  /** What the last slice answered. */
  readonly rewrapped: Answer;
  /** What the kept Worker answers to the kept reads, and to writes. */
  readonly reads: Readonly<Record<string, Answer>>;
  readonly written: Written;
}

interface Plan {
  readonly release: Release;
  readonly current: Omit<Build, "secrets">;
  readonly kept: Omit<Build, "secrets">;
  readonly reads: Readonly<Record<string, StoredRequest>>;
}

/** Both Workers have the key of the release and another one, which is active. */
export async function rotate({ release, current, kept, reads }: Plan): Promise<Rotation> {
  const { keys } = JSON.parse(release.secrets.ROOT_KEYS) as { keys: Record<string, string> };
  const ROOT_KEYS = JSON.stringify({ active: "k2", keys: { ...keys, k2: randomBytes(32).toString("base64") } });
  const secrets = { ...release.secrets, ROOT_KEYS };
  const first = await startBuild({ ...current, secrets });
  const rewrapped = await rewrap(first.base, secrets.ADMIN_TOKEN).finally(() => first.stop());
  const second = await startBuild({ ...kept, secrets });
  try {
    return { rewrapped, reads: await askAll(second.base, reads), written: await writeAll(second.base, release, "kept") };
  } finally {
    await second.stop();
  }
}

/** Out: the job that has ended. */
async function rewrap(base: string, token: string): Promise<Answer> {
  const path = "/v1/admin/jobs";
  const { body } = await ask(base, { method: "POST", path, token, body: { kind: "rewrap" } });
  return ask(base, { method: "GET", path: `${path}/${(body as { id: string }).id}?wait=9`, token });
}
