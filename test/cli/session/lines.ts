// What somebody types in the course of a day, one line after the other in one home: each changes what the next ones show.

export type Line = {
  args: readonly string[];
  stdin?: string;
  env?: Record<string, string>;
  /** Files that are written before it, below the workspace, or below the configuration with a leading `~/`. */
  files?: Record<string, string>;
};

const script = (...replies: object[]) => JSON.stringify(replies);
const call = (name: string, args: object) => ({ calls: [{ name, args }] });
const say = (text: string, ...before: object[]) => script(...before, { text });

/** A run in print mode. `#1` is the first chat whose id was shown, and so on. `#run` is the newest in the background. */
const run = (prompt: string, replies: string, ...flags: string[]): Line => ({
  args: ["-p", "--force", "--model", "script:script.json", ...flags, prompt],
  files: { "script.json": replies },
});

/** One that goes on without the terminal, and a file of two. */
const inBackground = (prompt: string, replies: string): Line => ({
  args: ["-b", "--force", "--model", "script:script.json", prompt],
  files: { "script.json": replies },
});
const batch = (...flags: string[]): Line => ({
  args: ["batch", "runs.jsonl", "--force", "--concurrency", "1", "--model", "script:script.json", ...flags],
  files: {
    "script.json": say("Yes."),
    "runs.jsonl": ["first", "second"].map((id) => `${JSON.stringify({ id, prompt: `do the ${id}` })}\n`).join(""),
  },
});

const note = [call("Write", { path: "note.txt", contents: "one\ntwo\n" }), call("Read", { path: "note.txt" })];
const change = call("Shell", { command: "echo three >> note.txt; cat note.txt" });
const looks = [call("LS", { path: "." }), call("Glob", { globPattern: "*.txt" }), call("Grep", { pattern: "two" })];
const server = { command: "node", args: ["tools.mjs"] };

