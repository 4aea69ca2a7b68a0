import type { VaultCoordinator } from "../../src/index.ts";

/** The baseline of a write (baseline-object.ts). Returns the text that was stored. */
export interface Baseline extends Rpc.DurableObjectBranded {
  upsert(id: string, body: string): Promise<string>;
}

/** The bindings of bench/wrangler.toml: those of the service, and those of the benchmark. */
export interface BenchEnv extends Env {
  readonly BASELINE: DurableObjectNamespace<Baseline>;
  /** Coordinators of variants.ts and stubs.ts. */
  readonly COUNTED_COORDINATOR: DurableObjectNamespace<VaultCoordinator>;
  readonly DELAYED_COORDINATOR: DurableObjectNamespace<VaultCoordinator>;
  readonly UNVERSIONED_COORDINATOR: DurableObjectNamespace<VaultCoordinator>;
  readonly STUBBED_COORDINATOR: DurableObjectNamespace<VaultCoordinator>;
}
