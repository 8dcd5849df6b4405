/** The program `aicr review` as people and builds call it: through its file in `bin` and through npm, in their own folder. */
import { execFile } from "node:child_process"
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { review as fakeReview, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { honest } from "../harness/Installation.ts"
import { runAicr } from "../harness/RunAicr.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"

const root = join(import.meta.dirname, "../..")
const program = join(root, "bin/aicr")

let model: FakeModel
beforeAll(async () => {
  model = await startFakeModel(honest)
})
afterAll(() => model[Symbol.asyncDispose]())

const variables = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`,
  HOME: temporaryFolder(),
  NO_COLOR: "1",
  LANG: "en_GB.UTF-8",
  OPENAI_API_KEY: "key",
  OPENAI_BASE_URL: `${model.url}/v1`,
  ...more
})
const call = (command: string, args: ReadonlyArray<string>, cwd: string, more: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((done) => {
    execFile(command, [...args], { cwd, env: variables(more) }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })
const review = (cwd: string, ...args: ReadonlyArray<string>) => runAicr(["review", ...args], { cwd, env: variables() })

const marked = (name: string): string =>
  `export const first = 1\nexport const marked = "marker-${name}-end"\nexport const last = 1\n`

/** A repository with one commit. */
const start = () => {
  const repository = makeRepository()
  repository.write("README.md", "# Start\n")
  repository.commit()
  return repository
}
/** A clone with a pushed branch checked out, and without the name of the remote's default branch, which is `develop` or `main`. */
const cloneOf = (branch: string, main = "develop") => {
  const source = start()
  source.git("branch", "-m", main)
  source.git("checkout", "-q", "-b", branch)
  source.write("src/feature.ts", marked("feature"))
  source.commit()
  const clone = makeRepository()
  clone.git("remote", "add", "origin", source.path)
  clone.git("fetch", "-q", "origin")
  clone.git("checkout", "-q", "-B", branch, `origin/${branch}`)
  return clone
}
const filesOf = (out: string): ReadonlyArray<string> =>
  JSON.parse(out).findings.map((finding: { readonly file: string }) => finding.file)

describe("aicr review", () => {
  it("reviews the repository of the caller: through a link to bin, and through npm run", async () => {
    const repository = start()
    repository.write("src/own.ts", marked("own"))
    repository.commit()
    const linked = join(temporaryFolder(), "aicr")
    await symlink(program, linked)
    const direct = await call(linked, ["review", ".", "--base", "HEAD~1", "--format", "json"], repository.path)
    expect([direct.code, direct.err, filesOf(direct.out)]).toEqual([0, expect.any(String), ["src/own.ts"]])
    const npm = await call(
      "npm",
      ["--prefix", root, "run", "-s", "aicr", "--", "review", ".", "--base", "HEAD~1", "--format", "json"],
      repository.path
    )
    expect([npm.code, filesOf(npm.out)]).toEqual([0, ["src/own.ts"]])
  }, 120_000)

  it("reviews with a model that refuses to be forced to call a tool", async () => {
    const repository = start()
    repository.write("src/own.ts", marked("own"))
    repository.commit()
    const message = "The tool_choice parameter does not support being set to required in thinking mode"
    await using thinking = await startFakeModel((request) =>
      Object(request.body)["tool_choice"] === "required"
        ? { status: 400, body: JSON.stringify({ error: { message } }) }
        : honest(request)
    )
    const { code, out } = await runAicr(["review", "--base", "HEAD~1", "--format", "json", "--fail-on", "low"], {
      cwd: repository.path,
      env: variables({ OPENAI_BASE_URL: `${thinking.url}/v1` })
    })
    expect([code, filesOf(out)]).toEqual([1, ["src/own.ts"]])
  }, 120_000)

  it("reviews what is staged, or all that is not committed, and changes nothing", async () => {
    const repository = start()
    repository.write("src/staged.ts", marked("staged"))
    repository.git("add", "src/staged.ts")
    repository.write("src/new.ts", marked("new"))
    repository.write(".gitignore", "ignored.ts\n")
    repository.write("ignored.ts", marked("ignored"))
    const before = [
      repository.git("status", "--porcelain"),
      repository.git("for-each-ref"),
      repository.git("rev-parse", "HEAD")
    ]
    const staged = await review(repository.path, "--staged", "--format", "json")
    expect([staged.code, filesOf(staged.out)]).toEqual([0, ["src/staged.ts"]])
    const all = await review(repository.path, "--uncommitted", "--format", "json", "--fail-on", "high")
    expect([all.code, filesOf(all.out).toSorted()]).toEqual([1, ["src/new.ts", "src/staged.ts"]])
    expect([
      repository.git("status", "--porcelain"),
      repository.git("for-each-ref"),
      repository.git("rev-parse", "HEAD")
    ]).toEqual(before)
  }, 120_000)

  it("reviews what is staged before the first commit", async () => {
    const repository = makeRepository()
    repository.write("src/staged.ts", marked("staged"))
    repository.git("add", "src/staged.ts")
    repository.write("src/new.ts", marked("new"))
    const staged = await review(repository.path, "--staged", "--format", "json")
    expect([staged.code, filesOf(staged.out)]).toEqual([0, ["src/staged.ts"]])
    const all = await review(repository.path, "--uncommitted", "--format", "json")
    expect([all.code, filesOf(all.out).toSorted()]).toEqual([0, ["src/new.ts", "src/staged.ts"]])
  }, 120_000)

  it("reviews the rest and names what git cannot add: a repository without a commit, and files of a missing filter", async () => {
    const repository = start()
    repository.write("src/new.ts", marked("new"))
    repository.git("init", "-q", "sub")
    const first = await review(repository.path, "--uncommitted", "--format", "json")
    expect([first.code, filesOf(first.out)]).toEqual([0, ["src/new.ts"]])
    expect(first.err).toContain("not reviewed, because git cannot add it: sub")
    for (const name of ["clean", "process"]) repository.git("config", `filter.lfs.${name}`, "git-lfs-of-nobody %f")
    repository.git("config", "filter.lfs.required", "true")
    repository.write(".gitattributes", "*.bin filter=lfs\n")
    repository.write("a.bin", "1\n")
    repository.write("b c.bin", "2\n")
    const second = await review(repository.path, "--uncommitted", "--format", "json")
    expect([second.code, filesOf(second.out)]).toEqual([0, ["src/new.ts"]])
    for (const path of ["sub", "a.bin", "b c.bin"])
      expect(second.err).toContain(`not reviewed, because git cannot add it: ${path}`)
  }, 120_000)

  it("compares a pushed branch with the default branch, not with itself", async () => {
    const repository = cloneOf("feature", "main")
    const all = await review(repository.path, "--format", "json")
    expect([all.code, filesOf(all.out)]).toEqual([0, ["src/feature.ts"]])
    // One commit since the push.
    repository.write("src/later.ts", marked("later"))
    repository.commit()
    const later = await review(repository.path, "--format", "json")
    expect([later.code, filesOf(later.out).toSorted()]).toEqual([0, ["src/feature.ts", "src/later.ts"]])
  }, 120_000)

  it("ends with 1 when a part was not read, if so requested", async () => {
    const repository = start()
    repository.write("src/own.ts", marked("own"))
    const config = join(temporaryFolder(), "config.yaml")
    await writeFile(
      config,
      JSON.stringify({
        triggers: [{ name: "local", kind: "manual" }],
        workspaces: { instances: { app: { source_repo: { trigger: "local", repo: "local" } } } },
        llm: {
          providers: [{ id: "main", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "key" }],
          model_chain: { default: [{ provider: "main", model: "m" }] }
        },
        agent: { default: "native-llm" },
        review: { output_language: "en", max_files: 1 }
      })
    )
    repository.write("src/second.ts", marked("second"))
    const args = ["--uncommitted", "--config", config]
    expect((await review(repository.path, ...args)).code).toBe(0)
    const partial = await review(repository.path, ...args, "--fail-on-partial")
    expect([partial.code, partial.err]).toEqual([
      1,
      expect.stringContaining("a part of the change was not read (--fail-on-partial)")
    ])
  }, 120_000)
})

it("does not pass over a report that the model does not correct, in any format", async () => {
  const fault = { file: "src/own.ts", category: "bug", message: "The marker is wrong.", quote: "marker-own-end" }
  await using lost = await startFakeModel((_, number) => (number % 2 === 0 ? fakeReview([fault]) : { text: "Done." }))
  await using odd = await startFakeModel(fakeReview([{ ...fault, severity: " High", line: "2-2", confidence: "95%" }]))
  const repository = start()
  repository.write("src/own.ts", marked("own"))
  const run = ({ url }: FakeModel, ...args: ReadonlyArray<string>) =>
    runAicr(["review", "--uncommitted", ...args], {
      cwd: repository.path,
      env: variables({ OPENAI_BASE_URL: `${url}/v1` })
    })
  const text = await run(lost, "--fail-on", "critical")
  expect([text.code, text.err]).toEqual([1, expect.stringContaining("1 report of the model could not be read")])
  expect(text.out).toContain("0 problems in 0 files, 3 changed lines; problems may be missing")
  expect(text.out).toContain("Not read in full: src/own.ts.")
  const json = await run(lost, "--format", "json", "--fail-on-partial")
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({
    partial: true,
    findings: [],
    coverage: { unusable: [{ reason: "report", count: 1 }], skipped: [{ path: "src/own.ts", reason: "unusable" }] }
  })
  const sarif = await run(lost, "--format", "sarif")
  expect(JSON.parse(sarif.out).runs[0].invocations[0].executionSuccessful).toBe(false)
  const meant = await run(odd, "--format", "json", "--fail-on", "high")
  expect([meant.code, filesOf(meant.out)]).toEqual([1, ["src/own.ts"]])
  expect(JSON.parse(meant.out)).not.toHaveProperty("partial")
}, 120_000)

it("the example of a pre-push hook stops a push with a severe problem", async () => {
  const repository = start()
  const remote = temporaryFolder()
  repository.git("init", "-q", "--bare", remote)
  repository.git("remote", "add", "origin", remote)
  repository.git("push", "-q", "origin", "main")
  const [hooks, links] = [join(repository.path, ".git/hooks"), temporaryFolder()]
  await mkdir(hooks, { recursive: true })
  await copyFile(join(root, "examples/ci/pre-push"), join(hooks, "pre-push"))
  await symlink(program, join(links, "aicr"))
  repository.write("src/own.ts", marked("own"))
  repository.commit()
  const push = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    call("git", ["push", "origin", ...args], repository.path, { PATH: `${links}:${process.env["PATH"]}`, ...more })
  const isRefused = [1, expect.stringContaining("1 problem of severity high or above")]
  const refused = await push(["main"])
  expect([refused.code, refused.err]).toEqual(isRefused)
  expect((await push(["main:topic"], { AICR_SKIP: "1" })).code).toBe(0)

  const requests = model.requests.length
  repository.git("tag", "v1")
  expect([(await push(["v1"])).code, (await push([":v1"])).code]).toEqual([0, 0])
  expect(model.requests.length, "tags and deletions are not reviewed").toBe(requests)

  // Another clone pushed a commit that this clone does not have.
  const other = temporaryFolder()
  repository.git("clone", "-q", remote, other)
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"]
  repository.git("-C", other, ...author, "commit", "-q", "--allow-empty", "-m", "other")
  repository.git("-C", other, "push", "-q", "--force", "origin", "HEAD:topic")
  const forced = await push(["--force", "main:topic"])
  expect([forced.code, forced.err], "main is compared with the default branch").toEqual(isRefused)
}, 120_000)

describe("aicr review refuses", () => {
  it.each<{
    readonly name: string
    readonly args: ReadonlyArray<string>
    readonly cwd?: () => string
    readonly reason: string
  }>([
    {
      name: "an unknown flag",
      args: ["--nope"],
      reason: "Unrecognized flag: --nope in command aicr review\nSee aicr review --help\n"
    },
    { name: "a folder that does not exist", args: ["/no/such/folder"], reason: "/no/such/folder is not a folder" },
    {
      name: "a folder outside of a repository",
      args: ["."],
      cwd: temporaryFolder,
      reason: "is not in a git repository"
    },
    {
      name: "a repository without commits",
      args: ["."],
      cwd: () => makeRepository().path,
      reason: "has no commits yet"
    },
    {
      name: "a branch whose upstream is its own and that has no default branch to be compared with",
      args: ["."],
      cwd: () => cloneOf("feature").path,
      reason: "no default branch was found"
    },
    {
      name: "uncommitted changes of a bare repository",
      args: ["--uncommitted"],
      cwd: () => {
        const bare = temporaryFolder()
        start().git("clone", "-q", "--bare", ".", bare)
        return bare
      },
      reason: "is a bare repository, which has no work tree"
    },
    { name: "an unknown head", args: ["--head", "nope"], cwd: () => start().path, reason: "commit nope not found" },
    { name: "both kinds of changes", args: ["--staged", "--uncommitted"], reason: "leave out --staged" },
    { name: "a head with changes", args: ["--staged", "--head", "HEAD"], reason: "leave out --head" },
    { name: "changes to publish", args: ["--uncommitted", "--publish"], reason: "leave out --head and --publish" }
  ])(
    "$name, on standard error only, with 2",
    async ({ args, cwd, reason }) => {
      const { code, out, err } = await review(cwd?.() ?? start().path, ...args)
      expect([code, out]).toEqual([2, ""])
      expect(err).toContain(reason)
    },
    60_000
  )
})
