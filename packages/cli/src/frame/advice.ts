import { type Command, GLOBAL_OPTIONS, type Options } from "./command.ts";
import { describeDuration } from "./duration.ts";
import { printable } from "./printable.ts";

/** Corrections for wrong words of a command line. They come from the table of commands, and repeat no value. */

/** An option as it was typed. */
export interface TypedOption {
  /** Without its hyphens and its value. */
  readonly name: string;
  /** The value after its `=`, else the next word. */
  readonly value: string | undefined;
}

export const optionsOf = ({ options }: Command): Options => ({ ...options, ...GLOBAL_OPTIONS });

export const flagOf = (name: string, { value }: Options[string]): string => `--${name}${value ? ` ${value}` : ""}`;

/** Returns a correction for an unknown option, or undefined if the table has nothing like it. */
export function adviceForOption(commands: readonly Command[], command: Command, typed: TypedOption): string | undefined {
  const options = optionsOf(command);
  const name = typed.name.toLowerCase().replaceAll("_", "-");
  const words = new Set([name, typed.value?.toLowerCase()]);
  const chosen = Object.entries(options).flatMap(([option, { choices = [] }]) =>
    choices.filter((choice) => words.has(choice)).map((choice) => `--${option} ${choice}`),
  );
  const near = Object.hasOwn(options, name) ? name : nearestOf(Object.keys(options), name);
  const initial = Object.keys(options).filter((option) => name.length === 1 && option.startsWith(name));
  const meant = (near === undefined ? initial : [near]).map((option) => flagOf(option, options[option]!));
  const shown = chosen.length > 0 ? chosen.slice(0, 1) : meant;
  if (shown.length > 0) return `Did you mean ${shown.map((each) => `\`${each}\``).join(" or ")}?`;
  if (name === "token") return "A token comes from ITEM_VAULT_TOKEN, or from stdin of `item-vault login`.";
  if (command.args.includes(`<${name}>`)) return `Leave out --${name}: \`item-vault ${command.name} ${command.args}\`.`;
  return (
    otherCommandsWith(commands, name) ??
    (options["field"] && name.length > 1 ? `A field of the item: \`--field ${name}=prompt\`.` : undefined)
  );
}

/** Returns which commands have an option of this name, or one that is like it. */
function otherCommandsWith(commands: readonly Command[], name: string): string | undefined {
  const shown = commands.filter(({ hidden }) => !hidden);
  const known = nearestOf([...new Set(shown.flatMap(({ options }) => Object.keys(options)))], name) ?? name;
  const others = shown.filter(({ options }) => Object.hasOwn(options, known)).map((other) => `\`${other.name}\``);
  const names = `${others.slice(0, 3).join(", ")}${others.length > 3 ? " and others" : ""}`;
  return others.length > 0 ? `--${known} is an option of ${names}.` : undefined;
}

/** Returns true for an optional argument, or one for which the command has no place. */
const isSpare = ({ args }: Command, index: number): boolean => {
  const wanted = args.split(" ").filter(Boolean);
  return !wanted[index]?.startsWith("<") && !wanted.at(-1)?.endsWith("…");
};

/** Returns a correction for an argument meant as an option, such as `title=x`, or undefined. */
export function adviceForArguments(command: Command, args: readonly string[]): string | undefined {
  const options = optionsOf(command);
  for (const [index, text] of args.entries()) {
    if (/^[\u2010-\u2015\u2212]/.test(text)) return "An option begins with two hyphens (--), not with a dash.";
    const name = /^([\w-]+)(?:\[\w+\])?\s*=/.exec(text)?.[1]?.toLowerCase();
    if (name === undefined || !isSpare(command, index)) continue;
    if (Object.hasOwn(options, name)) return `Did you mean \`${flagOf(name, options[name]!)}\`?`;
    if (options["field"]) return `A field of the item: \`--field ${name}=prompt\`. A file of this name: \`./${name}=…\`.`;
  }
  return undefined;
}

