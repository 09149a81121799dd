// Types of each tool's arguments and results, as the wire spells them. A result holds exactly one of its outcomes.

/** An error outcome as most tools have it. */
export type ErrorText = { error: string };
export type ErrorMessage = { errorMessage: string };
export type Rejected = { reason: string };

type Outcomes<Success, Failure = ErrorText> = { success?: Success; error?: Failure };
type Refusable<Success, Failure = ErrorText> = Outcomes<Success, Failure> & { rejected?: Rejected };

export type LsToolCallArgs = { path: string; ignore: string[]; toolCallId: string };
export type LsToolCallResult = Refusable<
  { directoryTreeRoot: DirectoryNode },
  { path?: string; error: string } | ErrorMessage
>;
export interface DirectoryNode {
  absPath: string;
  childrenDirs: DirectoryNode[];
  childrenFiles: FileNode[];
  childrenWereProcessed: boolean;
  fullSubtreeExtensionCounts: Record<string, number>;
  numFiles: number;
}
export type FileNode = { name: string; terminalMetadata?: unknown };

export type ReadToolCallArgs = { path: string; limit?: number; offset?: number };
export interface ReadToolCallResult {
  success?: {
    content: string;
    isEmpty: boolean;
    exceededLimit: boolean;
    /** The number of lines, including the empty string after a final line break. */
    totalLines: number;
    fileSize: number;
    path: string;
    /** The first and last line that were read, counted from 1. */
    readRange?: { startLine: number; endLine: number };
    totalChars?: number;
    relatedCursorRulePaths?: string[];
    relatedCursorRules?: unknown[];
  };
  error?: ErrorMessage;
  fileNotFound?: { path?: string };
  rejected?: Rejected;
  permissionDenied?: { path?: string };
}

export interface EditToolCallArgs {
  path: string;
  streamContent?: string;
  /** The patch that was applied; only in the stream of 2025. */
  applyPatch?: { patchContent: string };
  strReplace?: { oldText: string; newText: string; replaceAll?: boolean };
  multiStrReplace?: { edits: { oldText: string; newText: string; replaceAll?: boolean }[] };
}
export interface EditToolCallResult {
  success?: {
    path: string;
    linesAdded: number;
    linesRemoved: number;
    diffString: string;
    beforeFullFileContent?: string;
    afterFullFileContent: string;
    /** Written by 2026 versions; `resultForModel` is the same field in 2025. */
    message?: string;
    resultForModel?: string;
  };
  error?: { path?: string; error?: string; modelVisibleError?: string } | ErrorMessage;
  fileNotFound?: { path?: string };
  rejected?: { path?: string; reason: string };
  readPermissionDenied?: { path?: string };
  writePermissionDenied?: { path?: string; error?: string };
}

/** Occurs only in old documentation: readers accept it, writers use edit. */
export type WriteToolCallArgs = { path: string; fileText: string; toolCallId: string };
export type WriteToolCallResult = Outcomes<{ path: string; linesCreated: number; fileSize: number }>;

export type GlobToolCallArgs = { targetDirectory?: string; globPattern: string };
export interface GlobToolCallResult {
  success?: {
    pattern: string;
    path: string;
    files: string[];
    totalFiles: number;
    clientTruncated: boolean;
    ripgrepTruncated: boolean;
  };
  error?: ErrorText;
}

export type GrepOutputMode = "content" | "files_with_matches" | "count";
export interface GrepToolCallArgs {
  pattern: string;
  path?: string;
  glob?: string;
  outputMode?: GrepOutputMode;
  caseInsensitive: boolean;
  multiline: boolean;
  toolCallId?: string;
}
export interface GrepToolCallResult {
  success?: {
    pattern: string;
    path: string;
    outputMode: string;
    workspaceResults: Record<string, WorkspaceResult>;
  };
  error?: ErrorText | ErrorMessage;
}
/** The result for one workspace, which has one of three fields, depending on the output mode. */
export interface WorkspaceResult {
  content?: { matches: FileMatch[]; totalLines?: number; totalMatchedLines?: number } & Truncation;
  files?: { files: string[]; totalFiles?: number } & Truncation;
  count?: { counts: FileCount[]; totalFiles?: number; totalMatches?: number } & Truncation;
}
export type Truncation = { clientTruncated?: boolean; ripgrepTruncated?: boolean };
export type FileCount = { file: string; count: number };
export type FileMatch = { file: string; matches: LineMatch[] };
export type LineMatch = { lineNumber: number; content: string; contentTruncated: boolean; isContextLine: boolean };

