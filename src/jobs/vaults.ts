import type { Failure } from "../model/failure.ts";
import { ok, type Result } from "../model/result.ts";
import type { Stepped } from "./kind.ts";

/** Shared by the kinds that process many vaults, one after another. */

/** A vault that needs work. */
export interface ListedVault {
  readonly vault: string;
  /** The position in the order of the vaults, as a text. */
  readonly place: string;
}

export interface VaultsState<V extends ListedVault> {
  /** The listed vaults that are not done. The first one is in progress. */
  readonly waiting: readonly V[];
  /** The position of the next call for the first vault: the answer of its last call, or "". */
  readonly after: string;
  /** The place of the last vault that was listed. */
  readonly listed: string;
  /** Number of vaults done or left out. */
  readonly done: number;
}

export const FIRST_VAULTS: VaultsState<never> = { waiting: [], after: "", listed: "", done: 0 };

interface VaultsWork<V extends ListedVault> {
  /** Lists some vaults after a place, in the order of their places. An empty list means that there are no more. Makes one D1 call. */
  readonly list: (place: string) => Promise<Result<readonly V[]>>;
  /** Makes a call for a vault. Returns the position of the next call, or undefined if the vault is done. */
  readonly serve: (vault: V, after: string) => Promise<Result<string | undefined>>;
  /** Limit of calls of `serve` in a step. */
  readonly callsMax: number;
}

/** Makes one step. Fails as `list` does, and as `serve` does for the first vault of the step. */
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

/** Leaves out the current vault, with a finding (jobs/kind.ts). */
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
