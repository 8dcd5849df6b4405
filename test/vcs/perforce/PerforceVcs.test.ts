/** Reviews of Perforce read submitted and shelved changelists through the client; the same tests run with a real server (`P4D`). */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect } from "effect"
import type { PerforceDepot } from "../../harness/perforce/PerforceDepot.ts"
import {
  checkingOut,
  describeChange,
  expectFailure,
  readComparison,
  readRevision,
  run
} from "../subversion/Revisions.ts"
import { encode } from "../../harness/Encode.ts"
import { makeFakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import { readRaw } from "../../../src/vcs/perforce/RawText.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import { depotServer, fakeDepot, p4d, realDepot } from "./Depots.ts"

const main = "//depot/main"
const odd = "a b%402 (é)%2520%23c.txt"
const oddPlain = "a b@2 (é)%20#c.txt"

const suite = (make: () => Promise<PerforceDepot>) => {
  let depot: PerforceDepot
  const revision = (head: string, base: string, branch = main) =>
    checkingOut({ server: depotServer(depot), branch, head, base }, readRevision)
  const describing = (number: string, roots: ReadonlyArray<string> = [main], under?: string) =>
    run(describeChange({ server: depotServer(depot), revision: number, roots, under }))

  beforeAll(async () => {
    depot = await make()
    depot.submit("One", {
      files: {
        [`${main}/${odd}`]: "one\ntwo\n",
        [`${main}/src/main.c`]: "int main() {\n  return 0;\n}\n// $Id$\n",
        [`${main}/src/old.c`]: `${"same line\n".repeat(20)}end\n`,
        [`${main}/logo.png`]: Buffer.from([137, 80, 78, 71, 0, 1, 2]),
        [`${main}/wide.txt`]: Buffer.from("\ufeffeins\nzwei\n", "utf16le"),
        [`${main}/run.sh`]: "#!/bin/sh\n",
        [`${main}/AGENTS.md`]: "Be kind.\nRead the tests first.\n"
      },
      types: {
        [`${main}/src/main.c`]: "text+k",
        [`${main}/logo.png`]: "binary",
        [`${main}/wide.txt`]: "utf16",
        [`${main}/run.sh`]: "text+x"
      }
    })
    depot.submit("Two", {
      files: {
        [`${main}/${odd}`]: "one\nthree\n",
        [`${main}/src/main.c`]: "int main() {\n  return 1;\n}\n// $Id$\n"
      }
    })
  })
  afterAll(() => depot[Symbol.asyncDispose]())

  it("submitted changelists above a number are listed once, the newest first, of several paths", async () => {
    const listing = (after: Readonly<Record<string, number | undefined>>, limit = 100) =>
      run(
        Effect.gen(function* () {
          const paths = Object.entries(after).map(([path, number]) => ({ path, after: number }))
          return yield* (yield* SubmittedChanges).list({ server: depotServer(depot), paths, limit })
        })
      )
    const [lib, old] = ["//depot/list/lib", "//depot/list/old"]
    const first = Number(depot.submit("Old", { files: { [`${old}/a.c`]: "1\n" } }))
    const both = Number(depot.submit("Both", { files: { [`${old}/a.c`]: "2\n", [`${lib}/a.c`]: "1\n" } }))
    depot.shelve("Shelf", { files: { [`${lib}/a.c`]: "3\n" } })
    const deleted = Number(depot.submit("Delete", { files: { [`${old}/a.c`]: null } }))
    const listed = await listing({ [`${old}/...`]: first, [`${lib}/...`]: 0 })
    expect(listed.changes.map((one) => one.revision)).toEqual([deleted, both])
    for (const { at = 0, author } of listed.changes) {
      expect(author).toBeTruthy()
      expect(at).toBeGreaterThan(1_600_000_000_000)
    }
    expect(listed).toMatchObject({ isCut: false, newest: new Map([old, lib].map((path) => [`${path}/...`, deleted])) })
    // Of a path without a number, only the newest one is found.
    const start = await listing({
      [`${old}/...`]: deleted,
      [`${lib}/...`]: undefined,
      "//depot/nothing/...": undefined
    })
    expect(start.changes).toEqual([])
    expect([...start.newest.values()]).toEqual([deleted, both, 0])
    const cut = await listing({ "//...": 0 }, 1)
    expect(cut).toMatchObject({ changes: [{ revision: deleted }], isCut: true })
    await expect(listing({ "//gone/...": 1 })).rejects.toMatchObject({ reason: "missing" })
    await expect(listing({ "//depot/a@1/...": 1 })).rejects.toMatchObject({ reason: "failed" })
  })

  it("the diff has the hunks of files with odd names and with keywords, unexpanded", async () => {
    const { changes, diff, sizes } = await revision("2", "1")
    expect(changes.map(({ path, status }) => [path, status])).toEqual([
      [oddPlain, "modified"],
      ["src/main.c", "modified"]
    ])
    expect(sizes).toEqual([10, 35])
    expect(diff).toContain("-  return 0;\n+  return 1;\n }\n // $Id$\n")
    expect(diff).toContain("-two\n+three\n")
  })

  it("of the first changelist everything is new, with modes; binary files are named only", async () => {
    const { changes, diff } = await revision("1", "0")
    expect(changes.every(({ status }) => status === "added")).toBe(true)
    expect(changes.find(({ path }) => path === "run.sh")?.newMode).toBe("100755")
    expect(diff).toContain("Binary files /dev/null and b/logo.png differ\n")
    expect(diff).toContain("+eins\n+zwei\n")
  })

  it("moves are renames, branched files show what differs from their source", async () => {
    const head = depot.submit("Move", {
      move: { [`${main}/src/old.c`]: `${main}/lib/old.c` },
      files: { [`${main}/lib/old.c`]: `${"same line\n".repeat(20)}END\n` }
    })
    const moved = await revision(head, String(Number(head) - 1))
    expect(moved.diff).toContain("rename from src/old.c\nrename to lib/old.c\n")
    expect(moved.diff).toContain("-end\n+END\n")
    const branched = depot.submit("Branch", {
      branch: { [`${main}/src/main.c`]: "//depot/rel/src/main.c", [`${main}/AGENTS.md`]: "//depot/rel/AGENTS.md" },
      files: { "//depot/rel/src/main.c": "int main() {\n  return 2;\n}\n// $Id$\n" }
    })
    const { changes, diff } = await revision(branched, "0", "//depot/rel")
    expect(changes.map(({ path, status }) => [path, status])).toEqual([["src/main.c", "modified"]])
    expect(diff).toContain("-  return 1;\n+  return 2;\n")
  })

  it("a range is what differs between its ends, of paths that were deleted and added again too", async () => {
    const gone = depot.submit("Delete", { files: { [`${main}/run.sh`]: null } })
    const again = depot.submit("Again", { files: { [`${main}/run.sh`]: "#!/bin/bash\n", [`${main}/new.c`]: "1\n" } })
    const last = depot.submit("Gone", { files: { [`${main}/new.c`]: null } })
    const { changes, diff } = await revision(last, String(Number(gone) - 1))
    expect(changes.map(({ path, status }) => [path, status])).toEqual([["run.sh", "modified"]])
    expect(diff).toContain("-#!/bin/sh\n+#!/bin/bash\n")
    expect((await revision(gone, String(Number(gone) - 1))).changes).toMatchObject([
      { path: "run.sh", status: "deleted" }
    ])
    expect((await revision(again, gone)).changes).toMatchObject([
      { path: "new.c", status: "added" },
      { path: "run.sh", status: "added" }
    ])
  })

  it("files, lists, authors, messages and searches are of their changelist", async () => {
    await checkingOut({ server: depotServer(depot), branch: main, head: "2", base: "1" }, (checkout) =>
      Effect.gen(function* () {
        expect(yield* checkout.file("src/main.c", "head", 1000)).toContain("return 1")
        expect(yield* checkout.file("src/main.c", "from", 1000)).toContain("return 0")
        expect(yield* checkout.file("AGENTS.md", "rules", 1000)).toBe("Be kind.\nRead the tests first.\n")
        expect(yield* checkout.file(oddPlain, "head", 1000)).toBe("one\nthree\n")
        expect(yield* checkout.file("wide.txt", "head", 1000)).toContain("eins")
        expect(yield* checkout.file("src/main.c", "head", 3)).toBeUndefined()
        expect(yield* checkout.file("logo.png", "head", 1000)).toBeUndefined()
        expect(yield* checkout.file("no/such/file", "head", 1000)).toBeUndefined()
        expect(yield* checkout.file("../main/AGENTS.md", "head", 1000)).toBeUndefined()
        expect(yield* checkout.list("src", "head", 10)).toEqual(["main.c", "old.c"])
        expect(yield* checkout.list("none", "head", 10)).toEqual([])
        expect(yield* checkout.blame("src/main.c", 2, 2)).toMatchObject([{ line: 2, commit: "2", author: "ada" }])
        expect((yield* checkout.messages ?? Effect.succeed([])).map((text) => text.trim())).toEqual(["Two"])
        const search = { texts: ["return"], ignoreCase: false, words: false, under: "" }
        expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: ["src/main.c"], more: false })
      })
    )
  })

  it("a shelf is compared with the revisions that it changes, and is another change when it is shelved again", async () => {
    const edit = (text: string) => ({ files: { [`${main}/AGENTS.md`]: text, [`${main}/fresh.c`]: "int x;\n" } })
    const number = depot.shelve("Shelf", edit("Be kind.\nRead nothing.\n"))
    const found = await describing(number)
    expect(found).toMatchObject({ state: "shelved", author: "ada", client: "ada-laptop" })
    const [stream] = found?.streams ?? []
    expect(stream).toMatchObject({ branch: main, paths: ["AGENTS.md", "fresh.c"] })
    const request = {
      server: depotServer(depot),
      branch: main,
      head: found?.revision ?? "",
      base: stream?.previous ?? ""
    }
    await checkingOut(request, (checkout) =>
      Effect.gen(function* () {
        const { changes, diff } = yield* readRevision(checkout)
        expect(changes.map(({ path, status }) => [path, status])).toEqual([
          ["AGENTS.md", "modified"],
          ["fresh.c", "added"]
        ])
        expect(diff).toContain("-Read the tests first.\n+Read nothing.\n")
        expect(yield* checkout.file("AGENTS.md", "head", 1000)).toContain("Read nothing.")
        // Rules are not those of the author.
        expect(yield* checkout.file("AGENTS.md", "rules", 1000)).toContain("Read the tests first.")
        expect(yield* checkout.list("", "head", 20)).toContain("fresh.c")
        const search = { texts: ["int x"], ignoreCase: false, words: false, under: "" }
        expect((yield* checkout.search.filesWith(search, 5)).paths).toEqual(["fresh.c"])
      })
    )
    depot.shelve("Shelf", edit("Be kind.\nRead something.\n"), number)
    expect((await describing(number))?.revision).not.toBe(found?.revision)
    expect(await expectFailure(checkingOut(request, readRevision))).toMatch(/^missing: .*shelved again/)
  })

  it("a changelist is described by branch, with the one before it, and without what is elsewhere", async () => {
    const before = depot.submit("Before", { files: { [`${main}/x.c`]: "1\n" } })
    const number = depot.submit("Both\n\nIn two places.", {
      user: "bob",
      files: { [`${main}/x.c`]: "2\n", "//depot/rel/y.c": "1\n" }
    })
    expect(await describing(number, [main, "//depot/rel"])).toMatchObject({
      revision: number,
      state: "submitted",
      author: "bob",
      description: expect.stringContaining("In two places."),
      streams: [
        { branch: main, paths: ["x.c"], previous: before },
        { branch: "//depot/rel", paths: ["y.c"] }
      ]
    })
    expect((await describing(number, [], `${main}/...`))?.streams.map(({ branch }) => branch)).toEqual(["//depot"])
    expect((await describing(number, [], "//other/..."))?.streams).toEqual([])
    expect(await describing("99999")).toBeUndefined()
  })

  it("each changelist of a range is compared with the one before it", async () => {
    const start = depot.submit("Start", { files: { [`${main}/step.c`]: "1\n" } })
    const two = depot.submit("Second step\n\nIn detail.", { files: { [`${main}/step.c`]: "2\n" } })
    depot.submit("Elsewhere", { files: { "//depot/rel/y.c": "7\n" } })
    const three = depot.submit("Third step", { files: { [`${main}/step.c`]: "3\n" } })
    await checkingOut({ server: depotServer(depot), branch: main, head: three, base: start }, (checkout) =>
      Effect.gen(function* () {
        const commits = (yield* checkout.commits ?? Effect.undefined) ?? []
        expect(commits.map(({ id, title }) => [id, title])).toEqual([
          [two, "Second step"],
          [three, "Third step"]
        ])
        const diffs = yield* Effect.forEach(commits, readComparison)
        expect(diffs[0]).toContain("-1\n+2\n")
        expect(diffs[1]).toContain("-2\n+3\n")
        expect((yield* readRevision(checkout)).diff).toContain("-1\n+3\n")
      })
    )
  })

  it("a change over the limit of paths ends before its files are read", async () => {
    const request = { server: depotServer(depot), branch: main, head: "1", base: "0" }
    expect(await expectFailure(checkingOut(request, ({ changes }) => changes(2)))).toMatch(
      /^limit: .*review\.max_changed_paths/
    )
  })
}

