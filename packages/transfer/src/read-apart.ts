import { TransferError } from "./error.ts";
import type { Unfit } from "./item.ts";
import { Losses } from "./losses.ts";

/** Reads one Item of a source. An invalid Item affects only itself: it is listed as unfit, and counts no losses. */
export function readApart<T>(
  { losses, unfit }: { readonly losses: Losses; readonly unfit: Unfit[] },
  { title, path }: { readonly title: string; readonly path: string },
  read: (losses: Losses) => T,
): T | undefined {
  const own = new Losses();
  try {
    const result = read(own);
    losses.addAll(own.list());
    return result;
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    // A reader of the message can find the path within the Item.
    const fault = error.message.startsWith(path)
      ? error.message.slice(path.length).replace(/^\./, "").trimStart()
      : error.message;
    unfit.push({ title: title || path, why: `cannot be read: ${fault}` });
    return undefined;
  }
}
