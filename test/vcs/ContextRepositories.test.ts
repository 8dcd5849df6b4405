/** Further repositories of a review, over real git: revisions, credentials, size, and paths that lead out. */
import { randomBytes } from "node:crypto"
import { readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Redacted } from "effect"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import type { GitMountRequest } from "../../src/vcs/ContextRepositories.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { startGitServer } from "./GitServer.ts"
import type { GitServer } from "./GitServer.ts"
import { makeRepository, temporaryFolder } from "./Repository.ts"

const projects = temporaryFolder()
const library = makeRepository(join(projects, "library"))
const large = makeRepository(join(projects, "large"))
const secret = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0LXRva2Vu"
let server: GitServer
let locked: GitServer
let first = ""
let second = ""

beforeAll(async () => {
  library.write("src/add.ts", "export const add = 1\n")
  library.write("README.md", "one\n")
  symlinkSync("/etc/passwd", join(library.path, "outside"))
  symlinkSync("src", join(library.path, "inside"))
  library.write("picture.bin", Buffer.from([0, 1, 2]))
  first = library.commit("one")
  library.git("tag", "-a", "v1", "-m", "one")
  library.write("README.md", "two\n")
  second = library.commit("two")
  large.write("data.bin", randomBytes(3 * 1024 * 1024))
  large.commit("large")
  large.git("checkout", "-q", "-b", "packed")
  large.write("zeros.txt", "0".repeat(5 * 1024 * 1024))
  large.remove("data.bin")
  large.commit("much that packs well")
  large.git("checkout", "-q", "main")
  server = await startGitServer({ root: projects })
  locked = await startGitServer({ root: projects, authorization: secret.slice("Authorization: ".length) })
})
afterAll(() => Promise.all([server.close(), locked.close()]))

const mount = (overrides: Partial<GitMountRequest> = {}) =>
  Effect.flatMap(ContextRepositories, (contexts) =>
    contexts.mount({
      url: `${server.url}/library/.git`,
      ref: undefined,
      authorization: undefined,
      maxBytes: 1_048_576,
      ...overrides
    })
  )
const limits = { maxBytes: 1000, maxNames: 10 }
const read = (path: string, overrides: Partial<GitMountRequest> = {}) =>
  Effect.scoped(Effect.flatMap(mount(overrides), (found) => found.read(path, limits)))
const run = <A, E>(effect: Effect.Effect<A, E, ContextRepositories>, root = temporaryFolder()) =>
  Effect.runPromise(effect.pipe(Effect.provide(layerGit({ root, limits: () => localLimits }))))
const outcome = <A, E>(effect: Effect.Effect<A, E, ContextRepositories>, root = temporaryFolder()) =>
  run(Effect.result(effect), root)

describe("a revision", () => {
  it.each([
    ["the default branch", undefined, "two\n"],
    ["a branch", "main", "two\n"],
    ["an annotated tag", "v1", "one\n"],
    ["a ref by its whole name", "refs/tags/v1", "one\n"]
  ])("%s", async (_, ref, text) => {
    expect(await run(read("README.md", { ref }))).toEqual({ _tag: "File", text })
  })

  it("is pinned by a commit id, and stays what it is while the branch moves on", async () => {
    const seen = await run(
      Effect.gen(function* () {
        const pinned = yield* mount({ ref: first })
        return [pinned.commit, yield* pinned.read("README.md", limits)]
      }).pipe(Effect.scoped)
    )
    expect(seen).toEqual([first, { _tag: "File", text: "one\n" }])
  })

  it("follows its branch from review to review, in one mirror, one commit deep", async () => {
    const root = temporaryFolder()
    const moving = makeRepository(join(projects, "moving"))
    moving.write("a.txt", "1\n")
    moving.commit()
    const url = `${server.url}/moving/.git`
    expect(await run(read("a.txt", { url }), root)).toEqual({ _tag: "File", text: "1\n" })
    moving.write("a.txt", "2\n")
    moving.commit()
    expect(await run(read("a.txt", { url }), root)).toEqual({ _tag: "File", text: "2\n" })
    expect(readdirSync(join(root, "mirrors"))).toHaveLength(1)
    const before = server.requests.length
    expect(await run(read("a.txt", { url }), root)).toEqual({ _tag: "File", text: "2\n" })
    // Commits that exist locally are not fetched: only the name is resolved.
    expect(server.requests.slice(before).every(({ body }) => !body.includes("want "))).toBe(true)
  })

  it.each([
    ["no-such-branch", "no branch or tag named no-such-branch"],
    ["../x", "invalid git ref name"],
    ["a b", "invalid git ref name"]
  ])("%s is refused by name", async (ref, message) => {
    expect(await outcome(read("README.md", { ref }))).toMatchObject({
      failure: { reason: "missing", message: expect.stringContaining(message) }
    })
  })

  it("is served by a server that does not support commits by id", async () => {
    const old = await startGitServer({ root: projects, protocol: "0" })
    try {
      expect(await run(read("README.md", { url: `${old.url}/library/.git`, ref: "main" }))).toMatchObject({
        text: "two\n"
      })
    } finally {
      await old.close()
    }
  })
})

