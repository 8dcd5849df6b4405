/** Eviction from the cache under workspaces.root, and what is never evicted. Real mirrors. */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { makeMirrors, mirrorFolder } from "../../../src/vcs/git/Mirrors.ts"
import { planEviction } from "../../../src/vcs/cache/PlanEviction.ts"
import { WorkspaceCache } from "../../../src/vcs/cache/WorkspaceCache.ts"
import type { CachePolicy, KeptMirror } from "../../../src/vcs/cache/WorkspaceCache.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const policy = (overrides: Partial<CachePolicy> = {}): CachePolicy => ({
  maxBytes: 100,
  eviction: "lru",
  ttlMillis: 1000,
  ...overrides
})
const kept = (folder: string, bytes: number, usedAt: number, inUse = false): KeptMirror => ({
  folder,
  bytes,
  usedAt,
  inUse
})

describe("planEviction", () => {
  const three = [kept("b", 50, 2000), kept("a", 50, 1000), kept("c", 50, 3000)]
  it.each([
    ["under the limit nothing goes", three, policy({ maxBytes: 150 }), 0, []],
    ["lru: the one used longest ago", three, policy(), 0, ["a"]],
    ["mru: the one used last", three, policy({ eviction: "mru" }), 0, ["c"]],
    ["as many as needed", three, policy({ maxBytes: 60 }), 0, ["a", "b"]],
    ["what is in use stays, the next goes", [kept("a", 90, 1, true), ...three], policy(), 0, ["a", "b", "c"]],
    ["all in use: nothing goes", three.map((one) => ({ ...one, inUse: true })), policy({ maxBytes: 1 }), 0, []],
    ["checkouts count", three, policy({ maxBytes: 150 }), 10, ["a"]],
    ["ttl: what is too old, though there is room", three, policy({ eviction: "ttl", maxBytes: 999 }), 0, ["a", "b"]],
    [
      "ttl: the oldest as well where there is no room",
      three,
      policy({ eviction: "ttl", maxBytes: 40 }),
      0,
      ["a", "b", "c"]
    ],
    ["lru knows no age", three, policy({ maxBytes: 999 }), 0, []]
  ])("%s", (_, mirrors, rules, fixed, expected) => {
    expect(planEviction(mirrors, rules, 3500, fixed).map(({ folder }) => folder)).toEqual(expected)
  })
})

const repository = makeRepository()
repository.write("a.txt", "one\n")
const base = repository.commit()
repository.write("a.txt", "two\n")
const head = repository.commit()

