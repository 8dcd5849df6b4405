/**
 * The git half of the demo forge: bare repositories made with plumbing, and git's own `http-backend` in front of them, so that
 * clones, fetches and pushes are the real thing.
 */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { dirname, join, resolve } from "node:path"
import { text as readText } from "node:stream/consumers"
import { writeCommit } from "./DemoForgeObjects.ts"
import { start } from "../src/vcs/process/Launcher.ts"

/** Runs git without any configuration of the machine; fails with git's message. */
export const git = async (directory: string, args: ReadonlyArray<string>, input?: Buffer): Promise<string> => {
  const child = await start({ program: "git", args, cwd: resolve(directory), env: environment() })
  child.stdin.on("error", () => {}) // git may end before it has read everything; its exit code shows the result
  child.stdin.end(input)
  const [out, err, { code, error }] = await Promise.all([readText(child.stdout), readText(child.stderr), child.closed])
  if (code === 0) return out
  throw new Error(error ?? `git ${args[0]} in ${directory} failed: ${err.trim()}`)
}

const results = new Map<string, Promise<string>>()
const keptResults = 4096

/**
 * Like `git`, with a cache for queries about commits by their ids, whose results never change. Failures are not cached, because a
 * missing commit may be pushed later.
 */
export const gitOnce = (directory: string, args: ReadonlyArray<string>): Promise<string> => {
  const key = [directory, ...args].join("\0")
  const known = results.get(key)
  if (known !== undefined) return known
  const result = git(directory, args)
  results.set(key, result)
  result.catch(() => results.delete(key))
  const [oldest] = results.keys()
  if (results.size > keptResults && oldest !== undefined) results.delete(oldest)
  return result
}

/** Returns the commits that `git log` lists for these arguments; undefined when it fails, as for an unknown commit. */
export const logCommits = async (directory: string, args: ReadonlyArray<string>) => {
  const log = await git(directory, ["log", "--format=%H%x00%cI%x00%an%x00%ae%x00%B%x1e", ...args]).catch(
    () => undefined
  )
  return log
    ?.split("\x1e\n")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [id = "", committedAt = "", name = "", email = "", message = ""] = entry.split("\0")
      return { id, committedAt, name, email, message: message.trimEnd() }
    })
}

/** Names and tips of the branches. */
export const listTips = async (
  directory: string
): Promise<ReadonlyArray<{ readonly name: string; readonly id: string }>> => {
  const refs = await git(directory, ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"])
  return refs.split("\n").flatMap((line) => (line === "" ? [] : [{ id: line.slice(0, 40), name: line.slice(41) }]))
}

/** Whether a commit is there. */
export const hasCommit = (directory: string, id: string): Promise<boolean> =>
  gitOnce(directory, ["cat-file", "-e", `${id}^{commit}`]).then(
    () => true,
    () => false
  )

const environment = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  LC_ALL: "C"
})

const serving = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[http]
	receivepack = true
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[gc]
	auto = 0
