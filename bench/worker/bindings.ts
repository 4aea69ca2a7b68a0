import type { BaselineObject } from "./baseline-object.ts";
import type { StubbedD1Coordinator } from "./stubs.ts";
import type { CountedCoordinator, DelayedCoordinator, UnversionedCoordinator } from "./variants.ts";

/** The bindings of bench/wrangler.toml: those of the service, and those of the benchmark. */
export interface BenchEnv extends Env {
  readonly BASELINE: DurableObjectNamespace<BaselineObject>;
  readonly COUNTED_COORDINATOR: DurableObjectNamespace<CountedCoordinator>;
  readonly DELAYED_COORDINATOR: DurableObjectNamespace<DelayedCoordinator>;
  readonly UNVERSIONED_COORDINATOR: DurableObjectNamespace<UnversionedCoordinator>;
  readonly STUBBED_COORDINATOR: DurableObjectNamespace<StubbedD1Coordinator>;
}
