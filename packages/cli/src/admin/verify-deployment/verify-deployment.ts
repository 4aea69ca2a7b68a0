import type { Call } from "../../frame/command.ts";
import { checkCredentials, isThisMachine, normalizedHost, timeoutOf } from "../../frame/connection.ts";
import { CliError, EXIT } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { hostOf, loadConfig, type Service } from "../../frame/settings.ts";
import { show, tell } from "../../output/format.ts";
import { tableOf } from "../../output/table.ts";
import { bearer, connect, type Login } from "../deploy/cloudflare.ts";
import { loadProject } from "../deploy/project.ts";
import { compare, isDifference, type Result } from "./compare.ts";
import { isServed, loadDeployed, loadServed, loadVersion } from "./deployed.ts";
import { loadRelease } from "./release.ts";
import type { VERIFY_DEPLOYMENT_OPTIONS } from "./table.ts";

type VerifyCall = Call<typeof VERIFY_DEPLOYMENT_OPTIONS>;

/**
 * `admin verify-deployment`: reads the script and the settings of a deployed Worker from Cloudflare's API and the static files from its
 * address, and compares them with a release. Returns the exit code: `found` if something that can be compared is not equal.
 */
export async function run(call: VerifyCall): Promise<number> {
  const { io, options } = call;
  const { folder, config } = await loadProject(options.from, io.env);
  const release = await loadRelease(options.release, folder);
  const service = await loadAddress(call);
  const api = await connect(io, loginOf(io), config.account_id);
  const worker = options.worker ?? config.name;
  const [deployed, version, served] = await Promise.all([
    loadDeployed(api, worker),
    loadVersion(service),
    loadServed(service, Object.keys(release.assets).filter(isServed)),
  ]);
  const results = compare(release, { deployed, version, served }, worker);
  const { version: wanted, commit } = release;
  await tell(
    io,
    `${service.host}, Worker ${worker} in account ${api.account}, compared with release ${wanted}${ofCommit(commit)}`,
  );
  const json = {
    release: { version: wanted, commit },
    host: service.host,
    account: api.account,
    worker,
    results,
    unproven: UNPROVEN,
  };
  await show(io, options.format, { json, table: (columns) => tableOf(HEADING, results.map(rowOf), columns) });
  if (version !== undefined && version !== wanted)
    await tell(io, `Release ${version} is deployed: compare it with the release.json of that release, with --release.`);
  const differences = results.filter(isDifference).length;
  await tell(io, sumUp(results.length, differences));
  for (const line of UNPROVEN) await tell(io, `- ${line}`);
  return differences === 0 ? EXIT.ok : EXIT.found;
}

const ofCommit = (commit: string | undefined): string => (commit === undefined ? "" : ` of commit ${commit}`);

/** Facts that this program cannot verify. */
const UNPROVEN: readonly string[] = [
  "that the script which Cloudflare's API shows is the one that runs: who controls the account, or Cloudflare, could show another one",
  "that others are served the same files: an address may answer other clients, places or times with others",
  "which files are deployed besides those of the release, and the headers of all of them (`_headers`)",
  "which database, buckets and queue the bindings lead to, and which limits they have: only their names and types are compared",
  "which cron triggers run the Worker, which routes and domains lead to it, and which queues it consumes: none of them is read",
  "the values of secrets, which are never shown; what is `configured` is the choice of the operator, and is not judged",
];

const HEADING = ["RESULT", "KIND", "NAME", "DETAIL"];

const rowOf = ({ outcome, kind, name, detail = "" }: Result): string[] => [outcome, kind, name, detail];

const sumUp = (all: number, differences: number): string =>
  `${differences === 0 ? `Equal: all ${all} that can be compared.` : `Not equal: ${differences} of ${all}.`} What this does not prove:`;

/** Loads the address of the deployment. Throws a CliError without one, for http, over which anybody on the way can change answers, and for one with a password, which would be shown. */
async function loadAddress({ io: { env }, options }: VerifyCall): Promise<Service> {
  const host = hostOf(env, options.host, await loadConfig(env));
  if (!host)
    throw new CliError("No host is set", {
      exit: "usage",
      hint: "Give the address of the deployment with --host, or set ITEM_VAULT_HOST.",
    });
  const url = URL.canParse(host) ? new URL(host) : undefined;
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isThisMachine(url.hostname)))
    throw new CliError("The host is not an https URL", {
      exit: "usage",
      hint: "Over http the answers could be changed in transit.",
    });
  checkCredentials(host);
  return { host: normalizedHost(host), timeout: timeoutOf(env, options) };
}

/** Returns the login by CLOUDFLARE_API_TOKEN. Throws a CliError without it. */
function loginOf({ env }: Pick<Io, "env">): Login {
  const token = env["CLOUDFLARE_API_TOKEN"]?.trim();
  if (token)
    return {
      headers: bearer(token),
      hint: `The token in CLOUDFLARE_API_TOKEN is not valid, or has ended, or may not read this. ${PERMISSION}`,
    };
  throw new CliError("No token of Cloudflare is set", { exit: "denied", hint: `Set CLOUDFLARE_API_TOKEN. ${PERMISSION}` });
}

const PERMISSION =
  "The token needs the permission Workers Scripts, Read, in the account of the Worker. Without CLOUDFLARE_ACCOUNT_ID it also needs Account Settings, Read.";
