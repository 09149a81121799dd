// Shapes of lines and tool calls as they are documented of cursor-agent. They are laid against those of the package.

export interface CursorSystemEvent {
  type: "system";
  subtype: "init";
  apiKeySource: string;
  cwd: string;
  session_id: string;
  model: string;
  permissionMode: string;
}

export interface CursorUserEvent {
  type: "user";
  message: {
    role: "user";
    content: Array<{
      type: "text";
      text: string;
    }>;
  };
  session_id: string;
}

export interface CursorAssistantEvent {
  type: "assistant";
  message: {
    role: "assistant";
    content: Array<{
      type: "text";
      text: string;
    }>;
  };
  session_id: string;
  timestamp_ms?: number;
}

export interface CursorToolCallEvent {
  type: "tool_call";
  subtype: "started" | "completed";
  call_id: string;
  tool_call: {
    readToolCall?: ReadToolCall;
    editToolCall?: EditToolCall;
    shellToolCall?: ShellToolCall;
    lsToolCall?: LsToolCall;
    grepToolCall?: GrepToolCall;
  };
  model_call_id: string;
  session_id: string;
  timestamp_ms: number;
}

export interface ReadToolCall {
  args: {
    path: string;
  };
  result?: {
    success?: {
      content: string;
      isEmpty: boolean;
      exceededLimit: boolean;
      totalLines: number;
      fileSize: number;
      path: string;
      readRange: {
        startLine: number;
        endLine: number;
      };
    };
    error?: {
      errorMessage: string;
    };
  };
}

export interface EditToolCall {
  args: {
    path: string;
  };
  result?: {
    success?: {
      path: string;
      resultForModel: string;
      linesAdded: number;
      linesRemoved: number;
      diffString: string;
      afterFullFileContent: string;
    };
    error?: {
      errorMessage: string;
    };
  };
}

export interface ShellToolCall {
  args: {
    command: string;
    workingDirectory: string;
    timeout: number;
    toolCallId: string;
    simpleCommands: string[];
    hasInputRedirect: boolean;
    hasOutputRedirect: boolean;
    parsingResult: any;
  };
  result?: {
    success?: {
      command: string;
      workingDirectory: string;
      exitCode: number;
      signal: string;
      stdout: string;
      stderr: string;
      executionTime: number;
    };
    error?: {
      errorMessage: string;
    };
  };
}

export interface LsToolCall {
  args: {
    path: string;
    ignore: string[];
    toolCallId: string;
  };
  result?: {
    success?: {
      directoryTreeRoot: {
        absPath: string;
        childrenDirs: any[];
        childrenFiles: Array<{ name: string }>;
        childrenWereProcessed: boolean;
        fullSubtreeExtensionCounts: Record<string, number>;
        numFiles: number;
      };
    };
    error?: {
      errorMessage: string;
    };
  };
}

export interface GrepToolCall {
  args: {
    pattern: string;
    outputMode: "files_with_matches" | "content" | "count";
    caseInsensitive: boolean;
    multiline: boolean;
    toolCallId: string;
  };
  result?: {
    success?: {
      pattern: string;
      path: string;
      outputMode: string;
      workspaceResults: Record<string, any>;
    };
    error?: {
      errorMessage: string;
    };
  };
}

export interface CursorResultEvent {
  type: "result";
  subtype: "success" | "error";
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  result: string;
  session_id: string;
  request_id: string;
}

export interface LsToolCallArgs {
  path: string;
  ignore: string[];
  toolCallId: string;
}

export interface LsToolCallResult {
  success: {
    directoryTreeRoot: {
      absPath: string;
      childrenDirs: DirectoryNode[];
      childrenFiles: FileNode[];
      childrenWereProcessed: boolean;
      fullSubtreeExtensionCounts: Record<string, number>;
      numFiles: number;
    };
  };
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
}

export interface ReadToolCallArgs {
  path: string;
  limit?: number;
}

export interface ReadToolCallResult {
  success: {
    content: string;
    isEmpty: boolean;
    exceededLimit: boolean;
    totalLines: number;
    fileSize: number;
    path: string;
    readRange: {
      startLine: number;
      endLine: number;
    };
  };
}

