import { app } from "./http/app.ts";
import { type ActivityRow, forgetActivity, insertActivity } from "./store/activity.ts";
import { forgetReplays } from "./store/replays.ts";

export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  queue: (batch, env) =>
    insertActivity(
      env.DB,
      batch.messages.map(({ body }) => body),
    ),
  async scheduled({ scheduledTime }, env) {
    await forgetReplays(env.DB, scheduledTime);
    await forgetActivity(env.DB, scheduledTime, env.ACTIVITY_RETENTION_DAYS);
  },
} satisfies ExportedHandler<Env, ActivityRow>;
