import { fits, LIMITS } from "@item-vault/model/limits";
import { fileOf } from "./item-parts.ts";
import { utf8Of } from "./bytes.ts";
import { fitState, shortId } from "./fit-state.ts";
import { Losses } from "./losses.ts";
import type { Transfer, TransferFile, TransferItem, Unfit } from "./item.ts";
import { stepsOf } from "./steps.ts";

/** Makes the Items of a source fit the limits of the service (contract 12) before the first is written. */

export interface Fitted {
  readonly items: TransferItem[];
  readonly losses: Losses;
  readonly unfit: Unfit[];
}

/** More earlier versions than any service keeps (VERSIONS_KEPT is at most 100), and than it keeps by default. */
const VERSIONS_MAX = 100;
const VERSIONS_DEFAULT = 10;

export function fitTransfer(transfer: Transfer): Fitted {
  const { fitted, add } = beginFit(transfer);
  for (const item of transfer.items) add(item);
  return fitted;
}

/** Does the same for a caller that makes pauses between Items: `add` adds an Item to `fitted`. */
export function beginFit({ losses, unfit = [] }: Transfer): {
  readonly fitted: Fitted;
  readonly add: (item: TransferItem) => void;
} {
  const fitted: Fitted = { items: [], losses: new Losses(), unfit: [...unfit] };
  fitted.losses.addAll(losses);
  const add = (item: TransferItem) => {
    const outcome = fitItem(item, fitted.losses);
    if ("why" in outcome) fitted.unfit.push(outcome);
    else fitted.items.push(outcome);
  };
  return { fitted, add };
}

function fitItem(item: TransferItem, losses: Losses): TransferItem | Unfit {
  const { title, files: own, history: earlier, ...whole } = item;
  const add = (what: string) => losses.add(what, title);
  const current = fitState({ title, ...whole }, add);
  const history = earlier.slice(-VERSIONS_MAX).map((state) => fitState(state, () => undefined));
  const kept = new Set(current.long.map(({ text }) => text));
  const lost = new Set(history.flatMap(({ long }) => long.map(({ text }) => text)).filter((text) => !kept.has(text)));
  losses.add("values over 64 KiB that only earlier versions have", title, lost.size);
  losses.add(`earlier versions beyond the newest ${VERSIONS_MAX}`, title, earlier.length - history.length);
  losses.add(
    `earlier versions beyond the newest ${VERSIONS_DEFAULT} (unless VERSIONS_KEPT of the service is higher)`,
    title,
    Math.max(0, history.length - VERSIONS_DEFAULT),
  );
  if (item.createdAt !== undefined || item.updatedAt !== undefined)
    add("dates of creation and change (the service sets its own)");
  const files = [...own, ...current.long.map(({ name, text }) => fileOf(name, utf8Of(text)))];
  if (current.long.length > 0) losses.add("values over 64 KiB, kept as Files", title, current.long.length);
  const states = history.map(({ state }) => state);
  const outcome: TransferItem = { ...item, ...current.state, files: fitFiles(files, add), history: states };
  const why = [...history, current].map(({ why: fault }) => fault).find(Boolean) ?? faultOfSize(outcome);
  return why ? { title, why } : outcome;
}

/** Drops Files that the service refuses, and mends their names. */
function fitFiles(files: readonly TransferFile[], add: (what: string) => void): TransferFile[] {
  return files.flatMap((file) => {
    if (file.size > LIMITS.file) {
      add("Files over 100 MB");
      return [];
    }
    const whole = file.name.toWellFormed();
    const name = fits(whole, LIMITS.fileName) ? whole || "file" : `${whole.slice(0, 200).toWellFormed()}…`;
    if (name !== whole) add("names of Files that are empty or over 1 KiB, changed");
    const { section, ...rest } = file;
    return [{ ...rest, name, ...(section ? { section: shortId(section) } : {}) }];
  });
}

/** The service measures the encrypted form, which is about 4/3 of the JSON text (contract 12.2); generated ids come on top. */
function faultOfSize(item: TransferItem): string | undefined {
  if (item.files.length > LIMITS.list) return `has more than ${LIMITS.list} Files`;
  const names = item.files.map(({ name, section }) => ({ name, section }));
  const states = stepsOf(item).flatMap((step) => ("state" in step ? [step.state] : []));
  const sizes = states.map((state) => {
    const sections = state.fields.map(({ section }) => section); // the service declares those that are not
    return utf8Of(JSON.stringify([state, names, sections])).length + 64 * state.fields.length + 1024;
  });
  return Math.max(...sizes) * (4 / 3) > LIMITS.item ? "is larger than 512 KiB" : undefined;
}
