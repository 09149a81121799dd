// What commands find in their environment.
import { describe, expect, it } from "vitest";
import { toolEnvironment } from "../../src/redact/tool-environment.ts";

describe("the environment of commands", () => {
  it("commands get the user's environment, marked as run by an agent", () => {
    const env = { PATH: "/bin", LANG: "C", EMPTY: "", NODE_OPTIONS: "--trace-warnings", MISSING: undefined };
    expect(toolEnvironment(env)).toEqual({
      PATH: "/bin",
      LANG: "C",
      EMPTY: "",
      NODE_OPTIONS: "--trace-warnings",
      CURSOR_AGENT: "1",
    });
  });

  it.each([
    ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "OLDPWD", "_"],
    ...["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "COURSER_EXIT_WITH_PARENT", "BASH_FUNC_ls%%"],
  ])("commands do not get %s", (name) => {
    expect(toolEnvironment({ [name]: "x", PLAIN: "x" })).toEqual({ PLAIN: "x", CURSOR_AGENT: "1" });
  });

  it("commands get no key, whatever the variable is called", () => {
    const env = { SOME_API_KEY: "sk-0123456789", COPY: "sk-0123456789", ODD: "abc", PLAIN: "yes" };
    expect(toolEnvironment(env, ["abc"])).toEqual({ PLAIN: "yes", CURSOR_AGENT: "1" });
  });

  it("commands get no key as a file, but still get file locations", () => {
    const names = ["STRIPE_SK", "TLS_PEM", "SIGNING_PRIVATE", "MY_PRIVATE_THING", "KUBECONFIG_DATA"];
    const env = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]));
    const kept = { KUBECONFIG: "/home/me/.kube/config", GOPRIVATE: "example.com/*", DISK: "sda", TASK: "x" };
    expect(toolEnvironment({ ...env, ...kept })).toEqual({ ...kept, CURSOR_AGENT: "1" });
  });

  it("commands get no logins in addresses, but still get shell locations", () => {
    const env = {
      PRIMARY: "postgres://app:hunter22@db/app",
      HTTPS_PROXY: "http://me:hunter22@proxy:3128",
      PAGE: "https://example.com/a:b@c",
      PROJECT_PWD: "/home/me/project",
      MYSQL_PWD: "hunter22",
      PWD: "/home/me",
    };
    const { HTTPS_PROXY, PAGE, PROJECT_PWD, PWD } = env;
    expect(toolEnvironment(env)).toEqual({ HTTPS_PROXY, PAGE, PROJECT_PWD, PWD, CURSOR_AGENT: "1" });
  });

  it("commands keep an ordinary word as a variable's value, even if it is also a password", () => {
    const env = { DB_PASSWORD: "postgres", SOME_TOKEN: "true", PGDATABASE: "postgres", CI: "true" };
    expect(toolEnvironment(env)).toEqual({ PGDATABASE: "postgres", CI: "true", CURSOR_AGENT: "1" });
  });
});
