import { version } from "../../../package.json";
import type { AnswerBody, Schemas } from "../../api/answer.ts";
import { openKeyring } from "../../crypto/keyring.ts";
import { callOperator } from "../../durable-object-calls.ts";
import { logRefusal } from "../../log.ts";
import { fail, map, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseSettings, refusesNew } from "../../settings.ts";
import { probeBackups } from "../../store/backup/health-probe.ts";
import { backupsOf, filesOf } from "../../store/buckets/r2.ts";
import { withDeadline } from "../../store/d1/errors.ts";
import { databaseSize } from "../../store/d1/size.ts";
import { probeDamage } from "../../store/health/damages.ts";
import { NONE_ENDING, probeTokens } from "../../store/health/metrics.ts";
import { probeCapacity, probeBucket, probeDatabase, probeSchema } from "../../store/health/room.ts";
import { probeRootKeys } from "../../store/keys/key-states.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import type { Call, Content, ReplyTo } from "../route.ts";

/**
 * /heartbeat: the Worker runs. /health: the state of its dependencies. Neither needs a token (contract 13). /v1/admin/health has
 * the figures, which show how full the database is.
 */

export const getHeartbeat = async (c: Context): Promise<Result<Content<never>>> => ok({ response: c.text(".") });

interface Dependency {
  readonly service: string;
  /** The bindings and secrets that have to be present. */
  readonly needs: readonly (keyof Env)[];
  readonly message: string;
  /** Returns a report, a warning in words, or nothing. Fails with the fault as the detail. */
  readonly check: (env: Env) => Promise<Result<Checked>> | Result<Checked>;
  /** Returns the used bytes of a limit, after the check. Absent: the dependency has no limit. */
  readonly figures?: (env: Env) => Figures | undefined;
}

interface Figures {
  readonly used: number;
  readonly limit: number;
}

interface Report {
  readonly status: Schemas.Dependency["status"];
  readonly message: string;
  /** A second sentence of the message, for the admin only. */
  readonly detail?: string;
  /** Number of tokens or root keys in the warning. */
  readonly count?: number;
  /** Time of the last backup, in Unix milliseconds. */
  readonly at?: number | undefined;
}

type Checked = Report | string | undefined;

const bound = () => ok(undefined);

const DEPENDENCIES: readonly Dependency[] = [
  { service: "d1", needs: ["DB"], message: "The database responds", check: ({ DB }) => probeDatabase(DB) },
  { service: "schema", needs: ["DB"], message: "The schema is up to date", check: ({ DB }) => probeSchema(DB) },
  { service: "capacity", needs: ["DB"], message: "", check: checkCapacity, figures: capacityFigures },
  { service: "r2", needs: ["FILES"], message: "The bucket responds", check: (env) => probeBucket(filesOf(env)) },
  { service: "keys", needs: ["DB", "ROOT_KEYS"], message: "The root keys match the database", check: checkKeys },
  { service: "tokens", needs: ["DB"], message: NONE_ENDING, check: ({ DB }) => probeTokens(DB, Date.now()) },
  { service: "coordinator", needs: ["COORDINATOR"], message: "The Durable Objects are bound", check: bound },
  { service: "queue", needs: ["ACTIVITY"], message: "The queue of the activity log is bound", check: bound },
  {
    service: "rate limits",
    needs: ["TOKEN_RATE", "FAILURE_RATE", "DENIAL_RATE", "SESSION_RATE"],
    message: "The rate limiters are bound",
    check: bound,
  },
  { service: "backups", needs: ["DB"], message: "", check: checkBackups },
  {
    service: "data",
    needs: ["DB"],
    message: "No damaged data was found in the last 24 hours",
    check: ({ DB }) => probeDamage(DB, Date.now()),
  },
  { service: "jobs", needs: ["OPERATOR"], message: "No job has failed", check: checkJobs },
  { service: "settings", needs: [], message: "The variables are well-formed", check: checkSettings },
];

type HealthReport = AnswerBody<"getHealth">;
type AdminReport = AnswerBody<"getAdminHealth">;

/** A report as everybody and as the admin gets it. */
interface BothReports {
  readonly open: HealthReport;
  readonly admin: AdminReport;
}

interface CachedReport {
  /** Unix milliseconds. */
  readonly until: number;
  readonly report: Promise<BothReports>;
}

/** Time for which a report is reused. Otherwise every anonymous request would cost storage calls. */
const REPORT_REUSE_MS = 5_000;

/** By `env` object, which the platform keeps for the life of the isolate. */
const reports = new WeakMap<Env, CachedReport>();