`

/** An empty bare repository that serves and takes pushes over HTTP, and serves any commit by id as Gitea does. */
export const createBare = async (directory: string, branch: string): Promise<void> => {
  for (const folder of ["objects", "refs/heads"]) await mkdir(join(directory, folder), { recursive: true })
  await writeFile(join(directory, "config"), serving)
  await writeFile(join(directory, "HEAD"), `ref: refs/heads/${branch}\n`)
}

export interface NewCommit {
  readonly branch: string
  /** Start of a new branch: a branch or commit. Default: a first commit without parent. */
  readonly from?: string | undefined
  /** Replaces the history of the branch, as a force push does. */
  readonly force?: boolean | undefined
  readonly message: string
  /** Content by path; null deletes. */
  readonly files: Readonly<Record<string, string | Uint8Array | null>>
  readonly author?: string | undefined
  /** Seconds since the epoch. */
  readonly time?: number | undefined
}

const exists = (directory: string, ref: string) =>
  git(directory, ["rev-parse", "--verify", "--quiet", ref]).then(
    (id) => id.trim(),
    () => undefined
  )

const fullId = /^[0-9a-f]{40}\n$/

/** The commit that a branch points to: from the file of the branch, which costs no process, unless there are packed ones. */
export const tip = async (directory: string, branch: string): Promise<string | undefined> => {
  const ref = `refs/heads/${branch}`
  const id = branch.includes("..") ? "" : await readFile(join(directory, ref), "utf8").catch(() => "")
  if (fullId.test(id)) return id.trim()
  return existsSync(join(directory, "packed-refs")) ? exists(directory, ref) : undefined
}

/** Points a ref of the forge's own (`refs/pull/1/head`) to a commit that is there, as git does: a file that appears whole. */
export const setRef = async (directory: string, ref: string, id: string): Promise<void> => {
  const path = join(directory, ref)
  await mkdir(dirname(path), { recursive: true })
  // Git takes nothing for a ref that ends like this.
  const made = `${path}.${randomUUID()}.lock`
  await writeFile(made, `${id}\n`)
  await rename(made, path)
}

const findStart = async (directory: string, branchOrCommit: string): Promise<string | undefined> =>
  (await tip(directory, branchOrCommit)) ?? exists(directory, `${branchOrCommit}^{commit}`)

/** Creates one commit, moves the branch to it and returns its id. */
export const commit = async (directory: string, change: NewCommit): Promise<string> => {
  const parent =
    (change.force === true ? undefined : await tip(directory, change.branch)) ??
    (change.from === undefined ? undefined : await findStart(directory, change.from))
  if (change.from !== undefined && parent === undefined) throw new Error(`no such branch or commit: ${change.from}`)
  const who = `${change.author ?? "Dana Developer"} <dana@example.org> ${change.time ?? Math.floor(Date.now() / 1000)} +0000`
  const id = await writeCommit(directory, { ...change, parent, who }, (known) =>
    git(directory, ["ls-tree", "-r", "-t", "-z", known])
  )
  await setRef(directory, `refs/heads/${change.branch}`, id)
  return id
}

/** Hands one request to `git http-backend`; `pathInfo` starts with the repository's folder under `root`. */
export const httpBackend = async (
  request: IncomingMessage,
  response: ServerResponse,
  at: {
    readonly root: string
    readonly pathInfo: string
    readonly query: string
    readonly user: string
    /** Work that is completed before the client receives the end of git's response. */
    readonly before: () => Promise<void>
  }
): Promise<void> => {
  const header = (name: string) => {
    const value = request.headers[name]
    return typeof value === "string" ? value : ""
  }
  const child = await start({
    program: "git",
    args: ["http-backend"],
    cwd: at.root,
    env: {
      ...environment(),
      GIT_PROJECT_ROOT: at.root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: header("git-protocol"),
      PATH_INFO: at.pathInfo,
      QUERY_STRING: at.query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      REMOTE_USER: at.user,
      REMOTE_ADDR: "127.0.0.1"
    }
  })
  child.stdin.on("error", () => {}) // http-backend closes its input early when it refuses
  request.pipe(child.stdin)
  child.stderr.resume()
  let head: Buffer | undefined = Buffer.alloc(0)
  child.stdout.on("data", (chunk: Buffer) => {
    if (head === undefined) {
      response.write(chunk)
      return
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf("\r\n\r\n")
    if (end < 0) return
    writeCgiHead(response, head.subarray(0, end).toString("latin1"))
    response.write(head.subarray(end + 4))
    head = undefined
  })
  const { error } = await child.closed
  if (error !== undefined) throw new Error(error)
  if (head !== undefined) response.writeHead(500)
  await at.before()
  response.end()
}

const writeCgiHead = (response: ServerResponse, head: string): void => {
  let status = 200
  for (const row of head.split("\r\n")) {
    const colon = row.indexOf(":")
    const name = row.slice(0, colon)
    const value = row.slice(colon + 1).trim()
    if (name.toLowerCase() === "status") status = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.writeHead(status)
}
