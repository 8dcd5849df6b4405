import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Redacted, Stream } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import type { Checkout, GitCheckoutRequest } from "../../../src/vcs/Checkout.ts"
import { encode } from "../../harness/Encode.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { startGitServer } from "../GitServer.ts"
import type { GitServer } from "../GitServer.ts"
import { wholeDiff } from "../WholeDiff.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const projects = temporaryFolder()
const repository = makeRepository(join(projects, "shop.git"))
let server: GitServer
let base = ""
let mergeBase = ""
let head = ""

const request = (overrides: Partial<GitCheckoutRequest> = {}): GitCheckoutRequest => ({
  url: `${server.url}/shop.git/.git`,
  mirror: "test/shop",
  authorization: undefined,
  head,
  base,
  headRef: "refs/pull/7/head",
  baseRef: "refs/heads/main",
  rules: undefined,
  compare: "merge-base",
  ...overrides
})

const run = <A, E>(
  use: (checkout: Checkout) => Effect.Effect<A, E>,
  overrides: Partial<GitCheckoutRequest> = {},
  root = temporaryFolder()
) =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(Vcs, (vcs) => vcs.checkout(request(overrides))).pipe(Effect.flatMap(use))).pipe(
      Effect.provide(layerGit({ root, limits: () => localLimits }))
    )
  )

const diffText = (checkout: Checkout) =>
  Stream.runFold(
    wholeDiff(checkout),
    () => "",
    (text, chunk) => text + Buffer.from(chunk).toString()
  )

beforeAll(async () => {
  repository.write("src/a.ts", "one\ntwo\nthree\n")
  repository.write("AGENTS.md", "rules\n")
  repository.write(".aicr/style.md", "style\n")
  mergeBase = repository.commit("first")
  repository.git("checkout", "-q", "-b", "feature")
  repository.write("src/a.ts", "one\n2\nthree\n")
  repository.write("bin.dat", Buffer.from([1, 0, 2]))
  head = repository.commit("feature")
  repository.git("update-ref", "refs/pull/7/head", head)
  repository.git("checkout", "-q", "main")
  repository.write("other.txt", "x\n")
  base = repository.commit("main moves on")
  repository.git("branch", "-q", "-D", "feature")
  server = await startGitServer({ root: projects })
})
afterAll(() => server.close())

