import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const version = createHash("sha256").update("version").digest("hex").slice(0, 12);
const server = createServer((request, response) => {
  response.statusCode = request.url === "/version" ? 200 : 404;
  response.end(request.url === "/version" ? version : "not found");
});
server.listen(0, "127.0.0.1", () => {
  writeFileSync("server.pid", String(process.pid));
  console.log(server.address().port);
});
process.on("SIGTERM", () => {
  rmSync("server.pid", { force: true });
  process.exit(0);
});