/** Returns the names most like the typed words: a mistyped name, its words in another order, or the commands of its group. */
export function adviceForCommand(commands: readonly Command[], words: readonly string[]): string {
  const reader = commands.find(({ args }) => args === "<reference>");
  if (reader && words.some((word) => /^op:\/\//i.test(word))) return `Did you mean \`item-vault ${reader.name}\`?`;
  const names = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const [word = "", next = ""] = words;
  const near = [`${word} ${next}`.trim(), `${next} ${word}`.trim(), word].map((typed) => nearestOf(names, typed)).find(Boolean);
  if (near !== undefined) return `Did you mean \`item-vault ${near}\`?`;
  const groups = [...new Set(names.filter((name) => name.includes(" ")).map((name) => name.split(" ")[0]!))];
  const group = [word, next].map((typed) => (groups.includes(typed) ? typed : nearestOf(groups, typed))).find(Boolean);
  const same = names.filter((name) => name.endsWith(` ${word}`)).map((name) => `\`item-vault ${name}\``);
  if (group === undefined) return same.length > 0 ? `Did you mean one of ${same.join(", ")}?` : "Run `item-vault --help`.";
  const verbs = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1));
  return `The commands of \`${group}\` are ${verbs.join(", ")}.`;
}

/** Returns a refusal of the service with the options of the command in place of the attributes of the API, and times in words. */
export function inOptions(command: Command, message: string): string {
  const options = Object.entries(command.options);
  const find = (attribute: string) => {
    const name = attribute.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isIt = new Set([name, name.replace(/s$/, "")]);
    return options.find(([, spec]) => spec.attribute === attribute) ?? options.find(([option]) => isIt.has(option));
  };
  const [, attribute = "", fault = ""] = /^(?:the (?:form|token): )?([a-z]+)\S*:? (.+)$/is.exec(message) ?? [];
  const [name, spec] = find(attribute) ?? [];
  if (name === undefined) return message;
  const isTime = /^(?:TIME|DURATION)$/.test(spec?.value ?? "");
  const words = fault
    .replace(/(?<=^does not go with ).+/, (list) =>
      list.replaceAll(/\w+/g, (word) => (find(word) ? `--${find(word)![0]}` : word)),
    )
    .replace(/(?<=^is (?:more|less) than )\d+/, (seconds) => (isTime ? describeDuration(Number(seconds) * 1000) : seconds));
  return `--${name} ${words}`;
}

/** Similar words for a mistyped one. */

/** Returns advice for an unknown name: a similar name, in any case, else `otherwise`. */
export function adviceForName(names: readonly (string | undefined)[], typed: string, otherwise: string): string {
  const near = nearestOf(
    names.filter((name) => name !== undefined),
    typed,
  );
  return near === undefined ? otherwise : `Did you mean ${JSON.stringify(printable(near))}?`;
}

/** The most letters that are inserted, left out, replaced or exchanged with their neighbour. */
const MISTAKES_MAX = 2;

/** The name with the fewest mistakes; `undefined` when every name has more than two, or as many as it has letters. */
export function nearestOf(names: readonly string[], typed: string): string | undefined {
  const all = names.map((name) => ({ name, mistakes: distanceOf(name.toLowerCase(), typed.toLowerCase()) }));
  const near = all.filter(({ name, mistakes }) => mistakes <= MISTAKES_MAX && mistakes < Math.min(name.length, typed.length));
  return near.toSorted((one, other) => one.mistakes - other.mistakes)[0]?.name;
}

/** The optimal string alignment distance. */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      next[at] = Math.min(last[at]! + 1, next[at - 1]! + 1, last[at - 1]! + (isSame ? 0 : 1));
      const isExchanged = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isExchanged) next[at] = Math.min(next[at]!, before[at - 2]! + 1);
    }
    [before, last] = [last, next];
  }
  return last[other.length]!;
}
