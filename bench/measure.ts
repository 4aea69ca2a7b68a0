/** The operations beside their floors: requests, and what they call. */
import { count, type Counts, countTogether } from "./counts.ts";
import type { Shot } from "./load.ts";
import { FEW, type Floor, type Group, type Operation } from "./operations.ts";
import { ratio, summary, takeTurns } from "./statistics.ts";
import { atLeast, type Claim } from "./tables.ts";

export interface Measured {
  readonly name: string;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Line extends Measured {
  /** One a floor: the operation's requests a second as a part of the floor's. */
  readonly parts: readonly (Claim & { readonly floorRate: number; readonly mark: string })[];
  readonly counts: Counts;
}

const named = (all: readonly (Floor | Operation)[]) => Object.fromEntries(all.map(({ name, shot }) => [name, shot]));

/** Clients that are more than a few are there to be counted together. */
const counted = (shot: Shot, clients: number) => (clients > FEW ? countTogether(shot, clients) : count(shot));

export async function measureGroup({ clients, milliseconds, operations, floors }: Group) {
  const rounds = await takeTurns(named([...floors, ...operations]), clients, milliseconds);
  const measured = ({ name }: Floor | Operation): Measured => ({ name, ...summary(rounds[name]!) });
  const lines: Line[] = [];
  for (const operation of operations) {
    const parts = operation.reaches.map(({ floor, reach, peer, mark = "" }) => {
      const part = ratio(rounds[operation.name]!, rounds[floor.name]!);
      return { ...atLeast(floor.name, part, reach, peer), floorRate: measured(floor).rate, mark };
    });
    lines.push({ ...measured(operation), parts, counts: await counted(operation.shot, clients) });
  }
  return { lines, floors: floors.map(measured) };
}
