/** `aicr review` in working copies of Subversion and Perforce, as people and builds call it. */
import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel, Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { namesIn } from "../harness/Installation.ts"
import { makeFakeDepot, p4User } from "../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../harness/perforce/PerforceDepot.ts"
import { SvnRepository } from "../harness/Subversion.ts"
import { runAicr } from "../harness/RunAicr.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const marked = (name: string): string =>
  `export const first = 1\nexport const marked = "marker-${name}-end"\nexport const last = 1\n`

const odd = "src/a b@2 (é).ts"
/** Path of each marked content; others are in the root. */
const places: Readonly<Record<string, string>> = {
  odd,
  changed: "move.ts",
  opened: "own.ts",
  shelved: "own.ts",
  submitted: "own.ts"
}

/** Reports the marked lines of the change. */
const reviewMarked = (request: Recorded): Reply =>
  review(
    namesIn(request).map((name) => ({
      file: places[name] ?? `${name}.ts`,
      line: 2,
      severity: "high",
      category: "bug",
      title: "Marked",
      message: "This line is wrong.",
      quote: `export const marked = "marker-${name}-end"`
    }))
  )

let model: FakeModel
let repository: SvnRepository
let depot: FakeDepot
/** Folder of links to programs. */
let links: string
beforeAll(async () => {
  model = await startFakeModel(reviewMarked)
  repository = new SvnRepository()
  repository.commit("Start", {
    files: { "trunk/src/a b@2 (é).ts": "one\n", "trunk/move.ts": "export const first = 1\n" }
  })
  depot = makeFakeDepot()
  links = temporaryFolder()
  symlinkSync(depot.program, join(links, "p4"))
})
afterAll(async () => {
  await model[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
  await depot[Symbol.asyncDispose]()
})

const callReview = (cwd: string, args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
  runAicr(["review", ...args], {
    cwd,
    env: {
      PATH: `${links}:${process.env["PATH"]}`,
      HOME: temporaryFolder(),
      NO_COLOR: "1",
      LANG: "en_GB.UTF-8",
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: `${model.url}/v1`,
      ...more
    }
  })

const svn = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("svn", ["--non-interactive", "--quiet", ...args], { cwd, env: { ...process.env, LC_ALL: "C.UTF-8" } })
const checkOut = (): string => {
  const work = join(temporaryFolder(), "work copy")
  svn("/", "checkout", `${repository.url}/trunk`, work)
  return work
}
const filesOf = (out: string): ReadonlyArray<string> =>
  JSON.parse(out).findings.map((finding: { readonly file: string }) => finding.file)

it("reviews uncommitted changes and revisions of a Subversion working copy, with the outputs and codes of git", async () => {
  const work = checkOut()
  writeFileSync(join(work, odd), marked("odd"))
  writeFileSync(join(work, "unversioned.ts"), marked("unversioned"))
  const all = ["--uncommitted", "--fail-on", "high"]
  const json = await callReview(join(work, "src"), [...all, "--format", "json"])
  expect([json.code, filesOf(json.out)]).toEqual([1, [odd]])
  expect(JSON.parse(json.out)).toMatchObject({ repository: work, vcs: "subversion", base: { name: "r2", commit: "2" } })
  const sarif = JSON.parse((await callReview(work, [...all, "--format", "sarif"])).out)
  expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
    odd.split("/").map(encodeURIComponent).join("/")
  )
  const text = await callReview(work, ["--uncommitted"])
  expect([text.code, text.out]).toEqual([0, expect.stringContaining("r2...working copy: 1 problem in 1 file")])

  svn(work, "commit", "-m", "Odd")
  const committed = await callReview(work, ["--format", "json"])
  expect(filesOf(committed.out)).toEqual([odd])
  expect(JSON.parse(committed.out)).toMatchObject({ base: { name: "r2" }, head: "3" })
  expect((await callReview(work, ["--base", "3", "--head", "HEAD"])).out).toContain("The change is empty")
}, 120_000)

it("ends with 1 in a Subversion working copy when a part was not read, if so requested", async () => {
  const work = checkOut()
  const config = join(temporaryFolder(), "config.yaml")
  writeFileSync(
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
  for (const name of ["one.ts", "two.ts"]) {
    writeFileSync(join(work, name), marked(name.slice(0, 3)))
    svn(work, "add", name)
  }
  const partial = await callReview(work, ["--uncommitted", "--config", config, "--fail-on-partial"])
  expect([partial.code, partial.err]).toEqual([1, expect.stringContaining("a part of the change was not read")])
  const published = await callReview(work, ["--config", config, "--publish"])
  expect([published.code, published.err]).toEqual([
    2,
    expect.stringContaining("reviews are published on pull requests")
  ])
}, 120_000)

it("reviews git first where a folder is in several working copies, names the other one, and reviews that by --vcs", async () => {
  const work = checkOut()
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: work, stdio: "ignore" })
  git("init", "-q")
  git("add", "move.ts")
  git("commit", "-q", "-m", "Start")
  writeFileSync(join(work, "move.ts"), marked("changed"))
  const first = await callReview(work, ["--uncommitted", "--format", "json"])
  expect(JSON.parse(first.out)).toMatchObject({ vcs: "git" })
  expect(first.err).toContain(`reviewing the git repository ${work}; ${work} has a Subversion working copy as well`)
  const other = await callReview(work, ["--uncommitted", "--vcs", "subversion", "--format", "json"])
  expect(JSON.parse(other.out)).toMatchObject({ vcs: "subversion" })
  expect(filesOf(other.out)).toEqual(["move.ts"])
}, 120_000)

it("reviews opened files, shelves and changelists of a Perforce workspace", async () => {
  const root = join(temporaryFolder(), "client")
  mkdirSync(root)
  depot.submit("Start", { files: { "//Ace/main/own.ts": "one\n" } })
  const change = depot.submit("Marked", { files: { "//Ace/main/own.ts": marked("submitted") } })
  const shelf = depot.shelve("Shelf", { files: { "//Ace/main/own.ts": marked("shelved") } })
  writeFileSync(join(root, "own.ts"), marked("opened"))
  depot.set({
    clients: { ada: { root, view: { "//Ace/main/...": "//ada/..." }, synced: 1 } },
    opened: [{ client: "ada", depotFile: "//Ace/main/own.ts", action: "edit", type: "text", rev: 1 }]
  })
  const [ticket = ""] = depot.state().tickets
  const env = { P4PORT: depot.port, P4USER: p4User, P4CLIENT: "ada", P4PASSWD: ticket }
  const call = (...args: ReadonlyArray<string>) => callReview(root, [...args, "--format", "json"], env)
  for (const [args, head, text] of [
    [["--uncommitted"], "workspace", "marker-opened-end"],
    [["--shelved", shelf], expect.stringMatching(new RegExp(`^${shelf}-`)), "marker-shelved-end"],
    [["--base", "1", "--head", change], change, "marker-submitted-end"],
    [[], change, "marker-submitted-end"]
  ] as const) {
    const { code, err, out } = await call(...args)
    expect([code, err]).toEqual([0, expect.any(String)])
    expect(JSON.parse(out)).toMatchObject({ vcs: "perforce", repository: root, head })
    expect(new Set(filesOf(out))).toEqual(new Set(["own.ts"]))
    expect(out).toContain(text)
  }
  const staged = await call("--staged")
  expect([staged.code, staged.out, staged.err]).toEqual([2, "", expect.stringContaining("which has no index")])
}, 120_000)
