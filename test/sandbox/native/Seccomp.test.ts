/** The filter of system calls for both architectures, run as the kernel runs it. */
import { describe, expect, it } from "vitest"
import { isFilterArch, seccompFilter } from "../../../src/sandbox/native/Seccomp.ts"
import { permittedCalls } from "../../../src/sandbox/native/SystemCalls.ts"

interface Call {
  readonly number: number
  readonly arch: number
  readonly args?: ReadonlyArray<number>
}

const describeCall = ({ arch, args = [], number }: Call): Buffer => {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number, 0)
  data.writeUInt32LE(arch, 4)
  for (const [at, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * at)
  return data
}

/** Runs the instructions that the filter has; another one fails. */
const runFilter = (filter: Buffer, call: Call): number => {
  const data = describeCall(call)
  let value = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(8 * at)
    const [ifTrue, ifFalse] = [filter.readUInt8(8 * at + 2), filter.readUInt8(8 * at + 3)]
    const constant = filter.readUInt32LE(8 * at + 4)
    const jump = (holds: boolean) => (at += holds ? ifTrue : ifFalse)
    if (code === 0x20) value = data.readUInt32LE(constant)
    else if (code === 0x15) jump(value === constant)
    else if (code === 0x35) jump(value >= constant)
    else if (code === 0x45) jump((value & constant) !== 0)
    else if (code === 0x06) return constant
    else throw new Error(`no instruction ${code}`)
  }
  throw new Error("the filter has no end")
}

const permit = 0x7fff_0000
const kill = 0x8000_0000
const fails = (errno: number): number => 0x0005_0000 + errno

describe.each([
  ["x64", 0xc000_003e, { clone: 56, socket: 41, setsockopt: 54, personality: 135, prctl: 157 }],
  ["arm64", 0xc000_00b7, { clone: 220, socket: 198, setsockopt: 208, personality: 92, prctl: 167 }]
] as const)("%s", (name, arch, checked) => {
  const filter = seccompFilter(name)
  const result = (number: number, ...args: ReadonlyArray<number>) => runFilter(filter, { number, arch, args })

  it("permits the calls of the table, those with checked arguments, and no other", () => {
    const permitted = new Set([...permittedCalls.values()].map((numbers) => numbers[name]))
    const special: ReadonlySet<number> = new Set(Object.values(checked))
    const wrong = Array.from({ length: 1000 }, (_, number) => number).filter(
      (number) => !special.has(number) && result(number) !== (permitted.has(number) ? permit : fails(38))
    )
    expect(wrong).toEqual([])
    for (const number of [0x4000_0000, 0x4000_0001, 0x4000_0027, 0xffff_ffff]) expect(result(number)).toBe(fails(38))
  })

  it.each([
    ["a process", checked.clone, [17], permit],
    ["a thread", checked.clone, [0x3d_0f00], permit],
    ...[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000].map(
      (flag) => [`a namespace of flag ${flag}`, checked.clone, [flag | 17], fails(1)] as const
    ),
    ["a unix socket", checked.socket, [1, 1, 0], permit],
    ["an IPv4 socket", checked.socket, [2, 1, 0], permit],
    ["an IPv6 socket", checked.socket, [10, 1, 0], permit],
    ["the list of interfaces", checked.socket, [16, 3, 0], permit],
    ["a netlink socket of the audit", checked.socket, [16, 3, 9], fails(97)],
    ["a packet socket", checked.socket, [17, 3, 0], fails(97)],
    ["an option of a socket", checked.setsockopt, [3, 1, 2], permit],
    ["an option of TCP", checked.setsockopt, [3, 6, 7], permit],
    ["a larger buffer to send", checked.setsockopt, [3, 1, 7], fails(0)],
    ["a larger buffer to receive", checked.setsockopt, [3, 1, 8], fails(0)],
    ["the query of the domain", checked.personality, [0xffff_ffff], permit],
    ["Linux", checked.personality, [0], permit],
    ["executable memory for all", checked.personality, [0x040_0000], fails(1)],
    ["a name", checked.prctl, [15], permit],
    ["hidden memory", checked.prctl, [4, 0], fails(1)]
  ] as const)("decides on %s", (_, number, args, expected) => expect(result(number, ...args)).toBe(expected))

  it("reads the lower half of an argument, as the kernel does", () => {
    expect(result(checked.clone, 0x1_0000_0000 + 0x1000_0000)).toBe(fails(1))
    expect(result(checked.socket, 0x1_0000_0000 + 40, 1, 0)).toBe(fails(97))
  })

  it("ends a process that makes a call of another architecture", () => {
    const others = [0x4000_0003, 0x4000_0028, 0xc000_003e, 0xc000_00b7, 0xc000_00f3].filter((other) => other !== arch)
    expect(others.map((other) => runFilter(filter, { number: 0, arch: other }))).toEqual(others.map(() => kill))
  })
})

it.each([
  ["x64", true],
  ["arm64", true],
  ["ia32", false],
  ["riscv64", false],
  ["constructor", false]
])("%s has a filter: %s", (arch, expected) => expect(isFilterArch(arch)).toBe(expected))
