/** A repository made by an enemy runs nothing, leads nowhere, and hides nothing from the review. */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Stream } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import type { Checkout, GitCheckoutRequest } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { parseDiff } from "../../../src/review/ParseDiff.ts"
import { startGitServer } from "../GitServer.ts"
import type { GitServer } from "../GitServer.ts"
import { wholeDiff } from "../WholeDiff.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const projects = temporaryFolder()
const repository = makeRepository(join(projects, "evil.git"))
const proof = join(temporaryFolder(), "proof")
let server: GitServer
let base = ""
let head = ""

/** An entry that no work tree can make: written straight into the index. */
const entry = (mode: string, path: string, content: string) => {
  const id =
    mode === "160000"
      ? content
      : execFileSync("git", ["hash-object", "-w", "--stdin"], {
          cwd: repository.path,
          input: content,
          encoding: "utf8"
        }).trim()
  repository.git("update-index", "--add", "--cacheinfo", `${mode},${id},${path}`)
}

const script = `#!/bin/sh\necho ran "$0" >> ${proof}\n`
const names = [
  "-dash.ts",
  "--output=x.ts",
  "a b.ts",
  "ünï.ts",
  "tab\there.ts",
  'q"uote.ts',
  "new\nline.ts",
  "%(objectname).ts",
  ":(exclude)x.ts"
]

beforeAll(async () => {
  repository.write("src/a.ts", "const a = 1\n")
  repository.write("hidden.ts", "const b = 1\n")
  base = repository.commit("base")
  const commands = [
    "filter.evil.smudge",
    "filter.evil.clean",
    "filter.evil.process",
    "diff.evil.textconv",
    "diff.evil.command",
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "uploadpack.packObjectsHook",
    "post-checkout"
  ]
  entry(
    "100644",
    ".gitattributes",
    "* filter=evil diff=evil text eol=crlf ident working-tree-encoding=UTF-16\nhidden.ts binary -diff\n"
  )
  entry("100644", ".gitconfig", commands.map((key) => `[x]\n\t${key} = touch ${proof}\n`).join(""))
  entry(
    "100644",
    ".gitmodules",
    `[submodule "m"]\n\tpath = m\n\turl = ext::sh -c touch% ${proof}\n\tupdate = !touch ${proof}\n`
  )
  entry("160000", "m", "1".repeat(40))
  entry("120000", "link-to-passwd", "/etc/passwd")
  entry("120000", "link-out", "../../../..")
  entry("120000", "AGENTS.md", "/etc/hostname")
  entry("100755", "hooks/post-checkout", script)
  entry("100644", "hidden.ts", "const b = 2\n")
  entry("100644", "src/a.ts", "const a = 2 // $Id$\n")
  for (const name of names) entry("100644", `names/${name}`, `in ${name}\n`)
  repository.git("commit", "-q", "-m", "head")
  head = repository.git("rev-parse", "HEAD")
  repository.git("update-ref", "refs/heads/-upload-pack", head)
  // The served repository's own settings: they stay on the server's side of the wire.
  mkdirSync(join(repository.path, ".git", "hooks"), { recursive: true })
  for (const hook of ["post-checkout", "reference-transaction", "pre-auto-gc"]) {
    writeFileSync(join(repository.path, ".git", "hooks", hook), script, { mode: 0o755 })
  }
  for (const key of [
    "filter.evil.smudge",
    "diff.evil.textconv",
    "diff.evil.command",
    "diff.external",
    "core.fsmonitor"
  ]) {
    repository.git("config", key, `touch ${proof};`)
  }
  server = await startGitServer({ root: projects })
})
afterAll(() => server.close())

const run = <A, E>(
  use: (checkout: Checkout) => Effect.Effect<A, E>,
  overrides: Partial<GitCheckoutRequest> = {},
  local = false
) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(Vcs, (vcs) =>
        vcs.checkout({
          url: local ? repository.path : `${server.url}/evil.git/.git`,
          mirror: "evil/../../x",
          authorization: undefined,
          head,
          base,
          headRef: "refs/heads/-upload-pack",
          baseRef: "refs/heads/main",
          rules: undefined,
          compare: "merge-base",
          ...overrides
        })
      ).pipe(Effect.flatMap(use))
    ).pipe(Effect.provide(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: local })))
  )

const diffOf = (checkout: Checkout) =>
  Effect.map(Stream.runCollect(wholeDiff(checkout)), (chunks) => parseDiff(Buffer.concat(chunks).toString()))

