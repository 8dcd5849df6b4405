/** The native kind: with bubblewrap and control groups, with bubblewrap alone, and without isolation. */
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { nativeDriver } from "../../../src/sandbox/native/Native.ts"
import { makeDrivers } from "../../../src/sandbox/SandboxKinds.ts"
import { provide } from "../../harness/Provide.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { describeConformance, describeOnlyLimits, describeOtherUser } from "../Conformance.ts"
import {
  brokenBubblewrap,
  resolveConfig,
  listOrphans,
  makeFixture,
  processesWith,
  run,
  uniqueSeconds,
  using
} from "../Fixture.ts"
import type { Fixture, KindUnderTest } from "../Fixture.ts"
import { killedService } from "../KilledService.ts"
import { isRoot, otherUser } from "../OtherUser.ts"

const searchPath = () => `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`
const withNative = (native: ReturnType<typeof nativeDriver>): KindUnderTest["drivers"] => ({
  ...makeDrivers({}),
  native
})

const forkBomb = "exec perl -e 'for (;;) { fork }'"

describeConformance([
  [
    "native",
    async () => ({
      config: { kind: "native" },
      drivers: withNative(nativeDriver({ path: searchPath() })),
      maxShare: 0.5
    })
  ]
])

describeOnlyLimits([
  [
    "native without control groups",
    async () => ({
      config: { kind: "native" },
      drivers: withNative(nativeDriver({ path: searchPath(), makeGroup: () => undefined })),
      forkBomb,
      maxShare: 1.2
    })
  ]
])

if (isRoot)
  describeOtherUser([
    [
      "native of a service that is not root",
      async () => ({
        config: { kind: "native" },
        drivers: makeDrivers({}),
        environment: { PATH: searchPath() },
        user: otherUser,
        forkBomb,
        // Whether it may create control groups depends on the machine.
        maxShare: 1.2
      })
    ]
  ])

describe("native without bubblewrap", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())
  const drivers = withNative(nativeDriver({ path: "/no/such/folder" }))
  const unconfined = { kind: "native", native: { unconfined: true } } as const

  it("refuses to run, and names what to install", async () => {
    const refused = run(fixture, { config: { kind: "native" }, drivers }, "echo started")
    await expect(refused).rejects.toThrow(/bubblewrap \(bwrap\) is not installed.*apt-get install bubblewrap/)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("refuses a bubblewrap that cannot isolate, with its message", async () => {
    const refused = run(
      fixture,
      {
        config: { kind: "native" },
        drivers: withNative(nativeDriver({ path: `${brokenBubblewrap(fixture)}:${process.env["PATH"]}` }))
      },
      "echo started"
    )
    await expect(refused).rejects.toThrow(/cannot isolate programs on this machine: bwrap: No permissions/)
  })

  it("runs without isolation where the configuration permits it, with a notice on every run", async () => {
    const script = 'echo "$PWD" "$REPO" "$SCRATCH"; env | cut -d= -f1 | sort | tr "\\n" " "; touch $SCRATCH/file'
    const { exit, lines, notices } = await run(fixture, { config: unconfined, drivers }, script)
    expect(exit).toEqual({ reason: "exited", code: 0 })
    expect(lines[0]?.split(" ")).toEqual([fixture.repository, fixture.repository, expect.stringContaining("/scratch")])
    expect(lines[1]).toBe("AICR_SANDBOX HOME MODEL PATH PWD REPO SCRATCH TOOLS ")
    expect(notices).toEqual([expect.stringMatching(/^The agent ran WITHOUT A SANDBOX, .*every file.*every network/)])
    expect(listOrphans(fixture)).toEqual([])
  })

  it("isolates where it can, although the configuration permits to run without", async () => {
    const kind = { config: unconfined, drivers: withNative(nativeDriver({ path: searchPath() })) }
    const { lines, notices } = await run(fixture, kind, "pwd")
    expect({ lines, notices }).toEqual({ lines: ["/repository"], notices: [] })
  })

  it("leads its ports to the model and the tools", async () => {
    const program = {
      command: process.execPath,
      args: [
        "-e",
        "for (const port of [process.env.MODEL, process.env.TOOLS]) fetch('http://127.0.0.1:' + port).then((r) => r.text()).then(console.log)"
      ]
    }
    const { lines } = await run(fixture, { config: unconfined, drivers }, program)
    expect(lines.toSorted()).toEqual(["model ", "tools "])
  })

  it.each([
    ["processes", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; wait", { processes: 12 }],
    [
      "time",
      "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' &); sleep 60; sleep 60",
      { timeMillis: 500 }
    ]
  ])("limits %s", async (reason, script, limits) => {
    const { exit } = await run(fixture, { config: unconfined, drivers }, script, limits)
    expect(exit).toMatchObject({ reason })
  })

  it("ends processes that left their session, and the next start those of a killed service", async () => {
    const seconds = uniqueSeconds()
    await run(fixture, { config: unconfined, drivers }, `(setsid sleep ${seconds} &) ; sleep 0.1`)
    expect(processesWith(seconds)).toEqual([])
    await killedService(
      fixture,
      { config: unconfined, environment: { PATH: "/no/such" } },
      `(setsid sleep ${seconds} &); sleep 0.1; echo started; sleep 60`
    )
    await waitUntil(() => processesWith(seconds).length === 1, {
      describe: () => "only the process of another session runs"
    })
    await using(fixture, { config: unconfined, drivers }, Effect.void)
    expect(processesWith(seconds)).toEqual([])
    expect(listOrphans(fixture)).toEqual([])
  })

  it("is selected only when it can run", async () => {
    const { native } = drivers
    expect(await Effect.runPromise(native.problem(resolveConfig({})))).toMatchObject({ reason: "missing" })
    expect(await Effect.runPromise(native.problem(resolveConfig(unconfined)))).toBeUndefined()
  })
})
