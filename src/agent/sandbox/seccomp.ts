// The filter of system calls that commands in the sandbox run under, as the bytes that the kernel reads.

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const newUserNamespace = 0x10000000;
/** Typing into the terminal that the user's shell reads. */
const terminalInput = [0x5412, 0x541c];
/** Unix, IPv4, IPv6, netlink. Others, such as that between a virtual machine and its host, know no network namespace. */
const families = [1, 2, 10, 16];

/** Bubblewrap itself, as commands see it: it ends them with their parent and collects what they leave. */
const keeper = [1];

/** `x64`, `arm64`: its number there. With an `argument`, only some values of that give the error. */
type RefusedCall = {
  x64: number;
  arm64: number;
  error: number;
  argument?: number;
  bits?: number;
  among?: number[];
  notAmong?: number[];
};

/** Calls that no build needs and that reach past namespaces or into the kernel's own machinery. */
const calls: Record<string, RefusedCall> = {
  add_key: { x64: 248, arm64: 217, error: EPERM },
  request_key: { x64: 249, arm64: 218, error: EPERM },
  keyctl: { x64: 250, arm64: 219, error: EPERM },
  bpf: { x64: 321, arm64: 280, error: EPERM },
  perf_event_open: { x64: 298, arm64: 241, error: EPERM },
  userfaultfd: { x64: 323, arm64: 282, error: EPERM },
  setns: { x64: 308, arm64: 268, error: EPERM },
  // A ring carries calls past every filter; programs that know it can do without.
  io_uring_setup: { x64: 425, arm64: 425, error: ENOSYS },
  io_uring_enter: { x64: 426, arm64: 426, error: ENOSYS },
  io_uring_register: { x64: 427, arm64: 427, error: ENOSYS },
  // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
  clone3: { x64: 435, arm64: 435, error: ENOSYS },
  unshare: { x64: 272, arm64: 97, error: EPERM, argument: 0, bits: newUserNamespace },
  clone: { x64: 56, arm64: 220, error: EPERM, argument: 0, bits: newUserNamespace },
  ioctl: { x64: 16, arm64: 29, error: EPERM, argument: 1, among: terminalInput },
  socket: { x64: 41, arm64: 198, error: EAFNOSUPPORT, argument: 0, notAmong: families },
  ptrace: { x64: 101, arm64: 117, error: EPERM, argument: 1, among: keeper },
  process_vm_readv: { x64: 310, arm64: 270, error: EPERM, argument: 0, among: keeper },
  process_vm_writev: { x64: 311, arm64: 271, error: EPERM, argument: 0, among: keeper },
  // A handle on it would lend out its descriptors.
  pidfd_open: { x64: 434, arm64: 434, error: EPERM, argument: 0, among: keeper },
};

/** What the kernel calls a kind of machine. Only these two are known; others go without a filter. */
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
/** Numbers from here on belong to a second table of calls on x64. */
const secondTable = 0x40000000;

type FilterInstruction = { code: number; value: number; ifTrue?: number; ifFalse?: number };

/** Undefined for machines that are not known. */
export function seccompFilter(machine: string): Buffer | undefined {
  if (machine !== "x64" && machine !== "arm64") return undefined;
  const instructions: FilterInstruction[] = [
    { code: LOAD, value: machineOffset },
    // Programs of another kind (32 bits) number their calls otherwise.
    { code: EQUAL, value: machines[machine], ifTrue: 1 },
    { code: RETURN, value: kill },
    { code: LOAD, value: numberOffset },
  ];
  if (machine === "x64")
    instructions.push({ code: AT_LEAST, value: secondTable, ifFalse: 1 }, { code: RETURN, value: fail(ENOSYS) });
  for (const call of Object.values(calls)) {
    const body = judgement(call);
    instructions.push({ code: EQUAL, value: call[machine], ifFalse: body.length }, ...body);
  }
  instructions.push({ code: RETURN, value: allow });
  return bytesOf(instructions);
}

/** Ends in an answer, whatever the argument is. */
function judgement(rule: RefusedCall): FilterInstruction[] {
  const refuse: FilterInstruction = { code: RETURN, value: fail(rule.error) };
  const pass: FilterInstruction = { code: RETURN, value: allow };
  if (rule.argument === undefined) return [refuse];
  const load: FilterInstruction = { code: LOAD, value: argumentOffset(rule.argument) };
  if (rule.bits !== undefined) return [load, { code: ANY, value: rule.bits, ifFalse: 1 }, refuse, pass];
  const values = rule.among ?? rule.notAmong ?? [];
  const [hit, miss] = rule.among ? [refuse, pass] : [pass, refuse];
  // Each comparison jumps over the ones that follow and over the answer for a miss.
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
