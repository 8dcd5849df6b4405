/** System calls that a sandbox refuses, and the program that tries them; the first is one that everyone may make. */

/** Tries system calls by their numbers, with arguments, and prints the errors. */
const callsOf = (calls: ReadonlyArray<readonly [name: string, number: number, ...args: ReadonlyArray<number>]>) => ({
  command: "perl",
  args: [
    "-e",
    `$| = 1; ${calls.map(([name, ...numbers]) => `$! = 0; $r = syscall(${numbers.join(", ")}); print "${name} ", ($r == -1 ? (0 + $!) : "done"), "\\n";`).join(" ")}`
  ]
})
const [notPermitted, unknownCall, unknownFamily] = ["1", "38", "97"]
const newUser = 0x1000_0000

/** Numbers of calls on x64 and arm64. */
export const attempts: ReadonlyArray<
  readonly [name: string, result: string, x64: number, arm64: number, ...args: ReadonlyArray<number>]
> = [
  ["getppid", "done", 110, 173],
  ["keyctl", unknownCall, 250, 219, 0, -3, 0],
  ["add_key", unknownCall, 248, 217, 0, 0, 0, 0, -3],
  ["request_key", unknownCall, 249, 218, 0, 0, 0, 0],
  ["ptrace", unknownCall, 101, 117, 0, 0, 0, 0],
  ["process_vm_readv", unknownCall, 310, 270, 1, 0, 0, 0, 0, 0],
  ["bpf", unknownCall, 321, 280, 0, 0, 0],
  ["userfaultfd", unknownCall, 323, 282, 1],
  ["perf_event_open", unknownCall, 298, 241, 0, 0, 0, 0, 0],
  ["io_uring_setup", unknownCall, 425, 425, 1, 0],
  ["mount", unknownCall, 165, 40, 0, 0, 0, 0, 0],
  ["umount2", unknownCall, 166, 39, 0, 0],
  ["open_tree", unknownCall, 428, 428, 0, 0, 0],
  ["pivot_root", unknownCall, 155, 41, 0, 0],
  ["chroot", unknownCall, 161, 51, 0],
  ["unshare", unknownCall, 272, 97, newUser],
  ["setns", unknownCall, 308, 268, 0, 0],
  ["clone with a user namespace", notPermitted, 56, 220, newUser | 17, 0, 0, 0, 0],
  ["clone3", unknownCall, 435, 435, 0, 0],
  ["kexec_load", unknownCall, 246, 104, 0, 0, 0, 0],
  ["init_module", unknownCall, 175, 105, 0, 0, 0],
  ["finit_module", unknownCall, 313, 273, 0, 0, 0],
  ["open_by_handle_at", unknownCall, 304, 265, 0, 0, 0],
  ["memfd_create", unknownCall, 319, 279, 0, 0],
  ["shmget", unknownCall, 29, 194, 0, 4096, 0x3b6],
  ["msgget", unknownCall, 68, 186, 0, 0x3b6],
  ["reboot", unknownCall, 169, 142, 0, 0, 0],
  ["syslog", unknownCall, 103, 116, 3, 0, 0],
  ["swapon", unknownCall, 167, 224, 0, 0],
  ["a socket of a virtual machine", unknownFamily, 41, 198, 40, 1, 0],
  ["a socket of the kernel's ciphers", unknownFamily, 41, 198, 38, 5, 0],
  ["a netlink socket of the firewall", unknownFamily, 41, 198, 16, 3, 12],
  ["personality with readable zero pages", notPermitted, 135, 92, 0x010_0000],
  ["prctl that hides memory", notPermitted, 157, 167, 4, 0]
]

const at = process.arch === "arm64" ? 3 : 2
export const attemptsProgram = callsOf(
  attempts.map((row) => [row[0], Number(row[at]), ...row.slice(4).map(Number)] as const)
)
