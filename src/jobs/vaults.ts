import type { Failure } from "../model/failure.ts";
import { ok, type Result } from "../model/result.ts";
import type { Stepped } from "./kind.ts";

/** What the kinds share that do the same for many vaults, one after the other. */

/** A vault for which there is something to do. */
export interface ListedVault {
  readonly vault: string;
  /** Where it comes in the order of the vaults: a text. */
  readonly place: string;
}

export interface VaultsState<V extends ListedVault> {
  /** The vaults that were listed and are not done. The first one is under way. */
  readonly waiting: readonly V[];
  /** Where the next call for the first of them begins: what its last call has answered, or the empty text. */
  readonly after: string;
  /** The place of the last vault that was listed. */
  readonly listed: string;
  /** How many vaults are done, or were left out. */
  readonly done: number;
}

export const FIRST_VAULTS: VaultsState<never> = { waiting: [], after: "", listed: "", done: 0 };

interface VaultsWork<V extends ListedVault> {
  /** Lists some vaults after a place, in the order of their places; none: there are no more. One D1 call. */
  readonly list: (place: string) => Promise<Result<readonly V[]>>;
  /** Makes a call for a vault. Out: where the next one begins; `undefined`: the vault is done. */
  readonly serve: (vault: V, after: string) => Promise<Result<string | undefined>>;
  /** The most calls of `serve` in a step. */
  readonly callsMax: number;
}

/** Makes one step. Errors: those of `list`, and those of `serve` for the vault with which the step began. */
export async function serveVaults<V extends ListedVault>(
  state: VaultsState<V>,
  { list, serve, callsMax }: VaultsWork<V>,
): Promise<Result<Stepped<VaultsState<V>>>> {
  let reached = state;
  if (state.waiting.length === 0) {
    const listed = await list(state.listed);
    if (!listed.ok) return listed;
    if (listed.value.length === 0) return ok(steppedTo(state, true));
    reached = { ...state, waiting: listed.value, listed: listed.value.at(-1)!.place };
  }
  for (let calls = 0; calls < callsMax && reached.waiting.length > 0; calls++) {
    const answer = await serve(reached.waiting[0]!, reached.after);
    // The next step begins with the call that failed, so that `skipVault` knows which vault it leaves out.
    if (!answer.ok) return reached === state ? answer : ok(steppedTo(reached));
    reached = answer.value === undefined ? withoutFirst(reached) : { ...reached, after: answer.value };
  }
  return ok(steppedTo(reached));
}

/** Leaves out the vault that is under way, with a finding (jobs/kind.ts). */
export function skipVault<V extends ListedVault>(state: VaultsState<V>, { kind }: Failure): Stepped<VaultsState<V>> | undefined {
  const [first] = state.waiting;
  if (!first) return undefined;
  const detail = `The steps for the vault failed: ${kind}`;
  const finding = { kind: "vault_skipped", vault: first.vault, detail, repairable: false } as const;
  return { ...steppedTo(withoutFirst(state)), findings: [finding] };
}

const withoutFirst = <V extends ListedVault>(state: VaultsState<V>): VaultsState<V> => ({
  ...state,
  waiting: state.waiting.slice(1),
  after: "",
  done: state.done + 1,
});

function steppedTo<V extends ListedVault>(state: VaultsState<V>, done = false): Stepped<VaultsState<V>> {
  return { state, progress: { done: state.done, total: state.done + state.waiting.length }, done };
}