describe.each([
  ["fetched", false],
  ["borrowed", true]
])("a hostile repository, %s", (_name, local) => {
  it("hides no change behind attributes, and nothing is converted", async () => {
    const files = await run(diffOf, {}, local)
    const byPath = new Map(files.map((file) => [file.path, file]))
    expect(byPath.get("hidden.ts")?.hunks[0]?.lines).toEqual(["-const b = 1", "+const b = 2"])
    expect(byPath.get("src/a.ts")?.hunks[0]?.lines).toEqual(["-const a = 1", "+const a = 2 // $Id$"])
    expect(byPath.get("m")).toMatchObject({ newMode: "160000" })
    expect(byPath.get("link-to-passwd")?.hunks[0]?.lines).toEqual(["+/etc/passwd"])
    for (const name of names) expect(byPath.get(`names/${name}`)?.hunks[0]?.lines[0]).toBe(`+in ${name.split("\n")[0]}`)
  })

  it("reads no file through a link or outside of the tree", async () => {
    const read = (path: string) => run((checkout) => checkout.file(path, "head", 10_000), {}, local)
    expect(await read("link-to-passwd")).toBe("/etc/passwd")
    expect(await read("link-out/etc/passwd")).toBeUndefined()
    expect(await read("/etc/passwd")).toBeUndefined()
    expect(await read("../evil.git/config")).toBeUndefined()
    expect(await read("m")).toBeUndefined()
    expect(await read("src/a.ts\nHEAD")).toBeUndefined()
    for (const name of names.filter((one) => !one.includes("\n")))
      expect(await read(`names/${name}`)).toBe(`in ${name}\n`)
  })

  it("makes a worktree of plain files, unconverted, with no way out", async () => {
    await run(
      (checkout) =>
        Effect.map(checkout.directory, (directory) => {
          expect(readFileSync(join(directory, "src/a.ts"), "utf8")).toBe("const a = 2 // $Id$\n")
          expect(readFileSync(join(directory, "link-out"), "utf8")).toBe("../../../..")
          for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
            expect([name, lstatSync(join(directory, name)).isSymbolicLink()]).toEqual([name, false])
          }
        }),
      {},
      local
    )
  })

  it("blames files whatever their names", async () => {
    const lines = await run((checkout) => checkout.blame("names/--output=x.ts", 1, 1), {}, local)
    expect(lines.map(({ commit }) => commit)).toEqual([head])
  })

  it("ran nothing", () => expect(existsSync(proof)).toBe(false))
})

describe("settings of the machine and the user", () => {
  it("take no part", async () => {
    const home = temporaryFolder()
    writeFileSync(
      join(home, ".gitconfig"),
      `[core]\n\tfsmonitor = touch ${proof}\n\thooksPath = ${home}\n[diff]\n\texternal = touch ${proof}\n\tnoprefix = true\n\tmnemonicPrefix = true\n[color]\n\tui = always\n[diff "evil"]\n\ttextconv = touch ${proof};\n[filter "evil"]\n\tsmudge = touch ${proof}; cat\n`
    )
    writeFileSync(join(home, "post-checkout"), script, { mode: 0o755 })
    const before = { ...process.env }
    Object.assign(process.env, {
      HOME: home,
      GIT_EXTERNAL_DIFF: `touch ${proof}`,
      GIT_DIR: "/nonexistent",
      GIT_TRACE: join(home, "trace")
    })
    try {
      const files = await run((checkout) => Effect.andThen(checkout.directory, diffOf(checkout)))
      expect(files.find(({ path }) => path === "src/a.ts")?.additions).toBe(1)
      expect(existsSync(proof)).toBe(false)
      expect(existsSync(join(home, "trace"))).toBe(false)
    } finally {
      for (const key of ["HOME", "GIT_EXTERNAL_DIFF", "GIT_DIR", "GIT_TRACE"]) {
        if (before[key] === undefined) delete process.env[key]
        else process.env[key] = before[key]
      }
    }
  })
})

describe("names that look like options or escape", () => {
  it.each(["refs/heads/a..b", "refs/heads/a b", "refs/heads/*", "refs/heads/a:refs/heads/b", "refs/../config", "\n"])(
    "%j is not fetched",
    async (headRef) => {
      const missing = { head: "2".repeat(40), headRef, baseRef: undefined }
      await expect(run(diffOf, missing)).rejects.toMatchObject({ reason: "absent" })
    }
  )
})

it("the proof would be written by a git that obeys", async () => {
  const child = spawn("git", ["diff", "--ext-diff", base, head], { cwd: repository.path, stdio: "ignore" })
  await new Promise((resolve) => child.on("close", resolve))
  expect(existsSync(proof)).toBe(true)
})
