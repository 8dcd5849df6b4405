/** Native sandboxes in control groups of one hierarchy. A virtual machine with an emulated processor takes minutes: `AICR_TEST_SANDBOX=all` runs it. */
import { beforeAll, describe, expect, it } from "vitest"
import { attacker } from "../EscapeAttempts.ts"
import { devices } from "../Conformance.ts"
import type { Outcome, Program } from "../Fixture.ts"
import { runInMachine } from "./UnifiedMachine.ts"

const node = (text: string, ...args: ReadonlyArray<string>): Program => ({
  command: "node",
  args: ["/tmp/program.mjs", ...args],
  files: [{ path: "program.mjs", text }]
})
const attempts = { files: ["/etc/shadow", "/place/sandboxes"], secret: "none", ports: [], abstract: "none" }
const busy = `const until = performance.now() + 3000
while (performance.now() < until);
const { user, system } = process.cpuUsage()
console.log((user + system) / 1000 / performance.now())`

const timeMillis = 300_000
const programs: ReadonlyArray<readonly [program: Program, limits: object]> = [
  [node(attacker, JSON.stringify(attempts)), { timeMillis }],
  [node(busy), { timeMillis, cpus: 0.3 }],
  ["f() { f | f & f; }; f", { timeMillis }],
  [node("const all = []; for (;;) all.push(Buffer.alloc(8e6, 1))"), { timeMillis, memoryBytes: 128 << 20 }]
]
const users = [
  ["root", true],
  ["another user, to whom a group was given", false]
] as const

describe.runIf(process.env["AICR_TEST_SANDBOX"] === "all")("control groups of one hierarchy", () => {
  let outcomes: ReadonlyArray<Outcome>
  beforeAll(async () => {
    outcomes = await runInMachine(
      users.flatMap(([, isRoot]) => programs.map(([program, limits]) => ({ isRoot, program, limits })))
    )
  }, 900_000)

  it.each(users)("limit and isolate the sandboxes of a service that is %s", (_, isRoot) => {
    const [attack, share, bomb, memory] = outcomes.slice(isRoot ? 0 : programs.length)
    expect(attack).toMatchObject({ exit: { reason: "exited", code: 0 }, stderr: "" })
    const { status, writable, writableFiles, ...reached } = JSON.parse(attack?.lines[0] ?? "{}")
    expect(writable).toEqual(["/tmp"])
    expect(writableFiles.filter((file: string) => !devices.test(file))).toEqual([])
    expect(new Set(Object.values(status))).toEqual(new Set(["0000000000000000", "1"]))
    expect(reached).toMatchObject({ uid: 65_534, namespaces: false, repository: "reviewed", interfaces: ["lo"] })
    expect(share?.exit).toEqual({ reason: "exited", code: 0 })
    // Without a group, processor time alone is bounded.
    expect(Number(share?.lines[0])).toBeLessThan(0.5)
    expect([bomb?.exit.reason, memory?.exit.reason]).toEqual(["processes", "memory"])
  })
})
