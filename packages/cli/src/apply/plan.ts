import { type ApplyFile, type Attributes, type Kind, KINDS, normalOf, type Wanted } from "./file.ts";

/** The plan of `apply`: the steps after which the service is as the file describes it. Pure. */

/** A thing of the service. Its attributes are those of the file, with ids of vaults and issuers. */
export interface Live {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The id of the vault of a webhook. */
  readonly vault: string | undefined;
  readonly managedBy: string | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly attributes: Attributes;
}

/** A step. `replace` deletes the live thing and makes the wanted one. */
export type Step = { readonly note: string } & (
  | { readonly action: "create"; readonly wanted: Wanted }
  | { readonly action: "change" | "replace"; readonly wanted: Wanted; readonly live: Live }
  | { readonly action: "delete"; readonly live: Live }
);

export interface Plan {
  /** In the order in which they are done. */
  readonly steps: Step[];
  /** Differences that stay, and why. */
  readonly left: string[];
  readonly notes: string[];
  /** Why nothing can be done. */
  readonly faults: string[];
  /** The ids of vaults and issuers, by their names where one thing has them, and by the ids themselves. */
  readonly ids: ReadonlyMap<string, string>;
}

export interface Choices {
  readonly prune: boolean;
  readonly rotate: boolean;
  /** Milliseconds during which a replaced token still works. */
  readonly overlap: number;
  readonly now: number;
  /** The id of the token that runs the command; absent for ADMIN_TOKEN. */
  readonly own: string | undefined;
}

/** Returns a thing for a person. `vault`: the name of the vault of a webhook. */
export const labelOf = (kind: Kind, name: string, vault?: string): string =>
  vault === undefined ? `${kind} ${name}` : `${kind} ${name} of vault ${vault}`;

/** Returns the ids of vaults and issuers as `Plan` has them. `renamed`: names that they get, by id. */
export function idsOf(live: readonly Live[], renamed: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const ids = new Map<string, string>();
  for (const [key, group] of Map.groupBy(live, ({ kind, id, name }) => `${kind} ${renamed.get(id) ?? name}`))
    if (group.length === 1) ids.set(key, group[0]!.id);
  for (const { kind, id } of live) ids.set(`${kind} ${id}`, id);
  return ids;
}

/** Returns attributes with each vault and issuer as `nameOf` names it. Leaves out vaults that it does not know: they are deleted. */
export const renameIn = (kind: Kind, attributes: Attributes, nameOf: (key: string) => string | undefined): Attributes => ({
  ...attributes,
  ...(attributes["vaults"] && {
    vaults: Object.fromEntries(
      Object.entries(attributes["vaults"]).flatMap(([vault, scope]) => {
        const name = nameOf(`vault ${vault}`);
        return name === undefined ? [] : [[name, scope]];
      }),
    ),
  }),
  ...(kind === "rule" && { issuer: nameOf(`issuer ${attributes["issuer"]}`) }),
});

