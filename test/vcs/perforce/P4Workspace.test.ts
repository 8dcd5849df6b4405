/** The opened files, shelves and changelists of a Perforce workspace. The client is the fake one, with the settings of a person. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { Checkout, CheckoutError } from "../../../src/vcs/Checkout.ts"
import { LocalRepository } from "../../../src/vcs/LocalRepository.ts"
import type { LocalRange, LocalRequest } from "../../../src/vcs/LocalRepository.ts"
import { layerLocal } from "../../../src/vcs/LocalLayer.ts"
import { copyLocalFiles, readLocalFile } from "../../../src/vcs/server/LocalFiles.ts"
import type { DepotState } from "../../harness/perforce/DepotState.ts"
import { makeFakeDepot, p4User } from "../../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import { readRevision } from "../subversion/Revisions.ts"

const odd = "a b@2 (é)#c.txt"
const oddDepot = "//Ace/main/a b%402 (é)%23c.txt"
let depot: FakeDepot
let root: string

const write = (path: string, content: string | Uint8Array) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}
const open = (...files: ReadonlyArray<Omit<DepotState["opened"][number], "client">>) =>
  depot.set({ opened: files.map((file) => ({ client: "ada-laptop", ...file })) })

beforeEach(() => {
  depot = makeFakeDepot()
  root = join(mkdtempSync(join(tmpdir(), "aicr-p4-client-")), "work @ space")
  depot.submit("One", {
    files: {
      "//Ace/main/src/main.c": "int main() { return 0; }\n// $Id$\n",
      [oddDepot]: "one\ntwo\n",
      "//Ace/main/AGENTS.md": "Be kind.\n",
      "//Ace/main/old.c": `${"same line\n".repeat(20)}end\n`,
      "//Ace/main/logo.png": Buffer.from([0, 1, 2]),
      "//Ace/main/same.c": "same\n"
    },
    types: { "//Ace/main/logo.png": "binary", "//Ace/main/src/main.c": "text+k" }
  })
  depot.set({ clients: { "ada-laptop": { root, view: { "//Ace/main/...": "//ada-laptop/..." }, synced: 1 } } })
  write("src/main.c", "int main() { return 0; }\n// $Id: //Ace/main/src/main.c#1 $\n")
  write(odd, "one\ntwo\n")
  write("AGENTS.md", "Be kind.\n")
  write("old.c", `${"same line\n".repeat(20)}end\n`)
  write("logo.png", Buffer.from([0, 1, 2]))
  write("same.c", "same\n")
  vi.stubEnv("P4CONFIG", ".p4config")
  const settings = { P4PORT: depot.port, P4USER: p4User, P4CLIENT: "ada-laptop", P4PASSWD: depot.state().tickets[0] }
  write(
    ".p4config",
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("")
  )
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await depot[Symbol.asyncDispose]()
  rmSync(dirname(root), { recursive: true, force: true })
})

const review = <A>(
  request: Partial<LocalRequest>,
  use: (checkout: Checkout, range: LocalRange) => Effect.Effect<A, CheckoutError>
) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const local = yield* LocalRepository
      const own = { path: root, base: undefined, head: undefined, perforceClient: depot.program }
      const range = yield* local.range({ ...own, ...request })
      if (range.checkout === undefined) throw new Error("a range of git")
      return yield* Effect.flatMap(range.checkout(false), (checkout) => use(checkout, range))
    }).pipe(Effect.scoped, Effect.provide(layerLocal))
  )

it("its opened files are compared with the revisions that it was synced to", async () => {
  depot.submit("Two", { files: { "//Ace/main/src/main.c": "newer\n" } })
  write("src/main.c", "int main() { return 1; }\n// $Id: //Ace/main/src/main.c#1 $\n")
  write(odd, "one\nthree\n")
  write("new.c", "new\n")
  write("moved.c", `${"same line\n".repeat(20)}END\n`)
  write("logo.png", Buffer.from([0, 9]))
  write("AGENTS.md", "Be rude.\n")
  rmSync(join(root, "old.c"))
  open(
    { depotFile: "//Ace/main/src/main.c", action: "edit", type: "text+k", rev: 1 },
    { depotFile: oddDepot, action: "edit", type: "text", rev: 1 },
    { depotFile: "//Ace/main/new.c", action: "add", type: "text", rev: 1 },
    { depotFile: "//Ace/main/moved.c", action: "move/add", type: "text", rev: 1 },
    { depotFile: "//Ace/main/old.c", action: "move/delete", type: "text", rev: 1 },
    { depotFile: "//Ace/main/logo.png", action: "edit", type: "binary", rev: 1 },
    { depotFile: "//Ace/main/AGENTS.md", action: "edit", type: "text", rev: 1 },
    // Opened, and not edited.
    { depotFile: "//Ace/main/same.c", action: "edit", type: "text", rev: 1 }
  )
  await review({ changes: "uncommitted", path: join(root, "src") }, (checkout) =>
    Effect.gen(function* () {
      const { changes, diff, sizes } = yield* readRevision(checkout)
      expect(changes.map(({ path, status }) => [path, status])).toEqual([
        ["AGENTS.md", "modified"],
        [odd, "modified"],
        ["logo.png", "modified"],
        ["moved.c", "added"],
        ["new.c", "added"],
        ["old.c", "deleted"],
        ["src/main.c", "modified"]
      ])
      expect(sizes[1]).toBe(10)
      // The line of the expanded keyword is the same on both sides.
      expect(diff).toContain("-int main() { return 0; }\n+int main() { return 1; }\n // $Id: //Ace")
      expect(diff).toContain("-two\n+three\n")
      expect(diff).toContain("rename from old.c\nrename to moved.c\n")
      expect(diff).toContain("Binary files a/logo.png and b/logo.png differ\n")
      expect(yield* checkout.file("AGENTS.md", "rules", 1000)).toBe("Be kind.\n")
      expect(yield* checkout.file("AGENTS.md", "head", 1000)).toBe("Be rude.\n")
      expect(yield* checkout.list("", "from", 20)).toContain("old.c")
      expect(yield* checkout.list("", "head", 20)).toContain("new.c")
    })
  )
  for (const { argv, env } of depot.calls()) {
    expect(argv.join(" ")).not.toContain(depot.state().tickets[0])
    expect(env["P4CLIENTPATH"]).toContain("aicr-review-")
  }
})

it("has nothing that is neither opened nor synced", async () => {
  write("src/password.txt", "secret\n")
  write("new.c", "secret\n")
  open({ depotFile: "//Ace/main/new.c", action: "add", type: "text", rev: 1 })
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.file(".p4config", "head", 1000)).toBeUndefined()
      expect(yield* checkout.file("src/password.txt", "head", 1000)).toBeUndefined()
      expect(yield* checkout.file("same.c", "head", 1000)).toBe("same\n")
      expect(yield* checkout.file("same.c", "from", 1000)).toBe("same\n")
      expect(yield* checkout.list("src", "head", 10)).toEqual(["main.c"])
      const search = { texts: ["secret"], ignoreCase: false, words: false, under: "" }
      expect((yield* checkout.search.filesWith(search, 5)).paths).toEqual(["new.c"])
      expect(yield* checkout.blame("same.c", 1, 1)).toMatchObject([{ line: 1, commit: "1" }])
      expect(yield* checkout.blame("new.c", 1, 1)).toEqual([])
    })
  )
})

it("shelves and submitted changelists of its branch are reviewed by number", async () => {
  depot.submit("Two", { files: { "//Ace/main/same.c": "two\n", "//Ace/rel/x.c": "x\n" } })
  depot.submit("Three", { files: { "//Ace/main/same.c": "three\n" } })
  const shelf = depot.shelve("Try", { files: { "//Ace/main/same.c": "shelved\n" } })
  expect(
    await review({}, (checkout, { baseName, headName }) =>
      Effect.map(readRevision(checkout), ({ diff }) => [baseName, headName, diff.includes("-two\n+three\n")])
    )
  ).toEqual(["@2", "@3", true])
  const range = await review({ base: "1", head: "@3" }, readRevision)
  expect(range.diff).toContain("-same\n+three\n")
  const shelved = await review({ shelved: shelf }, readRevision)
  expect(shelved.diff).toContain("-three\n+shelved\n")
})

it.each<readonly [name: string, request: Partial<LocalRequest>, reason: string]>([
  ["the index", { changes: "staged" }, "which has no index; use --uncommitted"],
  ["a base of opened files", { changes: "uncommitted", base: "1" }, "leave out --base"],
  ["a head of a shelf", { shelved: "1", head: "1" }, "leave out --uncommitted, --base and --head"],
  ["a submitted changelist as a shelf", { shelved: "1" }, "changelist 1 is submitted; review it by --head 1"],
  ["an unknown shelf", { shelved: "77" }, "changelist 77 has no shelved files"],
  ["no changelist", { head: "main...", base: "1" }, '--head: invalid changelist "main..."'],
  ["a base after the head", { base: "2", head: "1" }, "--base 2 is newer than the head @1"]
])("is refused for %s", async (_, request, reason) => {
  depot.submit("Two", { files: { "//Ace/main/same.c": "two\n" } })
  await expect(review(request, () => Effect.void)).rejects.toThrow(reason)
})

it("with several depot paths needs a folder of one of them", async () => {
  const view = { "//Ace/main/...": "//ada-laptop/main/...", "//Ace/rel/...": "//ada-laptop/rel/..." }
  depot.set({ clients: { "ada-laptop": { root, view } } })
  mkdirSync(join(root, "main"))
  await expect(review({}, () => Effect.void)).rejects.toThrow("several depot paths (//Ace/main, //Ace/rel)")
  const changes = await review({ path: join(root, "main") }, ({ changes: list }) => list(100))
  expect(changes).toHaveLength(6)
})

it("without its client, or with an expired login, is an error with the next step", async () => {
  depot.set({ tickets: [] })
  await expect(review({ changes: "uncommitted" }, () => Effect.void)).rejects.toThrow("run `p4 login`")
  depot.set({ clients: {} })
  await expect(review({}, () => Effect.void)).rejects.toThrow("client ada-laptop does not exist; set P4CLIENT")
})

const program = "rsh:touch /tmp/owned"
it.each([
  ["a program", `P4PORT=${program}`, "sets P4PORT to something else"],
  ["another program", "# x\n p4port = jsh:touch /tmp/owned", "sets P4PORT to something else"],
  ["a program after many remarks", `${"# remark\n".repeat(8000)}P4PORT=${program}`, "is larger than 65536 bytes"],
  ["a program after a mark of the encoding", `\ufeffP4PORT=${program}`, "has a character that is not shown"],
  ["a program in quotes", `"P4PORT"="${program}"`, "sets P4PORT to something else"],
  ["a value in quotes", `P4PORT="${program}"`, "sets P4PORT to something else"],
  ["a vertical tab", `# x\vP4PORT=${program}`, "has a character that is not shown"],
  ["a form feed", `# x\fP4PORT=${program}`, "has a character that is not shown"],
  ["a carriage return", `# x\rP4PORT=${program}`, "has a character that is not shown"],
  ["a NUL", `P4USER=ada\0P4PORT=${program}`, "has a character that is not shown"],
  ["a line separator", `# x\u2028P4PORT=${program}`, "has a character that is not shown"],
  ["UTF-16", Buffer.from(`P4PORT=${program}`, "utf16le").toString("latin1"), "has a character that is not shown"],
  ["invalid UTF-8", Buffer.from([0x50, 0xff]), "has a character that is not shown"],
  ["a remark that ends in a buffer", `# ${"x".repeat(254)}P4PORT=${program}`, "sets P4PORT to something else"],
  ["a long line", `P4USER=${"x".repeat(600)}`, "has a line of over 500 characters"],
  ["a second server", `P4PORT=a.test:1666\nP4PORT=${program}`, "sets P4PORT to something else"],
  ["folders to write to", "P4CLIENTPATH=/", "sets P4CLIENTPATH"]
])("settings with %s are refused before the client reads them", async (_, content, why) => {
  const calls = depot.calls().length
  for (const folder of [dirname(root), root]) {
    const own = readFileSync(join(root, ".p4config"))
    writeFileSync(join(folder, ".p4config"), Buffer.concat([Buffer.from("P4USER=ada\n"), Buffer.from(content)]))
    await expect(review({ changes: "uncommitted" }, () => Effect.void)).rejects.toThrow(why)
    writeFileSync(join(root, ".p4config"), own)
  }
  expect(depot.calls()).toHaveLength(calls)
})

it("its server is an option of every call, and a remark or a file for others changes nothing", async () => {
  write("same.c", "other\n")
  open({ depotFile: "//Ace/main/same.c", action: "edit", type: "text", rev: 1 })
  writeFileSync(join(root, ".p4config"), `# P4PORT=${program}\r\n\n${readFileSync(join(root, ".p4config"), "utf8")}`)
  await review({ changes: "uncommitted" }, () => Effect.void)
  expect(depot.calls().length).toBeGreaterThan(0)
  for (const { argv } of depot.calls()) expect(argv.slice(0, 2)).toEqual(["-p", depot.port])
})

it("settings are found by the name in the user's file, too", async () => {
  vi.stubEnv("P4CONFIG", undefined)
  vi.stubEnv("P4ENVIRO", join(dirname(root), "enviro"))
  writeFileSync(join(dirname(root), "enviro"), "P4CONFIG=.p4config\n")
  writeFileSync(join(root, ".p4config"), `P4PORT=${program}\n`)
  const calls = depot.calls().length
  await expect(review({ changes: "uncommitted" }, () => Effect.void)).rejects.toThrow("sets P4PORT to something else")
  expect(depot.calls()).toHaveLength(calls)
})

it("with more changed files than the limit is refused, and at the limit is not", async () => {
  write("same.c", "other\n")
  write("AGENTS.md", "other\n")
  open(
    { depotFile: "//Ace/main/same.c", action: "edit", type: "text", rev: 1 },
    { depotFile: "//Ace/main/AGENTS.md", action: "edit", type: "text", rev: 1 }
  )
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      expect((yield* checkout.changes(2)).map(({ path }) => path)).toEqual(["AGENTS.md", "same.c"])
      expect(
        yield* Effect.match(checkout.changes(1), { onFailure: ({ message }) => message, onSuccess: () => "" })
      ).toContain("over 1 paths")
    })
  )
})

it("has no file above it, whatever the client reports", async () => {
  writeFileSync(join(root, "../outside.c"), "private\n")
  depot.set({
    disturb: [
      { command: "have", how: "outside" },
      { command: "fstat", how: "outside" }
    ]
  })
  await review({ changes: "uncommitted" }, (checkout) =>
    Effect.gen(function* () {
      expect(yield* checkout.changes(10)).toEqual([])
      expect(yield* checkout.list("", "head", 10)).toEqual([])
      const folder = join(dirname(root), "copy/tree")
      yield* copyLocalFiles(root, ["same.c", "../outside.c"], folder, 1_000_000)
      expect(readdirSync(folder)).toEqual(["same.c"])
      expect(readdirSync(dirname(folder))).toEqual(["tree"])
      expect(yield* readLocalFile(root, "../outside.c", 1000, (target) => target)).toBeUndefined()
    })
  )
})
