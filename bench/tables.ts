/** Figures with their targets, as Markdown. */

/** A figure that is compared with a target. */
export interface TargetResult {
  readonly name: string;
  readonly value: number;
  readonly target: number;
  readonly met: boolean;
  /** The figure of another secrets service on the same platform. */
  readonly peer?: string | undefined;
}

/** The value to two decimals, so that the comparison agrees with the printed figure: 0.449 is printed as 0.45. */
const roundAsPrinted = (value: number): number => Number(value.toFixed(2));

export const atMost = (name: string, value: number, target: number, peer?: string): TargetResult => ({
  name,
  value,
  target,
  met: roundAsPrinted(value) <= target,
  peer,
});

export const atLeast = (name: string, value: number, target: number, peer?: string): TargetResult => ({
  ...atMost(name, value, target, peer),
  met: roundAsPrinted(value) >= target,
});

/** To three significant digits where there are decimals, because the measurement is no more precise. */
export const formatNumber = (value: number): string =>
  Number.isInteger(value) || value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(value >= 10 ? 1 : 2);

export const formatMet = ({ met }: TargetResult): string => (met ? "yes" : "**no**");

/** For example `0.58 (target 0.75): **no**`. */
export const formatWithTarget = (result: TargetResult): string =>
  `${formatNumber(result.value)} (target ${result.target}): ${formatMet(result)}`;

const formatRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const delimiter = header.map((_, column) => (column === 0 ? "---" : "--:"));
  return [formatRow(header), formatRow(delimiter), ...rows.map(formatRow)].join("\n");
}

export const formatTargets = (results: readonly TargetResult[]): string =>
  formatTable(
    ["", "figure", "target", "met", "peer"],
    results.map((result) => [
      result.name,
      formatNumber(result.value),
      String(result.target),
      formatMet(result),
      result.peer ?? "",
    ]),
  );