const checkout = (mirror: string) =>
  Effect.flatMap(Vcs, (vcs) =>
    vcs.checkout({
      url: repository.path,
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
const tidy = (rules: Partial<CachePolicy> = {}) =>
  Effect.flatMap(WorkspaceCache, (cache) => cache.tidy(policy({ maxBytes: 1, ...rules }), Date.now()))
const run = <A, E>(root: string, effect: Effect.Effect<A, E, Vcs | WorkspaceCache>) =>
  Effect.runPromise(effect.pipe(Effect.provide(layerGit({ root, limits: () => localLimits, allowLocal: true }))))
const mirrorsOf = (root: string) => readdirSync(join(root, "mirrors"))

describe("tidy", () => {
  it("evicts what no review uses, and the next review clones the repository again", async () => {
    const root = temporaryFolder()
    const seen = await run(
      root,
      Effect.gen(function* () {
        yield* Effect.scoped(checkout("idle"))
        const before = mirrorsOf(root)
        const turn = yield* tidy()
        const after = mirrorsOf(root)
        const text = yield* Effect.scoped(Effect.flatMap(checkout("idle"), (found) => found.file("a.txt", "head", 10)))
        return { before, turn, after, text }
      })
    )
    expect(seen.before).toEqual([mirrorFolder("idle")])
    expect(seen.turn).toMatchObject({ bytes: 0, evicted: [{ folder: mirrorFolder("idle") }] })
    expect(seen.after).toEqual([])
    expect(seen.text).toBe("two\n")
  })

  it("keeps what a running review uses, with its worktree, until the review ends", async () => {
    const root = temporaryFolder()
    await run(
      root,
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const found = yield* checkout("busy")
            const directory = yield* found.directory
            expect(yield* tidy()).toMatchObject({ evicted: [], orphans: 0 })
            expect(existsSync(join(directory, "a.txt"))).toBe(true)
            expect(yield* found.file("a.txt", "from", 10)).toBe("one\n")
          })
        )
        expect((yield* tidy()).evicted).toHaveLength(1)
      })
    )
  })

  it("counts marks of running processes, not those of killed ones, and removes the files of these", async () => {
    const root = temporaryFolder()
    const other = spawn("sleep", ["60"])
    try {
      await run(
        root,
        Effect.gen(function* () {
          yield* Effect.scoped(Effect.all([checkout("theirs"), checkout("orphaned")]))
          const marks = (name: string) => join(root, "mirrors", mirrorFolder(name), "users")
          writeFileSync(join(marks("theirs"), `${other.pid}-0123456789ab-1`), "")
          writeFileSync(join(marks("orphaned"), "4194304-0123456789ab-1"), "")
          const orphan = join(root, "worktrees", "4194304-0123456789ab-1")
          const trash = join(root, "mirrors", "evicted-4194304-0123456789ab-2")
          for (const folder of [orphan, trash]) mkdirSync(folder, { recursive: true })
          const turn = yield* tidy()
          expect(turn.evicted.map(({ folder }) => folder)).toEqual([mirrorFolder("orphaned")])
          expect(turn.orphans).toBe(1)
          expect(mirrorsOf(root)).toEqual([mirrorFolder("theirs")])
          expect(readdirSync(join(root, "worktrees"))).toEqual([])
        })
      )
    } finally {
      other.kill()
    }
  })

  it("goes by the last use", async () => {
    const root = temporaryFolder()
    await run(
      root,
      Effect.gen(function* () {
        yield* Effect.scoped(Effect.all([checkout("old"), checkout("new")]))
        const longAgo = new Date(Date.now() - 40 * 86_400_000)
        for (const name of ["old", "new"])
          utimesSync(join(root, "mirrors", mirrorFolder(name), "used"), longAgo, longAgo)
        yield* Effect.scoped(checkout("new"))
        const turn = yield* tidy({ eviction: "ttl", ttlMillis: 30 * 86_400_000, maxBytes: 1e9 })
        expect(turn.evicted.map(({ folder }) => folder)).toEqual([mirrorFolder("old")])
        expect(turn.bytes).toBeGreaterThan(0)
      })
    )
    expect(mirrorsOf(root)).toEqual([mirrorFolder("new")])
  })

  it("races with checkouts and no checkout loses its repository", async () => {
    const root = temporaryFolder()
    const seen = await run(
      root,
      Effect.gen(function* () {
        const review = Effect.scoped(Effect.flatMap(checkout("raced"), (found) => found.file("a.txt", "head", 10)))
        const reviews = Effect.forEach(Array.from({ length: 30 }), () => review, { concurrency: 3 })
        const turns = Effect.forEach(Array.from({ length: 30 }), () => tidy())
        const [texts] = yield* Effect.all([reviews, turns], { concurrency: 2 })
        return texts
      })
    )
    expect(new Set(seen)).toEqual(new Set(["two\n"]))
  })

  it("is empty where nothing was reviewed yet", async () => {
    expect(await run(temporaryFolder(), tidy())).toEqual({ bytes: 0, evicted: [], orphans: 0 })
  })
})

it("a mirror that came into use after the plan was made is not evicted", async () => {
  const root = temporaryFolder()
  const mirrors = makeMirrors(
    root,
    () => localLimits,
    () => Effect.void
  )
  const seen = await Effect.runPromise(
    Effect.gen(function* () {
      const during = yield* Effect.scoped(
        Effect.andThen(mirrors.open("one", "sha1", Effect.succeed("sha1")), mirrors.evict(mirrorFolder("one")))
      )
      return [during, yield* mirrors.evict(mirrorFolder("one"))]
    })
  )
  expect(seen).toEqual([false, true])
})

it("a mark goes with its review", async () => {
  const root = temporaryFolder()
  await run(root, Effect.scoped(checkout("once")))
  expect(readdirSync(join(root, "mirrors", mirrorFolder("once"), "users"))).toEqual([])
  execFileSync("git", ["--git-dir", join(root, "mirrors", mirrorFolder("once")), "rev-parse", "--is-bare-repository"])
})