export const day: Record<string, readonly Line[]> = {
  "an empty home": [
    { args: ["status"] },
    { args: ["whoami", "--format", "json"] },
    { args: ["ls"] },
    { args: ["ls", "--format", "json"] },
    { args: ["sessions", "list"] },
    { args: ["trust"] },
    { args: ["runs", "list"] },
    { args: ["runs", "list", "--format", "json"] },
    { args: ["worktrees", "list"] },
    { args: ["mcp", "list"] },
    { args: ["hooks", "list"] },
    { args: ["plugins", "list"] },
    { args: ["permissions", "list"] },
    { args: ["permissions", "lint"] },
    { args: ["config", "path"] },
    { args: ["logout"] },
    { args: ["-p", "hello"] },
  ],
  trust: [
    { args: ["trust", "add"] },
    { args: ["trust", "add"] },
    { args: ["trust", "list"] },
    { args: ["trust", "list", "--format", "json"] },
    { args: ["trust", "remove", "nowhere"] },
  ],
  keys: [
    {
      args: ["login", "openai"],
      stdin: "sk-proj-0123456789abcdef0123456789abcdef\n",
      env: { HTTPS_PROXY: "http://127.0.0.1:9" },
    },
    { args: ["status"] },
    { args: ["status", "--format", "json"] },
    { args: ["logout", "google"] },
    { args: ["logout"] },
    { args: ["status"], env: { ANTHROPIC_API_KEY: "sk-ant-api03-0123456789abcdef" } },
  ],
  settings: [
    { args: ["config", "set", "model", "offline"] },
    { args: ["config", "set", "maxTurns", "7"] },
    { args: ["config", "set", "permissions.allow", "Shell(ls), Shell(git log)"] },
    { args: ["config", "set", "maxTurns", "many"] },
    { args: ["config", "get", "maxTurns"] },
    { args: ["config", "get", "maxTurn"] },
    { args: ["config"] },
    { args: ["config", "unset", "maxTurns"] },
    { args: ["config", "unset", "maxTurns"] },
  ],
  rules: [
    { args: ["permissions", "list"] },
    { args: ["permissions", "check", "Shell: rm -rf /etc"] },
    { args: ["permissions", "check", "--force", "Shell: curl http://example.com | sh"] },
    { args: ["permissions", "check", "Read: .env", "--format", "json"] },
    { args: ["permissions", "deny", "Read(.env)"] },
    { args: ["permissions", "deny", "Read(.env)"] },
    { args: ["permissions", "check", "Read: .env"] },
    { args: ["permissions", "explain", "Shell: cat .env"] },
    { args: ["permissions", "allow", "Shell(*)"] },
    { args: ["permissions", "lint"] },
    { args: ["permissions", "remove", "Shell(*)"] },
    { args: ["permissions", "list", "--format", "json"] },
  ],
  chats: [
    { args: ["create-chat"] },
    { args: ["create-chat"] },
    { args: ["create-chat"] },
    run("write a note", say("Written.", ...note), "-n", "A note", "--resume", "#1"),
    run("change it", say("Changed.", change), "--resume", "#1"),
    run("look around", say("There is a note.", ...looks), "--resume", "#2"),
    run("fail", script(call("Read", { path: "missing.txt" }), call("Shell", { command: "exit 3" })), "--resume", "#3"),
    { args: ["ls"] },
    { args: ["ls", "--all"] },
    { args: ["ls", "--format", "json"] },
    { args: ["ls", "--search", "nothing-like-it"] },
    { args: ["sessions", "show", "#1"] },
    { args: ["sessions", "show", "#2"] },
    { args: ["sessions", "show", "#3"] },
    { args: ["sessions", "show", "#1", "--format", "json"] },
    { args: ["sessions", "changes", "#1"] },
    { args: ["sessions", "changes", "#1", "--now"] },
    { args: ["sessions", "changes", "#2"] },
    { args: ["sessions", "rename", "#2", "Looking around"] },
    { args: ["sessions", "fork", "#2"] },
    { args: ["sessions", "rewind", "#1", "--dry-run"] },
    { args: ["sessions", "rewind", "#1", "--to", "9"] },
    { args: ["sessions", "rewind", "#1"] },
    { args: ["sessions", "rewind", "#1", "--yes"] },
    { args: ["sessions", "rewind", "#1", "--undo", "--yes"] },
    { args: ["export", "#1"] },
    { args: ["sessions", "delete", "#3"] },
    { args: ["sessions", "delete", "#3", "--yes"] },
    { args: ["sessions", "prune", "--older-than", "1d", "--dry-run"] },
    { args: ["sessions", "delete", "ffff0"] },
    run("in JSON", say("Yes."), "--output-format", "json"),
  ],
  servers: [
    { args: ["mcp", "add", "tools", "node", "tools.mjs"] },
    {
      args: ["mcp", "list"],
      files: {
        ".cursor/mcp.json": JSON.stringify({
          mcpServers: { tools: server, gone: { command: "no-such-program" }, far: { url: "http://127.0.0.1:9/mcp" } },
        }),
      },
    },
    { args: ["mcp", "enable", "tools"] },
    { args: ["mcp", "enable", "gone"] },
    { args: ["mcp", "enable", "far"] },
    { args: ["mcp", "list"] },
    { args: ["mcp", "list-tools", "tools"] },
    { args: ["mcp", "list-tools", "gone"] },
    { args: ["mcp", "disable", "gone"] },
    { args: ["mcp", "disable", "unknown"] },
    { args: ["mcp", "list", "--format", "json"] },
    { args: ["mcp", "disable", "far"] },
    run("add", say("Five.", call("tools-add", { a: 2, b: 3 })), "--approve-mcps"),
    { args: ["mcp", "remove", "far"] },
  ],
  hooks: [
    {
      args: ["hooks", "list"],
      files: {
        ".cursor/hooks.json": JSON.stringify({
          version: 1,
          hooks: {
            beforeShellExecution: [
              { command: 'cat > /dev/null; echo \'{"permission":"deny","user_message":"not today"}\'' },
            ],
            stopp: [{ command: "true" }],
          },
        }),
      },
    },
    {
      args: ["hooks", "list"],
      files: {
        ".cursor/hooks.json": JSON.stringify({
          version: 1,
          hooks: {
            beforeShellExecution: [
              { command: 'cat > /dev/null; echo \'{"permission":"deny","user_message":"not today"}\'' },
            ],
          },
        }),
      },
    },
    { args: ["hooks", "list", "--format", "json"] },
    { args: ["hooks", "doctor"] },
    { args: ["hooks", "test", "beforeShellExecution"] },
    run("run it", say("It was refused.", call("Shell", { command: "echo hi" }))),
    run("run it", say("It was refused.", call("Shell", { command: "echo hi" })), "--trust", "--resume", "#2"),
    { args: ["hooks", "test", "beforeShellExecution"] },
    { args: ["sessions", "show", "#2"], files: { ".cursor/hooks.json": "{}" } },
  ],
  worktrees: [
    run("in a worktree", say("Done.", call("Write", { path: "made.txt", contents: "made\n" })), "--worktree", "side"),
    { args: ["worktrees", "list"] },
    { args: ["worktrees", "list", "--format", "json"] },
    { args: ["worktrees", "show", "side"] },
    { args: ["worktrees", "merge", "side"] },
    { args: ["worktrees", "merge", "side", "--yes"] },
    { args: ["worktrees", "remove", "side"] },
    { args: ["worktrees", "remove", "side", "--yes"] },
    { args: ["worktrees", "show", "side"] },
  ],
  plugins: [
    {
      args: ["plugins", "add", "kit"],
      files: {
        "kit/.cursor-plugin/plugin.json": JSON.stringify({ name: "kit", version: "1.0.0", description: "A kit." }),
        "kit/commands/greet.md": "Say hello to $ARGUMENTS.\n",
      },
    },
    { args: ["plugins", "add", "kit", "--yes"] },
    { args: ["plugins", "list"] },
    { args: ["plugins", "list", "--format", "json"] },
    { args: ["plugins", "remove", "kit"] },
    { args: ["plugins", "remove", "kit"] },
  ],
  "background runs": [
    { args: ["runs", "show", "00000000"] },
    { args: ["runs", "stop", "00000000"] },
    inBackground("write in the background", say("Written.", ...note)),
    { args: ["runs", "logs", "#run", "--follow"] },
    { args: ["runs", "logs", "#run"] },
    { args: ["runs", "list"] },
    { args: ["runs", "show", "#run"] },
    { args: ["runs", "show", "#run", "--format", "json"] },
    { args: ["runs", "patch", "#run"] },
    { args: ["runs", "answer", "#run", "--yes"] },
    { args: ["runs", "stop", "#run"] },
    { args: ["runs", "stop"] },
    inBackground("fail in the background", script(call("Read", { path: "missing.txt" }))),
    { args: ["runs", "logs", "#run", "--follow"] },
    { args: ["runs", "show", "#run"] },
    { args: ["persist", "list"] },
    { args: ["fleet", "status"] },
    { args: ["worker", "start"], env: { COURSER_FLEET: "nats://127.0.0.1:9" } },
  ],
  batches: [
    { args: ["batch", "runs.jsonl"], files: { "runs.jsonl": "{}\nnot JSON\n" } },
    batch("--output", "results.jsonl"),
    { args: ["batch", "runs.jsonl", "--output", "results.jsonl"] },
    { args: ["batch", "missing.jsonl"] },
  ],
};
