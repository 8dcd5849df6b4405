/** Commits of a range, with real git: what is read without starting git is what git prints. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import type { ReadObject } from "../../../src/vcs/git/CommitObject.ts"
import { commitsBetween } from "../../../src/vcs/git/Commits.ts"
import type { Mirror } from "../../../src/vcs/git/Mirror.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { makeRepository } from "../Repository.ts"

const repository = makeRepository()
const mirrorIn = (directory: string): Mirror => ({ directory, limits: localLimits, exclusive: (effect) => effect })
const mirror = mirrorIn(join(repository.path, ".git"))
/** Git fails here, so what is found needs none. */
const withoutGit = mirrorIn(join(repository.path, "missing"))

const read: ReadObject = (id) =>
  Effect.sync(() => {
    const content = execFileSync("git", ["cat-file", "commit", id], { cwd: repository.path })
    return { type: "commit", size: content.length, content }
  })
const readNothing: ReadObject = () => Effect.undefined

const list = (at: Mirror, from: string, head: string, reader = read, limit = 200) =>
  Effect.runPromise(commitsBetween(at, reader, from, head, limit))

/** A commit with this whole message, after the current one. */
const commit = (message: string, ...options: ReadonlyArray<string>): string => {
  repository.git(
    ...options,
    "commit",
    "-q",
    "--allow-empty",
    "--cleanup=verbatim",
    "--allow-empty-message",
    "-m",
    message
  )
  return repository.git("rev-parse", "HEAD")
}

let start = ""
beforeAll(() => {
  start = repository.commit("start")
})

describe("commits of a range", () => {
  it.each([
    ["a title", "Count twice\n"],
    ["a title and a body", "Count twice\n\nBecause once is not enough.\n"],
    ["a title that ends without a line break", "Count twice"],
    ["a title in Chinese", "数两次\n\n原因\n"],
    ["spaces around a title", "  Count twice \t\n \nbody\n"]
  ])("are read without git: %s", async (_, message) => {
    const from = repository.git("rev-parse", "HEAD")
    const ids = [commit(message), commit("next\n")]
    const found = await list(withoutGit, from, ids[1] ?? "")
    expect(found?.map(({ id, parent }) => [id, parent])).toEqual([
      [ids[0], from],
      [ids[1], ids[0]]
    ])
    expect(found).toEqual(await list(mirror, from, ids[1] ?? "", readNothing))
  })

  it.each([
    ["a title of two lines", ["Count\ntwice\n"]],
    ["blank lines first", ["\n\nCount\n"]],
    ["no message", [""]],
    ["a long title", [`${"x".repeat(500)}\n`]],
    ["another encoding", ["Z\u00e4hle\n", "-c", "i18n.commitEncoding=ISO-8859-1"]]
  ])("are listed by git: %s", async (_, [message = "", ...options]) => {
    const from = repository.git("rev-parse", "HEAD")
    const head = commit(message, ...options)
    await expect(list(withoutGit, from, head)).rejects.toThrow("merge-base")
    expect(await list(mirror, from, head)).toEqual(await list(mirror, from, head, readNothing))
  })

  it("are listed by git if one of them is a merge, which is omitted, and beyond the nearest ones", async () => {
    const from = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "side")
    const side = commit("side\n")
    repository.git("checkout", "-q", "main")
    const other = commit("other\n")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    const merge = repository.git("rev-parse", "HEAD")
    expect((await list(mirror, from, merge))?.map(({ id }) => id).toSorted()).toEqual([side, other].toSorted())
    const many = Array.from({ length: 17 }, (_, at) => commit(`step ${at}\n`))
    expect((await list(withoutGit, merge, many[15] ?? ""))?.map(({ id }) => id)).toEqual(many.slice(0, 16))
    await expect(list(withoutGit, merge, many[16] ?? "")).rejects.toThrow("merge-base")
    expect((await list(mirror, merge, many[16] ?? ""))?.map(({ id }) => id)).toEqual(many)
    expect(await list(mirror, merge, many[16] ?? "", read, 16)).toBeUndefined()
  })

  it("are unknown where the start is not in the history", async () => {
    const head = repository.git("rev-parse", "HEAD")
    expect(await list(mirror, head, start)).toBeUndefined()
  })
})
