/**
 * Revisions of a git repository on this machine. Only `rev-parse` runs in the user's repository, which reads refs and executes no program of its
 * configuration; `deepen` and reviews of uncommitted changes, on request, run the user's own git with the user's own settings.
 */
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { resolve } from "node:path"
import { Effect } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import { localLimits } from "../process/ProcessLimits.ts"
import type { LocalRange, LocalRequest, UncommittedChanges } from "../LocalRepository.ts"
import { runGit } from "./GitProcess.ts"
import { gitFailure } from "./GitFailure.ts"
import { commitNothing, commitUncommitted } from "./GitSnapshot.ts"
import { localTime } from "./TimeLimit.ts"

const upstream = "@{upstream}"
const defaultBases = ["origin/HEAD", upstream, "origin/main", "origin/master", "main", "master"]
const defaultNames = new Set(["main", "master"])

const revParse = (path: string, args: ReadonlyArray<string>) =>
  // The owner of the folder is irrelevant because nothing in it is executed.
  runGit(
    {
      args: ["rev-parse", ...args],
      home: tmpdir(),
      cwd: path,
      limits: localLimits,
      settings: [["safe.directory", "*"]]
    },
    { time: localTime("history"), maxBytes: 65_536, accept: [1, 128] }
  ).pipe(Effect.map(({ code, stdout }) => (code === 0 ? stdout.toString("utf8").trim() : undefined)))

const resolveCommit = (root: string, revision: string) =>
  /^-|\p{Cc}/u.test(revision) || revision === ""
    ? Effect.undefined
    : revParse(root, ["--verify", "--quiet", "--end-of-options", `${revision}^{commit}`])

/** Errors of the command, in its words. */
const missing = (message: string) => new CheckoutError({ reason: "missing", why: verbatimReason(message) })

/** Returns undefined for a folder that is in no git repository. */
export const gitRange = Effect.fnUntraced(function* (
  request: LocalRequest
): Effect.fn.Return<LocalRange | undefined, CheckoutError> {
  const path = resolve(request.path)
  const about = yield* revParse(path, ["--is-bare-repository", "--is-shallow-repository", "--git-dir"])
  const [bare, shallow, gitDir] = about?.split("\n") ?? []
  if (gitDir === undefined) return undefined
  if (request.shelved !== undefined)
    return yield* missing(`--shelved: ${path} is in a git repository, which has no shelved changelists`)
  const root = bare === "true" ? resolve(path, gitDir) : yield* revParse(path, ["--show-toplevel"])
  if (root === undefined) return yield* missing(`${path} is not in a git work tree`)
  const { head, base, notices } = yield* request.changes === undefined
    ? committedRange(root, request)
    : uncommittedRange(root, request.changes, request.base, bare === "true")
  const { commit, name } = base
  const isShallow = shallow === "true"
  const headName = head.slice(0, 10)
  return { vcs: "git", root, head, headName, base: commit, baseName: name, shallow: isShallow, notices }
})

/** Fails where a revision is not found because the repository has no commit yet. */
const requireCommits = Effect.fnUntraced(function* (root: string) {
  if ((yield* resolveCommit(root, "HEAD")) === undefined && (yield* revParse(root, ["--all"])) === "")
    return yield* missing(`${root} has no commits yet; make the first commit, then review the changes after it`)
})

const committedRange = Effect.fnUntraced(function* (
  root: string,
  request: { readonly base: string | undefined; readonly head: string | undefined }
) {
  const headName = request.head ?? "HEAD"
  const head = yield* resolveCommit(root, headName)
  if (head === undefined) {
    yield* requireCommits(root)
    return yield* missing(`--head: commit ${headName} not found in ${root}`)
  }
  const base = yield* request.base === undefined ? findBase(root, head) : named(root, request.base)
  return { head, base, notices: [] }
})

const uncommittedRange = Effect.fnUntraced(function* (
  root: string,
  changes: UncommittedChanges,
  baseName: string | undefined,
  isBare: boolean
) {
  if (isBare) return yield* missing(`--${changes}: ${root} is a bare repository, which has no work tree`)
  const own = yield* resolveCommit(root, "HEAD")
  // Before the first commit everything is new.
  const parent = own ?? (yield* commitNothing(root))
  const { head, notices } = yield* commitUncommitted(root, changes, parent)
  const name = own === undefined ? "an empty repository" : "HEAD"
  return { head, notices, base: baseName === undefined ? { name, commit: parent } : yield* named(root, baseName) }
})

const named = Effect.fnUntraced(function* (root: string, name: string) {
  const commit = yield* resolveCommit(root, name)
  return commit === undefined ? yield* missing(`--base: commit ${name} not found in ${root}`) : { name, commit }
})

/** Returns whether the upstream is where this branch is pushed to, which shows nothing about the default branch. */
const isOwnUpstream = Effect.fnUntraced(function* (root: string) {
  const names = yield* revParse(root, ["--abbrev-ref", "HEAD", upstream])
  const [own = "", remote = ""] = names?.split("\n") ?? []
  return !defaultNames.has(own) && remote.slice(remote.indexOf("/") + 1) === own
})

const findBase = Effect.fnUntraced(function* (root: string, head: string) {
  let same: { readonly name: string; readonly commit: string } | undefined
  for (const name of defaultBases) {
    const commit = yield* resolveCommit(root, name)
    if (commit === undefined || (name === upstream && (yield* isOwnUpstream(root)))) continue
    if (commit !== head) return { name, commit }
    same ??= { name, commit }
  }
  if (same !== undefined) return same
  return yield* missing(
    `no default branch was found in ${root}; name what to compare with by --base, or set it once: git remote set-head origin --auto`
  )
})

export const deepenGit = (root: string): Effect.Effect<void, CheckoutError> =>
  Effect.callback((resume, signal) => {
    const options = {
      cwd: root,
      signal,
      timeout: 900_000,
      env: { ...process.env, GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" }
    }
    execFile("git", ["fetch", "--quiet", "--no-tags", "--unshallow"], options, (error, _stdout, stderr) => {
      resume(error === null ? Effect.void : Effect.fail(gitFailure("fetch --unshallow", stderr || error.message, [])))
    })
  })
