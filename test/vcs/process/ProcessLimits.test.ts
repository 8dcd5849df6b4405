/** Limits of git's processes: a command that needs more ends with the limit as its reason, and the others continue. */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, writeFileSync } from "node:fs"
import { getPriority } from "node:os"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import { describe, expect, it, vi } from "vitest"
import type { CheckoutError } from "../../../src/vcs/Checkout.ts"
import { openBlobReader } from "../../../src/vcs/git/BlobReader.ts"
import { openDiffReader } from "../../../src/vcs/git/DiffReader.ts"
import { diffStream } from "../../../src/vcs/git/DiffStream.ts"
import type { Mirror } from "../../../src/vcs/git/Mirror.ts"
import { openSizeReader } from "../../../src/vcs/git/SizeReader.ts"
import { findLimit } from "../../../src/vcs/process/ProcessLimit.ts"
import { runGit, startGit } from "../../../src/vcs/git/GitProcess.ts"
import { readUsedMillis } from "../../../src/vcs/process/ProcessPriority.ts"
import { overLimit, watchProcesses } from "../../../src/vcs/process/ProcessWatch.ts"
import { localTime, networkTime } from "../../../src/vcs/git/TimeLimit.ts"
import type { TimeLimit } from "../../../src/vcs/git/TimeLimit.ts"
import { localLimits, processLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import type { ProcessLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const mib = 1_048_576
const repository = makeRepository()
repository.write("large.txt", "0123456789abcde\n".repeat(6 * 65_536))
repository.write("random.txt", randomBytes(3 * mib).toString("hex"))
const head = repository.commit("large")
const home = temporaryFolder()
/** The limits that `workspaces.limits` sets. */
const configured = (limits: Readonly<Record<string, number>>): ProcessLimits =>
  processLimits(testSnapshot({ workspaces: { limits } }).document.workspaces.limits)
const quick = { time: localTime("history"), maxBytes: 256 * mib }
const git = (args: ReadonlyArray<string>, limits: Partial<ProcessLimits>, cwd = repository.path) =>
  Effect.runPromise(Effect.flip(runGit({ args, home, cwd, limits: { ...localLimits, ...limits } }, quick)))

describe("a git command", () => {
  it("that needs too much memory", async () => {
    expect(await git(["diff-tree", "-r", "-p", "--root", head], { memoryBytes: 4 * mib })).toMatchObject({
      reason: "limit",
      message: expect.stringMatching(/^git diff-tree needs over 4 MiB of memory \(workspaces\.limits\.git_memory_mb\)/)
    })
  })

  it("that needs too much processor time", async () => {
    const busy = `f() { while :; do :; done; }; f`
    expect(await git(["-c", `alias.busy=!${busy}`, "busy"], configured({ git_cpu_seconds: 1 }))).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("workspaces.limits.git_cpu_seconds")
    })
  })

  it("that writes too large a file, in a process that it starts too", async () => {
    const error = await git(["repack", "-a", "-d", "-q", "-F"], configured({ git_file_mb: 1 }))
    expect(error).toMatchObject({ reason: "limit", message: expect.stringContaining("workspaces.limits.git_file_mb") })
  })

  it.each([
    ["at once", ""],
    ["after two seconds without work", "sleep 2; "]
  ])("whose processes together need too much memory, %s", async (_, pause) => {
    const script = join(temporaryFolder(), "grow")
    // Each stays within what one process may have. A shell whose last command is `sleep` becomes it, and its memory is free.
    const one = `(x=$(head -c 15000000 /dev/zero | tr '\\0' x); sleep 20; :) &`
    writeFileSync(script, `${pause}for i in 1 2 3 4; do ${one} done; wait`)
    const limits = { ...localLimits, memoryBytes: 50 * mib }
    const end = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const child = yield* startGit({ args: ["-c", `alias.grow=!sh ${script}`, "grow"], home, limits })
          return yield* Effect.promise(() => child.ended)
        })
      )
    )
    expect(end).toMatchObject({ limit: "memory", code: undefined })
  })

  it("that is within them prints its output, for its own user alone", async () => {
    const { stdout } = await Effect.runPromise(
      runGit({ args: ["-c", "alias.mask=!sh -c umask", "mask"], home, limits: localLimits }, quick)
    )
    expect(stdout.toString().trim()).toBe("0077")
  })
})

const autogroup = "/proc/self/autogroup"
it.runIf(existsSync(autogroup))(
  "a git command has a lower priority than the service, as a session of its own too",
  async () => {
    const args = ["-c", `alias.group=!cat ${autogroup}`, "group"]
    const { stdout } = await Effect.runPromise(runGit({ args, home, limits: localLimits }, quick))
    expect(stdout.toString()).toMatch(/nice 10$/m)
  }
)

