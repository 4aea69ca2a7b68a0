import { LIMITS } from "@item-vault/model/limits";
import type { Call } from "../frame/command.ts";
import { normalizedHost } from "../frame/connection.ts";
import { secondsOf } from "../frame/duration.ts";
import { CliError, EXIT } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";
import { plural, printable } from "../frame/printable.ts";
import { confirm } from "../frame/prompt.ts";
import { tell } from "../output/format.ts";
import { type Attributes, FORMS, isTime, type Kind, KINDS, normalOf, readApplyFile } from "./file.ts";
import { idsOf, labelOf, type Live, type Plan, planOf, renameIn, type Step } from "./plan.ts";
import { finishPending, loadThings, makesSecret, runStep, type Target } from "./service.ts";
import type { APPLY_OPTIONS } from "./table.ts";

type ApplyCall = Call<typeof APPLY_OPTIONS>;

/** `apply`. Returns the exit code for a remaining difference. */
export async function run(call: ApplyCall): Promise<number | void> {
  const { io, args, options } = call;
  if (options.export) return exportFile(call);
  if (args[0] === undefined)
    throw new CliError("apply needs a file", { exit: "usage", hint: "`item-vault apply --export` writes one." });
  const overlap = secondsOf("--overlap", options.overlap ?? "7d") * 1000;
  const file = await readApplyFile(args[0]);
  const [admin, { host, token }] = [await call.admin(), await call.access("admin_token")];
  const caller = callerOf(token);
  const target: Target = { admin, host: normalizedHost(host), out: options.plan ? undefined : options.out };
  const finished = await finishPending(target);
  if (finished > 0) await tell(io, `Finished ${plural(finished, "request")} of a run that was killed`);
  const listed = new Set(file.things.flatMap(({ kind, name, was }) => (kind === "vault" ? [name, was] : [])));
  const live = await loadThings(admin, ({ name }) => listed.has(name));
  const choices = { prune: options.prune === true, rotate: options.rotate === true, overlap, now: Date.now(), own: caller.id };
  const plan = planOf(file, live, choices);
  if (plan.faults.length > 0) {
    for (const fault of plan.faults) await tell(io, fault);
    throw new CliError(`The file cannot be applied: ${plural(plan.faults.length, "conflict")}`, { exit: "conflict" });
  }
  await showPlan(io, plan, live);
  if (options.plan) {
    if (!caller.isNarrow)
      await tell(
        io,
        "This token may change everything. For plans `item-vault token create NAME --admin-read` issues one that cannot.",
      );
    return plan.steps.length + plan.left.length > 0 ? EXIT.drift : undefined;
  }
  if (target.out === undefined && plan.steps.some(makesSecret))
    throw new CliError("The plan makes tokens or webhooks", {
      exit: "usage",
      hint: "Name the folder for their secrets with --out.",
    });
  if (plan.steps.some(({ action }) => action === "replace" || action === "delete"))
    await confirm(io, "Apply this plan, which ends what it replaces and deletes?", options.yes);
  const ids = new Map(plan.ids);
  for (const step of plan.steps) {
    await runStep(target, file.name, step, ids);
    await tell(io, `Done: ${lineOf(step, live)}`);
  }
  return plan.left.length > 0 ? EXIT.drift : undefined;
}

/** Reads the claims of the admin token, which the service alone verifies. ADMIN_TOKEN has none. */
function callerOf(token: string): { readonly id?: string; readonly isNarrow: boolean } {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Attributes;
    return { id: claims["jti"], isNarrow: claims["adminRead"] === true };
  } catch {
    return { isNarrow: false };
  }
}

const SIGNS: Readonly<Record<Step["action"], string>> = { create: "+", change: "~", replace: "±", delete: "-" };

function lineOf(step: Step, live: readonly Live[]): string {
  const { kind, name } = step.action === "delete" ? step.live : step.wanted;
  const vault = step.action === "delete" ? live.find(({ id }) => id === step.live.vault)?.name : step.wanted.vault;
  return `${SIGNS[step.action]} ${labelOf(kind, name, vault)}${step.note && `: ${step.note}`}`;
}

async function showPlan(io: Io, { steps, left, notes }: Plan, live: readonly Live[]): Promise<void> {
  const lines = [
    ...steps.map((step) => lineOf(step, live)),
    ...left.map((line) => `! ${line}`),
    ...notes.map((line) => `  ${line}`),
  ];
  const sum =
    steps.length + left.length === 0
      ? "Nothing to do"
      : `${plural(steps.length, "step")}, ${plural(left.length, "difference")} left`;
  await write(io.stdout, [...lines, sum].map((line) => `${printable(line)}\n`).join(""));
}

/** `apply --export`: writes the things of the service that have a name of their own. Names the others on stderr. */
async function exportFile({ io, admin: connect }: ApplyCall): Promise<void> {
  const admin = await connect();
  const things = await loadThings(admin, () => true);
  const ids = [...idsOf(things)];
  // A vault that shares its name with another one is named by its id.
  const names = new Map(ids.toReversed().map(([key, id]) => [`${key.split(" ", 1)[0]} ${id}`, key.slice(key.indexOf(" ") + 1)]));
  // A person whom a rule has admitted follows from the rule.
  const own = things.filter(({ kind, attributes }) => kind !== "person" || attributes["rule"] === undefined);
  const mapOf = async (kind: Kind, vault?: string): Promise<Attributes> => {
    const entries: [string, Attributes][] = [];
    for (const [name, group] of Map.groupBy(own, (one) => one.name)) {
      const [one, ...others] = group.filter((each) => each.kind === kind && each.vault === vault);
      if (others.length > 0) await tell(io, `Left out: ${others.length + 1} of ${FORMS[kind].section} are named ${name}`);
      if (others.length > 0 || !one) continue;
      const webhooks = kind === "vault" ? await mapOf("webhook", one.id) : {};
      const attributes = writtenOf(
        kind,
        renameIn(kind, one.attributes, (key) => names.get(key)),
      );
      entries.push([name, { ...attributes, ...(Object.keys(webhooks).length > 0 && { webhooks }) }]);
    }
    return Object.fromEntries(entries);
  };
  const sections: Record<string, unknown> = { version: 1, name: "exported" };
  for (const kind of KINDS.slice(0, -1)) sections[FORMS[kind].section] = await mapOf(kind);
  const { yamlOf } = await import("../output/yaml.ts");
  await write(io.stdout, yamlOf(sections));
}

/** Returns the attributes as a file has them, without those that have the default. */
function writtenOf(kind: Kind, attributes: Attributes): Attributes {
  const { required = [] } = FORMS[kind];
  const normal = { ...normalOf(kind, attributes), ...(kind === "token" && { expiresIn: attributes["expiresIn"] }) };
  const entries = Object.entries(normal).filter(([name, value]) => {
    const standard =
      name === "expiresIn" ? LIMITS.tokenLifetimeDefault : normalOf(kind, { ...attributes, [name]: undefined })[name];
    return required.includes(name) || JSON.stringify(standard) !== JSON.stringify(value);
  });
  return Object.fromEntries(entries.map(([name, value]) => [name, isTime(kind, name) ? timeOf(value) : value]));
}

const timeOf = (seconds: number): string => (seconds % 86_400 === 0 ? `${seconds / 86_400}d` : `${seconds}s`);
