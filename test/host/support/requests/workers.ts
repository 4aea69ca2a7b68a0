import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { inject } from "vitest";
import { databaseIn } from "../../../sdk/support/host.ts";

/** Stands for `cloudflare:workers` and `cloudflare:test` in tests that only send requests. They read what the server has stored. */

const data = inject("data");
const FILES = join(data, "files");

export const env = {
  ...inject("secrets"),
  DB: databaseIn(data),
  FILES: {
    list: async ({ prefix }: { readonly prefix: string }) => ({
      objects: globSync(`${prefix}**`, { cwd: FILES, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => ({ key: relative(FILES, join(parentPath, name)) })),
    }),
  },
};

export const createExecutionContext = (): object => ({});
