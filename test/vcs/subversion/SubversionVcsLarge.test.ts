/** Changes of very large files and of very many files are read within limits of memory, transferred bytes and time. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { SvnRepository } from "../../harness/Subversion.ts"
import { checkingOut, describeChange, expectFailure, run, serverAt } from "./Revisions.ts"

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

/** Logs the commands of svn and the bytes that each prints. */
const logCommands = (): (() => ReadonlyArray<readonly [command: string, bytes: number]>) => {
  const real = execFileSync("sh", ["-c", "command -v svn"], { encoding: "utf8" }).trim()
  const log = join(directory, "log")
  const script = `#!/bin/sh
'${real}' "$@" | tee "${directory}/out$$" | cat
echo "$1 $(wc -c <"${directory}/out$$")" >>'${log}'
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
  svnmucc("put", file, "trunk/large.bin", "put", "/dev/null", "trunk/small.c")
  rmSync(file)
  const commands = logCommands()
  const before = process.memoryUsage().rss
  const request = { server: serverAt(repository.url), branch: "trunk", head: "2", base: "1" }
  await checkingOut(request, (checkout) =>
    Effect.gen(function* () {
      const changes = yield* checkout.changes(10)
      expect(changes.map(({ path }) => path)).toEqual(["large.bin", "small.c"])
      expect(yield* checkout.sizes(changes)).toEqual([mebibytes * 1_048_576, 0])
      expect(yield* checkout.file("large.bin", "head", 1_000_000)).toBeUndefined()
    })
  )
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1_048_576)
  vi.unstubAllEnvs()
  const bytes = commands().reduce((sum, [, count]) => sum + count, 0)
  // A reader that takes less ends the command after its limit.
  expect(bytes).toBeLessThan(4 * 1_048_576)
}, 300_000)

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
