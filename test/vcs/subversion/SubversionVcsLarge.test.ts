/** Changes of very large files and of very many files are read within limits of memory, transferred bytes and time. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { SvnRepository } from "../../harness/Subversion.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { checkingOut, describeChange, expectFailure, readRevision, run, serverAt } from "./Revisions.ts"

const mebibytes = Number(process.env["AICR_TEST_FILE_MB"] ?? 64)
const filesPerFolder = 500
const folders = 400

let repository: SvnRepository
let directory: string
beforeAll(() => {
  repository = new SvnRepository()
  directory = mkdtempSync(join(tmpdir(), "aicr-large-"))
})
afterAll(() => {
  vi.unstubAllEnvs()
  repository[Symbol.dispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** Logs the commands of svn and the bytes that each prints. `whole-diff`: a diff with whole files. */
const logCommands = (): (() => ReadonlyArray<readonly [command: string, bytes: number]>) => {
  const real = execFileSync("sh", ["-c", "command -v svn"], { encoding: "utf8" }).trim()
  const log = join(directory, "log")
  const script = `#!/bin/sh
'${real}' "$@" | tee "${directory}/out$$" | cat
case "$*" in *--internal-diff*) name=whole-diff ;; *) name=$1 ;; esac
echo "$name $(wc -c <"${directory}/out$$")" >>'${log}'
rm -f "${directory}/out$$"
`
  writeFileSync(log, "")
  writeFileSync(join(directory, "svn"), script, { mode: 0o755 })
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`)
  return () =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])])
}
const svnmucc = (...args: ReadonlyArray<string>) =>
  execFileSync("svnmucc", ["--non-interactive", "-m", "Large", "-U", repository.url, ...args], { stdio: "ignore" })

it(`a file of ${mebibytes} MiB is sized and never fetched`, async () => {
  const file = join(directory, "large.bin")
  writeFileSync(file, "")
  truncateSync(file, mebibytes * 1_048_576)
  const small = join(directory, "small.c")
  writeFileSync(small, "int x;\n")
  const names = Array.from({ length: 6 }, (_, index) => `small${index}.c`)
  svnmucc("put", file, "trunk/large.bin", ...names.flatMap((name) => ["put", small, `trunk/${name}`]))
  rmSync(file)
  const commands = logCommands()
  const before = process.memoryUsage().rss
  const request = { server: serverAt(repository.url), branch: "trunk", head: "2", base: "1" }
  await checkingOut(request, (checkout) =>
    Effect.gen(function* () {
      const changes = yield* checkout.changes(10)
      expect(changes.map(({ path }) => path)).toEqual(["large.bin", ...names])
      expect(yield* checkout.sizes(changes)).toEqual([mebibytes * 1_048_576, ...names.map(() => 7)])
      const diff = yield* Stream.mkString(Stream.decodeText(checkout.diff(changes.slice(1), false)))
      expect(diff.split("+int x;")).toHaveLength(names.length + 1)
      expect(yield* checkout.file("large.bin", "head", 1_000_000)).toBeUndefined()
    })
  )
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1_048_576)
  vi.unstubAllEnvs()
  // Its client would fetch all changed files.
  expect(commands().map(([command]) => command)).not.toContain("whole-diff")
  const bytes = commands().reduce((sum, [, count]) => sum + count, 0)
  // A reader that takes less ends the command after its limit.
  expect(bytes).toBeLessThan(4 * 1_048_576)
}, 300_000)

it("the changed text files of a revision are fetched by one command, and binary ones by another", async () => {
  const paths = Array.from({ length: 40 }, (_, index) => `trunk/part${index % 3}/file${index}.c`)
  const edit = (value: number) => ({
    files: {
      ...Object.fromEntries(paths.map((path) => [path, `int a;\nint b = ${value};\n`])),
      "trunk/logo.png": Buffer.from([137, 80, 0, value])
    }
  })
  const base = repository.commit("Before", edit(1))
  const head = repository.commit("After", edit(2))
  const commands = logCommands()
  const request = { vcs: "subversion", server: serverAt(repository.url), branch: "trunk", head, base } as const
  const described = { server: request.server, revision: head, roots: [], under: undefined }
  const { diff, lists, messages } = await run(
    Effect.gen(function* () {
      yield* describeChange(described)
      const checkout = yield* (yield* Vcs).checkout(request)
      const names = yield* checkout.list("part0", "from", 1)
      return {
        ...(yield* readRevision(checkout)),
        lists: names,
        messages: yield* checkout.messages ?? Effect.succeed([])
      }
    }).pipe(Effect.scoped)
  )
  vi.unstubAllEnvs()
  expect(messages).toEqual(["After"])
  expect(lists).toEqual(["file0.c"])
  expect(diff.split("-int b = 1;\n+int b = 2;")).toHaveLength(paths.length + 1)
  expect(diff).toContain("Binary files a/logo.png and b/logo.png differ")
  const names = commands().map(([command]) => command)
  // The report was described by the log, which the review does not request again; sizes are in the lists of folders, one for each side.
  expect(names.toSorted()).toEqual(["cat", "diff", "info", "list", "list", "log", "whole-diff"])
})

it("files whose diff does not have the listed sizes are read one by one", async () => {
  const paths = Array.from({ length: 6 }, (_, index) => `trunk/sized${index}.c`)
  const edit = (value: number) => ({ files: Object.fromEntries(paths.map((path) => [path, `int a = ${value};\n`])) })
  const base = repository.commit("Before", edit(1))
  const head = repository.commit("After", edit(2))
  const real = execFileSync("sh", ["-c", "command -v svn"], { encoding: "utf8" }).trim()
  const script = `#!/bin/sh
case "$*" in *--internal-diff*) '${real}' "$@" | sed 's/ = 2/ = 22/' ;; *) exec '${real}' "$@" ;; esac
`
  writeFileSync(join(directory, "svn"), script, { mode: 0o755 })
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`)
  const { diff } = await checkingOut({ server: serverAt(repository.url), branch: "trunk", head, base }, readRevision)
  vi.unstubAllEnvs()
  expect(diff.split("-int a = 1;\n+int a = 2;\n")).toHaveLength(paths.length + 1)
})

it(`a revision of ${folders * filesPerFolder} files ends at the limit of paths, and is described`, async () => {
  const names = Array.from({ length: filesPerFolder }, (_, index) => `trunk/origin/file${index}.c`)
  svnmucc("mkdir", "trunk/origin", ...names.flatMap((name) => ["put", "/dev/null", name]))
  const copies = Array.from({ length: folders }, (_, index) => ["cp", "HEAD", "trunk/origin", `trunk/copy${index}`])
  svnmucc(...copies.flat())
  const head = repository.svn("info", "--show-item", "revision", repository.url).trim()
  const before = process.memoryUsage().rss
  const start = performance.now()
  for (const base of [String(Number(head) - 1), "0"]) {
    const request = { server: serverAt(repository.url), branch: "trunk", head, base }
    expect(await expectFailure(checkingOut(request, ({ changes }) => changes(3000)))).toMatch(
      /^limit: .*review\.max_changed_paths/
    )
  }
  const described = await run(
    describeChange({ server: serverAt(repository.url), revision: head, roots: [], under: undefined })
  )
  expect(described?.streams).toMatchObject([{ branch: "trunk", previous: String(Number(head) - 1) }])
  expect(performance.now() - start).toBeLessThan(60_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1_048_576)
}, 120_000)
