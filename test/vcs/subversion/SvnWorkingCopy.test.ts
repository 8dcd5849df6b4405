/** The changes of a real Subversion working copy. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import type { Checkout, CheckoutError } from "../../../src/vcs/Checkout.ts"
import { LocalRepository } from "../../../src/vcs/LocalRepository.ts"
import type { LocalRequest } from "../../../src/vcs/LocalRepository.ts"
import { layerLocal } from "../../../src/vcs/LocalLayer.ts"
import { SvnRepository } from "../../harness/Subversion.ts"
import { readRevision } from "./Revisions.ts"

const odd = "a b@2 (é)%20#c.txt"
let repository: SvnRepository
let work: string

const svn = (...args: ReadonlyArray<string>) =>
  execFileSync("svn", ["--non-interactive", ...args], {
    cwd: work,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8" }
  })
const write = (path: string, content: string | Uint8Array) => writeFileSync(join(work, path), content)

beforeAll(() => {
  repository = new SvnRepository()
  repository.commit("One", {
    files: {
      [`trunk/${odd}`]: "one\ntwo\n",
      "trunk/-dash.c": "dash\n",
      "trunk/src/main.c": "int main() {\n  return 0;\n}\n// $Id$\n",
      "trunk/lib/old.c": `${"same line\n".repeat(20)}end\n`,
      "trunk/lib/other.c": `${"other line\n".repeat(20)}end\n`,
      "trunk/gone/deep/x.c": "x\n",
      "trunk/logo.png": Buffer.from([137, 80, 78, 71, 0, 1, 2]),
      "trunk/AGENTS.md": "Be kind.\n"
    },
    properties: { "trunk/src/main.c": { "svn:keywords": "Id" }, trunk: { "svn:ignore": "*.o\n" } }
  })
})
afterAll(() => repository[Symbol.dispose]())
beforeEach(() => {
  work = join(mkdtempSync(join(tmpdir(), "aicr-wc-")), "work copy")
  execFileSync("svn", ["checkout", "--quiet", `${repository.url}/trunk`, work])
})

const review = <A>(request: Partial<LocalRequest>, use: (checkout: Checkout) => Effect.Effect<A, CheckoutError>) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const range = yield* (yield* LocalRepository).range({ path: work, base: undefined, head: undefined, ...request })
      if (range.checkout === undefined) throw new Error("a range of git")
      return yield* Effect.flatMap(range.checkout(false), use)
    }).pipe(Effect.scoped, Effect.provide(layerLocal))
  )
const uncommitted = () => review({ changes: "uncommitted" }, readRevision)

it("are its modified, added, deleted, moved and binary files with odd names, and changed properties", async () => {
  write(odd, "one\nthree\n")
  write("-dash.c", "Dash\n")
  write("src/main.c", readFileSync(join(work, "src/main.c"), "utf8").replace("0", "1"))
  write("logo.png", Buffer.from([137, 80, 0, 9]))
  svn("move", "--quiet", "lib", "moved")
  write("moved/old.c", `${"same line\n".repeat(20)}END\n`)
  svn("delete", "--quiet", "gone")
  write("new.c", "new\n")
  svn("add", "--quiet", "new.c")
  svn("propset", "--quiet", "svn:executable", "*", "AGENTS.md")
  const { changes, diff, sizes } = await uncommitted()
  expect(changes.map(({ path, status }) => [path, status])).toEqual([
    ["-dash.c", "modified"],
    ["AGENTS.md (svn properties)", "modified"],
    [odd, "modified"],
    ["gone/deep/x.c", "deleted"],
    ["lib/old.c", "deleted"],
    ["lib/other.c", "deleted"],
    ["logo.png", "modified"],
    ["moved/old.c", "added"],
    ["moved/other.c", "added"],
    ["new.c", "added"],
    ["src/main.c", "modified"]
  ])
  expect(sizes[2]).toBe(10)
  expect(sizes[4]).toBe(204)
  expect(diff).toContain("-two\n+three\n")
  expect(diff).toContain("-dash\n+Dash\n")
  // The line of the expanded keyword is the same on both sides.
  expect(diff).toContain("-  return 0;\n+  return 1;\n }\n // $Id: main.c ")
  expect(diff).toContain("rename from lib/other.c\nrename to moved/other.c\n")
  expect(diff).toContain("-end\n+END\n")
  expect(diff).toContain("+svn:executable:\n+  *\n")
  expect(diff).toContain("Binary files a/logo.png and b/logo.png differ\n")
})

it("are compared with what was checked out, also without its server", async () => {
  write("AGENTS.md", "Be rude.\n")
  write("new.c", "secret search\n")
  svn("add", "--quiet", "new.c")
  write("-dash.c", "Dash\n")
  svn("changelist", "--quiet", "mine", "./-dash.c")
  rmSync(join(work, "src/main.c"))
  svn("delete", "--quiet", "src/main.c")
  write("src/main.c", "replaced\n")
  svn("add", "--quiet", "src/main.c")
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.file("AGENTS.md", "rules", 1000)).toBe("Be kind.\n")
      expect(yield* checkout.file("AGENTS.md", "head", 1000)).toBe("Be rude.\n")
      expect(yield* checkout.file("lib/old.c", "head", 1000)).toContain("end")
      expect(yield* checkout.file("new.c", "from", 1000)).toBeUndefined()
      expect(yield* checkout.file("src/main.c", "from", 1000)).toContain("return 0")
      expect((yield* checkout.changes(10)).map(({ path }) => path)).toEqual([
        "-dash.c",
        "AGENTS.md",
        "new.c",
        "src/main.c"
      ])
      expect(yield* checkout.list("", "from", 20)).not.toContain("new.c")
      expect(yield* checkout.blame("lib/old.c", 21, 21)).toMatchObject([{ line: 21, commit: "2" }])
      expect(yield* checkout.blame("AGENTS.md", 1, 1)).toEqual([])
      const search = { texts: ["secret search"], ignoreCase: false, words: false, under: "" }
      expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: ["new.c"], more: false })
    })
  )
})

it("have nothing that is not under version control, and follow no link", async () => {
  write("password.txt", "secret\n")
  write("ignored.o", "secret\n")
  mkdirSync(join(work, "private"))
  write("private/key", "secret\n")
  symlinkSync("/etc", join(work, "link"))
  svn("add", "--quiet", "link")
  const found = await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      const paths = ["password.txt", "ignored.o", "private/key", "link/hostname", ".svn/format", "../work copy/-dash.c"]
      const texts = yield* Effect.forEach(paths, (path) => checkout.file(path, "head", 1000))
      const search = { texts: ["secret"], ignoreCase: false, words: false, under: "" }
      return {
        texts,
        link: yield* checkout.file("link", "head", 1000),
        names: yield* checkout.list("", "head", 20),
        hits: (yield* checkout.search.filesWith(search, 5)).paths,
        changes: (yield* checkout.changes(10)).map(({ path }) => path)
      }
    })
  )
  expect(found.texts).toEqual(Array.from({ length: 6 }))
  expect(found.link).toBe("link /etc")
  expect(found.hits).toEqual([])
  expect(found.changes).toEqual(["link"])
  expect(found.names).not.toContain("password.txt")
})

it("over the limit of paths end before their files are read", async () => {
  write("AGENTS.md", "1\n")
  write(odd, "1\n")
  await expect(review({ changes: "uncommitted" }, ({ changes }) => changes(1))).rejects.toThrow(
    "review.max_changed_paths"
  )
})

it("that are committed are reviewed by revisions, keywords and dates, the newest by default", async () => {
  write("-dash.c", "committed\n")
  svn("commit", "--quiet", "-m", "Two")
  const newest = await review({}, readRevision)
  expect(newest.changes.map(({ path }) => path)).toEqual(["-dash.c"])
  expect(newest.diff).toContain("-dash\n+committed\n")
  const named = await review({ base: "r1", head: "2" }, ({ changes }) => changes(100))
  expect(named.filter(({ status }) => status === "added")).toHaveLength(8)
  expect(await review({ base: "BASE", head: "HEAD" }, ({ changes }) => changes(100))).toHaveLength(1)
  expect(await review({ base: "{2020-01-01}", head: "HEAD" }, ({ changes }) => changes(100))).toHaveLength(8)
})

it.each<readonly [name: string, request: Partial<LocalRequest>, reason: string]>([
  ["an unknown revision", { head: "999" }, "--head: revision 999 not found"],
  ["no revision", { base: "main" }, '--base: invalid revision "main"; expected a number'],
  ["a base after the head", { base: "2", head: "1" }, "--base 2 is newer than the head r1"],
  ["the index", { changes: "staged" }, "which has no index; use --uncommitted"],
  ["a base of uncommitted changes", { changes: "uncommitted", base: "1" }, "leave out --base"],
  ["a shelf", { shelved: "1" }, "which has no shelved changelists"],
  ["another system", { vcs: "git" }, "is not in a git repository"]
])("are refused for %s", async (_, request, reason) => {
  await expect(review(request, () => Effect.void)).rejects.toThrow(reason)
})

it("with a kept copy that is a link are refused, because svn would follow it", async () => {
  const secret = join(mkdtempSync(join(tmpdir(), "aicr-secret-")), "key")
  writeFileSync(secret, "a private key of this machine\n")
  const checksum = createHash("sha1").update("one\ntwo\n").digest("hex")
  const kept = join(work, ".svn/pristine", checksum.slice(0, 2), `${checksum}.svn-base`)
  rmSync(kept, { force: true })
  symlinkSync(secret, kept)
  write(odd, "one\nthree\n")
  await expect(uncommitted()).rejects.toThrow(/the copy that svn keeps of it is a link/)
})

it("in externals and in a working copy of another repository belong to those", async () => {
  using other = new SvnRepository()
  other.commit("Other", { files: { "trunk/vendor.c": "vendor\n" } })
  svn("propset", "--quiet", "svn:externals", `${other.url}/trunk vendor`, ".")
  svn("update", "--quiet")
  execFileSync("svn", ["checkout", "--quiet", `${other.url}/trunk`, join(work, "nested")])
  write("vendor/vendor.c", "changed\n")
  write("nested/vendor.c", "changed\n")
  const { changes, diff } = await uncommitted()
  expect(changes.map(({ path }) => path)).toEqual(["(svn properties)"])
  expect(diff).not.toContain("changed")
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.file("vendor/vendor.c", "head", 1000)).toBeUndefined()
      expect(yield* checkout.file("nested/vendor.c", "head", 1000)).toBeUndefined()
      const search = { texts: ["changed"], ignoreCase: false, words: false, under: "" }
      expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: [], more: false })
    })
  )
})

it("of a huge file are sized and not read", async () => {
  write("big.bin", "x")
  svn("add", "--quiet", "big.bin")
  truncateSync(join(work, "big.bin"), 8 * 1_073_741_824)
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      const changes = yield* checkout.changes(10)
      expect(yield* checkout.sizes(changes)).toEqual([8 * 1_073_741_824])
      expect(yield* checkout.file("big.bin", "head", 1_048_576)).toBeUndefined()
      // A search does not copy it.
      const search = { texts: ["x"], ignoreCase: false, words: false, under: "" }
      expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: [], more: false })
    })
  )
})