it.runIf(existsSync("/proc/self/stat"))("a process that computes for long gets a lower priority", async () => {
  const busy = spawn("sh", ["-c", "while :; do :; done"], { detached: true, stdio: "ignore" })
  const pid = busy.pid ?? 0
  await waitUntil(() => (readUsedMillis(pid) ?? 0) >= 700, { describe: () => "the process computes" })
  const unwatch = watchProcesses(pid, localLimits, () => {})
  const lowest = Math.min(19, getPriority() + 19)
  await waitUntil(() => getPriority(pid) === lowest, {
    describe: () => `niceness ${getPriority(pid)} becomes ${lowest}`
  })
  unwatch()
  expect(busy.kill("SIGKILL")).toBe(true)
})

describe("a git command that takes too long by the clock", () => {
  const waiting = { args: ["-c", "alias.wait=!sleep 60", "wait"], home, limits: localLimits }
  const timed = (time: TimeLimit) => Effect.runPromise(Effect.flip(runGit(waiting, { time, maxBytes: 1 })))

  it("locally: the review exceeds its limit, and the error names the limit", async () => {
    expect(await timed(localTime("blame", 200))).toMatchObject({
      reason: "limit",
      message: expect.stringMatching(/^git -c took over 0\.2 s \(time limit "blame"\)/)
    })
  })

  it("over the network: it is transient", async () => {
    expect(await timed(networkTime(200))).toMatchObject({ reason: "unreachable" })
  })

  const mirror = { directory: repository.path } as Mirror
  const soon = (name: "diff" | "objects") => localTime(name, 200)
  const mute: ReadonlyArray<readonly [string, Effect.Effect<unknown, CheckoutError, Scope.Scope>]> = [
    [
      "cat-file --batch",
      Effect.flatMap(openBlobReader(home, localLimits, soon("objects")), ({ read }) => read("HEAD", 100))
    ],
    [
      "cat-file --batch-check",
      Effect.flatMap(openSizeReader(home, localLimits, soon("objects")), ({ objects }) => objects(["HEAD"]))
    ],
    [
      "diff-tree",
      Effect.gen(function* () {
        const { diff } = yield* openDiffReader(home, localLimits, soon("diff"))
        const stream = yield* diff(head, head)
        return yield* Stream.runDrain(stream ?? Stream.empty)
      })
    ],
    ["diff-tree", Stream.runDrain(diffStream({ ...mirror, limits: localLimits }, head, head, { time: soon("diff") }))]
  ]

  it.each(mute)("ends %s, which prints nothing", async (name, use) => {
    const bin = temporaryFolder()
    writeFileSync(join(bin, "git"), "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 })
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`)
    try {
      expect(await Effect.runPromise(Effect.flip(Effect.scoped(use)))).toMatchObject({
        reason: "limit",
        message: expect.stringContaining(`git ${name} took over 0.2 s`)
      })
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

describe("over the limit of all commands", () => {
  const limits = { ...localLimits, memoryBytes: 100, totalMemoryBytes: 150 }
  it.each([
    [[60, 50], []],
    [[60, 50, 70], [["total_memory", 70]]],
    [[101, 50], [["memory", 101]]],
    [
      [101, 90, 80, 60],
      [
        ["memory", 101],
        ["total_memory", 90]
      ]
    ]
  ] as const)("%j", (sizes, ended) => {
    const commands = sizes.map((bytes) => ({ bytes, limits }))
    expect(overLimit(commands).map(({ limit, command }) => [limit, command.bytes])).toEqual(ended)
  })

  it.each([
    [{}, [100, 100], []],
    [{ git_memory_mb: 64 }, [100, 10], ["memory"]],
    [{ git_total_memory_mb: 64 }, [40, 40], ["total_memory"]]
  ] as const)("that the configuration sets: %j", (settings, sizes, ended) => {
    const own = configured(settings)
    const commands = sizes.map((size) => ({ bytes: size * mib, limits: own }))
    expect(overLimit(commands).map(({ limit }) => limit)).toEqual(ended)
  })
})

it.each([
  ["SIGXCPU", "", "cpu"],
  [undefined, "error: index-pack died of signal 24\nfatal: index-pack failed", "cpu"],
  [undefined, "fatal: write error: File too large", "file"],
  [undefined, "fatal: Out of memory, malloc failed (tried to allocate 5 bytes)", "memory"],
  [undefined, "fatal: bad object", undefined]
] as const)("%s %s is %s", (signal, stderr, expected) => expect(findLimit(signal, stderr)).toBe(expected))