export interface ShellToolCallArgs {
  command: string;
  workingDirectory: string;
  timeout: number;
  toolCallId?: string;
  simpleCommands: string[];
  hasInputRedirect: boolean;
  hasOutputRedirect: boolean;
  parsingResult: ShellParsingResult;
  /** A size in bytes: a 64-bit number, written as a string. */
  fileOutputThresholdBytes?: string;
  isBackground?: boolean;
  skipApproval?: boolean;
  timeoutBehavior?: string;
  hardTimeout?: number;
  description?: string;
  closeStdin?: boolean;
  conversationId?: string;
  requestedSandboxPolicy?: SandboxPolicy;
  adminCommandDenylist?: string[];
  requestId?: string;
}
export interface ShellParsingResult {
  parsingFailed: boolean;
  executableCommands: ExecutableCommand[];
  hasRedirects: boolean;
  hasCommandSubstitution: boolean;
  redirects?: unknown[];
}
export type ExecutableCommand = { name: string; args: CommandArg[]; fullText: string };
export type CommandArg = { type: CommandArgType; value: string };
/** The node names of a bash syntax tree for words. Profiles of older versions have only the first three. */
export type CommandArgType =
  | "word"
  | "string"
  | "number"
  | "raw_string"
  | "ansi_c_string"
  | "simple_expansion"
  | "expansion"
  | "command_substitution"
  | "process_substitution"
  | "concatenation";
export interface SandboxPolicy {
  type: string;
  networkAccess?: boolean;
  additionalReadwritePaths?: string[];
  additionalReadonlyPaths?: string[];
  enableSharedBuildCache?: boolean;
  readBoundary?: string;
  additionalReadPaths?: string[];
}
/** How a shell command ended. `failure` means that it exited with a code other than 0. */
export interface ShellToolCallResult {
  success?: ShellRun;
  failure?: ShellRun;
  timeout?: { command: string; workingDirectory: string; timeoutMs?: number } & Partial<ShellRun>;
  rejected?: { command: string; workingDirectory: string; reason: string; isReadonly: boolean };
  spawnError?: { command: string; workingDirectory: string; error: string };
  permissionDenied?: { command: string; workingDirectory: string; error?: string; isReadonly?: boolean };
  error?: ErrorMessage;
  isBackground?: boolean;
  sandboxPolicy?: SandboxPolicy;
  terminalsFolder?: string;
  pid?: number;
}
export interface ShellRun {
  command: string;
  workingDirectory: string;
  exitCode: number;
  signal: string;
  stdout: string;
  stderr: string;
  executionTime: number;
  interleavedOutput?: string;
  localExecutionTimeMs?: number;
}

export type UpdateTodosToolCallArgs = { todos: TodoItem[]; merge: boolean };
export type TodoStatus =
  | "TODO_STATUS_PENDING"
  | "TODO_STATUS_IN_PROGRESS"
  | "TODO_STATUS_COMPLETED"
  | "TODO_STATUS_CANCELLED";
export interface TodoItem {
  id: string;
  content: string;
  status: TodoStatus;
  createdAt: string;
  updatedAt: string;
  dependencies: string[];
}
export type UpdateTodosToolCallResult = Outcomes<{ todos: TodoItem[]; totalCount: number; wasMerge: boolean }>;

export type DeleteToolCallArgs = { path: string; toolCallId?: string };
export interface DeleteToolCallResult {
  success?: { path: string; message?: string };
  error?: { path: string; error?: string; clientVisibleError?: string };
  fileNotFound?: { path: string };
  notFile?: { path: string };
  rejected?: { path?: string; reason: string };
}

export type WebFetchToolCallArgs = { url: string; toolCallId?: string };
export type WebFetchToolCallResult = Refusable<{ url: string; markdown: string }, { url: string; error: string }>;

export type WebSearchToolCallArgs = { searchTerm: string; toolCallId?: string };
export type WebSearchToolCallResult = Refusable<{ references: WebReference[] }>;

export type WebReference = { title: string; url: string; chunk: string };

export interface SemSearchToolCallArgs {
  query: string;
  /** The folders to search; an empty list means the whole project. */
  targetDirectories: string[];
  explanation?: string;
}
export type SemSearchToolCallResult = Outcomes<{ results: string }, ErrorMessage>;

export interface AskQuestionToolCallArgs {
  title: string;
  questions: ChoiceItem[];
  runAsync?: boolean;
  asyncOriginalToolCallId?: string;
}
export type ChoiceItem = {
  id: string;
  prompt: string;
  options: { id: string; label: string }[];
  allowMultiple: boolean;
};
export type AskQuestionToolCallResult = Refusable<{ answers: QuestionAnswer[] }, ErrorMessage> & { async?: unknown };
export interface QuestionAnswer {
  questionId: string;
  selectedOptionIds: string[];
  /** An answer that the user has typed instead of choosing an option. */
  freeformText?: string;
}

