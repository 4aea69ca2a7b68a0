import { app } from "./http/app.ts";
import { parseSettings } from "./settings.ts";
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
  scheduled: async (controller, env) => {
    const settings = parseSettings(env);
    if (!settings.ok) throw new Error(settings.failure.detail);
    await cleanUp(env.DB, controller.scheduledTime, settings.value);
  },
} satisfies ExportedHandler<Env, ActivityMessage>;
