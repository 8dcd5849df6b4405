/** The promises of sandboxes as one suite, which every kind runs. */
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { inEnglish } from "../../src/text/en.ts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { secretVariable } from "./Elsewhere.ts"
import type { Elsewhere, Left } from "./Elsewhere.ts"
import { attacker } from "./EscapeAttempts.ts"
import type { Attempts, Reached } from "./EscapeAttempts.ts"
import type { SandboxLimits, SandboxExit } from "../../src/sandbox/Sandbox.ts"
import { listOrphans, makeFixture, processesWith, run, start, uniqueSeconds, using } from "./Fixture.ts"
import type { Fixture, KindUnderTest, Outcome, Program } from "./Fixture.ts"
import { killedService } from "./KilledService.ts"
import { runInService } from "./OtherUser.ts"
import { takeTurn } from "../harness/Samples.ts"
import type { Sampled } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

export interface Conformance extends KindUnderTest {
  /** Upper bound for the share of a processor that a busy program gets with a limit of 0.3. */
  readonly maxShare: number
  /** A bomb that continues when the kernel refuses it processes, where only the kernel's limit of processes stops it. */
  readonly forkBomb?: string
  /** Notices of every run. */
  readonly notices?: ReadonlyArray<string>
  /** User of the program. Default: 65534. */
  readonly uid?: unknown
  /** Whether files of `/proc` that belong to the program's own processes can be written. */
  readonly hasOpenProcesses?: boolean
  /** Whether a service of its own starts the sandboxes, as another user than the tests. */
  readonly user?: number
  /** Whether no other sandbox runs while one is attacked, where each takes long to start. */
  readonly isAlone?: boolean
  /** Whether that user may create control groups. Default: if every user of this machine may. */
  readonly hasOwnGroups?: boolean
  /** A service on another machine, which starts the sandboxes. */
  readonly elsewhere?: Elsewhere
  /** Returns text in the command lines of a sandbox's processes on this machine. Default: a duration for which they sleep. */
  readonly mark?: (fixture: Fixture) => string
  /** Returns how many sandboxes of the fixture exist in an engine. */
  readonly count?: (fixture: Fixture) => Promise<number>
}

const nothing: Left = { processes: 0, folders: 0, containers: 0 }

const node = (text: string, ...args: ReadonlyArray<string>): Program => ({
  command: "node",
  args: ["/tmp/program.mjs", ...args],
  files: [{ path: "program.mjs", text }]
})

type Kinds = ReadonlyArray<readonly [name: string, prepare: () => Promise<Conformance>]>

/** Every promise of a sandbox. */
export const describeConformance = (kinds: Kinds): void =>
  describeParts(kinds, [describeStart, describePrograms, describeEscapes, describeLimits, describeEnds, describeCancel])

/** Isolation and limits, for a machine where other parts of the kind hold. */
export const describeConfinement = (kinds: Kinds): void => describeParts(kinds, [describeEscapes, describeLimits])

/** Limits alone, for a kind whose isolation is that of another one. */
export const describeLimited = (kinds: Kinds): void => describeParts(kinds, [describeLimits])

const core = () => [describeStart, describeEscapes]
/** Start and isolation alone, for a kind that is slow here. */
export const describeCore = (kinds: Kinds): void => describeParts(kinds, core())

/** One of both, the other one for the next commit, for a kind whose start takes most of a minute. */
export const describeCoreInTurn = (variable: Sampled, kinds: Kinds): void =>
  describeParts(kinds, takeTurn(variable, core()))

/** The promises that are checked for another user: all but the end of a scope, which is one of this process. */
export const describeOtherUser = (kinds: Kinds): void =>
  describeParts(kinds, [describeStart, describePrograms, describeEscapes, describeLimits, describeEnds])

/** Runs to the end, as the user of the kind. */
const runAs = async (
  fixture: Fixture,
  kind: Conformance,
  program: Program,
  limits?: Partial<SandboxLimits>
): Promise<Outcome> =>
  kind.elsewhere !== undefined
    ? kind.elsewhere.run(kind, program, { ...kind.limits, ...limits })
    : kind.user === undefined
      ? run(fixture, kind, program, limits)
      : runInService(fixture, kind, program, { ...kind.limits, ...limits }, kind)

