/** Reads what routing needs of a revision: author, message, branches and their previous revisions. */
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { SvnRepository } from "../../harness/Subversion.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import { toSpans } from "../../../src/vcs/subversion/SubversionVcs.ts"
import { describeChange, run, serverAt } from "./Revisions.ts"

let repository: SvnRepository
beforeAll(() => {
  repository = new SvnRepository()
})
afterAll(() => repository[Symbol.dispose]())

const describing = (revision: string, url = repository.url, roots: ReadonlyArray<string> = []) =>
  run(describeChange({ server: serverAt(url), revision, roots, under: undefined }))

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

it("a folder that is a repository of its own is a branch, with the revision before", async () => {
  const first = repository.commit("Parts", { files: { "trunk/web client/a.c": "1\n", "trunk/core/b.c": "1\n" } })
  const other = repository.commit("Core", { files: { "trunk/core/b.c": "2\n" } })
  const both = repository.commit("Both", { files: { "trunk/web client/a.c": "2\n", "trunk/core/b.c": "3\n" } })
  const found = await describing(both, repository.url, [
    `${repository.url}/trunk/web%20client`,
    `${repository.url}/trunk`
  ])
  expect(found?.streams.toSorted((a, b) => (a.branch < b.branch ? -1 : 1))).toMatchObject([
    { branch: "trunk", paths: ["core/b.c"], previous: other },
    { branch: "trunk/web client", paths: ["a.c"], previous: first }
  ])
  const within = await describing(both, `${repository.url}/trunk`, [`${repository.url}/trunk/core`])
  expect(within?.streams.map(({ branch, paths }) => [branch, paths]).toSorted()).toEqual([
    ["", ["web client/a.c"]],
    ["core", ["b.c"]]
  ])
})

it("a removed branch and a tag are marked, and a revision that does not exist is none", async () => {
  const tag = repository.commit("Tag", { copy: { trunk: "tags/1.0" } })
  expect((await describing(tag))?.streams).toMatchObject([{ branch: "tags/1.0", tag: true }])
  const removed = repository.commit("Remove", { files: { "branches/1.x": null } })
  expect((await describing(removed))?.streams).toMatchObject([
    { branch: "branches/1.x", removed: true, previous: undefined }
  ])
  for (const none of ["99999", "2147483648", "999999999999999999", "-1", "HEAD", "1:HEAD", ""])
    expect(await describing(none)).toBeUndefined()
  expect((await describing("0"))?.streams).toEqual([])
})

it("revisions are described together as svn would describe each of them", async () => {
  using project = new SvnRepository(["app"])
  const url = `${project.url}/app`
  project.commit("Layout", {
    files: { "app/trunk/a.c": "1\n", "app/branches/README": "1\n", "app/tags/README": "1\n" }
  })
  project.commit("Elsewhere", { files: { "other.c": "1\n" } })
  project.commit("Branch", { copy: { "app/trunk": "app/branches/x" } })
  project.commit("Both", { files: { "app/trunk/a.c": "2\n", "app/branches/x/a.c": "2\n" } })
  project.commit("Folder", { properties: { "app/branches": { "svn:ignore": "*.o\n" } } })
  project.commit("Branch again", { files: { "app/branches/x/a.c": "3\n" } })
  project.commit("Remove", { files: { "app/branches/x": null } })
  project.commit("Replace", { copy: { "app/trunk": "app/branches/x" }, files: { "app/branches/x/a.c": "4\n" } })
  project.commit("Move the branches", { move: { "app/branches": "app/old" } })
  project.commit("Move them back", { move: { "app/old": "app/branches" } })
  const newest = project.commit("Last", { files: { "app/trunk/a.c": "5\n", "app/branches/x/a.c": "5\n" } })
  const revisions = Array.from({ length: Number(newest) + 2 }, (_, index) => String(index + 1))
  const described = await run(
    Effect.flatMap(SubmittedChanges, (changes) =>
      changes.describe({ server: serverAt(url), revisions, roots: [], under: undefined })
    )
  )
  const previousOf = (branch: string, revision: string): string | undefined =>
    /r(\d+)[^]*?r(\d+)/.exec(
      project.svn("log", "-q", "--limit", "2", "-r", `${revision}:1`, `${url}/${branch}@${revision}`)
    )?.[2]
  const streams = revisions.flatMap((revision) => {
    const one = described.get(revision)
    return one?._tag === "Success" ? (one.success?.streams ?? []).map((stream) => ({ revision, ...stream })) : []
  })
  expect(streams.map(({ branch, revision }) => `${revision} ${branch}`)).toContain(`${newest} branches/x`)
  expect(streams.length).toBeGreaterThan(8)
  const remaining = streams.filter(({ removed }) => !removed)
  expect(remaining.map(({ branch, previous, revision }) => [revision, branch, previous])).toEqual(
    remaining.map(({ branch, revision }) => [revision, branch, previousOf(branch, revision)])
  )
  // The revision after the newest one does not exist; one that changes nothing here exists.
  const last = described.get(String(Number(newest) + 1))
  expect(last?._tag === "Success" && last.success === undefined).toBe(true)
  expect(described.get("3")).toMatchObject({ success: { streams: [] } })
})

it("neighbours are read by one log, and distant revisions by others", () => {
  expect(toSpans(["7", "5", "7", "30", "100000", "6"])).toEqual([["100000"], ["30"], ["7", "6", "5"]])
  expect(toSpans(Array.from({ length: 600 }, (_, at) => String(at))).map((span) => span.length)).toEqual([500, 100])
})
