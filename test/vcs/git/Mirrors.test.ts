/** Mirrors and worktrees over time: many at the same time, crashes, old refs, other object formats, other ranges. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Stream } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import type { Checkout, GitCheckoutRequest } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { refName } from "../../../src/vcs/git/Fetch.ts"
import { mirrorFolder } from "../../../src/vcs/git/Mirrors.ts"
import { SmallDisk } from "../../harness/SmallDisk.ts"
import { startGitServer } from "../GitServer.ts"
import type { GitServer } from "../GitServer.ts"
import { wholeDiff } from "../WholeDiff.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const projects = temporaryFolder()
const repository = makeRepository(join(projects, "shop"))
const heads: Array<string> = []
let server: GitServer
let base = ""

beforeAll(async () => {
  repository.write("a.txt", "base\n")
  base = repository.commit("base")
  for (let i = 0; i < 20; i++) {
    repository.git("checkout", "-q", "--detach", base)
    repository.write("a.txt", `head ${i}\n`)
    repository.write("large.txt", "0123456789abcdef\n".repeat(50_000))
    heads.push(repository.commit(`head ${i}`))
    repository.git("update-ref", `refs/pull/${i}/head`, heads[i] ?? "")
  }
  server = await startGitServer({ root: projects })
})
afterAll(() => server.close())

const checkout = (overrides: Partial<GitCheckoutRequest> = {}) =>
  Effect.flatMap(Vcs, (vcs) =>
    vcs.checkout({
      url: `${server.url}/shop/.git`,
      mirror: "shop",
      authorization: undefined,
      head: heads[0] ?? "",
      base,
      headRef: undefined,
      baseRef: undefined,
      rules: undefined,
      compare: "merge-base",
      ...overrides
    })
  )

const run = <A, E>(effect: Effect.Effect<A, E, Vcs>, root = temporaryFolder(), allowLocal = false) =>
  Effect.runPromise(effect.pipe(Effect.provide(layerGit({ root, limits: () => localLimits, allowLocal }))))

const diffText = (found: Checkout) =>
  Effect.map(Stream.runCollect(wholeDiff(found)), (chunks) => Buffer.concat(chunks).toString())

const mirrorOf = (root: string) => join(root, "mirrors", mirrorFolder("shop"))

describe("mirrors", () => {
  it("serve many concurrent checkouts, each its own head, while worktrees are added and removed", async () => {
    const root = temporaryFolder()
    const wanted = Array.from({ length: 40 }, (_, i) => heads[i % heads.length] ?? "")
    const seen = await run(
      Effect.forEach(
        wanted,
        (head) =>
          Effect.scoped(
            Effect.flatMap(checkout({ head }), (found) =>
              Effect.all([found.file("a.txt", "head", 100), found.directory], { concurrency: 2 })
            )
          ),
        { concurrency: 10 }
      ),
      root
    )
    expect(seen.map(([text]) => text)).toEqual(wanted.map((head) => `head ${heads.indexOf(head)}\n`))
    expect(new Set(seen.map(([, directory]) => directory)).size).toBe(wanted.length)
    expect(readdirSync(join(root, "worktrees"))).toEqual([])
    expect(readdirSync(join(root, "mirrors"))).toEqual([mirrorFolder("shop")])
    expect(readdirSync(mirrorOf(root)).filter((name) => name.startsWith("gone"))).toEqual([])
  })

  it("recover from the remains of a killed process: locks, half a pack, half a mirror, worktrees", async () => {
    const root = temporaryFolder()
    await run(Effect.scoped(checkout()), root)
    const mirror = mirrorOf(root)
    writeFileSync(join(mirror, "refs", "aicr", `${heads[1]}.lock`), "")
    writeFileSync(join(mirror, "objects", "pack", "tmp_pack_x"), "half")
    const orphan = join(root, "worktrees", `${process.pid}-0123456789ab-1`)
    const dead = join(root, "worktrees", "4194304-0123456789ab-1")
    const alive = join(root, "worktrees", "1-0123456789ab-1")
    for (const directory of [orphan, dead, alive, join(mirror, "worktrees", "gone")])
      mkdirSync(directory, { recursive: true })
    await run(Effect.scoped(Effect.flatMap(checkout({ head: heads[1] ?? "" }), ({ directory }) => directory)), root)
    expect(readdirSync(join(root, "worktrees"))).toEqual(["1-0123456789ab-1"])
    expect(readdirSync(join(mirror, "objects", "pack")).filter((name) => name.startsWith("tmp"))).toEqual([])
    expect(readdirSync(join(mirror, "worktrees"))).toEqual([])

    const begun = temporaryFolder()
    mkdirSync(join(mirrorOf(begun), "objects"), { recursive: true })
    expect(
      await run(Effect.scoped(Effect.flatMap(checkout(), (found) => found.file("a.txt", "head", 10))), begun)
    ).toBe("head 0\n")
  })

  it("keep few refs and few packs", async () => {
    const root = temporaryFolder()
    await run(Effect.scoped(checkout()), root)
    const refs = join(mirrorOf(root), "refs", "aicr")
    const packs = join(mirrorOf(root), "objects", "pack")
    const packFiles = () => readdirSync(packs).filter((name) => name.endsWith(".pack"))
    const [pack = ""] = packFiles()
    for (let i = 10; i < 60; i++) {
      for (const end of ["pack", "idx"]) {
        copyFileSync(join(packs, pack.replace(/pack$/, end)), join(packs, `pack-${String(i).repeat(20)}.${end}`))
      }
    }
    for (let i = 0; i < 300; i++) writeFileSync(join(refs, `old-${i}`), `${base}\n`)
    await run(Effect.scoped(checkout({ head: heads[2] ?? "" })), root)
    expect(readdirSync(refs).length).toBeLessThan(140)
    expect(packFiles().length).toBeLessThan(5)
    expect(existsSync(join(refs, heads[2] ?? ""))).toBe(true)
    expect(await run(Effect.scoped(Effect.flatMap(checkout(), diffText)), root)).toContain("+head 0\n")
  })

  it("have folders that cannot clash or escape", () => {
    const names = ["a/b", "a-b", "A/b", "../../etc", "a/b/", "", "ü"]
    const folders = names.map(mirrorFolder)
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(names.length)
    for (const folder of folders) expect(folder).toMatch(/^[a-z0-9-]*-[0-9a-f]{16}\.git$/)
  })
})

describe("ranges", () => {
  it("end points are compared directly", async () => {
    const found = await run(
      Effect.scoped(Effect.flatMap(checkout({ base: heads[1] ?? "", compare: "endpoints" }), diffText))
    )
    expect(found).toContain("-head 1\n+head 0\n")
    const merged = await run(Effect.scoped(Effect.flatMap(checkout({ base: heads[1] ?? "" }), diffText)))
    expect(merged).toContain("-base\n+head 0\n")
  })

  it("a branch that has just been created is its last commit, a first commit is everything", async () => {
    const zero = "0".repeat(40)
    const last = await run(Effect.scoped(Effect.flatMap(checkout({ base: zero, compare: "endpoints" }), diffText)))
    expect(last).toContain("-base\n+head 0\n")
    const first = await run(
      Effect.scoped(Effect.flatMap(checkout({ head: base, base: zero, compare: "endpoints" }), diffText))
    )
    expect(first).toContain("new file mode 100644")
  })

  it("histories without a common ancestor fail with an error that names the reason", async () => {
    repository.git("checkout", "-q", "--orphan", "alone")
    const alone = repository.commit("alone")
    await expect(run(Effect.scoped(checkout({ head: alone })))).rejects.toMatchObject({
      reason: "failed",
      message: expect.stringContaining("no common ancestor")
    })
  })

  it("SHA-256 repositories work", async () => {
    const modern = makeRepository(temporaryFolder(), "--object-format=sha256")
    modern.write("a.txt", "one\n")
    modern.write(".aicr/x.md", "x\n")
    const from = modern.commit("one")
    modern.write("a.txt", "two\n")
    const head = modern.commit("two")
    const request = { url: modern.path, mirror: "modern", head, base: from }
    const seen = await run(
      Effect.scoped(
        Effect.flatMap(checkout(request), (found) =>
          Effect.all([diffText(found), found.list(".aicr", "head", 5), found.file("a.txt", "from", 10)])
        )
      ),
      temporaryFolder(),
      true
    )
    expect(seen).toEqual([expect.stringContaining("-one\n+two\n"), ["x.md"], "one\n"])
  })
})

it("mirrors and worktrees are for their own user alone, also where they were made otherwise", async () => {
  const root = temporaryFolder()
  const folders = ["mirrors", "worktrees", join("mirrors", mirrorFolder("shop"))]
  const modes = () => folders.map((folder) => statSync(join(root, folder)).mode & 0o777)
  const seen = await run(
    Effect.scoped(
      Effect.flatMap(checkout(), (found) =>
        Effect.map(found.directory, (directory) => ({
          worktree: statSync(directory).mode & 0o777,
          file: statSync(join(directory, "a.txt")).mode & 0o777,
          modes: modes()
        }))
      )
    ),
    root
  )
  expect(seen).toEqual({ worktree: 0o700, file: 0o600, modes: [0o700, 0o700, 0o700] })
  for (const folder of folders) chmodSync(join(root, folder), 0o755)
  await run(Effect.scoped(checkout()), root)
  expect(modes()).toEqual([0o700, 0o700, 0o700])
})

describe("the object format of a mirror is the one of its remote", () => {
  const long = "a".repeat(64)
  const text = (request: Partial<GitCheckoutRequest> = {}) =>
    Effect.scoped(Effect.flatMap(checkout(request), (found) => found.file("a.txt", "head", 100)))

  it("a delivery that names SHA-256 ids is refused, and the next review is made", async () => {
    const root = temporaryFolder()
    const refused = await run(Effect.flip(text({ head: long, base: long })), root)
    expect(refused).toMatchObject({ reason: "failed", message: expect.stringContaining("repository is sha1") })
    expect(await run(text(), root)).toBe("head 0\n")
    const again = await run(Effect.flip(text({ head: long, base: long })), root)
    expect(again).toMatchObject({ reason: "failed" })
    expect(await run(text(), root)).toBe("head 0\n")
  })

  it("also within one process, where the mirror stays open", async () => {
    const seen = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const open = yield* checkout()
          const refused = yield* Effect.flip(text({ head: long, base: long }))
          return [refused.reason, yield* open.file("a.txt", "head", 100), yield* text({ head: heads[1] ?? "" })]
        })
      )
    )
    expect(seen).toEqual(["failed", "head 0\n", "head 1\n"])
  })

  it("ids of two formats in one delivery are refused", async () => {
    const rules = { commit: long, ref: "HEAD" }
    for (const request of [{ head: long }, { base: long }, { rules }]) {
      const refused = await run(Effect.flip(text(request)))
      expect(refused.message).toContain("different object formats")
    }
  })

  it("a mirror of the wrong format is rebuilt, a damaged one too", async () => {
    const root = temporaryFolder()
    await run(text(), root)
    const mirror = mirrorOf(root)
    rmSync(mirror, { recursive: true })
    makeRepository(mirror, "--bare", "--object-format=sha256")
    mkdirSync(join(mirror, "info"), { recursive: true })
    writeFileSync(join(mirror, "info", "attributes"), "")
    expect(await run(text(), root)).toBe("head 0\n")
    rmSync(join(mirror, "HEAD"))
    expect(await run(text(), root)).toBe("head 0\n")
  })

  it("SHA-256 repositories are fetched, and their SHA-1 ids refused", async () => {
    const modern = makeRepository(join(projects, "modern"), "--object-format=sha256")
    modern.write("a.txt", "one\n")
    const from = modern.commit("one")
    modern.write("a.txt", "two\n")
    const head = modern.commit("two")
    const url = `${server.url}/modern/.git`
    const root = temporaryFolder()
    const refused = await run(Effect.flip(text({ url })), root)
    expect(refused.reason).toBe("failed")
    expect(await run(text({ url, head, base: from }), root)).toBe("two\n")
    expect(await run(Effect.flip(text({ url })), root)).toMatchObject({
      message: expect.stringContaining("repository is sha256")
    })
    expect(await run(text({ url, head, base: from }), root)).toBe("two\n")
  })
})

it.runIf(process.platform === "linux")(
  "git ends when the reader of a diff leaves, though most of it is unread",
  async () => {
    const root = temporaryFolder()
    // The arguments of every git process of this root; they name its mirror.
    const running = () =>
      readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => {
          try {
            return readFileSync(`/proc/${name}/cmdline`, "latin1")
          } catch {
            return ""
          }
        })
        .filter((argv) => argv.includes(root) && argv.includes("diff-tree"))
    const seen = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const found = yield* checkout()
          const during = yield* Effect.scoped(
            Effect.gen(function* () {
              const pull = yield* Stream.toPull(wholeDiff(found))
              yield* pull
              return running()
            })
          )
          return { during, after: running() }
        })
      ),
      root
    )
    expect(seen.during).toHaveLength(1)
    expect(seen.after).toEqual([])
  }
)

it.each([
  ["main", "refs/heads/main"],
  ["refs/pull/7/head", "refs/pull/7/head"],
  ["-x", "refs/heads/-x"],
  ["a..b", undefined],
  ["a.lock", undefined],
  ["a b", undefined],
  ["a/", undefined],
  ["", undefined],
  [undefined, undefined]
])("ref %s is fetched as %s", (given, expected) => expect(refName(given)).toBe(expected))

it.skipIf(!SmallDisk.isPossible)("a full disk is the reason of a checkout that fails because of it", async () => {
  using disk = new SmallDisk(join(temporaryFolder(), "root"), 4)
  disk.fill()
  await expect(run(Effect.scoped(checkout()), disk.folder)).rejects.toMatchObject({ reason: "disk" })
})