/** Returns a value as a text that equal values share, whatever the order of keys and entries. */
const canonical = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, one: unknown) => {
    if (Array.isArray(one)) return one.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

/** Returns the plan for a file and the things of the service. */
export function planOf(file: ApplyFile, live: readonly Live[], choices: Choices): Plan {
  const faults: string[] = [];
  const matches = matchesOf(file, live, faults);
  const renamed = [...matches].flatMap(([{ kind, name }, [one]]) => (kind === "vault" && one ? [[one.id, name] as const] : []));
  const plan: Plan = { steps: [], left: [], notes: [], faults, ids: idsOf(live, new Map(renamed)) };
  const made = new Set(file.things.map(({ kind, name }) => `${kind} ${name}`));
  for (const [wanted, group] of matches) {
    const { kind, name, vault, attributes } = wanted;
    const named = Object.keys(attributes["vaults"] ?? {}).map((one) => `vault ${one}`);
    if (kind === "rule") named.push(`issuer ${attributes["issuer"]}`);
    for (const one of named)
      if (!plan.ids.has(one) && !made.has(one)) faults.push(`${labelOf(kind, name, vault)}: no ${one}, or several of this name`);
    planThing(file, plan, wanted, group, choices);
  }
  planDeletions(file, plan, live, new Set([...matches.values()].flat().map(({ id }) => id)), choices);
  if (endsLastAdministrator(live, plan.steps)) faults.push("Nobody would be an administrator any more");
  return { ...plan, steps: inOrder(plan.steps) };
}

/** Returns the live things that match each wanted thing, the newest first. A vault comes before its webhooks. */
function matchesOf({ things }: ApplyFile, live: readonly Live[], faults: string[]): Map<Wanted, readonly Live[]> {
  const matches = new Map<Wanted, readonly Live[]>();
  let vaultId: string | undefined;
  for (const wanted of things) {
    const { kind, name, was, vault } = wanted;
    const place = kind === "webhook" ? vaultId : undefined;
    const isNew = kind === "webhook" && place === undefined;
    const named = (text: string | undefined) =>
      live.filter((one) => !isNew && one.kind === kind && one.name === text && one.vault === place);
    const [current, before] = [named(name), named(was)];
    if (current.length > 0 && before.length > 0)
      faults.push(`${labelOf(kind, name, vault)}: there is also ${kind} ${was}, its name before: remove \`was\``);
    const group = current.length > 0 ? current : before;
    matches.set(
      wanted,
      group.toSorted((a, b) => b.createdAt - a.createdAt),
    );
    if (kind === "vault") vaultId = group[0]?.id;
  }
  return matches;
}

function planThing(file: ApplyFile, plan: Plan, wanted: Wanted, group: readonly Live[], choices: Choices): void {
  const { steps, left, notes, faults, ids } = plan;
  const { kind, name } = wanted;
  const label = labelOf(kind, name, wanted.vault);
  const wantedValues = normalOf(
    kind,
    renameIn(kind, wanted.attributes, (key) => ids.get(key) ?? key),
  );
  const differencesOf = (one: Live): string[] => {
    const values = normalOf(
      kind,
      renameIn(kind, one.attributes, (key) => ids.get(key)),
    );
    return Object.keys(wantedValues).filter((each) => canonical(wantedValues[each]) !== canonical(values[each]));
  };
  // Rotations make several tokens of one name. Tokens of the same second are told apart by their attributes.
  const isNewest = (one: Live) => one.createdAt === group[0]!.createdAt;
  const one = group.find((each) => isNewest(each) && differencesOf(each).length === 0) ?? group[0];
  if (!one)
    return void steps.push({ action: "create", wanted, note: kind === "vault" ? "new and empty; `was` renames a vault" : "" });
  const others = group.filter((each) => each !== one);
  if (others.length > 0 && !(kind === "token" && one.managedBy === file.name))
    return void faults.push(`${label}: ${group.length} have this name: ${group.map(({ id }) => id).join(", ")}`);
  const end = (old: Live, since: number) => {
    const due = since + choices.overlap;
    if (due > choices.now) notes.push(`${label}: the first apply after ${new Date(due).toISOString()} revokes the old ${old.id}`);
    else if (old.id === choices.own) notes.push(`${label}: the old ${old.id} runs this command, and stays`);
    else steps.push({ action: "delete", live: old, note: `replaced, revokes ${old.id}` });
  };
  for (const old of others) end(old, one.createdAt);
  const note = [...(one.name === name ? [] : [`was ${one.name}`]), ...differencesOf(one)].join(", ");
  if (note === "") return;
  if (kind === "issuer") left.push(`${label}: ${note}; an issuer cannot be changed: delete it, or give the new one another name`);
  else if (kind === "rule")
    steps.push({ action: "replace", wanted, live: one, note: `${note}; tokens and sessions of the old one end` });
  else if (kind !== "token") steps.push({ action: "change", wanted, live: one, note });
  else if (!choices.rotate) left.push(`${label}: ${note}; a token cannot be changed: --rotate issues a new one`);
  else {
    steps.push({ action: "create", wanted, note: `${note}; a new token` });
    end(one, choices.now);
  }
}

/** Plans the deletion of things that the set has made and the file no longer has. */
function planDeletions(
  { name: set }: ApplyFile,
  plan: Plan,
  live: readonly Live[],
  kept: ReadonlySet<string>,
  choices: Choices,
): void {
  const gone = new Set(live.filter(({ id, kind, managedBy }) => managedBy === set && kind !== "vault" && !kept.has(id)));
  for (const one of gone) {
    const { kind, id, name, vault } = one;
    const label = labelOf(kind, name, live.find((each) => each.id === vault)?.name);
    const rule = live.find((each) => each.kind === "rule" && each.attributes["issuer"] === id && !gone.has(each));
    if (id === choices.own) plan.left.push(`${label}: not in the file, but it runs this command`);
    else if (rule) plan.left.push(`${label}: not in the file, but rule ${rule.name} needs it`);
    else if (choices.prune) plan.steps.push({ action: "delete", live: one, note: "not in the file" });
    else plan.left.push(`${label}: not in the file; --prune deletes it`);
  }
}

const isAdmin = (kind: Kind, { admin }: Attributes): boolean => (kind === "person" || kind === "rule") && admin === true;

/** Returns true if there are administrators, people or rules, and none after the steps. */
function endsLastAdministrator(live: readonly Live[], steps: readonly Step[]): boolean {
  const before = live.filter(({ kind, attributes }) => isAdmin(kind, attributes));
  const ended = new Set(steps.flatMap((step) => (step.action === "create" ? [] : [step.live.id])));
  const isMade = steps.some((step) => step.action !== "delete" && isAdmin(step.wanted.kind, step.wanted.attributes));
  return before.length > 0 && !isMade && before.every(({ id }) => ended.has(id));
}

/** What is made comes first, in the order of the kinds. What is deleted comes last, in the opposite order. */
function inOrder(steps: readonly Step[]): Step[] {
  const rank = (step: Step): number =>
    step.action === "delete" ? 2 * KINDS.length - KINDS.indexOf(step.live.kind) : KINDS.indexOf(step.wanted.kind);
  return steps.toSorted((a, b) => rank(a) - rank(b));
}
