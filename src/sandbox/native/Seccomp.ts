/**
 * The filter of system calls of native sandboxes, as a program of classic BPF, which bubblewrap gives to the kernel. A call that is not
 * permitted fails as on a kernel without it (ENOSYS), so that programs use another; one with refused arguments is not permitted (EPERM). A
 * call of another architecture ends the process: its numbers have other meanings. Pure.
 */
import { permittedCalls } from "./SystemCalls.ts"

type FilterArch = "x64" | "arm64"

/** Identifiers of the kernel (AUDIT_ARCH). */
const architectures: Readonly<Record<FilterArch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }

export const isFilterArch = (arch: string): arch is FilterArch => Object.hasOwn(architectures, arch)

/** One instruction: code, jumps if true and if false, constant. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, constant: number]

const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const jumpEqual = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x15, ifTrue, ifFalse, value]
const jumpAtLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [0x35, ifTrue, ifFalse, value]
const jumpAny = (bits: number, ifTrue: number, ifFalse: number): Instruction => [0x45, ifTrue, ifFalse, bits]
const result = (value: number): Instruction => [0x06, 0, 0, value]

const permit = result(0x7fff_0000)
const kill = result(0x8000_0000)
const fail = (errno: number): Instruction => result(0x0005_0000 | errno)
const notPermitted = fail(1)
const unknownCall = fail(38)
const unknownFamily = fail(97)
/** The call succeeds without an effect. */
const ignored = fail(0)

/** Offsets in the description of a call: its number, its architecture, and the lower half of an argument; the kernel reads only that half. */
const numberAt = 0
const archAt = 4
const argumentAt = (index: number): number => 16 + 8 * index

/** Flags of `clone` that make namespaces. */
export const namespaceFlags = 0x7e02_0000
/** Unix, IPv4, IPv6 and netlink sockets; the last only for the interfaces (protocol 0). */
export const families = [1, 2, 10]
export const netlink = 16
/** The usual execution domains: Linux, without randomised addresses or with another name of the kernel, and the query. */
export const domains = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff]
/** Options of every socket: sizes of its buffers, which no process is measured by. */
const socketLevel = 1
const bufferSizes = [7, 8]
/** Hides the memory of a process from the service, which measures it. */
const setDumpable = 4

interface CheckedCall {
  readonly x64: number
  readonly arm64: number
  /** Ends with a result in every case. */
  readonly check: ReadonlyArray<Instruction>
}

const permitOneOf = (index: number, values: ReadonlyArray<number>, otherwise: Instruction) => [
  load(argumentAt(index)),
  ...values.flatMap((value) => [jumpEqual(value, 0, 1), permit]),
  otherwise
]

/** Calls that depend on their arguments. */
const checkedCalls: Readonly<Record<string, CheckedCall>> = {
  // `clone3` passes its flags in memory, which a filter cannot read: programs use `clone` without it.
  clone: { x64: 56, arm64: 220, check: [load(argumentAt(0)), jumpAny(namespaceFlags, 1, 0), permit, notPermitted] },
  socket: {
    x64: 41,
    arm64: 198,
    check: [
      load(argumentAt(0)),
      ...families.flatMap((value) => [jumpEqual(value, 0, 1), permit]),
      jumpEqual(netlink, 1, 0),
      unknownFamily,
      ...permitOneOf(2, [0], unknownFamily)
    ]
  },
  setsockopt: {
    x64: 54,
    arm64: 208,
    check: [
      load(argumentAt(1)),
      jumpEqual(socketLevel, 1, 0),
      permit,
      load(argumentAt(2)),
      ...bufferSizes.flatMap((option) => [jumpEqual(option, 0, 1), ignored]),
      permit
    ]
  },
  personality: { x64: 135, arm64: 92, check: permitOneOf(0, domains, notPermitted) },
  prctl: { x64: 157, arm64: 167, check: [load(argumentAt(0)), jumpEqual(setDumpable, 0, 1), notPermitted, permit] }
}

/** Joins numbers to ranges of neighbours, in ascending order. */
const toRanges = (numbers: ReadonlyArray<number>): ReadonlyArray<readonly [first: number, last: number]> => {
  const ranges: Array<readonly [number, number]> = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const [first, last] = ranges.at(-1) ?? []
    if (first !== undefined && last === number - 1) ranges[ranges.length - 1] = [first, number]
    else ranges.push([number, number])
  }
  return ranges
}

const instructions = (arch: FilterArch): ReadonlyArray<Instruction> => {
  const permitted = [...permittedCalls.values()].map((numbers) => numbers[arch]).filter((value) => value !== undefined)
  return [
    load(archAt),
    jumpEqual(architectures[arch], 1, 0),
    kill,
    load(numberAt),
    ...Object.values(checkedCalls).flatMap((call) => [jumpEqual(call[arch], 0, call.check.length), ...call.check]),
    // Ascending: below the first number of a range, no later range contains the number.
    ...toRanges(permitted).flatMap(([first, last]) => [
      jumpAtLeast(last + 1, 3, 0),
      jumpAtLeast(first, 0, 1),
      permit,
      unknownCall
    ]),
    unknownCall
  ]
}

/** Returns the filter as the kernel reads it: eight bytes for each instruction. */
export const seccompFilter = (arch: FilterArch): Buffer =>
  Buffer.concat(
    instructions(arch).map(([code, ifTrue, ifFalse, constant]) => {
      const bytes = Buffer.alloc(8)
      bytes.writeUInt16LE(code, 0)
      bytes.writeUInt8(ifTrue, 2)
      bytes.writeUInt8(ifFalse, 3)
      bytes.writeUInt32LE(constant >>> 0, 4)
      return bytes
    })
  )
