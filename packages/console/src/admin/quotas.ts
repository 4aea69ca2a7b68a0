import type { Quota } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { formatSize } from "../ui/size.ts";

/** The quotas of a vault (contract 12.6), as the views show them. */

export interface QuotaRow {
  readonly name: keyof Quota;
  readonly label: string;
  /** The label of its field. */
  readonly most: string;
  /** The number of the service's units (Items, bytes) in one unit of the field. */
  readonly unit: number;
  readonly standard: number;
  readonly format: (value: number) => string;
}

const MEGABYTE = 1_000_000; // bytes
const formatCount = (count: number): string => count.toLocaleString("en");

export const QUOTAS: readonly QuotaRow[] = [
  { name: "items", label: "Items", most: "Items", unit: 1, standard: LIMITS.vaultItems, format: formatCount },
  { name: "bytes", label: "Size", most: "Size in MB", unit: MEGABYTE, standard: LIMITS.vaultBytes, format: formatSize },
  { name: "fileBytes", label: "Files", most: "Files in MB", unit: MEGABYTE, standard: LIMITS.vaultFileBytes, format: formatSize },
];

/** The text of a quota's field: empty for the default. */
export const presentQuota = ({ unit, standard }: QuotaRow, value: number): string =>
  value === standard ? "" : String(value / unit);

/** Parses a quota's field: `null` for the default. The text is a number, or empty. */
export const parseQuota = ({ unit }: QuotaRow, text: string): number | null =>
  text.trim() === "" ? null : Math.round(Number(text) * unit);
