// What sandbox.json and cli-config.json say about the sandbox, of the user and of a project.
import { join } from "node:path";
import { expect, it } from "vitest";
import { hasSandboxFile } from "../../src/store/sandbox-files.ts";
import { loadSandboxSettings } from "../../src/store/sandbox-settings.ts";
import { type Place, placed, rowOf, warned } from "./read-kit.ts";

it("sandbox.json and the sandbox in cli-config.json are read as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  rows.push("# sandbox");
  const seen = (user: unknown, project?: unknown, sandbox?: unknown, standsFor?: unknown) => {
    const place = placed({
      ...(user !== undefined && { ".cursor/sandbox.json": user }),
      ...(project !== undefined && { "work/.cursor/sandbox.json": project }),
      ...(standsFor !== undefined && { "real/.cursor/sandbox.json": standsFor }),
    });
    const stands = standsFor === undefined ? {} : { standsFor: join(place.home, "real") };
    const title = Object.entries({ user, project, config: sandbox, behind: standsFor })
      .flatMap(([name, content]) => (content === undefined ? [] : `${name} ${JSON.stringify(content)}`))
      .join("; ");
    said(title || "nothing", place, () => {
      const { warnings, ...rest } = loadSandboxSettings({
        ...place,
        ...stands,
        cliConfig: sandbox === undefined ? {} : { sandbox },
      });
      const defaults = {
        mode: "auto",
        type: "workspace_readwrite",
        readwritePaths: [],
        readonlyPaths: [],
        readBoundary: "system",
        readPaths: [],
        tmpWrite: true,
        sharedBuildCache: false,
        network: { default: "deny", allow: [], deny: [] },
        environment: [],
        limits: {},
      };
      const others = Object.entries(rest).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify((defaults as Record<string, unknown>)[name]),
      );
      return [Object.fromEntries(others), `is there: ${hasSandboxFile({ ...place, ...stands })}`, ...warned(warnings)];
    });
  };
  seen(undefined);
  for (const mode of ["enabled", "on", "disabled", "off", "allowlist", "auto", 7, "toString"])
    seen(undefined, undefined, { mode });
  for (const networkAccess of ["disabled", "deny", "none", "allowlist", "enabled", "allow", "all", true])
    seen(undefined, undefined, { networkAccess });
  for (const readBoundary of ["system", "workspace", "x"]) seen(undefined, undefined, { readBoundary });
  seen(undefined, undefined, 7);
  const policy = (fields: object) => ({ networkPolicy: fields });
  for (const networkAccess of ["all", "listed", "none", "allowlist"])
    for (const own of [
      { default: "allow" },
      { default: "deny", allow: ["a.test"] },
      { allow: ["a.test"], deny: ["b.test"] },
    ])
      seen(policy(own), undefined, { networkAccess });
  for (const user of [
    { type: "workspace_readonly" },
    { type: "insecure_none" },
    {
      additionalReadwritePaths: ["/a"],
      additionalReadonlyPaths: ["/b"],
      readBoundary: "workspace",
      additionalReadPaths: ["/c"],
      disableTmpWrite: true,
      enableSharedBuildCache: true,
      environment: ["A"],
      limits: { memoryMb: 5, processes: 6, temporaryMb: 7 },
    },
    { disableTmpWrite: false, enableSharedBuildCache: false },
    { type: "x" },
    { limits: { memoryMb: 0 } },
    { environment: ["not a name"] },
    { networkPolicy: { default: "x" } },
    { networkPolicies: {}, later: 1 },
  ])
    seen(user);
  for (const project of [
    { type: "insecure_none" },
    { type: "workspace_readonly" },
    { type: "workspace_readwrite" },
    { additionalReadwritePaths: ["/a", "/b"], additionalReadonlyPaths: ["/c"] },
    { enableSharedBuildCache: true },
    { environment: ["A", "B"] },
    { readBoundary: "workspace", additionalReadPaths: ["/r"] },
    { additionalReadPaths: ["/r"] },
    { disableTmpWrite: true },
    { disableTmpWrite: false, enableSharedBuildCache: false },
    policy({ default: "deny", allow: ["a.test"], deny: ["b.test"] }),
    policy({ default: "allow", allow: ["a.test"] }),
    { limits: { memoryMb: 3, temporaryMb: 9 } },
  ]) {
    seen(undefined, project);
    seen(
      {
        type: "workspace_readonly",
        additionalReadonlyPaths: ["/u"],
        readBoundary: "workspace",
        additionalReadPaths: ["/q"],
        disableTmpWrite: true,
        enableSharedBuildCache: true,
        environment: ["A"],
        networkPolicy: { default: "allow", allow: ["u.test"], deny: ["v.test"] },
        limits: { memoryMb: 5, processes: 6 },
      },
      project,
    );
  }
  seen(policy({ allow: ["a.test"] }), policy({ allow: ["a.test", "b.test"] }));
  seen(undefined, { disableTmpWrite: true }, undefined, {
    additionalReadwritePaths: ["/a"],
    type: "workspace_readonly",
  });
  seen(undefined, undefined, undefined, {});
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "read-sandbox.txt"));
});
