/** Reads what routing needs of a revision: author, message, branches and their previous revisions. */
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import { SvnRepository } from "../../harness/Subversion.ts"
import { run, serverAt } from "./Revisions.ts"

let repository: SvnRepository
beforeAll(() => {
  repository = new SvnRepository()
})
afterAll(() => repository[Symbol.dispose]())

const describing = (revision: string, url = repository.url) =>
  run(
    Effect.flatMap(SubmittedChanges, (changes) =>
      changes.describe({ server: serverAt(url), revision, roots: [], under: undefined })
    )
  )

it("a revision has its author, its message, and each branch with the revision before", async () => {
  const first = repository.commit("First", { files: { "trunk/a b.c": "1\n" } })
  const copy = repository.commit("Branch", { copy: { trunk: "branches/1.x" } })
  const both = repository.commit("Both\n\nOf them.", {
    author: "bob",
    files: { "trunk/a b.c": "2\n", "branches/1.x/n@2.c": "2\n" }
  })
  const found = await describing(both)
  expect(found).toMatchObject({ revision: both, state: "submitted", author: "bob", client: undefined })
  expect(found?.description.trim()).toBe("Both\n\nOf them.")
  expect(found?.streams.toSorted((a, b) => (a.branch < b.branch ? -1 : 1))).toMatchObject([
    { branch: "branches/1.x", paths: ["n@2.c"], previous: copy, removed: false, tag: false, more: false },
    { branch: "trunk", paths: ["a b.c"], previous: first }
  ])
  expect(found?.repository).toMatch(/^[0-9a-f-]{36}$/)
  // A URL that names a branch has no branches.
  expect((await describing(both, `${repository.url}/trunk`))?.streams).toMatchObject([{ branch: "", paths: ["a b.c"] }])
  // A new branch has the revision that it was copied from.
  expect((await describing(copy))?.streams).toMatchObject([{ branch: "branches/1.x", previous: first }])
})

it("a removed branch and a tag are marked, and a revision that does not exist is none", async () => {
  const tag = repository.commit("Tag", { copy: { trunk: "tags/1.0" } })
  expect((await describing(tag))?.streams).toMatchObject([{ branch: "tags/1.0", tag: true }])
  const removed = repository.commit("Remove", { files: { "branches/1.x": null } })
  expect((await describing(removed))?.streams).toMatchObject([
    { branch: "branches/1.x", removed: true, previous: undefined }
  ])
  expect(await describing("99999")).toBeUndefined()
})
