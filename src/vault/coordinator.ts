import { DurableObject } from "cloudflare:workers";
import { openKeyring } from "../crypto/keyring.ts";
import { LIMITS } from "../model/limits.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import { report } from "../store/report.ts";
import { commitGroup } from "./group.ts";
import { createQueue } from "./queue.ts";

/** A group holds its Items in memory, sealed and opened, before and after: 32 of 512 KiB may take 80 MiB of the 128. */
const GROUP = 32;

/**
 * The Durable Object of one vault: every write to the vault goes through it, and so has a place in one order.
 * It keeps nothing: whoever takes its place after a restart knows as much. That there may be two of them for a while
 * costs time, not writes: see the fence in store/commit.ts.
 */
export class VaultCoordinator extends DurableObject<Env> {
  readonly #queue = createQueue<Operation, Result<Answer>>({
    commit: (group) => this.#commit(group),
    busy: fail("busy"),
    failed: (error) => {
      report("a commit", error);
      return fail("internal");
    },
    waiting: LIMITS.waitingWrites,
    waitingBytes: LIMITS.waitingBytes,
    group: GROUP,
  });

  /** Carries out one write. Sent again with the same id, it takes effect once. */
  write(operation: Operation): Promise<Result<Answer>> {
    return this.#queue.submit(operation);
  }

  async #commit(group: readonly Operation[]): Promise<readonly Result<Answer>[]> {
    const keyring = await openKeyring(this.env.ROOT_KEYS);
    if (!keyring.ok) return group.map(() => keyring);
    return commitGroup({ db: this.env.DB, keyring: keyring.value, now: Date.now() }, group);
  }
}