describe("credentials", () => {
  const url = () => `${locked.url}/library/.git`

  it("open the repository, and are required again where a mirror exists already", async () => {
    const root = temporaryFolder()
    const authorization = Redacted.make(secret)
    expect(await run(read("README.md", { url: url(), authorization }), root)).toMatchObject({ text: "two\n" })
    expect(await outcome(read("README.md", { url: url() }), root)).toMatchObject({
      failure: { reason: "unauthorized" }
    })
    const wrong = Redacted.make("Authorization: Basic d3Jvbmc6d3Jvbmctd3Jvbmc=")
    const refused = await outcome(read("README.md", { url: url(), authorization: wrong }), root)
    expect(refused).toMatchObject({ failure: { reason: "unauthorized" } })
    expect(JSON.stringify(refused)).not.toContain("d3Jvbmc6")
  })

  it.each([
    "https://user:password@git.example/a",
    "ssh://git@git.example/a",
    "git@git.example:a/b",
    "/etc",
    "file:///etc"
  ])("the URL %s is refused", async (refused) => {
    expect(await outcome(read("README.md", { url: refused }))).toMatchObject({ failure: { reason: "failed" } })
  })
})

describe("paths", () => {
  it.each([
    ["", { _tag: "Directory", names: ["README.md", "inside", "outside", "picture.bin", "src/"], more: 0 }],
    ["src", { _tag: "Directory", names: ["add.ts"], more: 0 }],
    ["src/add.ts", { _tag: "File", text: "export const add = 1\n" }],
    ["outside", { _tag: "Refused", why: "it is a symbolic link, which is not followed" }],
    ["inside/add.ts", { _tag: "Refused", why: "no such file or directory" }],
    ["../library/README.md", { _tag: "Refused", why: "no such file or directory" }],
    ["/etc/passwd", { _tag: "Refused", why: "no such file or directory" }],
    ["src/../README.md", { _tag: "Refused", why: "no such file or directory" }],
    ["nothing", { _tag: "Refused", why: "no such file or directory" }],
    ["picture.bin", { _tag: "Refused", why: "it is not text, or it is too large" }]
  ])("%j", async (path, expected) => {
    expect(await run(read(path))).toEqual(expected)
  })

  it("a directory is shown in part where it is long", async () => {
    const seen = await run(
      Effect.scoped(Effect.flatMap(mount(), (found) => found.read("", { maxBytes: 10, maxNames: 2 })))
    )
    expect(seen).toEqual({ _tag: "Directory", names: ["README.md", "inside"], more: 3 })
  })
})

describe("size", () => {
  const over = { failure: { reason: "failed", message: expect.stringContaining("it is larger than max_mb") } }

  it.each([
    ["what does not pack", "main"],
    ["what packs to almost nothing", "packed"]
  ])("over the limit fails and is not kept: %s", async (_, ref) => {
    const root = temporaryFolder()
    const url = `${server.url}/large/.git`
    const request = { url, ref, maxBytes: 1_048_576 }
    const requests = await run(
      Effect.gen(function* () {
        expect(yield* Effect.result(read("zeros.txt", request))).toMatchObject(over)
        const before = server.requests.length
        expect(yield* Effect.result(read("zeros.txt", request))).toMatchObject(over)
        return server.requests.slice(before)
      }),
      root
    )
    // The second request finds the size in memory: only the name is resolved.
    expect(requests.every(({ body }) => !body.includes("want "))).toBe(true)
    const [mirror = ""] = readdirSync(join(root, "mirrors"))
    expect(readdirSync(join(root, "mirrors", mirror, "refs", "aicr"))).toEqual([])
    expect(await run(read("zeros.txt", { ...request, maxBytes: 6 * 1_048_576 }), root)).toMatchObject({
      _tag: "Refused"
    })
  })
})

it("a fetch is ended when its data exceed the limit", async () => {
  const slow = await startGitServer({ root: projects, stallAfter: 2 * 1_048_576 })
  const root = temporaryFolder()
  try {
    const request = { url: `${slow.url}/large/.git`, ref: "main" }
    expect(await outcome(read("data.bin", request), root)).toMatchObject({
      failure: { message: expect.stringContaining("it is larger than max_mb (2 of 1 MiB)") }
    })
    const [mirror = ""] = readdirSync(join(root, "mirrors"))
    expect(readdirSync(join(root, "mirrors", mirror, "objects", "pack"))).toEqual([])
  } finally {
    await slow.close()
  }
})

it("many concurrent reviews share one fetch", async () => {
  const root = temporaryFolder()
  const before = server.requests.length
  const seen = await run(
    Effect.forEach(Array.from({ length: 8 }), () => read("README.md"), { concurrency: 8 }),
    root
  )
  expect(seen).toEqual(Array.from({ length: 8 }, () => ({ _tag: "File", text: "two\n" })))
  const fetches = server.requests.slice(before).filter(({ body }) => body.includes(`want ${second}`))
  expect(fetches).toHaveLength(1)
})