/** Returns what exists of the kind's sandboxes, where they are started. */
const lookAs = async (fixture: Fixture, kind: Conformance, seconds: string): Promise<Left> =>
  kind.elsewhere?.look(seconds) ?? {
    processes: processesWith(kind.mark?.(fixture) ?? seconds).length,
    folders: listOrphans(fixture).length,
    containers: (await kind.count?.(fixture)) ?? 0
  }

/** A cluster removes a pod some time after the request. */
const expectNothingLeft = async (look: () => Promise<Left>): Promise<void> => {
  await waitUntil(async () => (await look()).containers === 0, { describe: () => "all containers are removed" })
  expect(await look()).toEqual(nothing)
}

const describeParts = (kinds: Kinds, parts: ReadonlyArray<(current: Current) => void>): void => {
  describe.each(kinds)("%s", (_, prepare) => {
    let kind: Conformance
    let fixture: Fixture
    beforeAll(async () => {
      kind = await prepare()
      fixture = await makeFixture(kind.user)
    })
    afterAll(async () => {
      await fixture.close()
    })
    const current = () => ({ kind, fixture })
    for (const part of parts) part(current)
  })
}

type Current = () => { readonly kind: Conformance; readonly fixture: Fixture }

/** The end of a sandbox with its reason in English. */
const inWords = (exit: SandboxExit | undefined) =>
  exit !== undefined && "why" in exit ? { reason: exit.reason, message: inEnglish(exit.why) } : exit

const describeStart = (current: Current): void => {
  it("starts the program of the request, with nothing else", async () => {
    const { fixture, kind } = current()
    vi.stubEnv("AICR_TEST_SECRET", "s3cret")
    const text = `
      import { readFileSync, statSync } from "node:fs"
      const stdin = readFileSync(0, "utf8")
      const mode = statSync("/tmp/a/b.txt").mode & 0o777
      console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), env: process.env, stdin, file: readFileSync("/tmp/a/b.txt", "utf8"), mode }))
      console.error("to stderr")
      process.exit(7)`
    const program = {
      ...(node(text, "a b", "$HOME", "ü") as object),
      environment: { ONLY: "this one" },
      stdin: "line\nüber",
      files: [
        { path: "program.mjs", text },
        { path: "a/b.txt", text: "content" }
      ]
    }
    const { exit, lines, notices, stderr } = await runAs(fixture, kind, program)
    vi.unstubAllEnvs()
    expect({ exit, stderr, notices }).toEqual({
      exit: { reason: "exited", code: 7 },
      stderr: "to stderr\n",
      notices: kind.notices ?? []
    })
    const { env, ...rest } = JSON.parse(lines[0] ?? "{}")
    expect(rest).toEqual({
      args: ["a b", "$HOME", "ü"],
      cwd: "/repository",
      stdin: "line\nüber",
      file: "content",
      mode: 0o600
    })
    expect(Object.keys(env).toSorted()).toEqual(["HOME", "MODEL", "ONLY", "PATH", "REPO", "SCRATCH", "TOOLS"])
  })
}

const describePrograms = (current: Current): void => {
  it("leads one port to the model and one to the tools, also for large bodies", async () => {
    const { fixture, kind } = current()
    const text = `
      const body = "x".repeat(2_000_000)
      for (const port of [process.env.MODEL, process.env.TOOLS]) {
        const response = await fetch("http://127.0.0.1:" + port, { method: "POST", body })
        const reply = await response.text()
        console.log(reply.slice(0, 5), reply.length)
      }`
    const { exit, lines } = await runAs(fixture, kind, node(text))
    expect({ exit, lines }).toEqual({ exit: { reason: "exited", code: 0 }, lines: ["model 2000006", "tools 2000006"] })
  })

  it("reports a program that cannot be started, and a signal", async () => {
    const { fixture, kind } = current()
    const [missing, signal] = await Promise.all([
      runAs(fixture, kind, { command: "/no/such/program" }),
      runAs(fixture, kind, "kill -15 $$")
    ])
    expect(inWords(missing?.exit)).toEqual({
      reason: "engine",
      message: expect.stringMatching(/could not be started.*ENOENT/)
    })
    expect(signal?.exit).toEqual({ reason: "exited", code: 143 })
  })
}

