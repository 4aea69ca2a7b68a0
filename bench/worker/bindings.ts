import type { FloorObject } from "./floor-object.ts";
import type { CountedCoordinator, DistantCoordinator } from "./variants.ts";
import type { ForgetfulCoordinator } from "./without.ts";

/** The bindings of bench/wrangler.toml: those of the service, and a few more. */
export interface BenchEnv extends Env {
  readonly FLOOR: DurableObjectNamespace<FloorObject>;
  readonly COUNTED: DurableObjectNamespace<CountedCoordinator>;
  readonly DISTANT: DurableObjectNamespace<DistantCoordinator>;
  readonly FORGETFUL: DurableObjectNamespace<ForgetfulCoordinator>;
}