/** Always 200: the body is the report. Each status is ACTIVE, WARNING or ERROR; no message contains key material. */
export const getHealth = async (c: Context): Promise<Result<Content<HealthReport>>> => ok({ json: (await cachedReport(c)).open });

export const getAdminHealth = async ({ c }: Call): ReplyTo<"getAdminHealth"> => ok({ json: (await cachedReport(c)).admin });

function cachedReport(c: Context): Promise<BothReports> {
  const now = Date.now();
  const cached = reports.get(c.env);
  if (cached && now < cached.until) return cached.report;
  const report = makeReport(c.env);
  // Stored before the await, so that concurrent requests share the report.
  reports.set(c.env, { until: now + REPORT_REUSE_MS, report });
  // Otherwise the calls would be cancelled with this request, and other requests would hang.
  c.executionCtx.waitUntil(report);
  return report;
}

async function makeReport(env: Env): Promise<BothReports> {
  const dependencies = await Promise.all(DEPENDENCIES.map((dependency) => probe(env, dependency)));
  const name = "Item Vault";
  return {
    open: { name, version, dependencies: dependencies.map(({ open }) => open) },
    admin: { name, version, dependencies: dependencies.map(({ admin }) => admin) },
  };
}

async function probe(env: Env, { service, needs, message, check, figures }: Dependency) {
  const missing = needs.filter((name) => !(env[name] as unknown)).map((name) => `${name} is missing`);
  const result = missing.length === 0 ? await check(env) : fail("misconfigured", missing.join("; "));
  if (!result.ok && result.cause) logRefusal(result, { operation: "getHealth" });
  const report: Report = result.ok ? reportOf(result.value, message) : errorOf(result);
  const { at, count, detail, ...shown } = report;
  const open: Schemas.Dependency = { service, ...shown };
  const admin: Schemas.AdminDependency = {
    ...open,
    ...(detail !== undefined && { message: `${open.message}. ${detail}` }),
    ...(count !== undefined && { count }),
    ...(at !== undefined && { at: presentTime(at) }),
    ...figures?.(env),
  };
  return { open, admin };
}

function reportOf(checked: Checked, message: string): Report {
  if (typeof checked === "object") return checked;
  return checked === undefined ? { status: "ACTIVE", message } : { status: "WARNING", message: checked };
}

const errorOf = ({ failure }: Refusal) => ({
  status: "ERROR" as const,
  message: failure.detail ?? "The database does not answer",
});

/** Returns undefined if the setting is malformed, or if D1 has not reported its size. */
function capacityFigures(env: Env): Figures | undefined {
  const [settings, used] = [parseSettings(env), databaseSize()];
  return settings.ok && used !== undefined ? { used, limit: settings.value.databaseLimit } : undefined;
}

/** In place of the faults of settings, which the report lists once. */
const SEE_SETTINGS = fail("misconfigured", "A setting is malformed: see settings");

async function checkCapacity(env: Env): Promise<Result<Report>> {
  const settings = parseSettings(env);
  return settings.ok ? probeCapacity(env.DB, settings.value) : SEE_SETTINGS;
}

async function checkKeys({ DB, ROOT_KEYS }: Env): Promise<Result<Checked>> {
  const keyring = await openKeyring(ROOT_KEYS);
  return keyring.ok ? probeRootKeys(DB, keyring.value) : keyring;
}

async function checkBackups(env: Env): Promise<Result<Report>> {
  const settings = parseSettings(env);
  if (!settings.ok) return SEE_SETTINGS;
  return probeBackups(env.DB, backupsOf(env), settings.value.backupHour, Date.now());
}

/** Milliseconds after which the operator counts as hanging. */
const OPERATOR_ANSWER_MS_MAX = 3_000;

/** Warns of the newest job of each kind, where that has failed or has left a vault out. */
async function checkJobs(env: Env): Promise<Result<string | undefined>> {
  const asked = callOperator(env, "unavailable", async (operator) => ok(await operator.failed()));
  const failed = await withDeadline(asked, OPERATOR_ANSWER_MS_MAX).catch(() => fail("unavailable"));
  if (!failed.ok) return { ...failed, ...fail("unavailable", "The operator does not answer") };
  if (failed.value.length === 0) return ok(undefined);
  const messages = failed.value.map(
    ({ kind, reason }) => `The last ${kind} job ${reason === null ? "left vaults out" : `failed: ${reason}`}`,
  );
  return ok(messages.join("; "));
}

function checkSettings(env: Env): Result<string | undefined> {
  return map(parseSettings(env), (settings) => refusesNew(settings, Math.floor(Date.now() / 1000)));
}
