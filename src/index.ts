import { app } from "./http/app.ts";
import { forgetReplays } from "./store/replays.ts";

export { VaultCoordinator } from "./vault/coordinator.ts";

export default {
  fetch: app.fetch,
  scheduled: (controller, env) => forgetReplays(env.DB, controller.scheduledTime),
} satisfies ExportedHandler<Env>;
