/** Processes that checkouts of a repository share, with real git: what they print is what a process of its own prints. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import type { Checkout } from "../../../src/vcs/Checkout.ts"
import { isJustBefore, parseCommit } from "../../../src/vcs/git/CommitObject.ts"
import type { ReadObject } from "../../../src/vcs/git/CommitObject.ts"
import { diffOptions } from "../../../src/vcs/git/DiffStream.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { wholeDiff } from "../WholeDiff.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const repository = makeRepository()
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join("")
let [start, renamed, large, same] = ["", "", "", ""]

/** Commands of git in a mirror that were started since. */
const started = temporaryFolder()
const path = process.env["PATH"] ?? ""
const commands = () => readFileSync(join(started, "log"), "utf8").trim().split("\n").toSorted()

beforeAll(() => {
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()
  writeFileSync(
    join(started, "git"),
    `#!/bin/sh\ncase $1 in --git-dir=*) echo "$2" >> '${started}/log' ;; esac\nexec '${git}' "$@"\n`
  )
  chmodSync(join(started, "git"), 0o755)
  repository.write("a.txt", lines(0, 30))
  start = repository.commit("start")
  repository.git("mv", "a.txt", "b.txt")
  repository.write("b.txt", lines(0, 31))
  repository.write("no newline", "end-0")
  renamed = repository.commit("renamed")
  repository.write("large.txt", lines(0, 100_000))
  large = repository.commit("large")
  same = repository.commit("nothing")
  process.env["PATH"] = `${started}:${path}`
})
afterAll(() => {
  process.env["PATH"] = path
})

const using = <A, E>(use: (vcs: Vcs["Service"]) => Effect.Effect<A, E>) => {
  writeFileSync(join(started, "log"), "")
  return Effect.runPromise(
    Effect.flatMap(Vcs, use).pipe(
      Effect.provide(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }))
    )
  )
}
const checkedOut = <A, E>(
  vcs: Vcs["Service"],
  base: string,
  head: string,
  use: (checkout: Checkout) => Effect.Effect<A, E>
) =>
  Effect.scoped(
    Effect.flatMap(
      vcs.checkout({
        url: repository.path,
        mirror: "test/shared",
        authorization: undefined,
        head,
        base,
        headRef: undefined,
        baseRef: undefined,
        rules: undefined,
        compare: "merge-base"
      }),
      use
    )
  )
const textOf = (checkout: Checkout) =>
  Effect.map(Stream.runCollect(wholeDiff(checkout)), (chunks) => Buffer.concat([...chunks]).toString())
const alone = (from: string, head: string) => `${repository.git("diff-tree", ...diffOptions, from, head)}\n`.trimStart()

describe("diffs through one process", () => {
  it("are those of a process of their own, one after the other", async () => {
    const pairs = [
      [start, renamed],
      [renamed, large],
      [large, same],
      [start, same]
    ] as const
    const texts = await using((vcs) => Effect.forEach(pairs, ([base, head]) => checkedOut(vcs, base, head, textOf)))
    const here = commands()
    expect(texts).toEqual(pairs.map(([base, head]) => alone(base, head)))
    expect(texts[2]).toBe("")
    expect(here).toEqual(["cat-file", "diff-tree"])
  })

  it("are complete when two are read at the same time, and after one was not read to its end", async () => {
    const first = (checkout: Checkout) => Stream.runCollect(Stream.take(wholeDiff(checkout), 1))
    const texts = await using((vcs) =>
      Effect.gen(function* () {
        yield* checkedOut(vcs, renamed, large, first)
        return yield* Effect.all([checkedOut(vcs, renamed, large, textOf), checkedOut(vcs, start, large, textOf)], {
          concurrency: 2
        })
      })
    )
    expect(texts).toEqual([alone(renamed, large), alone(start, large)])
  })

  it("fail with git's message, and only this one", async () => {
    const texts = await using((vcs) =>
      checkedOut(vcs, start, renamed, (checkout) =>
        Effect.gen(function* () {
          const before = yield* textOf(checkout)
          const name = repository.git("rev-parse", `${large}:large.txt`)
          const object = join(repository.path, ".git", "objects", name.slice(0, 2), name.slice(2))
          const kept = readFileSync(object)
          chmodSync(object, 0o644)
          writeFileSync(object, "")
          const failed = yield* checkedOut(vcs, renamed, large, textOf).pipe(Effect.flip)
          writeFileSync(object, kept)
          return [before, failed.message, yield* checkedOut(vcs, renamed, large, textOf)] as const
        })
      )
    )
    expect(texts[1]).toContain("diff-tree")
    expect([texts[0], texts[2]]).toEqual([alone(start, renamed), alone(renamed, large)])
  })
})

describe("a commit object", () => {
  const commit = (...parents: ReadonlyArray<string>) =>
    ["tree t", ...parents.map((parent) => `parent ${parent}`), "author A <a> 1 +0000", "", "parent of all\n"].join("\n")
  const read: (history: Readonly<Record<string, ReadonlyArray<string>>>) => ReadObject = (history) => (id) => {
    const parents = history[id]
    const content = Buffer.from(parents === undefined ? "" : commit(...parents))
    return Effect.succeed(parents === undefined ? undefined : { type: "commit", size: content.length, content })
  }

  it("names its tree and its parents", () => {
    const content = Buffer.from(commit("a", "b"))
    expect(parseCommit({ type: "commit", size: content.length, content })).toEqual({ tree: "t", parents: ["a", "b"] })
    expect(parseCommit({ type: "blob", size: content.length, content })).toBeUndefined()
  })

  const long = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at + 1}`, [`${at}`]]))
  it.each([
    ["itself", { a: [] }, "a", "a", true],
    ["its parent", { b: ["a"], a: [] }, "a", "b", true],
    ["the second parent of a merge", { m: ["b", "c"], b: ["a"], c: ["a"], a: [] }, "c", "m", true],
    ["a commit on another branch", { b: ["a"], c: ["a"], a: [] }, "c", "b", false],
    ["a commit after it", { b: ["a"], a: [] }, "b", "a", false],
    ["where the history ends early", { b: ["a"] }, "x", "b", false],
    ["ten commits back", long, "30", "40", true],
    ["further back than the search goes", long, "3", "40", false]
  ])("reads %s", async (_, history, ancestor, head, expected) => {
    expect(await Effect.runPromise(isJustBefore(read(history), ancestor, head))).toBe(expected)
  })
})
