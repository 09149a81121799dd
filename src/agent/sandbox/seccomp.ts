// The filter of system calls that commands in the sandbox run under, as the bytes that the kernel reads.

/** Where a kind of machine keeps its calls. Only these two are known; others go without a filter. */
type MachineCalls = { audit: number; calls: Record<keyof typeof refusals | keyof typeof judged, number> };

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Calls that no build needs and that reach past namespaces or into the kernel's own machinery, and the error each gives. */
const refusals = {
  add_key: EPERM,
  request_key: EPERM,
  keyctl: EPERM,
  bpf: EPERM,
  perf_event_open: EPERM,
  userfaultfd: EPERM,
  setns: EPERM,
  // A ring carries calls past every filter; programs that know it can do without.
  io_uring_setup: ENOSYS,
  io_uring_enter: ENOSYS,
  io_uring_register: ENOSYS,
  // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
  clone3: ENOSYS,
};

const newUserNamespace = 0x10000000;
/** Typing into the terminal that the user's shell reads. */
const terminalInput = [0x5412, 0x541c];
/** Unix, IPv4, IPv6, netlink. Others, such as that between a virtual machine and its host, know no network namespace. */
const families = [1, 2, 10, 16];

/** Bubblewrap itself, as commands see it: it ends them with their parent and collects what they leave. */
const keeper = [1];

/** Calls that depend on an argument: which one, and which values give an error. */
const judged = {
  unshare: { argument: 0, bits: newUserNamespace, error: EPERM },
  clone: { argument: 0, bits: newUserNamespace, error: EPERM },
  ioctl: { argument: 1, among: terminalInput, error: EPERM },
  socket: { argument: 0, notAmong: families, error: EAFNOSUPPORT },
  ptrace: { argument: 1, among: keeper, error: EPERM },
  process_vm_writev: { argument: 0, among: keeper, error: EPERM },
};

const machines: Record<string, MachineCalls> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      setns: 308,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      clone3: 435,
      unshare: 272,
      clone: 56,
      ioctl: 16,
      socket: 41,
      ptrace: 101,
      process_vm_writev: 311,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      setns: 268,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      clone3: 435,
      unshare: 97,
      clone: 220,
      ioctl: 29,
      socket: 198,
      ptrace: 117,
      process_vm_writev: 271,
    },
  },
};

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
  const known = machines[machine];
  if (!known) return undefined;
  const instructions: FilterInstruction[] = [
    { code: LOAD, value: machineOffset },
    // Programs of another kind (32 bits) number their calls otherwise.
    { code: EQUAL, value: known.audit, ifTrue: 1 },
    { code: RETURN, value: kill },
    { code: LOAD, value: numberOffset },
  ];
  if (machine === "x64")
    instructions.push({ code: AT_LEAST, value: secondTable, ifFalse: 1 }, { code: RETURN, value: fail(ENOSYS) });
  for (const [name, error] of Object.entries(refusals)) {
    instructions.push({ code: EQUAL, value: known.calls[name as keyof typeof refusals], ifFalse: 1 });
    instructions.push({ code: RETURN, value: fail(error) });
  }
  for (const [name, rule] of Object.entries(judged)) {
    const body = judgement(rule);
    instructions.push({ code: EQUAL, value: known.calls[name as keyof typeof judged], ifFalse: body.length }, ...body);
  }
  instructions.push({ code: RETURN, value: allow });
  return bytesOf(instructions);
}

/** Ends in an answer, whatever the argument is. */
function judgement(
  rule: { argument: number; error: number } & { bits?: number; among?: number[]; notAmong?: number[] },
): FilterInstruction[] {
  const load: FilterInstruction = { code: LOAD, value: argumentOffset(rule.argument) };
  const refuse: FilterInstruction = { code: RETURN, value: fail(rule.error) };
  const pass: FilterInstruction = { code: RETURN, value: allow };
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
