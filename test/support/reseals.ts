import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { VaultKey } from "../../src/crypto/vault-keys.ts";
import { RESEAL_SLICE_MAX } from "../../src/store/rotation/reseal-rows.ts";
import { RUN_MAX } from "../../src/vault/reseal.ts";
import { wrapDatabase } from "./bindings.ts";
import { newestKeyOf, openUnder, sealedTexts } from "./sealed-columns.ts";

/** The slices of a reseal in tests, what happens between them, and what has to hold in the end. */

/** The sizes of the service. */
const SLICE = { ...RESEAL_SLICE_MAX };
const RUN = { ...RUN_MAX };

/** Lets a request do so many slices of so many rows, by default of the service's number of rows. The first request begins in place of one. */
export function inSlicesOf(rows = SLICE.rows, slices = 2): void {
  RESEAL_SLICE_MAX.rows = rows;
  RUN_MAX.slices = slices;
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
    Object.assign(RUN_MAX, RUN);
    vi.restoreAllMocks();
  });
}

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
