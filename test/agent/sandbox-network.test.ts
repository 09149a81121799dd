// The way out of the sandbox for listed hosts: who may be reached, and that nothing else is.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressProblem, nameProblem } from "../../src/agent/sandbox/hosts.ts";
import type { NetworkSettings } from "../../src/store/sandbox-settings.ts";
import { sandboxMissing } from "./sandbox-fixture.ts";
import { type Box, makeBox } from "./sandbox-support.ts";

const missing = sandboxMissing();
const name = (text: string) => (missing ? `${text} (skipped: ${missing})` : text);

const listed: NetworkSettings = {
  default: "deny",
  allow: ["good.test", "*.wide.test", "odd.test:8443", "93.184.216.0/24"],
  deny: ["bad.wide.test", "93.184.216.9/32"],
};

describe("hosts of the sandbox's network rules", () => {
  it.each([
    ["good.test", 443, "93.0.0.1", "yes"],
    ["GOOD.test.", 80, "93.0.0.1", "yes"],
    ["good.test", 22, "93.0.0.1", "no"],
    ["sub.good.test", 443, "93.0.0.1", "no"],
    ["evil-good.test", 443, "93.0.0.1", "no"],
    ["wide.test", 443, "93.0.0.1", "yes"],
    ["a.b.wide.test", 443, "93.0.0.1", "yes"],
    ["bad.wide.test", 443, "93.0.0.1", "no"],
    ["odd.test", 8443, "93.0.0.1", "yes"],
    ["odd.test", 443, "93.0.0.1", "no"],
    ["other.test", 443, "93.184.216.34", "yes"],
    ["other.test", 443, "93.184.216.9", "no"],
    ["other.test", 443, "93.184.217.1", "no"],
    ["93.184.216.34", 443, "93.184.216.34", "yes"],
    ["good.test", 443, "127.0.0.1", "no"],
    ["good.test", 443, "169.254.169.254", "no"],
    ["good.test", 443, "10.1.2.3", "no"],
    ["good.test", 443, "::ffff:127.0.0.1", "no"],
    ["good.test", 0, "93.0.0.1", "no"],
    ["good.test\r\nx", 443, "93.0.0.1", "no"],
  ])("a sandboxed command reaches %s:%i at the address %s: %s", (host, port, address, answer) => {
    const target = { host, port };
    const problem = nameProblem(target, listed) ?? addressProblem(target, [address], listed);
    expect(problem === undefined ? "yes" : "no").toBe(answer);
  });

  it("the sandbox's network proxy judges every address of a host name", () => {
    const target = { host: "good.test", port: 443 };
    expect(addressProblem(target, ["93.0.0.1", "192.168.0.1"], listed)).toMatch(/private network/);
  });

  it("the sandbox's network proxy lets all public hosts pass if that is the default", () => {
    const open: NetworkSettings = { default: "allow", allow: [], deny: ["bad.test"] };
    expect(nameProblem({ host: "any.test", port: 22 }, open)).toBeUndefined();
    expect(nameProblem({ host: "bad.test", port: 443 }, open)).toMatch(/deny/);
    expect(addressProblem({ host: "any.test", port: 443 }, ["127.0.0.1"], open)).toMatch(/closed/);
  });

  it("the sandbox's proxy refuses a denied address under every spelling of a host name", () => {
    const open: NetworkSettings = { default: "allow", allow: [], deny: ["93.184.216.0/24", "93.1.2.3", "2606::/32"] };
    const problem = (address: string) => addressProblem({ host: "any.test", port: 443 }, [address], open);
    for (const address of ["93.184.216.9", "::ffff:93.184.216.9", "93.1.2.3", "64:ff9b::93.1.2.3", "2606::1"])
      expect([address, problem(address)]).toEqual([address, expect.stringContaining("networkPolicy.deny")]);
    for (const address of ["93.184.217.9", "93.1.2.4", "2607::1"]) expect(problem(address)).toBeUndefined();
  });
});

describe.skipIf(missing)(name("the proxy of the sandbox"), () => {
  let server: Server;
  let box: Box;
  const asked: string[] = [];
  const dialled: string[] = [];
  const addresses: Record<string, string> = { "trap.wide.test": "127.0.0.1", "other.example": "8.8.8.8" };
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.headers.host} ${request.url}`);
      request.resume();
      request.on("end", () => response.end("served\n"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    box = await makeBox({
      settings: { network: listed },
      network: {
        resolve: async (host) => [addresses[host] ?? "93.184.216.34"],
        connect(place) {
          dialled.push(`${place.address}:${place.port}`);
          return connect(port, "127.0.0.1");
        },
      },
    });
  });
  afterAll(async () => {
    await box?.end();
    server?.closeAllConnections();
    server?.close();
  });

  it("a sandboxed command can send requests and open tunnels to listed hosts", async () => {
    const end = await box.run(
      "curl -sS http://good.test/a?b=1 && curl -sS -d x http://a.wide.test/post && curl -sS -p http://good.test/tunnel",
    );
    expect(end).toMatchObject({ exitCode: 0, stdout: "served\nserved\nserved\n" });
    expect(asked).toEqual(["GET good.test /a?b=1", "POST a.wide.test /post", "GET good.test /tunnel"]);
    expect(new Set(dialled)).toEqual(new Set(["93.184.216.34:80"]));
  });

  it("the sandbox refuses hosts that are not listed, with a reason, and reports them at the end", async () => {
    dialled.length = 0;
    const end = await box.run(
      "curl -sS -p http://other.example/ ; curl -s http://bad.wide.test/; curl -s http://trap.wide.test/; curl -s http://127.0.0.1:1/ ; curl -s -H 'Host: good.test' http://bad.wide.test/",
    );
    expect(dialled).toEqual([]);
    expect(end.stderr).toMatch(/403/);
    expect(end.stdout).toMatch(/refused bad.wide.test:80: networkPolicy.deny names it/);
    expect(end.notes.join("\n")).toMatch(/refused trap.wide.test:80: 127.0.0.1 is this machine, which is closed/);
  });

  it("the sandbox has no other network access: no interface, no DNS", async () => {
    const end = await box.run(
      "tail -n +3 /proc/net/dev | cut -d: -f1; curl -s --noproxy '*' -m 2 http://good.test/; echo $?",
    );
    expect(end.stdout.trim()).toMatch(/^lo\n[67]$/);
  });

  it("a sandboxed command's exit code, signals and limits pass through the network helper", async () => {
    expect(await box.run("exit 5")).toMatchObject({ exitCode: 5 });
    expect(await box.run("kill -9 $$")).toMatchObject({ exitCode: 137 });
    expect(await box.run("trap 'exit 4' TERM; sleep 5 & wait", { timeoutMs: 500 })).toMatchObject({ exitCode: 4 });
    expect((await box.run("ulimit -d; ls /proc/self/fd | wc -l")).stdout).toBe(`${2048 * 1024}\n4\n`);
  });
});
