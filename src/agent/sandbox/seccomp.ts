// Builds the seccomp filter for commands in the sandbox, as the bytes that the kernel reads.

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const newUserNamespace = 0x10000000;
/** TIOCSTI and TIOCLINUX, which can type into the terminal that the user's shell reads. */
const terminalInput = [0x5412, 0x541c];
/**
 * The allowed socket families: Unix, IPv4, IPv6, netlink. Others, such as vsock between a virtual machine and its host,
 * bypass network namespaces.
 */
const families = [1, 2, 10, 16];

/** The pid of bubblewrap as commands see it: it ends them with their parent and reaps their zombies. */
const keeper = [1];

/** `x64` and `arm64` are the system call's numbers on these machines. With an `argument`, only some of its values are refused. */
type RefusedCall = {
  x64: number;
  arm64: number;
  error: number;
  argument?: number;
  bits?: number;
  among?: number[];
  notAmong?: number[];
};

/** System calls that no build needs, and that reach beyond namespaces or into kernel internals. */
const calls: Record<string, RefusedCall> = {
  add_key: { x64: 248, arm64: 217, error: EPERM },
  request_key: { x64: 249, arm64: 218, error: EPERM },
  keyctl: { x64: 250, arm64: 219, error: EPERM },
  bpf: { x64: 321, arm64: 280, error: EPERM },
  perf_event_open: { x64: 298, arm64: 241, error: EPERM },
  userfaultfd: { x64: 323, arm64: 282, error: EPERM },
  setns: { x64: 308, arm64: 268, error: EPERM },
  // io_uring performs system calls that no filter sees. Programs that use it also work without it.
  io_uring_setup: { x64: 425, arm64: 425, error: ENOSYS },
  io_uring_enter: { x64: 426, arm64: 426, error: ENOSYS },
  io_uring_register: { x64: 427, arm64: 427, error: ENOSYS },
  // The flags of clone3 are in memory, which a filter cannot read; libraries fall back to clone.
  clone3: { x64: 435, arm64: 435, error: ENOSYS },
  unshare: { x64: 272, arm64: 97, error: EPERM, argument: 0, bits: newUserNamespace },
  clone: { x64: 56, arm64: 220, error: EPERM, argument: 0, bits: newUserNamespace },
  ioctl: { x64: 16, arm64: 29, error: EPERM, argument: 1, among: terminalInput },
  socket: { x64: 41, arm64: 198, error: EAFNOSUPPORT, argument: 0, notAmong: families },
  ptrace: { x64: 101, arm64: 117, error: EPERM, argument: 1, among: keeper },
  process_vm_readv: { x64: 310, arm64: 270, error: EPERM, argument: 0, among: keeper },
  process_vm_writev: { x64: 311, arm64: 271, error: EPERM, argument: 0, among: keeper },
  // A handle on bubblewrap would give access to its descriptors.
  pidfd_open: { x64: 434, arm64: 434, error: EPERM, argument: 0, among: keeper },
};

/** The AUDIT_ARCH values of the two supported architectures. On others, commands run without a filter. */
const machines = { x64: 0xc000003e, arm64: 0xc00000b7 };

// Classic BPF: load a word, jump if equal, jump if any bit is set, jump if greater or equal, return.
const LOAD = 0x20;
const EQUAL = 0x15;
const ANY = 0x45;
const AT_LEAST = 0x35;
const RETURN = 0x06;

const allow = 0x7fff0000;
const kill = 0x80000000;
const fail = (error: number) => 0x00050000 | error;

const numberOffset = 0;
const machineOffset = 4;
const argumentOffset = (index: number) => 16 + 8 * index;
/** On x64, system call numbers from here on belong to a second table of calls (x32). */
const secondTable = 0x40000000;

type FilterInstruction = { code: number; value: number; ifTrue?: number; ifFalse?: number };

/** Compiles the seccomp filter for an architecture. Returns undefined if it is not supported. */
export function seccompFilter(machine: string): Buffer | undefined {
  if (machine !== "x64" && machine !== "arm64") return undefined;
  const instructions: FilterInstruction[] = [
    { code: LOAD, value: machineOffset },
    // Refuse 32-bit programs, which use different system call numbers.
    { code: EQUAL, value: machines[machine], ifTrue: 1 },
    { code: RETURN, value: kill },
    { code: LOAD, value: numberOffset },
  ];
  if (machine === "x64")
    instructions.push({ code: AT_LEAST, value: secondTable, ifFalse: 1 }, { code: RETURN, value: fail(ENOSYS) });
  for (const call of Object.values(calls)) {
    const body = instructionsFor(call);
    instructions.push({ code: EQUAL, value: call[machine], ifFalse: body.length }, ...body);
  }
  instructions.push({ code: RETURN, value: allow });
  return bytesOf(instructions);
}

/** Returns the filter instructions for one refused system call. They always end with a return. */
function instructionsFor(rule: RefusedCall): FilterInstruction[] {
  const refuse: FilterInstruction = { code: RETURN, value: fail(rule.error) };
  const pass: FilterInstruction = { code: RETURN, value: allow };
  if (rule.argument === undefined) return [refuse];
  const load: FilterInstruction = { code: LOAD, value: argumentOffset(rule.argument) };
  if (rule.bits !== undefined) return [load, { code: ANY, value: rule.bits, ifFalse: 1 }, refuse, pass];
  const values = rule.among ?? rule.notAmong ?? [];
  const [hit, miss] = rule.among ? [refuse, pass] : [pass, refuse];
  // Each comparison jumps over the remaining ones and over the result for the case that none matches.
  const tests = values.map(
    (value, index): FilterInstruction => ({ code: EQUAL, value, ifTrue: values.length - index }),
  );
  return [load, ...tests, miss, hit];
}

function bytesOf(instructions: readonly FilterInstruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
