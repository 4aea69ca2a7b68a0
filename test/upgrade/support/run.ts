import { type Answer, ask, askAll, type StoredRequest } from "./ask.ts";
import { askConditions, type Conditions } from "./conditions.ts";
import { askHistory, type History } from "./history.ts";
import type { Release } from "./release.ts";
import { type Build, startBuild } from "./worker.ts";
import { writeAll, type Written } from "./writes.ts";

/** One run of a Worker on the storage of a release: reads, writes, and reads again. */

export interface Run {
  readonly health: Answer;
  /** The answers to the repeated writes. */
  readonly repeated: readonly Answer[];
  /** The answer to a kept Idempotency-Key with another body. */
  readonly keyConflict: Answer;
  /** The answers to the reads, after the repeated writes and before the new ones. */
  readonly reads: Readonly<Record<string, Answer>>;
  /** The answer to a read with the token that has expired. */
  readonly expired: Answer;
  readonly activity: readonly unknown[];
  readonly tokens: readonly unknown[];
  readonly conditions: Conditions;
  readonly written: Written;
  /** Only of the current Worker. */
  readonly history: History | undefined;
  /** The reads after the writes: those of `Plan.again`, and those of the records that were written. */
  readonly readsAfterWrites: {
    readonly requests: Readonly<Record<string, StoredRequest>>;
    readonly answers: Readonly<Record<string, Answer>>;
  };
}

export interface Plan {
  readonly release: Release;
  readonly build: Omit<Build, "secrets">;
  /** The name of the Worker in the data that it writes. */
  readonly writer: string;
  /** Writes that already took effect, and are sent again. */
  readonly repeat: readonly StoredRequest[];
  readonly reads: Readonly<Record<string, StoredRequest>>;
  /** The reads that are sent again after the writes. */
  readonly again: Readonly<Record<string, StoredRequest>>;
  /** Whether it is the current Worker. */
  readonly isCurrent?: boolean;
}

/** Starts the Worker, sends every request, and stops it. */
export async function runWorker({ release, build, writer, repeat, reads, again, isCurrent }: Plan): Promise<Run> {
  const { sample, secrets } = release;
  const { base, stop } = await startBuild({ ...build, secrets });
  const list = async (path: string, token: string) => {
    const { body } = await ask(base, { path, token });
    return Array.isArray(body) ? (body as unknown[]) : [];
  };
  try {
    const health = await ask(base, { path: "/health", token: "" });
    const repeated: Answer[] = [];
    for (const request of repeat) repeated.push(await ask(base, request));
    const keyConflict = await ask(base, { ...sample.repeatable[0]!.request, body: { category: "LOGIN", title: "Another" } });
    const answers = await askAll(base, reads);
    const expired = await ask(base, { path: "/v1/vaults", token: sample.tokens.expired.token });
    const activity = await list("/v1/activity?limit=1000", sample.tokens.reader.token);
    const tokens = await list("/v1/admin/tokens", secrets.ADMIN_TOKEN);
    const conditions = await askConditions(base, release);
    const written = await writeAll(base, release, writer);
    const history = isCurrent ? await askHistory(base, release) : undefined;
    const requests = { ...again, ...written.reads };
    const readsAfterWrites = { requests, answers: await askAll(base, requests) };
    return {
      health,
      repeated,
      keyConflict,
      reads: answers,
      expired,
      activity,
      tokens,
      conditions,
      written,
      history,
      readsAfterWrites,
    };
  } finally {
    await stop();
  }
}

/** The answers of a Worker that does not serve the schema of its storage. */
export interface Refusals {
  readonly health: Answer;
  /** The answers to reads and writes, by their names. */
  readonly answers: Readonly<Record<string, Answer>>;
}

/** Starts the Worker, sends reads and writes that it has to refuse, and stops it. */
export async function runRefusing({ release, build, repeat, reads }: Omit<Plan, "writer" | "again">): Promise<Refusals> {
  const { secrets, sample } = release;
  const { base, stop } = await startBuild({ ...build, secrets });
  const admin = { path: "/v1/admin/vaults", token: secrets.ADMIN_TOKEN };
  const writes = repeat.map((request, index) => [`write ${index}`, { ...request, headers: {} }] as const);
  const others = {
    "the activity": { path: "/v1/activity", token: sample.tokens.reader.token },
    "the vaults of the admin": admin,
    "a new vault": { ...admin, method: "POST", body: { name: "new" } },
  };
  try {
    const health = await ask(base, { path: "/health", token: "" });
    return { health, answers: await askAll(base, { ...reads, ...Object.fromEntries(writes), ...others }) };
  } finally {
    await stop();
  }
}