const describeEscapes = (current: Current): void => {
  it("reaches nothing of the host", async () => {
    const { fixture, kind } = current()
    vi.stubEnv("AICR_TEST_SECRET", secretVariable)
    const name = `aicr-test-${uniqueSeconds()}`
    const server = createServer().listen(0, "127.0.0.1")
    const abstract = createServer().listen(`\0${name}`)
    await Promise.all([once(server, "listening"), once(abstract, "listening")])
    const secret = join(fixture.root, "secret.txt")
    writeFileSync(secret, "host")
    const attempts: Attempts = {
      files: [
        secret,
        fixture.folder,
        "/etc/shadow",
        "/root",
        import.meta.filename,
        `/proc/${process.pid}/environ`,
        "/run/podman/podman.sock",
        "/var/run/docker.sock",
        "/tmp/of-another-run",
        ...(kind.elsewhere?.files ?? [])
      ],
      secret: secretVariable,
      ports: [(server.address() as AddressInfo).port],
      abstract: name
    }
    const other = start(fixture, kind, "touch /tmp/of-another-run; echo ready; sleep 60")
    const limits = { timeMillis: Math.max(60_000, kind.limits?.timeMillis ?? 0) }
    const attack = () => runAs(fixture, kind, node(attacker, JSON.stringify(attempts)), limits)
    const withOther = Effect.gen(function* () {
      const { lines } = yield* other
      yield* Stream.runHead(lines)
      return yield* Effect.promise(attack)
    })
    const isHere = kind.user === undefined && kind.elsewhere === undefined && kind.isAlone !== true
    const outcome = isHere ? await using(fixture, kind, withOther) : await attack()
    vi.unstubAllEnvs()
    server.close()
    abstract.close()
    expect(outcome).toMatchObject({ exit: { reason: "exited", code: 0 }, stderr: "" })
    const reached: Reached = JSON.parse(outcome.lines[0] ?? "{}")
    const files = Object.fromEntries([...attempts.files, "/tmp/link"].map((file) => [file, "ENOENT"]))
    const isPermitted = (file: string): boolean =>
      devices.test(file) || (kind.hasOpenProcesses === true && ownProcesses.test(file))
    expect({ ...reached, writableFiles: reached.writableFiles.filter((file) => !isPermitted(file)) }).toEqual({
      writableFiles: [],
      files: { ...files, "/root": expect.stringMatching(/ENOENT|exists/) },
      writable: ["/tmp"],
      repository: "reviewed",
      changes: { write: "EROFS", create: "EROFS", chmod: "EROFS", remove: "EROFS" },
      secrets: [],
      processes: expect.any(Number),
      connections: {
        "169.254.169.254": "ENETUNREACH",
        "8.8.8.8": "ENETUNREACH",
        "::ffff:1.1.1.1": "ENETUNREACH",
        "2001:4860:4860::8888": "ENETUNREACH",
        loopback: "ECONNREFUSED",
        abstract: "ECONNREFUSED"
      },
      interfaces: ["lo"],
      status: { CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none, NoNewPrivs: "1" },
      uid: kind.uid ?? 65_534,
      // EINVAL: the user does not exist in the namespace.
      setuid: expect.stringMatching(/^(EPERM|EINVAL)$/),
      namespaces: false
    })
    expect(reached.processes).toBeLessThan(6)
  })
}

const none = "0000000000000000"
export const devices = /^\/dev\/(null|zero|full|random|urandom|tty|ptmx|pts\/(ptmx|\d+))$/
/** Files of the own processes, and those with which every user may watch the load of the machine. */
const ownProcesses = /^\/proc\/(\d+|pressure)\//

