import { app } from "./http/app.ts";
import { readNumber } from "./http/settings.ts";
import { insertActivity } from "./store/activity.ts";
import type { ActivityMessage } from "./store/activity-queue.ts";
import { cleanUp } from "./store/clean-up.ts";

export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    insertActivity(
      env.DB,
      batch.messages.flatMap(({ body }) => body),
    ),
  scheduled: (controller, env) => cleanUp(env.DB, controller.scheduledTime, readNumber(env, "ACTIVITY_RETENTION_DAYS")),
} satisfies ExportedHandler<Env, ActivityMessage>;