export interface EditToolCallArgs {
  path: string;
  streamContent: string;
}

export interface EditToolCallResult {
  success: {
    path: string;
    linesAdded: number;
    linesRemoved: number;
    diffString: string;
    beforeFullFileContent?: string;
    afterFullFileContent: string;
    message: string;
  };
}

export interface GlobToolCallArgs {
  targetDirectory: string;
  globPattern: string;
}

export interface GlobToolCallResult {
  success: {
    pattern: string;
    path: string;
    files: string[];
    totalFiles: number;
    clientTruncated: boolean;
    ripgrepTruncated: boolean;
  };
}

export interface GrepToolCallArgs {
  pattern: string;
  path: string;
  glob?: string;
  outputMode?: "content" | "files_with_matches";
  caseInsensitive: boolean;
  multiline: boolean;
  toolCallId?: string;
}

export interface GrepToolCallResult {
  success: {
    pattern: string;
    path: string;
    outputMode: string;
    workspaceResults: Record<string, WorkspaceResult>;
  };
}

export interface WorkspaceResult {
  content?: {
    matches: FileMatch[];
  };
  files?: {
    files: string[];
  };
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

export interface ShellToolCallArgs {
  command: string;
  workingDirectory: string;
  timeout: number;
  toolCallId?: string;
  simpleCommands: string[];
  hasInputRedirect: boolean;
  hasOutputRedirect: boolean;
  parsingResult: {
    parsingFailed: boolean;
    executableCommands: ExecutableCommand[];
    hasRedirects: boolean;
    hasCommandSubstitution: boolean;
  };
  fileOutputThresholdBytes: string;
  isBackground: boolean;
  skipApproval: boolean;
  timeoutBehavior: string;
}

export interface ExecutableCommand {
  name: string;
  args: CommandArg[];
  fullText: string;
}

export interface CommandArg {
  type: "word" | "string" | "number";
  value: string;
}

export interface ShellToolCallResult {
  success: {
    command: string;
    workingDirectory: string;
    exitCode: number;
    signal: string;
    stdout: string;
    stderr: string;
    executionTime: number;
    interleavedOutput: string;
  };
  isBackground: boolean;
}

export interface UpdateTodosToolCallArgs {
  todos: TodoItem[];
  merge: boolean;
}

export interface TodoItem {
  id: string;
  content: string;
  status: "TODO_STATUS_PENDING" | "TODO_STATUS_IN_PROGRESS" | "TODO_STATUS_COMPLETED";
  createdAt: string;
  updatedAt: string;
  dependencies: string[];
}

export interface UpdateTodosToolCallResult {
  success: {
    todos: TodoItem[];
    totalCount: number;
    wasMerge: boolean;
  };
}

export type ListMcpResourcesToolCallArgs = Record<string, never>;

export interface ListMcpResourcesToolCallResult {
  success: {
    resources: McpResource[];
  };
}

export interface McpResource {
  uri: string;
  name: string;
  description?: string;
  mimeType?: string;
}

export interface DeleteToolCallArgs {
  path: string;
  toolCallId?: string;
}

export interface DeleteToolCallResult {
  success?: {
    path: string;
    message: string;
  };
  error?: {
    path: string;
    error: string;
  };
}

export interface WebFetchToolCallArgs {
  url: string;
  toolCallId?: string;
}

export interface WebFetchToolCallResult {
  success?: {
    url: string;
    markdown: string;
  };
  error?: {
    url: string;
    error: string;
  };
}

export interface SemSearchToolCallArgs {
  query: string;
  targetDirectories: string[];
  explanation?: string;
}

export interface SemSearchToolCallResult {
  success: {
    results: string;
  };
}

export interface McpToolCallArgs {
  name: string;
  args: Record<string, any>;
  toolCallId: string;
  providerIdentifier: string;
  toolName: string;
}

export interface McpToolCallResult {
  success?: {
    content: McpContent[];
    isError: boolean;
  };
  error?: {
    error: string;
  };
}

export interface McpContent {
  text?: {
    text: string;
  };
  image?: {
    data: string;
    mimeType: string;
  };
  resource?: {
    uri: string;
    text?: string;
  };
}
