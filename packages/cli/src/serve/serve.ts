import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { LIMITS } from "@item-vault/model/limits";
import type { Call, Values } from "../frame/command.ts";
import { checkScheme, normalizedHost } from "../frame/connection.ts";
import { secondsOf } from "../frame/duration.ts";
import { CliError } from "../frame/failure.ts";
import { type Io } from "../frame/io.ts";
import { reasonOf } from "../frame/reasons.ts";
import { configPath, homeFolder } from "../frame/settings.ts";
import { tell } from "../output/format.ts";
import { createAttempts } from "./attempts.ts";
import { loadCopy } from "./copy-file.ts";
import { type Copy, createCopy } from "./copy.ts";
import { createCredentials, renewRegularly } from "./credentials.ts";
import { type Place, parseListen, urlOf } from "./listen.ts";
import { openLocalLog } from "./local-log.ts";
import { lockCopy } from "./lock.ts";
import { createPace } from "./pace.ts";
import { CONCURRENT_READS, READS_PER_SECOND } from "./read-vault.ts";
import { createSaver, saveRegularly } from "./save.ts";
import { createSealer } from "./seal.ts";
import { loadSecretFile } from "./secret-file.ts";
import { createLocalServer } from "./server.ts";
import { keepCopy } from "./sync.ts";
import type { SERVE_OPTIONS } from "./table.ts";
import { openTokens } from "./tokens.ts";

/** `serve`: runs until a signal. */

interface Settings {
  readonly place: Place;
  readonly copyPath: string;
  readonly keyPath: string;
  /** Milliseconds. */
  readonly maxAge: number;
  /** Bytes. */
  readonly fileBytesMax: number;
}

const AGE_MS_MIN = 2000;

export async function run(call: Call<typeof SERVE_OPTIONS>): Promise<void> {
  const { io, options } = call;
  const settings = parseSettings(io, options);
  const { maxAge } = settings;
  // Seconds that a request waits for events. A third of the age, so that an answer comes within the age.
  const wait = Math.max(1, Math.min(LIMITS.wait, Math.floor(maxAge / 3000)));
  const { service, isExchanged, issue } = await openTokens(call, wait);
  const host = normalizedHost(service.host);
  checkScheme(io.env, host, options); // also for the stored host
  const sealer = createSealer(await loadSecretFile(settings.keyPath), host);
  const secretPath = options["client-token-file"];
  const secret = secretPath === undefined ? undefined : await loadSecretFile(secretPath);
  const credentials = createCredentials(await issue());
  await mkdir(dirname(settings.copyPath), { recursive: true, mode: 0o700 }).catch(() => undefined); // the lock reports the fault
  const release = await lockCopy(settings.copyPath);
  const say = (message: string) => void tell(io, `item-vault: ${message}`);
  const stop = new AbortController();
  const copy = await openCopy(settings, sealer, say);
  const log = await openLocalLog(options.log, say);
  const saver = createSaver(copy, { path: settings.copyPath, lagMax: maxAge / 10, say });
  const attempts = createAttempts(say);
  const target = { host, timeout: service.timeout, token: () => credentials.current().token };
  const server = createLocalServer({ copy, target, secret, maxAge, log, saver, attempts });
  const url = await listen(server, settings.place);
  say(`listening on ${url}`);
  const reading = {
    pace: createPace({ concurrent: CONCURRENT_READS, perSecond: READS_PER_SECOND }),
    copy,
    fileBytesMax: settings.fileBytesMax,
    signal: stop.signal,
  };
  const kept = keepCopy({
    ...reading,
    credentials,
    wanted: options.vault ?? [],
    wait,
    attempts,
    say,
    onRefused: saver.remove,
  });
  const renewed = isExchanged
    ? renewRegularly({ credentials, issue: (signal) => issue(1, signal), say, signal: stop.signal })
    : undefined;
  const saved = saveRegularly(saver, Math.min(SAVE_INTERVAL_MS, maxAge / 10), stop.signal);
  try {
    await Promise.race([signalled(stop.signal), kept]);
  } finally {
    stop.abort();
    server.close();
    server.closeAllConnections();
    await Promise.all([saved, renewed]);
    await log.close();
    await release();
  }
}

const SAVE_INTERVAL_MS = 2000;

function parseSettings(io: Io, options: Values<typeof SERVE_OPTIONS>): Settings {
  const maxAge = secondsOf("--max-age", options["max-age"] ?? "1h") * 1000;
  if (maxAge < AGE_MS_MIN) throw new CliError("--max-age takes at least 2s", { exit: "usage" });
  const kib = options["max-file-size"] ?? "100";
  if (!/^\d{1,5}$/.test(kib)) throw new CliError("--max-file-size takes a number of KiB, for example 100", { exit: "usage" });
  const copyPath = resolve(options.copy ?? join(stateFolder(io.env), "serve.copy"));
  const keyPath = options["key-file"] ?? join(dirname(configPath(io.env)), "serve.key");
  const paths = [copyPath, keyPath, options["client-token-file"], options.log].flatMap((path) =>
    path === undefined ? [] : resolve(path),
  );
  if (new Set(paths).size < paths.length)
    throw new CliError("--copy, --key-file, --client-token-file and --log have to be different files", { exit: "usage" });
  return {
    place: parseListen(options.listen ?? "127.0.0.1:8080", options["allow-remote"]),
    copyPath,
    keyPath,
    maxAge,
    fileBytesMax: Number(kib) * 1024,
  };
}

/** A relative XDG_STATE_HOME is ignored (XDG Base Directory Specification). Throws a CliError without a home folder. */
function stateFolder({ XDG_STATE_HOME = "", HOME = homeFolder() }: Io["env"]): string {
  const folder = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, ".local", "state");
  if (!isAbsolute(folder)) throw new CliError("There is no home folder", { exit: "usage", hint: "Set --copy and --key-file." });
  return join(folder, "item-vault");
}

async function openCopy({ copyPath }: Settings, sealer: Copy["sealer"], say: (message: string) => void): Promise<Copy> {
  const loaded = await loadCopy(copyPath, sealer);
  if (loaded === "damaged") say("the stored copy is damaged, or of another key or host: it is read again from the service");
  return typeof loaded === "string" ? createCopy(sealer) : loaded;
}

/** Returns the URL. Throws a CliError if the address is in use or does not belong to this machine. */
async function listen(server: Server, place: Place): Promise<string> {
  server.listen(place);
  await once(server, "listening").catch((error: unknown) => {
    throw new CliError(`Cannot listen on ${urlOf(place)}: ${reasonOf(error)}`, {
      hint: "Name another address and port with --listen.",
    });
  });
  return urlOf({ ...place, port: (server.address() as AddressInfo).port });
}

/** Resolves at a signal that asks the process to end. A second one ends it at once. */
const signalled = (signal: AbortSignal): Promise<unknown> =>
  Promise.race(["SIGINT", "SIGTERM"].map((name) => once(process, name, { signal })));