describe("checkout over http", () => {
  it("reads files in GBK and their diffs as the same text", async () => {
    repository.git("checkout", "-q", "-b", "legacy", base)
    repository.write("gbk.c", encode("gb18030", "int a; // 中文注释\nint b;\n"))
    const before = repository.commit("legacy")
    repository.write("gbk.c", encode("gb18030", "int a; // 新的中文注释\nint b;\n"))
    repository.write("new.c", "plain\n")
    const after = repository.commit("changed")
    repository.git("checkout", "-q", "main")
    repository.git("update-ref", "refs/pull/8/head", after)
    const seen = await run(
      (checkout) => Effect.all({ diff: diffText(checkout), text: checkout.file("gbk.c", "head", 1000) }),
      {
        base: before,
        head: after,
        headRef: "refs/pull/8/head"
      }
    )
    expect(seen.diff).toContain("-int a; // 中文注释\n+int a; // 新的中文注释\n int b;\n")
    expect(seen.text).toBe("int a; // 新的中文注释\nint b;\n")
    repository.git("branch", "-q", "-D", "legacy")
  })

  it("diffs from the merge base and reads files of both ends", async () => {
    const seen = await run((checkout) =>
      Effect.all({
        from: Effect.succeed(checkout.from),
        diff: diffText(checkout),
        head: checkout.file("src/a.ts", "head", 100),
        before: checkout.file("src/a.ts", "from", 100),
        missing: checkout.file("nope.ts", "head", 100),
        large: checkout.file("src/a.ts", "head", 5),
        binary: checkout.file("bin.dat", "head", 100),
        outside: checkout.file("../../etc/passwd", "head", 100),
        rules: checkout.list(".aicr", "from", 10),
        root: checkout.list("", "head", 10),
        blame: checkout.blame("src/a.ts", 1, 2),
        noLines: checkout.blame("src/a.ts", 50, 60)
      })
    )
    expect(seen.from).toBe(mergeBase)
    expect(seen.diff).toContain("--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
    expect(seen.diff).not.toContain("other.txt")
    expect(seen).toMatchObject({ head: "one\n2\nthree\n", before: "one\ntwo\nthree\n" })
    expect([seen.missing, seen.large, seen.binary, seen.outside]).toEqual([undefined, undefined, undefined, undefined])
    expect(seen.rules).toEqual(["style.md"])
    expect(seen.root).toEqual(["AGENTS.md", "bin.dat"])
    expect(seen.blame.map(({ line, commit, author }) => [line, commit, author])).toEqual([
      [1, mergeBase, "Ada"],
      [2, head, "Ada"]
    ])
    expect(seen.noLines).toEqual([])
  })

  it("makes a worktree on request and removes it with the scope", async () => {
    const root = temporaryFolder()
    const directory = await run(
      (checkout) =>
        Effect.map(Effect.all([checkout.directory, checkout.directory]), ([first, second]) => {
          expect(second).toBe(first)
          expect(readFileSync(join(first, "src/a.ts"), "utf8")).toBe("one\n2\nthree\n")
          return first
        }),
      {},
      root
    )
    expect(existsSync(directory)).toBe(false)
    const mirror = join(root, "mirrors", readdirSync(join(root, "mirrors"))[0] ?? "")
    expect(readdirSync(join(mirror, "worktrees"))).toEqual([])
  })

  it("fetches exact commits from the server, never its refs, and none that it has already", async () => {
    const root = temporaryFolder()
    server.requests.length = 0
    await run(diffText, {}, root)
    const bodies = server.requests.map(({ body }) => body).join("\n")
    expect(bodies).toContain(`want ${head}`)
    expect(bodies).not.toContain("ls-refs")
    server.requests.length = 0
    await run(diffText, {}, root)
    expect(server.requests).toEqual([])
  })

  it("falls back to refs where ids are refused", async () => {
    const old = await startGitServer({ root: projects, protocol: "0" })
    // No ref of this clone points at the wanted commits: its branch has moved on by one.
    repository.git("clone", "-q", "--mirror", repository.path, join(projects, "moved.git"))
    const moved = makeRepository()
    moved.git("fetch", "-q", repository.path, "refs/pull/7/head:refs/heads/next")
    moved.git("checkout", "-q", "next")
    const next = moved.commit("later")
    moved.git("push", "-q", join(projects, "moved.git"), `${next}:refs/pull/7/head`)
    try {
      const url = `${old.url}/moved.git`
      const diff = await run(diffText, { url, mirror: "old" })
      expect(diff).toContain("+2\n")
      expect(old.requests.length).toBeGreaterThan(2)
      await expect(run(diffText, { url, mirror: "old", headRef: undefined })).rejects.toMatchObject({
        reason: "absent"
      })
      await expect(run(diffText, { url, mirror: "old", headRef: "main" })).rejects.toMatchObject({
        reason: "absent",
        message: expect.stringContaining(head)
      })
    } finally {
      await old.close()
    }
  })

  it("ends git when its reader leaves", async () => {
    const first = await run((checkout) => Stream.runHead(wholeDiff(checkout)))
    expect(first._tag).toBe("Some")
  })
})

describe("failures have a reason that determines the next step", () => {
  const failing = (overrides: Partial<GitCheckoutRequest>) => run(diffText, overrides)

  it.each([
    ["no such repository", () => ({ url: `${server.url}/nope.git` }), "missing"],
    ["no such commit", () => ({ head: "1".repeat(40), headRef: undefined }), "absent"],
    ["nobody listens", () => ({ url: "http://127.0.0.1:1/x.git" }), "unreachable"],
    ["a short id", () => ({ head: "abc" }), "failed"],
    ["an option as id", () => ({ head: "--upload-pack=touch" }), "failed"],
    ["a local path", () => ({ url: repository.path }), "failed"],
    ["another transport", () => ({ url: "ext::sh -c touch% /tmp/x" }), "failed"],
    ["credentials in the URL", () => ({ url: "https://user:secret@127.0.0.1/x.git" }), "failed"]
  ])("%s", async (_name, overrides, reason) => {
    await expect(failing(overrides())).rejects.toMatchObject({ _tag: "CheckoutError", reason })
  })

  it.each([
    [503, "unreachable"],
    [403, "unauthorized"],
    [404, "missing"]
  ])("HTTP %i", async (status, reason) => {
    server.status = status
    try {
      await expect(failing({})).rejects.toMatchObject({ reason })
    } finally {
      server.status = undefined
    }
  })

  it("a refused credential, without showing it", async () => {
    const locked = await startGitServer({ root: projects, authorization: "Basic right" })
    try {
      const url = `${locked.url}/shop.git/.git`
      const header = (value: string) => Redacted.make(`Authorization: Basic ${value}`)
      await expect(failing({ url, authorization: header("wrong-credential") })).rejects.toMatchObject({
        reason: "unauthorized",
        message: expect.not.stringContaining("wrong-credential")
      })
      await expect(failing({ url, authorization: header("right") })).resolves.toContain("+2\n")
    } finally {
      await locked.close()
    }
  })
})
