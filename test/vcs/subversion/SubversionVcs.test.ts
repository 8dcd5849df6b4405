/** Reviews of Subversion read real repositories, through every kind of server. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Effect, Redacted } from "effect"
import { SvnRepository, startApache, startSvnserve, svnPassword } from "../../harness/Subversion.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { checkingOut, describeChange, expectFailure, readRevision, run, serverAt } from "./Revisions.ts"

const odd = "a b@2 (é)%20#c.txt"
let repository: SvnRepository

const revision = (head: string, base: string, branch = "trunk", url = repository.url) =>
  checkingOut({ server: serverAt(url), branch, head, base }, readRevision)

beforeAll(() => {
  repository = new SvnRepository()
  repository.commit("One", {
    files: {
      [`trunk/${odd}`]: "one\ntwo\n",
      "trunk/src/main.c": "int main() {\n  return 0;\n}\n// $Id$\n",
      "trunk/src/old.c": `${"same line\n".repeat(20)}end\n`,
      "trunk/logo.png": Buffer.from([137, 80, 78, 71, 0, 1, 2]),
      "trunk/AGENTS.md": "Be kind.\nRead the tests first.\n"
    },
    properties: { "trunk/src/main.c": { "svn:keywords": "Id" } }
  })
})
afterAll(() => repository[Symbol.dispose]())

describe("diff", () => {
  it("has the hunks of files with odd names and with keywords, unexpanded", async () => {
    const head = repository.commit("Two", {
      files: { [`trunk/${odd}`]: "one\nthree\n", "trunk/src/main.c": "int main() {\n  return 1;\n}\n// $Id$\n" }
    })
    const { changes, diff, sizes } = await revision(head, String(Number(head) - 1))
    expect(changes.map(({ path, status }) => [path, status])).toEqual([
      [odd, "modified"],
      ["src/main.c", "modified"]
    ])
    expect(sizes).toEqual([10, 35])
    expect(diff).toContain("-  return 0;\n+  return 1;\n }\n // $Id$\n")
    expect(diff).toContain("-two\n+three\n")
  })

  it("shows moves and copies, of files and in folders, with what differs", async () => {
    const head = repository.commit("Move", {
      move: { "trunk/src": "trunk/lib" },
      copy: { "trunk/AGENTS.md": "trunk/CLAUDE.md" },
      files: {
        "trunk/lib/old.c": `${"same line\n".repeat(20)}END\n`,
        "trunk/CLAUDE.md": "Be kind.\nRead the tests first.\nBe short.\n"
      }
    })
    const { diff } = await revision(head, String(Number(head) - 1))
    expect(diff).toContain("rename from src/old.c\nrename to lib/old.c\n")
    expect(diff).toContain("rename from src/main.c\nrename to lib/main.c\n")
    expect(diff).toContain("-end\n+END\n")
    expect(diff).toContain("copy from AGENTS.md\ncopy to CLAUDE.md\n")
  })

  it("names binary files only", async () => {
    const head = repository.commit("Binary", { files: { "trunk/logo.png": Buffer.from([137, 80, 0, 9]) } })
    const { diff } = await revision(head, String(Number(head) - 1))
    expect(diff).toContain("Binary files a/logo.png and b/logo.png differ\n")
  })

  it("shows properties of files and folders as a text", async () => {
    const head = repository.commit("Properties", {
      properties: {
        "trunk/lib/old.c": { "svn:executable": "*" },
        trunk: {
          "svn:externals": "^/vendor vendor\nhttps://evil.example/x x\n",
          "svn:mergeinfo": "/branches/1.x:1-2"
        }
      }
    })
    const { changes, diff } = await revision(head, String(Number(head) - 1))
    expect(changes.map(({ path }) => path)).toEqual(["(svn properties)", "lib/old.c (svn properties)"])
    expect(diff).toContain("+svn:externals:\n+  ^/vendor vendor\n+  https://evil.example/x x\n")
    expect(diff).toContain("+svn:executable:\n+  *\n")
    expect(diff).not.toContain("mergeinfo")
  })

  it("of a path that was deleted and added again is what differs", async () => {
    const gone = repository.commit("Delete", { files: { "trunk/lib/old.c": null } })
    const head = repository.commit("Add again", { files: { "trunk/lib/old.c": "new\n" } })
    const base = String(Number(gone) - 1)
    const both = await revision(head, base)
    expect(both.changes.map(({ path, status }) => [path, status])).toContainEqual(["lib/old.c", "modified"])
    expect(both.diff).toContain("-END\n+new\n")
    expect((await revision(head, gone)).changes).toMatchObject([{ path: "lib/old.c", status: "added" }])
  })

  it("of a new branch is what differs from its origin; of the first revision everything is new", async () => {
    const from = repository.commit("Before the branch", { files: { "trunk/lib/old.c": "newer\n" } })
    const head = repository.commit("Branch", {
      copy: { trunk: "branches/1.x" },
      files: { "branches/1.x/lib/old.c": "newest\n" }
    })
    const { changes, diff } = await revision(head, from, "branches/1.x")
    expect(changes.map(({ path }) => path)).toEqual(["lib/old.c"])
    expect(diff).toContain("-newer\n+newest\n")
    const first = await revision("2", "0")
    expect(first.changes.every(({ status }) => status === "added")).toBe(true)
    expect(first.changes.map(({ path }) => path)).toContain(odd)
  })
})

it("a revision that was just described is read as any other: added, moved and removed files, properties, another base", async () => {
  const further = { "trunk/zb/a.c": "1\n".repeat(90), "trunk/zc/a.c": "1\n" }
  repository.commit("First", {
    files: { ...further, "trunk/x/a.c": "1\n", "trunk/x/b.c": "1\n", "trunk/y.c": "1\n" }
  })
  const second = repository.commit("Second", {
    files: { "trunk/x/a.c": "2\n", "trunk/n/e/w.c": "2\n", "trunk/y.c": null }
  })
  // Folders after one that did not exist before.
  repository.commit("Third", {
    move: { "trunk/x": "trunk/z" },
    files: { "trunk/z/a.c": "3\n", "trunk/zb/a.c": "3\n", "trunk/zc/a.c": "3\n" }
  })
  repository.commit("Fourth", { properties: { "trunk/z/b.c": { color: "red" }, trunk: { color: "blue" } } })
  repository.commit("Fifth", { copy: { trunk: "branches/2.x" }, files: { "branches/2.x/z/a.c": "5\n" } })
  repository.commit("Sixth", { files: { "branches/2.x/z/a.c": "6\n", "trunk/z/a.c": "7\n" } })
  const server = serverAt(repository.url)
  const at = (steps: number) => String(Number(second) + steps)
  const reading = (branch: string, head: string, base: string) =>
    Effect.gen(function* () {
      const checkout = yield* (yield* Vcs).checkout({ vcs: "subversion", server, branch, head, base })
      return { ...(yield* readRevision(checkout)), messages: yield* checkout.messages ?? Effect.succeed([]) }
    }).pipe(Effect.scoped)
  const cases: ReadonlyArray<readonly [branch: string, head: number, base: number]> = [
    ["trunk", 0, -1],
    ["trunk", 1, 0],
    ["trunk", 2, 1],
    ["branches/2.x", 4, 3],
    ["trunk", 4, 2],
    ["trunk", 4, 0]
  ]
  for (const [branch, head, base] of cases) {
    const read = reading(branch, at(head), at(base))
    const described = { server, revision: at(head), roots: [], under: undefined }
    const after = await run(Effect.andThen(describeChange(described), read))
    expect(after, `${branch} ${base}:${head}`).toEqual(await run(read))
  }
}, 60_000)

it("files, lists, authors and searches are of their revision; externals are not followed", async () => {
  await checkingOut({ server: serverAt(repository.url), branch: "trunk", head: "3", base: "2" }, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.file("src/main.c", "head", 1000)).toContain("return 1;\n}\n// $Id$\n")
      expect(yield* checkout.file("src/main.c", "from", 1000)).toContain("return 0")
      expect(yield* checkout.file("AGENTS.md", "rules", 1000)).toBe("Be kind.\nRead the tests first.\n")
      expect(yield* checkout.file("src/main.c", "head", 3)).toBeUndefined()
      expect(yield* checkout.file("no/such/file", "head", 1000)).toBeUndefined()
      expect(yield* checkout.file("../trunk/AGENTS.md", "head", 1000)).toBeUndefined()
      expect(yield* checkout.list("src", "head", 10)).toEqual(["main.c", "old.c"])
      expect(yield* checkout.list("none", "head", 10)).toEqual([])
      expect(yield* checkout.blame("src/main.c", 2, 2)).toMatchObject([
        { line: 2, commit: "3", author: expect.any(String) }
      ])
      expect(yield* checkout.messages ?? Effect.succeed([])).toEqual(["Two"])
      const search = { texts: ["return"], ignoreCase: false, words: false, under: "" }
      expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: ["src/main.c"], more: false })
      // Keywords are searched as they are stored.
      const keyword = { ...search, texts: ["// $Id$"], words: false }
      expect((yield* checkout.search.filesWith(keyword, 5)).paths).toEqual(["src/main.c"])
      expect((yield* checkout.search.filesUnder("src", 1)).more).toBe(true)
    })
  )
})

it("UTF-16, files of one line and revisions of properties alone are bounded and have their form", async () => {
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")
  const head = repository.commit("Wide", {
    files: { "trunk/wide.txt": utf16("eins\n"), "trunk/line.txt": "x".repeat(3_000_000) }
  })
  const next = repository.commit("Wider", { files: { "trunk/wide.txt": utf16("zwei\n"), "trunk/line.txt": null } })
  const { changes, sizes } = await revision(next, head)
  expect(changes.map(({ path, status }) => [path, status])).toEqual([
    ["line.txt", "deleted"],
    ["wide.txt", "modified"]
  ])
  expect(sizes).toEqual([3_000_000, 12])
  const request = { server: serverAt(repository.url), branch: "trunk", head: next, base: head }
  await checkingOut(request, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.file("wide.txt", "head", 1000)).toContain("zwei")
      // The file is larger than the reader takes, so that it is not fetched.
      expect(yield* checkout.file("line.txt", "from", 1000)).toBeUndefined()
    })
  )
  const bare = repository.commit("Property", { properties: { trunk: { "svn:ignore": "*.o\n" } } })
  expect((await revision(bare, next)).changes.map(({ path }) => path)).toEqual(["(svn properties)"])
})

it("a change over the limit of paths ends before its files are read", async () => {
  const request = { server: serverAt(repository.url), branch: "trunk", head: "2", base: "0" }
  const failure = await expectFailure(checkingOut(request, ({ changes }) => changes(2)))
  expect(failure).toMatch(/^limit: .*review\.max_changed_paths/)
})

describe("servers", () => {
  it("svnserve takes the password, and a wrong one is an error for good", async () => {
    await using server = await startSvnserve(repository)
    expect((await revision("3", "2", "trunk", server.url)).changes).toHaveLength(2)
    const wrong = serverAt(server.url, { password: Redacted.make("other-secret") })
    const failure = await expectFailure(
      checkingOut({ server: wrong, branch: "trunk", head: "3", base: "2" }, () => Effect.void)
    )
    expect(failure).toContain("unauthorized")
    expect(failure).not.toContain("other-secret")
  })

  it("Apache over TLS needs its authority, or trust in an unknown one", async () => {
    await using server = await startApache(repository)
    const read = (over: Parameters<typeof serverAt>[1]) =>
      checkingOut({ server: serverAt(server.url, over), branch: "trunk", head: "3", base: "2" }, readRevision)
    expect((await read({ tlsCaPath: server.authority })).changes).toHaveLength(2)
    expect((await read({ trustServerCert: true })).changes).toHaveLength(2)
    const refused = await expectFailure(read({}))
    expect(refused).toContain("tls_ca_path")
    // Another name is not an unknown authority.
    const otherName = serverAt(server.url.replace("localhost", "127.0.0.1"), { trustServerCert: true })
    expect(
      await expectFailure(checkingOut({ server: otherName, branch: "", head: "3", base: "2" }, readRevision))
    ).toMatch(/^failed: .*E230001/)
  })

  it("svn+ssh runs the ssh of the service's user, which starts svnserve on the other machine", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aicr-ssh-"))
    const log = join(folder, "log")
    // In place of a connection the tunnel starts the server on this machine.
    const ssh = `#!/bin/sh\necho "$*" >>'${log}'\nexec svnserve -t -r '${repository.folder}' --tunnel-user reviewer\n`
    writeFileSync(join(folder, "ssh"), ssh, { mode: 0o755 })
    writeFileSync(join(repository.path, "conf", "svnserve.conf"), "[general]\nanon-access = none\nauth-access = read\n")
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`)
    const { changes } = await revision("3", "2", "trunk", "svn+ssh://svn.test/repository")
    expect(changes).toHaveLength(2)
    const calls = readFileSync(log, "utf8")
    expect(calls).toContain("BatchMode=yes -o StrictHostKeyChecking=yes svn.test svnserve -t")
    expect(calls).not.toContain(svnPassword)
    vi.unstubAllEnvs()
  })

  it("no argument and no variable of svn has the password", async () => {
    await using server = await startSvnserve(repository)
    const folder = mkdtempSync(join(tmpdir(), "aicr-svn-log-"))
    const real = execFileSync("sh", ["-c", "command -v svn"], { encoding: "utf8" }).trim()
    const log = join(folder, "log")
    writeFileSync(join(folder, "svn"), `#!/bin/sh\n{ printf '%s\\n' "$@"; env; } >>'${log}'\nexec '${real}' "$@"\n`, {
      mode: 0o755
    })
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`)
    expect((await revision("3", "2", "trunk", server.url)).changes).toHaveLength(2)
    vi.unstubAllEnvs()
    const calls = readFileSync(log, "utf8")
    expect(calls).toContain("--password-from-stdin")
    expect(calls).not.toContain(svnPassword)
  })

  it("a server that is not there is waited for", async () => {
    const failure = await expectFailure(revision("3", "2", "trunk", "svn://127.0.0.1:9/x"))
    expect(failure).toContain("unreachable")
  })
})
