import { describeDuration } from "../frame/duration.ts";
import { VERSION } from "../frame/version.ts";
import { ageOf, type Copy, type HeldVault } from "./copy.ts";
import type { LocalLog } from "./local-log.ts";
import type { Saver } from "./save.ts";

/** `/health` of this server, in the shape of the service's (contract 13.2). It has no name of a vault, because it needs no token. */

interface Dependency {
  readonly service: string;
  readonly status: "ACTIVE" | "WARNING" | "ERROR";
  readonly message: string;
}

export interface Watched {
  readonly copy: Copy;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly log: Pick<LocalLog, "fault">;
  readonly saver: Pick<Saver, "fault">;
}

export const healthOf = (watched: Watched) => ({
  name: "Item Vault, local copy",
  version: VERSION,
  dependencies: [copyHealth(watched), faultHealth("disk", watched.saver.fault(), "The copy is stored"), logHealth(watched)],
});

function copyHealth({ copy, maxAge }: Watched): Dependency {
  const vaults = [...copy.vaults.values()];
  const youngEnough = vaults.filter(({ confirmed }) => confirmed !== undefined && ageOf(confirmed) <= maxAge);
  const message = `${youngEnough.length} of ${vaults.length} vaults are held; ${describeAge(vaults)}`;
  const isWhole = vaults.length > 0 && youngEnough.length === vaults.length;
  return { service: "copy", status: isWhole ? "ACTIVE" : youngEnough.length > 0 ? "WARNING" : "ERROR", message };
}

function describeAge(vaults: readonly HeldVault[]): string {
  const ages = vaults.flatMap(({ confirmed }) => (confirmed ? [ageOf(confirmed)] : []));
  return ages.length === 0
    ? "the service has not confirmed them"
    : `the service confirmed the oldest ${describeDuration(Math.max(...ages))} ago`;
}

const faultHealth = (service: string, fault: string | undefined, message: string): Dependency =>
  fault === undefined
    ? { service, status: "ACTIVE", message }
    : { service, status: "WARNING", message: `It cannot be written: ${fault}` };

const logHealth = ({ log }: Watched): Dependency => faultHealth("log", log.fault(), "Reads are logged, where --log asks for it");
