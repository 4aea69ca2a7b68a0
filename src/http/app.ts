import { Hono } from "hono";
import { fail } from "../model/result.ts";
import { report } from "../store/report.ts";
import { listActivity } from "./activity.ts";
import { createToken, listTokens, revokeToken } from "./admin-tokens.ts";
import { createVault, deleteVault, listAllVaults, updateVault } from "./admin-vaults.ts";
import { deleteFile, replaceContent, uploadFile } from "./file-writes.ts";
import { getContent, getFile, listFiles } from "./files.ts";
import { health, heartbeat } from "./health.ts";
import { createItem, deleteItem, patchItem, replaceItem } from "./item-writes.ts";
import { listItems } from "./item-list.ts";
import { getItem } from "./items.ts";
import { metrics } from "./metrics.ts";
import { plainPath } from "./path.ts";
import { type App, refuse, route } from "./route.ts";
import { getVault, listVaults } from "./vaults.ts";

/** The service on one page. */
export const app = new Hono<App>({ getPath: plainPath });

// Before the answer is made: each header that comes after costs a new Response.
app.use(async (c, next) => {
  c.header("1Password-Connect-Version", "1.8.1"); // the SDKs look at it
  c.header("Cache-Control", "no-store");
  await next();
});

route(app, "/heartbeat", { GET: heartbeat });
route(app, "/health", { GET: health });
route(app, "/metrics", { GET: metrics });

route(app, "/v1/activity", { GET: listActivity });
route(app, "/v1/vaults", { GET: listVaults });
route(app, "/v1/vaults/:vault", { GET: getVault });
route(app, "/v1/vaults/:vault/items", { GET: listItems, POST: createItem });
const FILES = "/v1/vaults/:vault/items/:item/files";
route(app, FILES, { GET: listFiles, POST: uploadFile });
route(app, `${FILES}/:file`, { GET: getFile, DELETE: deleteFile });
route(app, `${FILES}/:file/content`, { GET: getContent, PUT: replaceContent });

route(app, "/v1/vaults/:vault/items/:item", { GET: getItem, PUT: replaceItem, PATCH: patchItem, DELETE: deleteItem });

// Without its secret there is no admin.
app.use("/v1/admin/*", async (c, next) => (c.env.ADMIN_TOKEN ? next() : c.notFound()));
route(app, "/v1/admin/vaults", { GET: listAllVaults, POST: createVault });
route(app, "/v1/admin/vaults/:vault", { PATCH: updateVault, DELETE: deleteVault });
route(app, "/v1/admin/tokens", { GET: listTokens, POST: createToken });
route(app, "/v1/admin/tokens/:token", { DELETE: revokeToken });

app.notFound((c) => refuse(c, fail("route_not_found").failure));

app.onError((error, c) => {
  report("a request", error);
  return refuse(c, fail("internal").failure);
});
