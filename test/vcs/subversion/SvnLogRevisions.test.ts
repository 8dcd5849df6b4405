/** Lists the revisions since a number, of the whole repository and of a folder in it. */
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { SvnRepository, startSvnserve } from "../../harness/Subversion.ts"
import type { SvnService } from "../../harness/Subversion.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import { run, serverAt } from "./Revisions.ts"

let repository: SvnRepository
let server: SvnService
beforeAll(async () => {
  repository = new SvnRepository()
  server = await startSvnserve(repository)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

const listing = (after: number | undefined, { below = "", limit = 100 } = {}) =>
  run(
    Effect.gen(function* () {
      const paths = [{ path: "", after }]
      return yield* (yield* SubmittedChanges).list({ server: serverAt(`${server.url}${below}`), paths, limit })
    })
  )
const numbers = ({ changes }: Awaited<ReturnType<typeof listing>>) => changes.map(({ revision }) => revision)

it("revisions above a number are listed, the newest first, with author and time", async () => {
  const before = Date.now()
  const first = Number(repository.commit("One", { files: { "trunk/a.c": "1\n" } }))
  repository.commit("Two", { files: { "branches/b.c": "1\n" }, author: "bob" })
  const last = Number(repository.commit("Three", { files: { "trunk/a.c": "2\n" } }))
  const listed = await listing(first - 1)
  expect(numbers(listed)).toEqual([last, last - 1, first])
  expect(listed.changes.map(({ author }) => author)).toEqual(["ada", "bob", "ada"])
  for (const { at = 0 } of listed.changes) expect(at).toBeGreaterThan(before - 5000)
  expect(listed).toMatchObject({ newest: new Map([["", last]]), isCut: false })
  expect(listed.repository).toMatch(/^[0-9a-f-]{36}$/)
  // Nothing is new, and only the newest number is of interest.
  expect(await listing(last)).toEqual({
    changes: [],
    newest: new Map([["", last]]),
    repository: undefined,
    isCut: false
  })
  expect(await listing(undefined)).toMatchObject({ changes: [], newest: new Map([["", last]]) })
  // The newest ones of too many.
  expect(await listing(0, { limit: 2 })).toMatchObject({ isCut: true, newest: new Map([["", last]]) })
  expect(numbers(await listing(0, { limit: 2 }))).toEqual([last, last - 1])
  // A folder has the revisions that changed it.
  expect(numbers(await listing(0, { below: "/trunk" }))).toEqual([last, first, 1])
  expect(await listing(undefined, { below: "/branches" })).toMatchObject({ newest: new Map([["", last - 1]]) })
})

it("an empty repository has none, and a folder or a number that it does not have is an error", async () => {
  using empty = new SvnRepository([])
  const paths = [{ path: "", after: undefined }]
  const first = await run(
    Effect.flatMap(SubmittedChanges, (changes) => changes.list({ server: serverAt(empty.url), paths, limit: 10 }))
  )
  expect(first).toMatchObject({ changes: [], newest: new Map([["", 0]]) })
  const next = await run(
    Effect.flatMap(SubmittedChanges, (changes) =>
      changes.list({ server: serverAt(empty.url), paths: [{ path: "", after: 0 }], limit: 10 })
    )
  )
  expect(next).toMatchObject({ changes: [], newest: new Map([["", 0]]) })
  await expect(listing(1, { below: "/gone" })).rejects.toMatchObject({ reason: "missing" })
  // The repository was restored from a backup that is older than what was seen of it.
  await expect(listing(100)).rejects.toMatchObject({ reason: "missing" })
})
