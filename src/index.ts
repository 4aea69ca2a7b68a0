import { app } from "./http/app.ts";
import { forgetActivity, insertActivity } from "./store/activity.ts";
import type { ActivityMessage } from "./store/activity-queue.ts";
import { forgetReplays } from "./store/replays.ts";

export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    insertActivity(
      env.DB,
      batch.messages.flatMap(({ body }) => body),
    ),
  async scheduled({ scheduledTime }, env) {
    await forgetReplays(env.DB, scheduledTime);
    await forgetActivity(env.DB, scheduledTime, env.ACTIVITY_RETENTION_DAYS);
  },
} satisfies ExportedHandler<Env, ActivityMessage>;
