import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { VaultKey } from "../../src/crypto/vault-keys.ts";
import { RESEAL_SLICE_MAX } from "../../src/store/rotation/reseal-rows.ts";
import type { VaultCoordinator } from "../../src/index.ts";
import { fail } from "../../src/model/result.ts";
import type { ResealRequest } from "../../src/vault/reseal.ts";
import { sleep, wrapDatabase } from "./bindings.ts";
import { JOBS, operatorOf, serviceWith, startJob, tryAgain } from "./jobs.ts";
import { dataKeyOf, newestKeyOf, openUnder, sealedTexts } from "./sealed-columns.ts";
import { admin } from "./service.ts";

/** The jobs that reseal vaults in tests, what happens between their steps, and what has to hold in the end. */

/** The sizes of the service. */
const SLICE = { ...RESEAL_SLICE_MAX };

/** How many steps `resealOnce` makes. */
const STEPS = 5;
let stepsOfOnce = STEPS;

/** Lets a slice have so many rows, by default those of the service, and `resealOnce` make so many steps. */
export function inSlicesOf(rows = SLICE.rows, steps = 2): void {
  RESEAL_SLICE_MAX.rows = rows;
  stepsOfOnce = steps;
}

/** Calls `inSlicesOf` before each test of the file, where it gets a number, and takes it back after each. What fails is not printed. */
export function resealInSlices(rows?: number): void {
  beforeEach(() => {
    if (rows !== undefined) inSlicesOf(rows);
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
  });
  afterEach(() => {
    Object.assign(RESEAL_SLICE_MAX, SLICE);
    stepsOfOnce = STEPS;
    vi.restoreAllMocks();
  });
}

/** What a job of reseal has reached. */
export interface Reached {
  readonly done: boolean;
  /** Why it has failed, or its last step. */
  readonly reason: string | undefined;
  readonly steps: number;
  /** The Items of the vault, and what was passed. */
  readonly of: number;
  readonly items: number;
  readonly rows: number;
  readonly unreadable: number;
}

export const resealOf = (vault: string, dataKey: string) => ({ kind: "reseal", vault, dataKey });

/** What happens while a job reseals a vault. */
export interface Events {
  /** Called before each step. */
  readonly before?: () => unknown;
  /** Called after each step that the coordinator has carried out. In: its number, from 1. */
  readonly after?: (step: number) => unknown;
  /** After so many steps, and after one that fails, the job is paused and left. */
  readonly most?: number;
}

/** Coordinators with these events. Out: also the number of the steps that they have carried out. */
export function steppedCoordinators({ before, after, most = Infinity }: Events, coordinators = env.COORDINATOR) {
  let steps = 0;
  const getByName = (name: string) => ({
    verify: (...request: Parameters<VaultCoordinator["verify"]>) => coordinators.getByName(name).verify(...request),
    async reseal(request: ResealRequest) {
      if (steps >= most) return fail("unavailable");
      await before?.();
      const answer = await coordinators.getByName(name).reseal(request);
      if (answer.ok) steps++;
      if (answer.ok) await after?.(steps);
      return answer;
    },
  });
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"], steps: () => steps };
}

/** Replaces the keys of this id by a job of an operator of its own. In: the bindings of the operator. */
export async function resealBy(
  vault: string,
  dataKey: string,
  bindings: Partial<Env> = {},
  events: Events = {},
): Promise<Reached> {
  const { COORDINATOR, steps } = steppedCoordinators(events, bindings.COORDINATOR);
  const service = await serviceWith({}, { ...bindings, COORDINATOR });
  const path = `${JOBS}/${await startJob(service, resealOf(vault, dataKey))}`;
  for (;;) {
    const { state, reason, progress, result, endedAt } = (await admin("GET", path, { env: service.bindings })).body;
    const isOver = endedAt !== undefined || (reason !== undefined && events.most !== undefined);
    if (isOver) {
      await admin("POST", `${path}/pause`, { env: service.bindings });
      const stopped = steps() === events.most && state !== "failed";
      return {
        done: state === "done",
        reason: stopped ? undefined : reason,
        steps: steps(),
        of: progress.total,
        ...result?.resealed,
      };
    }
    if (reason !== undefined) await tryAgain(service);
    else await runDurableObjectAlarm(operatorOf(service)); // also where a test has set the clock forward
    await sleep(1);
  }
}

/** Lets a job make some steps. The first one reads, and begins where the vault has these keys. */
export const resealOnce = (vault: string, dataKey: string, bindings: Partial<Env> = {}): Promise<Reached> =>
  resealBy(vault, dataKey, bindings, { most: stepsOfOnce });

/** Replaces the keys of a vault. */
export const resealFully = async (vault: string, bindings: Partial<Env> = {}): Promise<Reached> =>
  resealBy(vault, await dataKeyOf(vault), bindings);

/** Expects that no text of a vault opens under an earlier key, and each one under the newest, but for so many that do not open. */
export async function expectNothingUnder(old: VaultKey, vault: string, unreadable = 0): Promise<void> {
  const texts = await sealedTexts(vault);
  expect(await openUnder(old, texts)).toEqual([]);
  expect(await openUnder(await newestKeyOf(vault), texts)).toHaveLength(texts.length - unreadable);
}

/** Runs `step` once, before the first D1 call that writes by a statement that the pattern matches. */
export function interrupting(pattern: RegExp, step: () => Promise<unknown>): D1Database {
  let state: "waiting" | "next" | "done" = "waiting";
  return wrapDatabase(env.DB, {
    rewrite: (sql) => {
      if (state === "waiting" && pattern.test(sql)) state = "next";
      return sql;
    },
    before: async () => {
      if (state !== "next") return;
      state = "done";
      await step();
    },
  });
}
