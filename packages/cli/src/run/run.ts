import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "@item-vault/client";
import { withFallback } from "../fallback/resolve.ts";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { resolveAll } from "../read/resolve.ts";
import { type Child, forwardSignals, NotStarted, startChild } from "./child.ts";
import { type Environment, loadEnvironment, referencesIn, renderEnvironment, variablesWith } from "./environment.ts";
import { isMasked } from "./mask.ts";
import type { RUN_OPTIONS } from "./table.ts";
import { watchValues } from "./watch.ts";

/** `run`: starts a command with secrets in its environment, and returns its exit code. */

type RunCall = Call<typeof RUN_OPTIONS>;
type Secrets = ReadonlyMap<string, string>;

export async function run(call: RunCall): Promise<number> {
  const { io, options } = call;
  const environment = await loadEnvironment(io.env, options.env ?? [], sayTo(io));
  const references = referencesIn(environment);
  // Without references the command needs no service.
  const client = references.length === 0 ? undefined : await call.client();
  const values: Secrets = client
    ? await withFallback(call, references, () => resolveAll(client, references))
    : new Map<string, string>();
  const resolve = (signal: AbortSignal) => resolveAll(client!, references, { signal });
  return options.watch && client
    ? runAgainOnChange(call, environment, { client, values, resolve })
    : runOnce(call, environment, values);
}

async function runOnce(call: RunCall, environment: Environment, values: Secrets): Promise<number> {
  let child: Child | undefined;
  const removeListeners = forwardSignals(call.io, () => child);
  try {
    child = start(call, environment, values);
    return await exitCode(call, child);
  } finally {
    removeListeners();
  }
}

interface Watched {
  readonly client: Client;
  readonly values: Secrets;
  readonly resolve: (signal: AbortSignal) => Promise<Map<string, string>>;
}

/**
 * Runs the command again after a change. If the service refuses the token, the command continues with its values. A command that continues
 * after an interruption is still watched.
 */
async function runAgainOnChange(call: RunCall, environment: Environment, { client, values, resolve }: Watched): Promise<number> {
  const watching = new AbortController();
  const say = sayTo(call.io);
  let child = start(call, environment, values);
  let newest = values;
  let [interruptedAt, isDue, isRestart] = [-Infinity, false, false];
  const onChange = async (next: Secrets) => {
    newest = next;
    if (isDue) return; // a second SIGTERM would interrupt the command's own ending
    isDue = true;
    // A command that was interrupted just now may be about to end, and is not started again then.
    await wait(Math.max(0, interruptedAt + KILL_DELAY_MS - performance.now()), undefined, { signal: watching.signal });
    isRestart = true;
    say("a secret has changed: restarting the command");
    await stop(child);
  };
  void watchValues(client, {
    values,
    resolve,
    onChange: (next) => void onChange(next).catch(() => undefined), // the command has ended
    say,
    signal: watching.signal,
  });
  const removeListeners = forwardSignals(
    call.io,
    () => child,
    () => void ([interruptedAt, isRestart] = [performance.now(), false]),
  );
  try {
    while (true) {
      const code = await exitCode(call, child);
      if (!isRestart) return code;
      child = start(call, environment, newest);
      [isDue, isRestart] = [false, false];
    }
  } finally {
    watching.abort();
    removeListeners();
  }
}

/** Writes a line to stderr, without control characters of a name or a path. */
const sayTo =
  ({ stderr }: Call["io"]) =>
  (text: string) =>
    void write(stderr, `item-vault: ${printable(text)}\n`);

function start({ io, rest, options }: RunCall, environment: Environment, values: Secrets): Child {
  const env = renderEnvironment(environment, values);
  if (options["no-masking"]) return startChild(rest, env, undefined, io);
  const exposed = variablesWith(environment, values, (value) => value !== "" && !isMasked(value));
  if (exposed.length > 0) sayTo(io)(`not masked, because the values are short or common: ${exposed.join(", ")}`);
  const masked = [...values.values()].filter(isMasked);
  return startChild(rest, env, masked.length > 0 ? masked : undefined, io);
}

async function exitCode({ io }: RunCall, child: Child): Promise<number> {
  return child.ended.catch(async (error: unknown) => {
    if (!(error instanceof NotStarted)) throw error;
    await write(io.stderr, `item-vault: ${error.message}\n`);
    return error.code;
  });
}

const KILL_DELAY_MS = 10_000; // between SIGTERM and SIGKILL

async function stop(child: Child): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_DELAY_MS);
  await child.ended.catch(() => undefined);
  clearTimeout(timer);
}
