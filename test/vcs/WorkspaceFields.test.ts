/** `workspaces.root`, `workspaces.cache` and `workspaces.limits`: each field set in a configuration, observed on disk and at git commands. */
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, truncateSync, utimesSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { Effect, Layer, Logger } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { vcs } from "../../src/app/Parts.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { runGit, startGit } from "../../src/vcs/git/GitProcess.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { mirrorFolder } from "../../src/vcs/git/Mirrors.ts"
import { localTime } from "../../src/vcs/git/TimeLimit.ts"
import { localLimits, processLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { waitUntil } from "../harness/Wait.ts"
import { startGitServer } from "./GitServer.ts"
import type { GitServer } from "./GitServer.ts"
import { makeRepository, temporaryFolder } from "./Repository.ts"

const baseDir = temporaryFolder()
const configured = (workspaces: object) => Effect.runSync(toSnapshot({ workspaces }, {}, { baseDir }))
const checkout = (url: string, mirror: string, head: string, base: string) =>
  Effect.flatMap(Vcs, (git) =>
    git.checkout({
      url,
      mirror,
      authorization: undefined,
      head,
      base,
      headRef: undefined,
      baseRef: undefined,
      rules: undefined,
      compare: "merge-base"
    })
  )
/** The layer that keeps and reads repositories on a node with this configuration. */
const node = (workspaces: object) => vcs.pipe(Layer.provide(layerStatic(configured(workspaces))))
const quiet = Logger.layer([])

const projects = temporaryFolder()
const repository = makeRepository(join(projects, "large"))
repository.write("a.txt", "one\n")
const base = repository.commit()
repository.write("random.txt", randomBytes(1_500_000).toString("hex"))
const head = repository.commit()
let server: GitServer
beforeAll(async () => {
  server = await startGitServer({ root: projects })
})
afterAll(() => server.close())

describe("root", () => {
  const elsewhere = temporaryFolder()
  it.each([
    ["a relative path, below the folder of the document", "kept", join(baseDir, "kept")],
    ["an absolute path", elsewhere, elsewhere]
  ])("the checkout of a review and its mirror are below %s", async (_, root, folder) => {
    const directory = await Effect.runPromise(
      Effect.scoped(
        Effect.tap(
          Effect.flatMap(checkout(`${server.url}/large/.git`, "large", head, base), (one) => one.directory),
          (path) => Effect.sync(() => expect(existsSync(join(path, "random.txt"))).toBe(true))
        )
      ).pipe(Effect.provide([node({ root }), quiet]))
    )
    expect(relative(folder, directory)).not.toMatch(/^\.\./)
    expect(readdirSync(join(folder, "mirrors"))).toEqual([mirrorFolder("large")])
  })
})

describe("cache", () => {
  const root = temporaryFolder()
  const mirrors = () => readdirSync(join(root, "mirrors")).toSorted()
  const [old, recent] = [mirrorFolder("old"), mirrorFolder("recent")]
  const fill = () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.all([checkout(repository.path, "old", head, base), checkout(repository.path, "recent", head, base)])
      ).pipe(
        Effect.provide([layerGit({ root, limits: () => localLimits, allowLocal: true }), quiet]),
        Effect.andThen(
          Effect.sync(() => {
            const threeDaysAgo = new Date(Date.now() - 3 * 86_400_000)
            utimesSync(join(root, "mirrors", old, "used"), threeDaysAgo, threeDaysAgo)
          })
        )
      )
    )
  const keptBy = (cache: object, expected: ReadonlyArray<string>) =>
    Effect.runPromise(
      Effect.promise(() =>
        waitUntil(() => mirrors().length === expected.length, {
          timeout: 8000,
          describe: () => `${expected.length} mirrors are kept, not ${mirrors().length}`
        })
      ).pipe(Effect.andThen(Effect.sync(mirrors)), Effect.provide([node({ root, cache }), quiet]))
    )

  it("eviction and ttl_days: a repository that is unused for longer is removed", async () => {
    await fill()
    expect(mirrors()).toEqual([old, recent].toSorted())
    expect(await keptBy({ eviction: "ttl", ttl_days: 2 }, [recent])).toEqual([recent])
  })

  it("max_total_gb: repositories beyond it are removed", async () => {
    await fill()
    expect(await keptBy({ max_total_gb: 0.000_000_001 }, [])).toEqual([])
  })
})

describe("limits", () => {
  const home = temporaryFolder()
  const limits = (given: object) => processLimits(configured({ limits: given }).document.workspaces.limits)
  const git = (args: ReadonlyArray<string>, given: object) =>
    Effect.runPromise(
      runGit({ args, home, limits: limits(given) }, { time: localTime("history"), maxBytes: 1_048_576 }).pipe(
        Effect.match({ onSuccess: () => "it ended well", onFailure: ({ message }) => message })
      )
    )

  it("git_file_mb: a fetch that brings more fails", async () => {
    const workspaces = { root: temporaryFolder(), limits: { git_file_mb: 1 } }
    const error = await Effect.runPromise(
      Effect.scoped(checkout(`${server.url}/large/.git`, "large", head, base)).pipe(
        Effect.match({ onSuccess: () => "it ended well", onFailure: ({ message }) => message }),
        Effect.provide([node(workspaces), quiet])
      )
    )
    expect(error).toContain("writes a file of over 1 MiB (workspaces.limits.git_file_mb)")
  })

  it("git_cpu_seconds: a command that needs more fails", async () => {
    const busy = await git(["-c", "alias.busy=!f() { while :; do :; done; }; f", "busy"], { git_cpu_seconds: 1 })
    expect(busy).toContain("needs over 1 s of processor time (workspaces.limits.git_cpu_seconds)")
  })

  it("git_memory_mb: a command that needs more fails", async () => {
    const large = join(temporaryFolder(), "large")
    writeFileSync(large, "")
    truncateSync(large, 200_000_000)
    const hashed = await git(["-c", `alias.large=!cat ${large} | git hash-object --stdin`, "large"], {
      git_memory_mb: 64
    })
    expect(hashed).toContain("needs over 64 MiB of memory (workspaces.limits.git_memory_mb)")
  })

  it("git_total_memory_mb: the largest command is ended where all need more", async () => {
    const script = join(temporaryFolder(), "grow")
    writeFileSync(script, "x=$(head -c 90000000 /dev/zero | tr '\\0' x); sleep 8; :")
    const args = ["-c", `alias.grow=!sh ${script}`, "grow"]
    const end = await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(startGit({ args, home, limits: limits({ git_total_memory_mb: 64 }) }), (child) =>
          Effect.promise(() => child.ended)
        )
      )
    )
    expect(end).toMatchObject({ limit: "total_memory", code: undefined })
  })
})
