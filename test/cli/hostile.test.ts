import { describe, expect, it } from "vitest";
import { runHere } from "./support/here.ts";
import { HOSTILE, OBEYED, startHostileService } from "./support/hostile.ts";
import { ASKING, lineOf } from "./support/lines.ts";

/** What a service writes into its answers never reaches a terminal as what a terminal obeys, and never begins a line of a message. */

/** Their stdout is a value or a content, as it is stored (docs/cli.md). */
const AS_STORED = new Set(["read", "inject", "file get"]);

const ID = "11111111-1111-4111-8111-111111111111";

const MODES = {
  "in its answers": undefined,
  "in its refusals": { status: 400, methods: /./ },
  "in what it does not find": { status: 404, methods: /./ },
  "in its refusals of writes": { status: 409, methods: /POST|PUT|PATCH|DELETE/ },
};

describe.each(ASKING.map((command) => [command.name, command] as const))("%s", (name, command) => {
  const ways = command.options["dry-run"] ? [[], ["--dry-run"]] : [[]];
  it.each(Object.entries(MODES))("prints what a service writes %s escaped", async (_, refuses) => {
    const tokens = { ITEM_VAULT_TOKEN: "token", ITEM_VAULT_ADMIN_TOKEN: "admin" };
    const env = { ...tokens, ITEM_VAULT_HOST: await startHostileService(refuses), ITEM_VAULT_TIMEOUT: "120" };
    // By its name, most of what the service has is not found: it is archived, ended or there twice.
    const lines = [lineOf(command, HOSTILE), lineOf(command, HOSTILE, ID)];
    for (const { args, input, env: more } of lines) {
      for (const way of ways) {
        const { stdout, stderr } = await runHere([...args, ...way], { input, env: { ...env, ...more } });
        expect(AS_STORED.has(name) ? "" : stdout).not.toMatch(OBEYED);
        expect(stderr).not.toMatch(OBEYED);
        expect(stderr).not.toMatch(/unexpected|^forged/m);
      }
    }
  });
});
