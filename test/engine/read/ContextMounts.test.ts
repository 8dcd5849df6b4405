/** Further repositories in a review: named to the model, read by it, and skipped with a reason where they cannot be read. */
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Logger } from "effect"
import { readBlame, readHead } from "../../../src/agent/tools/ReadLines.ts"
import { repositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import type { RepositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import type { Brief } from "../../../src/agent/Agent.ts"
import { contextProblems, mountContext } from "../../../src/engine/read/ContextMounts.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { startGitServer } from "../../vcs/GitServer.ts"
import type { GitServer } from "../../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

const projects = temporaryFolder()
const library = makeRepository(join(projects, "library"))
const token = "library-token-1"
let server: GitServer

const repository = makeRepository()
repository.write("a.ts", "add(1)\n")
const base = repository.commit()
repository.write("a.ts", "add(1, 2)\n")
const head = repository.commit()

beforeAll(async () => {
  library.write("src/add.ts", `export const add = (a) => a\nconst token = "ghp_${"a1B2".repeat(9)}"\n`)
  library.write("src/more.ts", "1\n")
  symlinkSync("/etc/hostname", join(library.path, "link"))
  library.commit()
  const authorization = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`
  server = await startGitServer({ root: projects, authorization })
})
afterAll(() => server.close())

const good = () => ({ alias: "lib", kind: "git", url: `${server.url}/library/.git`, token })

const review = async (
  repositories: ReadonlyArray<Record<string, unknown>>,
  look: (read: RepositoryReader, brief: Brief) => Effect.Effect<unknown> = () => Effect.void,
  settings: Record<string, unknown> = {},
  outsider?: string
) => {
  const document = { workspaces: { instances: { w: instance(repositories) } } }
  let seen: unknown
  const snapshot = await Effect.runPromise(toSnapshot(documentWith(repositories), {}))
  const workspace = snapshot.workspaces.get("w")
  if (workspace === undefined) throw new Error("no workspace")
  const found = await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* mountContext(snapshot, workspace, outsider)
      return yield* Effect.promise(() =>
        runEngine({
          repository,
          base,
          head,
          document,
          review: settings,
          context,
          agent: (brief) =>
            Effect.gen(function* () {
              const read = repositoryReader(
                brief.checkout,
                brief.code,
                brief.workspace.review.fetch_extra,
                brief.context
              )
              seen = yield* look(read, brief)
              return emptyReport
            })
        })
      )
    }).pipe(
      Effect.scoped,
      Effect.provide([layerGit({ root: temporaryFolder(), limits: () => localLimits }), Logger.layer([])])
    )
  )
  return { ...found, seen, system: found.briefs[0]?.system ?? "" }
}
const instance = (repositories: ReadonlyArray<Record<string, unknown>>) => ({
  source_repo: { trigger: "t", repo: "a/b" },
  context_repositories: repositories
})
const documentWith = (repositories: ReadonlyArray<Record<string, unknown>>) => ({
  triggers: [{ name: "t", kind: "manual" }],
  workspaces: { instances: { w: instance(repositories) } }
})

const fetch = (path: string, range?: string) => (read: RepositoryReader) =>
  readHead(read, { path, ...(range === undefined ? {} : { range }) })

describe("a further repository", () => {
  it("is named to the model", async () => {
    expect((await review([good()])).system).toContain("as `alias:path`: lib.")
    expect((await review([])).system).not.toContain("alias:path")
  })

  it.each([
    ["lib:src/add.ts", "lib:src/add.ts, lines 1 to 3 of 3:\n1: export const add = (a) => a\n2: "],
    ["lib:src/add.ts", "[secret removed]"],
    ["lib:src", "lib:src, a directory:\nadd.ts\nmore.ts"],
    ["lib:", "lib:, a directory:\nlink\nsrc/"],
    ["lib:link", "not available: it is a symbolic link, which is not followed"],
    ["lib:../library/src/add.ts", "refused: the path must be relative to the repository"],
    ["lib:src/../../x", "refused: the path must be relative to the repository"],
    ["lib:.git/config", "refused: the path must be relative to the repository"],
    ["lib:nothing.ts", "not available: no such file or directory"],
    ["other:src/add.ts", "not available: no such text file"],
    ["a.ts", "1: add(1, 2)"]
  ])("%s results in %j", async (path, expected) => {
    expect((await review([good()], fetch(path))).seen).toContain(expected)
  })

  it("has no history to blame", async () => {
    const { seen } = await review([good()], (read) => readBlame(read, { path: "lib:src/add.ts" }))
    expect(seen).toBe("not available: lib is read at one commit, without its history")
  })

  it("shares the limits of extra context", async () => {
    const both = (read: RepositoryReader) => Effect.all([fetch("lib:src/add.ts")(read), fetch("a.ts")(read)])
    const { seen } = await review([good()], both, { fetch_extra: { max_files: 1 } })
    expect(seen).toEqual([
      expect.stringContaining("export const add"),
      "refused: the limit of 1 extra files for this review is used up"
    ])
    const allowed = await review([good()], both, { fetch_extra: { allow_paths: ["lib:src/**"] } })
    expect(allowed.seen).toEqual([
      expect.stringContaining("export const add"),
      "refused: the configuration does not allow this path"
    ])
  })
})

describe("a repository that cannot be read", () => {
  const without = (notice: string) => `The context repository lib was not read: ${notice}.`
  it.each([
    [{ token: "wrong-token-1" }, "its host does not let us in; set its token_env"],
    [{ ref: "gone" }, "no branch or tag named gone"],
    [{ token: undefined, token_env: "NOT_SET" }, "the variable NOT_SET is not set"]
  ])("%j is reported, and the review continues with the others", async (overrides, notice) => {
    const { analysis, system } = await review([
      { ...good(), ...overrides },
      { ...good(), alias: "second" }
    ])
    expect(analysis.notices.map(inEnglish)).toEqual([expect.stringContaining(notice)])
    expect(analysis.coverage.reviewed).toEqual(["a.ts"])
    expect(system).toContain("as `alias:path`: second.")
    expect(JSON.stringify(analysis)).not.toContain("wrong-token")
  })

  it("one that is for members, where the requester is not a member", async () => {
    const repositories = [good(), { ...good(), alias: "open", visibility: "any_author" }]
    const { analysis, system } = await review(repositories, undefined, {}, "mallory")
    expect(analysis.notices.map(inEnglish)).toEqual([
      without("mallory has no write access to this repository, and only members may have it read")
    ])
    expect(system).toContain("as `alias:path`: open.")
    expect((await review(repositories)).analysis.notices).toEqual([])
  })

  it("too large", async () => {
    const large = makeRepository(join(projects, "large"))
    large.write("zeros.txt", "0".repeat(2 * 1024 * 1024))
    large.commit()
    const { analysis } = await review([{ ...good(), url: `${server.url}/large/.git`, max_mb: 1 }])
    expect(analysis.notices.map(inEnglish)).toEqual([without("it is larger than max_mb (2 of 1 MiB)")])
  })

  it("one of Perforce without a user is incomplete: reported at the start and on the review", async () => {
    const one = { alias: "lib", kind: "perforce", port: "p4:1666", depot_path: "//depot/..." }
    const snapshot = await Effect.runPromise(toSnapshot(documentWith([one]), {}))
    const user = { _tag: "ServerFieldMissing", owner: { _tag: "OwnerRepository" }, field: "user" }
    expect(contextProblems(snapshot)).toMatchObject([
      { severity: "warning", reason: { _tag: "ContextNotReadInReviews", alias: "lib", reason: user } }
    ])
    expect((await review([one])).analysis.notices.map(inEnglish)).toEqual([without("it has no user")])
  })
})
