// Addresses by number, URLs by rule.
import { describe, expect, it } from "vitest";
import {
  judgeAddress,
  judgeAddresses,
  judgeSearchUrl,
  judgeUrl,
  type NetworkSituation,
} from "../../src/policy/network.ts";
import { parseAddress } from "../../src/text/ip-address.ts";
import { isLoopback } from "../../src/text/loopback.ts";
import { random } from "../protocol/random.ts";
import { rulesOf } from "./fixture.ts";

describe("addresses in network decisions", () => {
  it.each<[kind: string, addresses: string[]]>([
    [
      "public",
      ["93.184.216.34", "1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0"],
    ],
    ["public", ["9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"]],
    ["public", ["192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.17"]],
    [
      "public",
      [
        "2606:4700:1:2:3:4:5::",
        "2606:4700:4700::1111",
        "2a00:1450:4001::200e",
        "2001:4860:4860::8888",
        "2620:fe::fe",
        "3ffe::1",
      ],
    ],
    ["loopback", ["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::", "0:0:0:0:0:0:0:1"]],
    ["private", ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fd12:3456::1", "fec0::1"]],
    ["link-local", ["169.254.169.254", "169.254.170.2", "fe80::1", "fe80::1%eth0", "febf::1"]],
    ["shared", ["100.64.0.1", "100.100.100.200", "100.127.255.255"]],
    ["metadata", ["168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]],
    ["benchmark", ["198.18.0.1", "198.19.255.255", "2001:2::1"]],
    ["documentation", ["192.0.2.1", "198.51.100.7", "203.0.113.255", "2001:db8::1", "3fff:fff::1"]],
    ["multicast", ["224.0.0.1", "239.255.255.255", "ff02::1"]],
    [
      "reserved",
      [
        "240.0.0.1",
        "255.255.255.255",
        "192.0.0.8",
        "192.88.99.1",
        "2001:10::1",
        "100::1",
        "4000::1",
        "5f00::1",
        "e000::1",
      ],
    ],
    // Spellings.
    [
      "loopback",
      ["2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "127.1", "127.0.1", "017700000001", "0x7F.1"],
    ],
    ["loopback", ["[::1]", "127.0.0.1.", "0", "00", "0x0", "0x", "0x.0x.1", "0.0", "::0:0", "0000:0000::0001"]],
    ["private", ["167772161", "0xa.0.0.1", "012.0.0.1", "10.1", "0xc0.0xa8.0.1", "3232235521"]],
    // One inside another.
    [
      "loopback",
      ["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001", "::ffff:0:127.0.0.1", "::127.0.0.1"],
    ],
    [
      "loopback",
      [
        "64:ff9b::7f00:1",
        "64:ff9b::127.0.0.1",
        "2002:7f00:1::",
        "2002:7f00:0001:1:2:3:4:5",
        "2001:0:1:2:3:4:80ff:fffe",
      ],
    ],
    [
      "private",
      ["::ffff:10.0.0.1", "64:ff9b::10.1.2.3", "2002:c0a8:101::1", "2001:470:1:2:0:5efe:c0a8:1", "64:ff9b:1::1"],
    ],
    ["private", ["2001:470:1:2:200:5efe:10.0.0.1"]],
    ["link-local", ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"]],
    ["public", ["::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1", "2001:470:1:2:0:5efe:5db8:d822"]],
    ["public", ["::ffff:0:93.184.216.34"]],
    // Almost ISATAP.
    ["public", ["2001:470:1:2:400:5efe:10.0.0.1", "2001:470:1:2:1:5efe:10.0.0.1"]],
    ["public", ["2001:470:1:2:0:5fee:10.0.0.1", "2001:470:1:2:0:5efd:10.0.0.1", "2001:470:1:2:5e:fe00:10.0.0.1"]],
    ["reserved", ["2001:0:1:2:3:4:a247:27dd", "::93.184.216.34"]],
    [
      "unreadable",
      ["", "x", "1.2.3.4.5", "256.1.1.1", "4294967296", "1.2.3.256", "08.0.0.1", "::1::", "1:2:3", ":::", "g::1"],
    ],
    [
      "unreadable",
      [
        "1.2.3.4.0",
        "1.2.3.4.0.0",
        "1:2:3:4::5:6:7:8",
        "1:2:3:4:5:6:7:8::",
        "1..2",
        "::1.2.3",
        "12345::1",
        "1:2:3:4:5:6:7:8:9",
        "-1",
        "1e3",
        "127.0.0.1/8",
      ],
    ],
  ])("the network decision classifies addresses as %s: %j", (kind, addresses) => {
    expect(addresses.map((address) => [address, judgeAddress(address).kind])).toEqual(
      addresses.map((address) => [address, kind]),
    );
    for (const why of addresses.map((address) => judgeAddress(address).why))
      if (kind === "public") expect(why).toBeUndefined();
      else expect(why).not.toContain("undefined");
  });

  it("a reason names the address and what is there", () => {
    expect(judgeAddress("0x7f.1")).toMatchObject({ why: "127.0.0.1 is this machine" });
    expect(judgeAddress("64:ff9b::7f00:1")).toMatchObject({
      why: "64:ff9b::7f00:1 (NAT64) contains 127.0.0.1 is this machine",
    });
    expect(judgeAddress("::1")).toMatchObject({ why: "::1 is this machine" });
    expect(judgeAddress("0:0::0")).toMatchObject({ why: ":: is this machine" });
    expect(judgeAddress("2001:470:1:2:0:5efe:c0a8:1")).toMatchObject({
      why: expect.stringContaining("2001:470:1:2:0:5efe:c0a8:1 (ISATAP) contains 192.168.0.1 "),
    });
  });

  it.each([
    ["2001:db8:0:0:1::1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:0:1:0:0:0", "2001:db8:0:0:1::"],
    ["2001:db8:0:0:0:1:0:0", "2001:db8::1:0:0"],
    ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1:2:3:4:5"],
    ["fe80:0:0:0:0:0:0:1%eth0", "fe80::1"],
  ])("the IPv6 address %s is written %s", (address, written) => {
    expect(judgeAddress(address).why).toContain(`${written} is `);
  });

  it("numeric addresses are read like the URL parser reads them, in any spelling", () => {
    const { below, pick } = random(11);
    const spell = (value: number) =>
      pick([
        String(value),
        `0x${value.toString(16)}`,
        `0${value.toString(8)}`,
        `0X${value.toString(16).toUpperCase()}`,
      ]);
    for (let round = 0; round < 3000; round++) {
      const bytes = Array.from({ length: 4 }, () => pick([0, 1, 10, 127, 169, 192, 254, below(256)]));
      const parts = 1 + below(4);
      const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
      const text = [...bytes.slice(0, parts - 1), last].map(spell).join(".");
      expect([text, parseAddress(text)?.join(".")]).toEqual([text, bytes.join(".")]);
      expect(new URL(`http://${text}/`).hostname).toBe(bytes.join("."));
    }
  });

  it("IPv6 addresses are read like the URL parser reads them", () => {
    const { below, pick } = random(12);
    for (let round = 0; round < 3000; round++) {
      const groups = Array.from({ length: 8 }, () => pick([0, 0, 1, 0xffff, below(65_536)]));
      const full = groups.map((group) => pick([group.toString(16), group.toString(16).padStart(4, "0")])).join(":");
      const short = new URL(`http://[${full}]/`).hostname;
      expect(parseAddress(short)).toEqual(parseAddress(full));
      expect(parseAddress(full)).toEqual(new Uint8Array(groups.flatMap((group) => [group >> 8, group & 255])));
    }
  });
});

function situation(
  allow: string[],
  changes: { deny?: string[]; scope?: "user" | "project"; mode?: NetworkSituation["mode"] } = {},
): NetworkSituation {
  return {
    mode: changes.mode ?? "default",
    rules: rulesOf({ allow, deny: changes.deny ?? [] }, changes.scope ?? "user"),
  };
}

describe("URLs in network decisions", () => {
  const everything = situation(["WebFetch(*)"]);

  it.each([
    "http://127.0.0.1:8080/",
    "http://127.9.9.9/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://app.localhost:3000/",
    "http://localhost.localdomain/",
    "http://ip6-localhost/",
    "http://ip6-loopback:80/",
    "http://[::]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://017700000001/",
    "http://0x7f.1/",
    "http://1.2.3.4.5.127.1.localhost/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://⑫⑦.1/",
    "http://%31%32%37.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http:/127.0.0.1/",
    " \thttp://127.0.0.1/\n",
    "http://1\t27.0.0.1/",
    "http://x@127.0.0.1/",
    "http://metadata/",
    "http://metadata.google.internal/",
    "http://metadata.goog/",
    "http://router.lan/",
    "http://printer.local/",
    "http://kubernetes.default.svc.cluster.local/",
    "http://host.docker.internal:2375/",
    "http://intranet/",
    "http://wiki.intranet/",
    "http://db.localdomain/",
    "http://mail.corp/",
    "http://nas.home/",
    "http://db.private/",
    "http://nas.home.arpa/",
    "https://168.63.129.16/",
    "ftp://pub.test/",
    "file:///etc/passwd",
    "file://pub.test/etc/passwd",
    "data:text/html,hi",
    "javascript:alert(1)",
    "gopher://pub.test/",
    "blob:https://pub.test/1",
    "ws://pub.test/",
    "view-source:https://pub.test/",
    "pub.test",
    "//pub.test/",
    "",
    "http://",
    "http://a b/",
    "http://256.1.1.1/",
  ])("access to the address %j is denied, whatever the rules allow", (url) => {
    expect(judgeUrl(url, everything)).toMatchObject({
      verdict: "deny",
      reasons: [expect.not.stringContaining("undefined")],
    });
    expect(judgeUrl(url, situation(["WebFetch(*)"], { mode: "force" })).verdict).toBe("deny");
  });

  it.each<[url: string, allow: string[], verdict: string]>([
    ["https://docs.test/", ["WebFetch(docs.test)"], "allow"],
    ["https://DOCS.test./x", ["WebFetch(Docs.Test)"], "allow"],
    ["http://docs.test:80/", ["WebFetch(docs.test)"], "allow"],
    ["https://docs.test/", [], "ask"],
    ["https://a.docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://a.docs.test/", ["WebFetch(*.docs.test)"], "allow"],
    ["https://a.b.docs.test/", ["WebFetch(*.docs.test)"], "allow"],
    ["https://docs.test/", ["WebFetch(*.docs.test)"], "ask"],
    ["https://notdocs.test/", ["WebFetch(*.docs.test)", "WebFetch(docs.test)"], "ask"],
    ["https://docs.test.evil.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://docs.test@evil.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://docs.test%40evil.test/", ["WebFetch(docs.test)"], "deny"],
    ["https://docs.test:443@evil.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://me:pw@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://me@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://:pw@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://evil.test\\@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://evil.test/docs.test", ["WebFetch(docs.test)"], "ask"],
    ["https://evil.test#@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://evil.test?@docs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://dоcs.test/", ["WebFetch(docs.test)"], "ask"],
    ["https://dоcs.test/", ["WebFetch(dоcs.test)"], "allow"],
    ["https://xn--bcher-kva.test/", ["WebFetch(bücher.test)"], "allow"],
    ["https://ｄｏｃｓ.test/", ["WebFetch(docs.test)"], "allow"],
    ["https://docs.test:8443/", ["WebFetch(docs.test)"], "ask"],
    ["https://docs.test:8443/", ["WebFetch(*)"], "ask"],
    ["https://docs.test:8443/", ["WebFetch(docs.test:8443)"], "allow"],
    ["https://docs.test:8443/", ["WebFetch(*:8443)"], "allow"],
    ["https://docs.test/", ["WebFetch(docs.test:8443)"], "ask"],
    ["https://docs.test/", ["WebFetch(docs.test:443)"], "allow"],
    ["http://pub.test:22/", ["WebFetch(*)"], "ask"],
    ["http://93.184.216.34/", ["WebFetch(*)"], "allow"],
    ["http://93.184.216.34/", ["WebFetch(docs.test)"], "ask"],
    ["http://1572395042/", ["WebFetch(93.184.216.34)"], "allow"],
    ["http://[2606:4700::1111]/", ["WebFetch([2606:4700::1111])"], "allow"],
    ["http://[2606:4700::1111]/", ["WebFetch(2606:4700:0::1111)"], "allow"],
    ["http://[2606::1]/", ["WebFetch(2606::1)"], "allow"],
    // One local service, by a rule that names host and port.
    ["http://localhost:3000/x", ["WebFetch(localhost:3000)"], "allow"],
    ["http://127.0.0.1:3000/", ["WebFetch(127.0.0.1:3000)"], "allow"],
    ["http://2130706433:3000/", ["WebFetch(127.0.0.1:3000)"], "allow"],
    ["http://[::1]:3000/", ["WebFetch([::1]:3000)"], "allow"],
    ["http://192.168.1.10/", ["WebFetch(192.168.1.10:80)"], "allow"],
    ["http://localhost:3000/", ["WebFetch(docs.test)", "WebFetch(localhost:3000)"], "allow"],
    ["http://localhost:3000/", ["WebFetch(*)", "Mcp(localhost:3000)"], "deny"],
    ["http://localhost:3001/", ["WebFetch(localhost:3000)"], "deny"],
    ["http://127.0.0.1:3000/", ["WebFetch(localhost:3000)"], "deny"],
    ["http://localhost:3000/", ["WebFetch(localhost)"], "deny"],
    ["http://localhost:3000/", ["WebFetch(*:3000)"], "deny"],
    ["http://a.localhost:3000/", ["WebFetch(*.localhost:3000)"], "deny"],
    ["http://localhost:3000/", ["WebFetch(user@localhost:3000)"], "deny"],
  ])("the policy decides about the URL %s under the rules %j: %s", (url, allow, verdict) => {
    expect(judgeUrl(url, situation(allow))).toMatchObject({ verdict });
  });

  it("a project's network rule opens no private address", () => {
    const rules = situation(["WebFetch(localhost:3000)"], { scope: "project" });
    expect(judgeUrl("http://localhost:3000/", rules).verdict).toBe("deny");
    expect(judgeUrl("http://docs.test/", situation(["WebFetch(docs.test)"], { scope: "project" })).verdict).toBe(
      "allow",
    );
  });

  it.each([
    ["https://evil.test/", "WebFetch(evil.test)"],
    ["https://a.evil.test/", "WebFetch(*.evil.test)"],
    ["https://evil.test/", "WebFetch(*.evil.test)"],
    ["https://my-evil-site.test/", "WebFetch(*evil*)"],
    ["https://b.test/", "WebFetch({a,b}.test)"],
    ["http://localhost:3000/", "WebFetch(localhost)"],
    ["http://2130706433:3000/", "WebFetch(127.0.0.1)"],
    ["http://[::ffff:93.184.216.34]/", "WebFetch(93.184.216.34)"],
    ["http://[64:ff9b::5db8:d822]/", "WebFetch(93.184.*)"],
    ["http://93.184.216.34/", "WebFetch([::ffff:93.184.216.34])"],
    ["http://[2606:4700::1111]/", "WebFetch(2606:4700:*)"],
    ["http://[::ffff:93.184.216.34]/", "WebFetch([::ffff:*)"],
  ])("%s is denied by %s, even if allowed by name", (url, rule) => {
    const allow = ["WebFetch(*)", "WebFetch(localhost:3000)", "WebFetch(127.0.0.1:3000)"];
    for (const mode of ["default", "force"] as const) {
      const answer = judgeUrl(url, situation(allow, { deny: [rule], mode }));
      expect(answer.verdict).toBe("deny");
      expect(answer.reasons.join()).toContain(rule);
    }
  });

  it("--force allows web access that the user would be asked about", () => {
    for (const url of ["https://docs.test/", "https://docs.test:22/", "https://me:pw@docs.test/"])
      expect(judgeUrl(url, situation([], { mode: "force" })).verdict).toBe("allow");
  });

  it("the reason against a network request names the rule that would allow it", () => {
    expect(judgeUrl("http://localhost:3000/", everything).reasons.join()).toContain('"WebFetch(localhost:3000)"');
    expect(judgeUrl("https://docs.test:8443/", everything).reasons.join()).toContain('"WebFetch(docs.test:8443)"');
    expect(judgeUrl("https://dоcs.test/", situation([])).reasons.join()).toContain("xn--");
    expect(judgeUrl("https://docs.test/", situation([])).reasons.join()).not.toContain(":443");
    expect(judgeUrl("http://localhost/", everything).reasons.join()).toContain("this machine");
    expect(judgeUrl("http://metadata.goog/", everything).reasons.join()).toContain("metadata service");
  });
});

describe("addresses of a host name", () => {
  const url = new URL("https://pub.test/");
  it.each<[addresses: string[], allow: string[], verdict: string]>([
    [["93.184.216.34", "2606:4700::1111"], ["WebFetch(*)"], "allow"],
    [["93.184.216.34", "127.0.0.1"], ["WebFetch(*)"], "deny"],
    [["93.184.216.34", "::1"], ["WebFetch(*)"], "deny"],
    [["fe80::1%eth0"], ["WebFetch(*)"], "deny"],
    [["::ffff:10.0.0.1"], ["WebFetch(*)"], "deny"],
    [["nonsense"], ["WebFetch(*)"], "deny"],
    [["10.0.0.1"], ["WebFetch(pub.test:443)"], "allow"],
    [["10.0.0.1"], ["WebFetch(pub.test)"], "deny"],
    [["10.0.0.1"], ["WebFetch(10.0.0.1:443)"], "deny"],
  ])("the policy decides about a host with the addresses %j under the rules %j: %s", (addresses, allow, verdict) => {
    expect(judgeAddresses(url, addresses, situation(allow)).verdict).toBe(verdict);
  });

  it("a deny rule for an IP address applies to every host name that leads there", () => {
    const rules = situation(["WebFetch(*)"], { deny: ["WebFetch(93.184.216.34)"] });
    expect(judgeAddresses(url, ["93.184.216.34"], rules).verdict).toBe("deny");
    expect(judgeAddresses(url, ["93.184.216.35"], rules).verdict).toBe("allow");
    expect(judgeAddresses(url, ["::ffff:93.184.216.34"], rules).verdict).toBe("deny");
    const version6 = situation(["WebFetch(*)"], { deny: ["WebFetch(2606:4700::1111)"] });
    expect(judgeAddresses(url, ["2606:4700::1111"], version6).verdict).toBe("deny");
    expect(judgeAddresses(url, ["2606:4700:0::1111%eth0"], version6).verdict).toBe("deny");
    expect(judgeAddresses(url, ["2606:4700::1112"], version6).verdict).toBe("allow");
    const network = situation(["WebFetch(*)"], { deny: ["WebFetch(2606:4700:*)"] });
    expect(judgeAddresses(url, ["2606:4700::1112"], network).verdict).toBe("deny");
  });
});

describe("web search decisions", () => {
  const engine = "https://search.test/?q=x";
  const judged = (allow: string[], changes: Parameters<typeof situation>[1] & { acceptsSearches?: boolean } = {}) =>
    judgeSearchUrl(engine, { ...situation(allow, changes), acceptsSearches: changes.acceptsSearches ?? false }).verdict;

  it("the policy asks about a web search unless a rule, setting or --force allows it", () => {
    expect(judged([])).toBe("ask");
    expect(judged(["WebFetch(other.test)", "Mcp(search.test:443)"])).toBe("ask");
    expect(judged(["WebFetch(search.test)"])).toBe("allow");
    expect(judged([], { acceptsSearches: true })).toBe("allow");
    expect(judged([], { mode: "force" })).toBe("allow");
  });

  it("a deny rule for web searches wins over settings and --force", () => {
    const deny = ["WebFetch(search.test)"];
    expect(judged(["WebFetch(search.test)"], { deny })).toBe("deny");
    expect(judged([], { deny, acceptsSearches: true })).toBe("deny");
    expect(judged([], { deny, mode: "force" })).toBe("deny");
    expect(judged(["WebFetch(search.test)"], { deny: ["WebFetch(other.test)"] })).toBe("allow");
  });

  it("a search engine configured by the user may be at a private address", () => {
    const answer = judgeSearchUrl("http://127.0.0.1:8888/search", situation(["WebFetch(127.0.0.1:8888)"]));
    expect(answer.verdict).toBe("allow");
    expect(judgeSearchUrl("no address", situation([], { mode: "force" })).verdict).toBe("deny");
  });
});

describe("recognising the local machine", () => {
  it.each(["localhost", "LOCALHOST", "localhost.", "app.localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])(
    "the host %s means the local machine",
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each(["", "mylocalhost", "localhost.test", "127.0.0.1.test", "128.0.0.1", "a127.0.0.1", "::2", "[::1].test"])(
    "the host %j does not mean the local machine",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
