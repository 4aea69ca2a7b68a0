import { app } from "./http/app.ts";
import { cleanUp } from "./scheduled.ts";
import { consumeActivity } from "./store/activity-consumer.ts";
import type { ActivityMessage } from "./store/activity-queue.ts";

export { Secrets } from "./binding/secrets.ts";
export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  queue: (batch, env) => consumeActivity(env, batch.messages),
  scheduled: (controller, env) => cleanUp(env, controller.scheduledTime),
} satisfies ExportedHandler<Env, ActivityMessage>;