describe("the fake p4", () => {
  suite(fakeDepot)

  it("a file whose name is not UTF-8 is reviewed, and one that cannot be read is named", async () => {
    await using depot = makeFakeDepot()
    const raw = readRaw(encode("gb18030", "中文").toString("latin1"))
    depot.submit("One", { files: { [`${main}/${raw}.c`]: encode("gb18030", "// 注释\n"), [`${main}/gone.c`]: "1\n" } })
    const shelf = depot.shelve("Shelf", { files: { [`${main}/${raw}.c`]: encode("gb18030", "// 搁置的注释\n") } })
    const before = await run(
      describeChange({ server: depotServer(depot), revision: shelf, roots: [main], under: undefined })
    )
    expect(before?.streams).toMatchObject([{ paths: ["中文.c"] }])
    const two = depot.submit(raw, {
      files: {
        [`${main}/${raw}.c`]: encode("gb18030", "// 新注释\n"),
        [`${main}/gone.c`]: "2\n",
        [`${main}/plain.c`]: "int x;\n"
      }
    })
    // The server lists it, and has its content no more.
    const { files } = depot.state()
    depot.set({ lost: [`${main}/gone.c`] })
    expect(Object.keys(files)).toContain(`${main}/gone.c`)
    const described = await run(
      describeChange({ server: depotServer(depot), revision: two, roots: [main], under: undefined })
    )
    expect(described?.description).toBe("中文")
    await checkingOut({ server: depotServer(depot), branch: main, head: two, base: "1" }, (checkout) =>
      Effect.gen(function* () {
        const { changes, diff } = yield* readRevision(checkout)
        expect(changes.map(({ path }) => path)).toEqual(["gone.c", "plain.c", "中文.c"])
        expect(diff).toContain("+int x;")
        expect(diff).toContain("-// 注释\n+// 新注释\n")
        expect(diff).toContain("Binary files a/gone.c and b/gone.c differ")
        expect(yield* checkout.file("gone.c", "head", 1000)).toBeUndefined()
        expect(yield* checkout.file("中文.c", "head", 1000)).toBe("// 新注释\n")
        expect(yield* checkout.list("", "head", 10)).toContain("中文.c")
        const search = { texts: ["int x"], ignoreCase: false, words: false, under: "" }
        expect((yield* checkout.search.filesWith(search, 5)).paths).toEqual(["plain.c"])
      })
    )
    // A server that returns no file at all is a failure.
    depot.set({ lost: [`${main}/gone.c`, `${main}/plain.c`, `${main}/${raw}.c`] })
    const request = { server: depotServer(depot), branch: main, head: two, base: "1" }
    expect(await expectFailure(checkingOut(request, readRevision))).toContain("Librarian checkout")
  })
})
describe.skipIf(p4d === undefined)("a real server: set P4D to the path of p4d, with p4 on the PATH", () => {
  suite(realDepot)
})
