import { app } from "./http/app.ts";
import { type BackupMessage, runMessage } from "./nightly.ts";
import { cleanUp } from "./scheduled.ts";
import { consumeMessages, type FlushMessage } from "./store/activity/flush.ts";

export { Operator } from "./jobs/operator.ts";
export { Secrets } from "./binding/secrets.ts";
export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env) {
    // The operator may have named the queues: what a message is shows from where it came.
    const backups = batch.messages.map(({ body }) => body).filter((body) => "kind" in body);
    const flushes = batch.messages.filter((message): message is Message<FlushMessage> => "handOvers" in message.body);
    if (flushes.length > 0) await consumeMessages(env, flushes);
    for (const message of backups) await runMessage(env, message, Date.now());
  },
  scheduled: (controller, env) => cleanUp(env, controller.scheduledTime),
} satisfies ExportedHandler<Env, FlushMessage | BackupMessage>;
