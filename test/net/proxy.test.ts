import { describe, expect, it } from "vitest";
import { proxyFor } from "../../src/net/proxy.ts";
import { isLoopback } from "../../src/text/loopback.ts";

const proxy = "http://proxy.test:3128";

describe("choosing the proxy for a URL", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["https://api.test/", { HTTPS_PROXY: proxy }, "proxy.test"],
    ["https://api.test/", { https_proxy: proxy }, "proxy.test"],
    ["https://api.test/", { https_proxy: "http://small.test:1", HTTPS_PROXY: proxy }, "small.test"],
    ["https://api.test/", { HTTP_PROXY: proxy }, undefined],
    ["http://api.test/", { HTTP_PROXY: proxy }, "proxy.test"],
    ["http://api.test/", { HTTPS_PROXY: proxy }, undefined],
    ["https://api.test/", { ALL_PROXY: proxy }, "proxy.test"],
    ["http://api.test/", { all_proxy: proxy }, "proxy.test"],
    ["https://api.test/", { HTTPS_PROXY: "proxy.test:3128" }, "proxy.test"],
    ["https://api.test/", { HTTPS_PROXY: " " }, undefined],
    ["https://api.test/", {}, undefined],
    ["http://localhost:11434/", { HTTP_PROXY: proxy, ALL_PROXY: proxy }, undefined],
    ["http://127.0.0.1/", { HTTP_PROXY: proxy }, undefined],
    ["http://127.8.9.1/", { HTTP_PROXY: proxy }, undefined],
    ["http://[::1]:80/", { HTTP_PROXY: proxy }, undefined],
    ["http://model.localhost/", { HTTP_PROXY: proxy }, undefined],
  ])("the proxy for %s is chosen by %j", (url, env, expected) => {
    expect(proxyFor(new URL(url), env)?.hostname).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ["https://api.test/", "*", true],
    ["https://api.test/", "api.test", true],
    ["https://api.test/", "API.Test", true],
    ["https://eu.api.test/", "api.test", true],
    ["https://notapi.test/", "api.test", false],
    ["https://api.test/", ".test", true],
    ["https://api.test/", "*.test", true],
    ["https://api.test/", "other.test, api.test", true],
    ["https://api.test/", "other.test api.test", true],
    ["https://api.test/", "api.test:443", true],
    ["https://api.test:8443/", "api.test:443", false],
    ["https://api.test/", "api", false],
    ["https://10.1.2.3/", "10.0.0.0/8", true],
    ["https://11.1.2.3/", "10.0.0.0/8", false],
    ["https://10.1.2.3/", "10.1.2.3", true],
    ["https://10.1.2.3/", "10.1.2.3:443", true],
    ["https://10.1.2.3/", "2.3", false],
    ["https://[fd00::5]/", "fd00::/8", true],
    ["https://[fd00::5]/", "[fd00::5]", true],
    ["https://[fd00::5]/", "fd00:0::0:5", true],
    ["https://[fe00::5]/", "fd00::/8", false],
    ["https://api.test/", "10.0.0.0/99,,", false],
    ["https://api.test/", "", false],
  ])("%s is excluded by NO_PROXY=%s: %s", (url, list, excluded) => {
    for (const name of ["NO_PROXY", "no_proxy"]) {
      expect(proxyFor(new URL(url), { HTTPS_PROXY: proxy, [name]: list }) === undefined).toBe(excluded);
    }
  });

  it("our fetch uses the login in a proxy's URL", () => {
    const found = proxyFor(new URL("https://api.test"), { HTTPS_PROXY: "http://us%40er:p%3Aw@proxy.test" });
    expect(found).toMatchObject({ hostname: "proxy.test", port: 80 });
    expect(Buffer.from(found!.authorization!.slice("Basic ".length), "base64").toString()).toBe("us@er:p:w");
  });

  it("an invalid proxy is refused with an explanation", () => {
    expect(() => proxyFor(new URL("https://api.test"), { HTTPS_PROXY: "http://:::" })).toThrow(
      /HTTPS_PROXY is not a URL/,
    );
    expect(() => proxyFor(new URL("https://api.test"), { ALL_PROXY: "socks5://proxy.test" })).toThrow(
      /socks5 proxy, which is not supported/,
    );
  });
});

it("the proxy rules recognise the local machine", () => {
  for (const host of ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "[::1]"])
    expect(isLoopback(host), host).toBe(true);
  for (const host of ["localhost.test", "127.evil.test", "128.0.0.1", "10.0.0.1"])
    expect(isLoopback(host), host).toBe(false);
});
