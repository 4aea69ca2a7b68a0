/** How figures are written: each beside what it was to reach. */

export interface Claim {
  readonly name: string;
  readonly value: number;
  readonly reach: number;
  readonly met: boolean;
  /** What a service of the same kind on the same platform came to. */
  readonly peer?: string | undefined;
}

/** What is written is what is judged: 0.449 is written 0.45, and reaches it. */
const written = (value: number): number => Number(value.toFixed(2));

export const atMost = (name: string, value: number, reach: number, peer?: string): Claim => ({
  name,
  value,
  reach,
  met: written(value) <= reach,
  peer,
});

export const atLeast = (name: string, value: number, reach: number, peer?: string): Claim => ({
  ...atMost(name, value, reach, peer),
  met: written(value) >= reach,
});

/** Three digits are as much as is known. */
export const figure = (value: number): string =>
  Number.isInteger(value) || value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(value >= 10 ? 1 : 2);

export const verdict = ({ met }: Claim): string => (met ? "yes" : "**no**");

/** `0.58 of 0.75: **no**` */
export const beside = (claim: Claim): string => `${figure(claim.value)} of ${claim.reach}: ${verdict(claim)}`;

const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = header.map((_, column) => (column === 0 ? "---" : "--:"));
  return [line(header), line(rule), ...rows.map(line)].join("\n");
}

export const claims = (all: readonly Claim[]): string =>
  table(
    ["", "figure", "reach", "met", "peer"],
    all.map((claim) => [claim.name, figure(claim.value), String(claim.reach), verdict(claim), claim.peer ?? ""]),
  );
