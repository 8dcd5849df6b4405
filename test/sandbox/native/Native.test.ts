/** The native kind: with bubblewrap and control groups, with bubblewrap alone, and without isolation. */
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { SandboxConfig } from "../../../src/config/schema/Agent.ts"
import { nativeDriver } from "../../../src/sandbox/native/Native.ts"
import type { NativeMachine } from "../../../src/sandbox/native/Native.ts"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { provide } from "../../harness/Provide.ts"
import { isWhole as isWholeOf } from "../../harness/Samples.ts"
import { waitUntil } from "../../harness/Wait.ts"
import {
  describeConfinement,
  describeConformance,
  describeCore,
  describeLimited,
  describeOtherUser
} from "../Conformance.ts"
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
import type { Fixture, KindUnderTest, Program } from "../Fixture.ts"
import { killedService } from "../KilledService.ts"
import { isRoot, mayDelegate, otherUser, removeGroups, runInService, toMounted } from "../OtherUser.ts"

const searchPath = () => `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`
const withNative = (native: ReturnType<typeof nativeDriver>): KindUnderTest["drivers"] => ({
  ...makeDrivers({}),
  native
})

const isWhole = isWholeOf("AICR_TEST_SANDBOX")

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

/** Control groups isolate nothing: limits alone, by default. */
const describeUngrouped = isWhole ? describeConfinement : describeLimited
describeUngrouped([
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

/** The user of the service affects start and isolation most, which are tested by default. */
const describeUser = isWhole ? describeOtherUser : describeCore
if (isRoot)
  describeUser([
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

afterAll(removeGroups)
const describeDelegated = isWhole ? describeConfinement : describeCore
if (mayDelegate)
  describeDelegated([
    [
      "native of a service that is not root, in control groups of its own",
      async () => ({
        config: { kind: "native" },
        drivers: makeDrivers({}),
        environment: { PATH: searchPath() },
        user: otherUser,
        hasOwnGroups: true,
        maxShare: 0.5
      })
    ]
  ])

describe("native without bubblewrap", () => {
  let fixture: Fixture
  let environment: { readonly PATH: string }
  const user = isRoot ? otherUser : undefined
  beforeAll(async () => {
    fixture = await makeFixture(user)
    const folder = join(fixture.root, "programs")
    mkdirSync(folder)
    symlinkSync("/usr/bin/unshare", join(folder, "unshare"))
    environment = { PATH: folder }
  })
  afterAll(() => fixture.close())
  const drivers = withNative(nativeDriver({ path: "/no/such/folder" }))
  const unconfined = { kind: "native", native: { unconfined: true } } as const
  /** Runs without isolation, in a service that is not root. */
  const runFree = (program: Program, limits?: object) =>
    runInService(fixture, { config: unconfined, environment }, program, limits, { user })

  it("refuses to run, and names what to install", async () => {
    const refused = run(fixture, { config: { kind: "native" }, drivers }, "echo started")
    await expect(refused).rejects.toThrow(/bubblewrap \(bwrap\) is not installed.*apt-get install bubblewrap/)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("refuses a bubblewrap that cannot isolate, with its message", async () => {
    const path = `${brokenBubblewrap(fixture)}:${process.env["PATH"]}`
    const kind = { config: { kind: "native" } as const, drivers: withNative(nativeDriver({ path })) }
    const refused = run(fixture, kind, "echo started")
    await expect(refused).rejects.toThrow(/cannot isolate programs on this machine: bwrap: No permissions/)
  })

  it("runs without isolation where the configuration permits it, with a notice on every run", async () => {
    const script = 'echo "$PWD" "$REPO" "$SCRATCH"; env | cut -d= -f1 | sort | tr "\\n" " "; touch $SCRATCH/file'
    const { exit, lines, notices } = await runFree(script)
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
    const script =
      "for (const port of [process.env.MODEL, process.env.TOOLS]) fetch('http://127.0.0.1:' + port).then((r) => r.text()).then(console.log)"
    // The other user reaches the node of the tests at another path.
    const node = user === undefined ? process.execPath : toMounted(process.execPath)
    const { lines } = await runFree(`exec ${node} -e "${script}"`)
    expect(lines.toSorted()).toEqual(["model ", "tools "])
  })

  const inMemory = (...calls: ReadonlyArray<string>): Program => ({
    command: "perl",
    args: ["-e", `$size = 48 << 20; open(Z, "<", "/dev/zero"); ${calls.join("; ")}; sleep 60`]
  })
  const x64 = process.arch !== "arm64"
  const fill =
    "$text = chr(0) x $size; for (1 .. 8) { $name = 'm'; $fd = syscall(NR, $name, 0); open($f[$_], '>&=', $fd); syswrite($f[$_], $text) }"
  const attach =
    "for (1 .. 8) { $id = syscall(GET, 0, $size, 0x380); $at = syscall(AT, $id, 0, 0); sysread(Z, $part, 1); syscall(READ, fileno(Z), $at, $size) }"
  const system = x64 ? { GET: 29, AT: 30, READ: 0 } : { GET: 194, AT: 196, READ: 63 }
  const exceeded: ReadonlyArray<readonly [name: string, reason: string, program: Program, limits: object]> = [
    ["processes", "processes", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; wait", { processes: 12 }],
    [
      "the time",
      "time",
      "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' &); sleep 60; sleep 60",
      { timeMillis: 1500 }
    ],
    [
      "memory in files without a name",
      "memory",
      inMemory(fill.replace("NR", x64 ? "319" : "279")),
      { fileBytes: 64 << 20 }
    ],
    [
      "memory of System V",
      "memory",
      inMemory(
        attach.replace(/GET|AT|READ/g, (name) => String(Object.entries(system).find(([key]) => key === name)?.[1]))
      ),
      {}
    ]
  ]
  it.each(exceeded)("limits %s", async (_, reason, program, limits) => {
    expect((await runFree(program, limits)).exit).toMatchObject({ reason })
  })

  it("ends processes that left their session and cleared their environment, also of a killed service", async () => {
    const seconds = uniqueSeconds()
    const leave = `setsid env -i /bin/sh -c '(setsid /bin/sleep ${seconds} &)'; sleep 0.3`
    expect((await runFree(leave)).exit).toEqual({ reason: "exited", code: 0 })
    expect(processesWith(seconds)).toEqual([])
    await killedService(fixture, { config: unconfined, environment }, `${leave}; echo started; sleep 60`, { user })
    await waitUntil(() => processesWith(seconds).length === 0, { describe: () => processesWith(seconds).join(", ") })
    await using(fixture, { config: unconfined, drivers }, Effect.void)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("is refused to root, and where nothing could end all processes", async () => {
    const problemOf = (machine: Partial<NativeMachine>, config: typeof SandboxConfig.Type = unconfined) =>
      Effect.runPromise(nativeDriver({ path: "/no/such", isRoot: false, ...machine }).problem(resolveConfig(config)))
    expect(await problemOf({}, {})).toMatchObject({ reason: "missing" })
    expect(await problemOf({ isRoot: true })).toMatchObject({
      message: expect.stringMatching(/runs as root.*without rights/)
    })
    expect(await problemOf({ makeGroup: () => undefined })).toMatchObject({
      reason: "missing",
      message: expect.stringMatching(/process namespace is missing.*control group too.*permit user namespaces/)
    })
    expect(await problemOf({ path: environment.PATH, makeGroup: () => undefined })).toBeUndefined()
  })
})

describe("native without control groups", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())

  const [map, advise, read] = process.arch === "arm64" ? [222, 233, 63] : [9, 28, 0]
  const held: ReadonlyArray<readonly [name: string, script: string]> = [
    [
      "shared memory that no process touches any more",
      `$size = 48 << 20; open(Z, "<", "/dev/zero"); for (1 .. 8) {
      $at = syscall(${map}, 0, $size, 3, 0x21, -1, 0); syscall(${read}, fileno(Z), $at, $size); syscall(${advise}, $at, $size, 4) }`
    ],
    [
      "tables of pages for memory that is only read",
      `$at = syscall(${map}, 0, 1 << 39, 1, 0x4022, -1, 0); for (0 .. 200000) { syscall(${advise}, $at + ($_ << 21), 4096, 22) == 0 or last }`
    ],
    [
      "buffers of unix sockets",
      `use Socket; for (1 .. 1500) { my ($a, $b); socketpair($a, $b, AF_UNIX, SOCK_STREAM, 0) or last; setsockopt($a, SOL_SOCKET, SO_SNDBUF, 1 << 22);
      push @all, $a, $b; $a->blocking(0); 1 while syswrite($a, "x" x 65536) }`
    ],
    [
      "buffers of TCP connections",
      `use Socket; socket($l, PF_INET, SOCK_STREAM, 6); bind($l, pack_sockaddr_in(7000, INADDR_LOOPBACK)) or die; listen($l, 99);
      for (1 .. 400) { my ($a, $b); socket($a, PF_INET, SOCK_STREAM, 6); connect($a, pack_sockaddr_in(7000, INADDR_LOOPBACK)) or die;
      accept($b, $l); push @all, $a, $b; for $s ($a, $b) { setsockopt($s, SOL_SOCKET, SO_RCVBUF, 1 << 22); $s->blocking(0) }
      for $s ($a, $b) { 1 while syswrite($s, "x" x 65536) } }`
    ],
    [
      "pipes",
      `fork; fork; for (1 .. 9000) { my ($a, $b); pipe($a, $b) or last; push @all, $a, $b; $b->blocking(0); 1 while syswrite($b, "x" x 4096) }`
    ],
    ["names of empty files", `for (1 .. 400000) { open($f, ">", "/tmp/$_") or last; close $f }`]
  ]
  it.each(held)("counts %s", async (_, script) => {
    const drivers = withNative(nativeDriver({ path: searchPath(), makeGroup: () => undefined }))
    const program = { command: "perl", args: ["-e", `use IO::Handle; ${script} sleep 60`] }
    const { exit } = await run(fixture, { config: { kind: "native" }, drivers }, program)
    expect(exit).toMatchObject({ reason: "memory" })
  })

  it("permits a process few open files", async () => {
    const drivers = withNative(nativeDriver({ path: searchPath() }))
    const { lines } = await run(fixture, { config: { kind: "native" }, drivers }, "ulimit -Hn")
    expect(Number(lines[0])).toBeLessThanOrEqual(4096)
  })
})
