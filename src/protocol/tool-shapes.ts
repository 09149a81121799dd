// Types of the args and results of each tool, as the wire spells them. A result holds exactly one of its outcomes.
import type {
  ListMcpResourcesToolCallArgs,
  ListMcpResourcesToolCallResult,
  McpToolCallArgs,
  McpToolCallResult,
  ReadMcpResourceToolCallArgs,
  ReadMcpResourceToolCallResult,
} from "./mcp-shapes.ts";
import type { ShellToolCallArgs, ShellToolCallResult } from "./shell-shapes.ts";

export type * from "./mcp-shapes.ts";
export type * from "./shell-shapes.ts";

/** What most tools answer besides success. */
export type ErrorText = { error: string };
export type ErrorMessage = { errorMessage: string };
export type Rejected = { reason: string };

export interface LsToolCallArgs {
  path: string;
  ignore: string[];
  toolCallId: string;
}
export interface LsToolCallResult {
  success?: { directoryTreeRoot: DirectoryNode };
  error?: { path?: string; error: string } | ErrorMessage;
  rejected?: Rejected;
}
export interface DirectoryNode {
  absPath: string;
  childrenDirs: DirectoryNode[];
  childrenFiles: FileNode[];
  childrenWereProcessed: boolean;
  fullSubtreeExtensionCounts: Record<string, number>;
  numFiles: number;
}
export interface FileNode {
  name: string;
  terminalMetadata?: unknown;
}

export interface ReadToolCallArgs {
  path: string;
  limit?: number;
  offset?: number;
}
export interface ReadToolCallResult {
  success?: {
    content: string;
    isEmpty: boolean;
    exceededLimit: boolean;
    /** Counts the empty string after a final newline. */
    totalLines: number;
    fileSize: number;
    path: string;
    /** One-based, both ends included. */
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
  /** 2025 spelled the change out. */
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
    /** 2026; `resultForModel` is the same in 2025. */
    message?: string;
    resultForModel?: string;
  };
  error?: { path?: string; error?: string; modelVisibleError?: string } | ErrorMessage;
  fileNotFound?: { path?: string };
  rejected?: { path?: string; reason: string };
  readPermissionDenied?: { path?: string };
  writePermissionDenied?: { path?: string; error?: string };
}

/** Old documentation only: a reader takes it, a writer uses edit. */
export interface WriteToolCallArgs {
  path: string;
  fileText: string;
  toolCallId: string;
}
export interface WriteToolCallResult {
  success?: { path: string; linesCreated: number; fileSize: number };
  error?: ErrorText;
}

export interface GlobToolCallArgs {
  targetDirectory?: string;
  globPattern: string;
}
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
/** One of the three, after the output mode. */
export interface WorkspaceResult {
  content?: { matches: FileMatch[]; totalLines?: number; totalMatchedLines?: number } & Truncation;
  files?: { files: string[]; totalFiles?: number } & Truncation;
  count?: { counts: FileCount[]; totalFiles?: number; totalMatches?: number } & Truncation;
}
export interface Truncation {
  clientTruncated?: boolean;
  ripgrepTruncated?: boolean;
}
export interface FileCount {
  file: string;
  count: number;
}
export interface FileMatch {
  file: string;
  matches: LineMatch[];
}
export interface LineMatch {
  lineNumber: number;
  content: string;
  contentTruncated: boolean;
  isContextLine: boolean;
}

export interface UpdateTodosToolCallArgs {
  todos: TodoItem[];
  merge: boolean;
}
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
export interface UpdateTodosToolCallResult {
  success?: { todos: TodoItem[]; totalCount: number; wasMerge: boolean };
  error?: ErrorText;
}

export interface DeleteToolCallArgs {
  path: string;
  toolCallId?: string;
}
export interface DeleteToolCallResult {
  success?: { path: string; message?: string };
  error?: { path: string; error?: string; clientVisibleError?: string };
  fileNotFound?: { path: string };
  notFile?: { path: string };
  rejected?: { path?: string; reason: string };
}

export interface WebFetchToolCallArgs {
  url: string;
  toolCallId?: string;
}
export interface WebFetchToolCallResult {
  success?: { url: string; markdown: string };
  error?: { url: string; error: string };
  rejected?: Rejected;
}

export interface WebSearchToolCallArgs {
  searchTerm: string;
  toolCallId?: string;
}
export interface WebSearchToolCallResult {
  success?: { references: WebReference[] };
  error?: ErrorText;
  rejected?: Rejected;
}

export interface WebReference {
  title: string;
  url: string;
  chunk: string;
}

export interface SemSearchToolCallArgs {
  query: string;
  /** Empty: the whole project. */
  targetDirectories: string[];
  explanation?: string;
}
export interface SemSearchToolCallResult {
  success?: { results: string };
  error?: ErrorMessage;
}

export interface AskQuestionToolCallArgs {
  title: string;
  questions: Question[];
  runAsync?: boolean;
  asyncOriginalToolCallId?: string;
}
export interface Question {
  id: string;
  prompt: string;
  options: { id: string; label: string }[];
  allowMultiple: boolean;
}
export interface AskQuestionToolCallResult {
  success?: { answers: QuestionAnswer[] };
  error?: ErrorMessage;
  rejected?: Rejected;
  async?: unknown;
}
export interface QuestionAnswer {
  questionId: string;
  selectedOptionIds: string[];
  /** An answer of the person's own. */
  freeformText?: string;
}

export interface CreatePlanToolCallArgs {
  plan?: string;
  name?: string;
  overview?: string;
  todos?: unknown[];
  [field: string]: unknown;
}
export interface CreatePlanToolCallResult {
  success?: Record<string, unknown>;
  error?: ErrorText;
  rejected?: Rejected;
  planUri?: string;
}

export interface TaskToolCallArgs {
  description?: string;
  prompt?: string;
  /** `{explore: {}}`, `{custom: {name}}`. */
  subagentType?: Record<string, { name?: string }>;
  model?: string;
  resume?: string;
  agentId?: string;
  mode?: string;
  environment?: unknown;
  [field: string]: unknown;
}
/** One thing that a subagent said or did. */
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

export interface AwaitToolCallArgs {
  taskId: string;
  blockUntilMs: number;
}
export interface AwaitToolCallResult {
  success?: unknown;
  error?: ErrorText;
  notFound?: unknown;
}

export type GetMcpToolsToolCallArgs = Record<string, unknown>;
export interface GetMcpToolsToolCallResult {
  success?: unknown;
  error?: ErrorText;
}

/** Every tool of the wire by its key; a reader meets others and keeps them. */
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