const describeLimits = (current: Current): void => {
  const mib = 1_048_576
  const limited: ReadonlyArray<readonly [string, Program, object, string]> = [
    [
      "a memory bomb",
      node("const all = []; for (;;) all.push(Buffer.alloc(8e6, 1))"),
      { memoryBytes: 128 * mib },
      "memory"
    ],
    ["an output flood", `yes ${"x".repeat(900)}`, {}, "output"],
    ["a flood of stderr", `yes ${"x".repeat(900)} >&2`, {}, "output"],
    ["a program that ignores SIGTERM", "trap '' TERM INT HUP; while :; do sleep 0.2; done", { timeMillis: 700 }, "time"]
  ]
  it.each(limited)("ends %s", async (_, program, limits, reason) => {
    const { fixture, kind } = current()
    const { exit } = await runAs(fixture, kind, program, limits)
    expect(inWords(exit)).toMatchObject({ reason, message: expect.stringMatching(/raise (sandbox\.limits|agent)\./) })
  })

  it("ends a fork bomb", async () => {
    const { fixture, kind } = current()
    // It keeps the processors from what counts its processes.
    const limits = { timeMillis: Math.max(60_000, kind.limits?.timeMillis ?? 0) }
    const { exit } = await runAs(fixture, kind, kind.forkBomb ?? "f() { f | f & f; }; f", limits)
    expect(inWords(exit)).toMatchObject({
      reason: "processes",
      message: expect.stringContaining("sandbox.limits.processes")
    })
  })

  it("bounds what is written, of all files together", async () => {
    const { fixture, kind } = current()
    const script =
      "i=0; while head -c 3000000 /dev/zero > /tmp/$i; do i=$((i+1)); done 2>/dev/null; du -smx /tmp | cut -f1"
    const { exit, lines } = await runAs(fixture, kind, script, { fileBytes: 8 * mib })
    expect(exit).toEqual({ reason: "exited", code: 0 })
    expect(Number(lines[0])).toBeGreaterThan(5)
    expect(Number(lines[0])).toBeLessThan(9)
  })

  it("bounds the processors, where the kind limits them", async () => {
    const { fixture, kind } = current()
    const text = `
      const until = performance.now() + 800
      while (performance.now() < until);
      const { user, system } = process.cpuUsage()
      console.log((user + system) / 1000 / performance.now())`
    const { lines } = await runAs(fixture, kind, node(text), { cpus: 0.3 })
    expect(Number(lines[0])).toBeGreaterThan(0)
    expect(Number(lines[0])).toBeLessThan(kind.maxShare)
  })
}

const describeEnds = (current: Current): void => {
  it("ends processes that left their session and parent, with the program", async () => {
    const { fixture, kind } = current()
    const seconds = uniqueSeconds()
    const script = `setsid sh -c 'trap "" TERM HUP; (setsid sleep ${seconds} &) ; sleep ${seconds}' >/dev/null 2>&1 & sleep 0.2; echo started`
    const { exit, lines } = await runAs(fixture, kind, script)
    expect({ exit, lines }).toEqual({ exit: { reason: "exited", code: 0 }, lines: ["started"] })
    await expectNothingLeft(() => lookAs(fixture, kind, seconds))
  })

  it("leaves no process when the service is killed, and the next start removes the rest", async () => {
    const { fixture, kind } = current()
    const seconds = uniqueSeconds()
    const look = () => lookAs(fixture, kind, seconds)
    const script = `(setsid sleep ${seconds} &); echo started; trap '' TERM; sleep ${seconds}`
    await (kind.elsewhere?.kill(kind, script) ?? killedService(fixture, kind, script, kind))
    await waitUntil(async () => (await look()).processes === 0, { describe: () => `the processes of ${script} end` })
    expect(await look()).toMatchObject({ folders: 1 })
    if (kind.user === undefined && kind.elsewhere === undefined) await using(fixture, kind, Effect.void)
    else await runAs(fixture, kind, "true")
    await expectNothingLeft(look)
  })
}

const describeCancel = (current: Current): void => {
  it("is cancelled with its scope, with all its processes", async () => {
    const { fixture, kind } = current()
    const seconds = uniqueSeconds()
    const processes = () => processesWith(kind.mark?.(fixture) ?? seconds)
    const exit = await using(
      fixture,
      kind,
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Effect.addFinalizer((end) => Scope.close(scope, end))
        const script = `(setsid sleep ${seconds} &); echo started; trap '' TERM; sleep ${seconds}; sleep ${seconds}`
        const sandbox = yield* Scope.provide(start(fixture, kind, script), scope)
        const started = yield* Deferred.make<void>()
        const reader = yield* Effect.forkChild(
          Stream.runForEach(sandbox.lines, () => Deferred.succeed(started, undefined))
        )
        yield* Deferred.await(started)
        expect(processes().length).toBeGreaterThan(0)
        yield* Scope.close(scope, Exit.void)
        expect(processes()).toEqual([])
        yield* Fiber.join(reader)
        return yield* sandbox.exit
      })
    )
    expect(inWords(exit)).toEqual({ reason: "cancelled", message: "the agent was cancelled" })
    expect(listOrphans(fixture)).toEqual([])
  })
}
