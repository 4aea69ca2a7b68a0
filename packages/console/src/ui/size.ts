import { plural } from "./plural.ts";

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** Formats bytes with up to three digits, in powers of 1,000. */
export function formatSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return power === 0 ? plural(bytes, "byte") : `${Number((bytes / 1000 ** power).toPrecision(3))} ${UNITS[power]}`;
}