export interface CreatePlanToolCallArgs {
  plan?: string;
  name?: string;
  overview?: string;
  todos?: unknown[];
  [field: string]: unknown;
}
export type CreatePlanToolCallResult = Refusable<Record<string, unknown>> & { planUri?: string };

export interface TaskToolCallArgs {
  description?: string;
  prompt?: string;
  /** The type of the subagent, such as `{explore: {}}` or `{custom: {name}}`. */
  subagentType?: Record<string, { name?: string }>;
  model?: string;
  resume?: string;
  agentId?: string;
  mode?: string;
  environment?: unknown;
  [field: string]: unknown;
}
/** A message, thought or tool call of a subagent. */
export type ConversationStep =
  | { assistantMessage: { text: string } }
  | { thinkingMessage: { text: string; durationMs: number } }
  | { toolCall: Record<string, unknown> };
export interface TaskToolCallResult {
  success?: {
    conversationSteps?: ConversationStep[];
    agentId?: string;
    isBackground?: boolean;
    durationMs?: string;
    transcriptPath?: string;
    [field: string]: unknown;
  };
  error?: ErrorText;
  rejected?: Rejected;
}

export type AwaitToolCallArgs = { taskId: string; blockUntilMs: number };
export type AwaitToolCallResult = Outcomes<unknown> & { notFound?: unknown };

export type GetMcpToolsToolCallArgs = Record<string, unknown>;
export type GetMcpToolsToolCallResult = Outcomes<unknown>;

export type ListMcpResourcesToolCallArgs = { server?: string };
export type ListMcpResourcesToolCallResult = Outcomes<{ resources: McpResource[] }>;
export type McpResource = { uri: string; name: string; description?: string; mimeType?: string };

export type ReadMcpResourceToolCallArgs = { server: string; uri: string };
export type ReadMcpResourceToolCallResult = Refusable<
  { uri: string; content: McpContent[] },
  ErrorText & { uri?: string }
>;

export interface McpToolCallArgs {
  /** The name of the tool, as `<server>-<tool>`. */
  name: string;
  args: Record<string, unknown>;
  toolCallId: string;
  providerIdentifier: string;
  toolName: string;
  serverIdentifier?: string;
  skipApproval?: boolean;
  smartModeApprovalOnly?: boolean;
}
/** How an MCP call ended. If the tool failed, this is a success with `isError` set. */
export type McpToolCallResult = Refusable<{ content: McpContent[]; isError: boolean }>;
export interface McpContent {
  text?: { text: string };
  image?: { data: string; mimeType: string };
  resource?: { uri: string; text?: string };
}

/** The tool calls of the stream, by their key. Readers of the stream also keep unknown keys. */
export interface ToolShapes {
  lsToolCall: { args: LsToolCallArgs; result?: LsToolCallResult };
  readToolCall: { args: ReadToolCallArgs; result?: ReadToolCallResult };
  editToolCall: { args: EditToolCallArgs; result?: EditToolCallResult };
  writeToolCall: { args: WriteToolCallArgs; result?: WriteToolCallResult };
  globToolCall: { args: GlobToolCallArgs; result?: GlobToolCallResult };
  grepToolCall: { args: GrepToolCallArgs; result?: GrepToolCallResult };
  shellToolCall: { args: ShellToolCallArgs; result?: ShellToolCallResult };
  updateTodosToolCall: { args: UpdateTodosToolCallArgs; result?: UpdateTodosToolCallResult };
  deleteToolCall: { args: DeleteToolCallArgs; result?: DeleteToolCallResult };
  webFetchToolCall: { args: WebFetchToolCallArgs; result?: WebFetchToolCallResult };
  webSearchToolCall: { args: WebSearchToolCallArgs; result?: WebSearchToolCallResult };
  semSearchToolCall: { args: SemSearchToolCallArgs; result?: SemSearchToolCallResult };
  listMcpResourcesToolCall: { args: ListMcpResourcesToolCallArgs; result?: ListMcpResourcesToolCallResult };
  readMcpResourceToolCall: { args: ReadMcpResourceToolCallArgs; result?: ReadMcpResourceToolCallResult };
  mcpToolCall: { args: McpToolCallArgs; result?: McpToolCallResult };
  askQuestionToolCall: { args: AskQuestionToolCallArgs; result?: AskQuestionToolCallResult };
  createPlanToolCall: { args: CreatePlanToolCallArgs; result?: CreatePlanToolCallResult };
  taskToolCall: { args: TaskToolCallArgs; result?: TaskToolCallResult };
  awaitToolCall: { args: AwaitToolCallArgs; result?: AwaitToolCallResult };
  getMcpToolsToolCall: { args: GetMcpToolsToolCallArgs; result?: GetMcpToolsToolCallResult };
}
