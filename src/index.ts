import { app } from "./http/app.ts";
import { cleanUp } from "./scheduled.ts";
import { consumeMessages, type FlushMessage } from "./store/activity/flush.ts";

export { Operator } from "./jobs/operator.ts";
export { Secrets } from "./binding/secrets.ts";
export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env) {
    await consumeMessages(env, batch.messages, Date.now());
  },
  scheduled: (controller, env) => cleanUp(env, controller.scheduledTime),
} satisfies ExportedHandler<Env, FlushMessage>;
