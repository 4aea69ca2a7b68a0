/** The floor of `npm run bench:host`: Node's HTTP server, one SELECT of `node:sqlite`, and JSON. Nothing that serves an Item from this process is faster. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(":memory:");
db.exec("CREATE TABLE items (id TEXT PRIMARY KEY, title TEXT, details TEXT) STRICT");
const insert = db.prepare("INSERT INTO items VALUES (?, ?, ?)");
for (let number = 0; number < 10_000; number++) insert.run(`item-${number}`, `Item ${number}`, "x".repeat(400));
const select = db.prepare("SELECT id, title, details FROM items WHERE id = ?");

const server = createServer((request, response) => {
  const body = JSON.stringify(select.get(request.url!.slice(1)));
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
});
server.listen(0, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`));
