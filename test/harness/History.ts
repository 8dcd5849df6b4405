/**
 * Real commits and git's own view of them, to check the lines of comments. The commits are those of this repository,
 * those of other repositories named in HISTORIES (paths, colon-separated), and generated ones with rare content: CRLF,
 * no newline at the end, unicode and spaces in paths, renames, binary files, mode changes, 20 000 lines.
 */
import { readdirSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import * as fc from "fast-check"
import { joinLines, treeChange } from "../review/Trees.ts"
import type { Tree } from "../review/Trees.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { readProgram, runProgram } from "./RunProgram.ts"

export interface Commit {
  /** Folder that git can be run in. */
  readonly repository: string
  readonly base: string
  readonly head: string
}

const environment = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" }

export const gitIn = (repository: string, args: ReadonlyArray<string>): Buffer =>
  readProgram("git", ["-c", "safe.directory=*", "-c", "core.quotepath=off", ...args], { cwd: repository, environment })

/** Spread evenly over the list. */
const spread = <A>(all: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  all.length <= most
    ? all
    : Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)]).flatMap(
        (one) => one ?? []
      )

/** Commits with exactly one parent, which is at hand: a shallow clone has commits whose parents are not. */
const commitsOf = (repository: string): ReadonlyArray<Commit> =>
  gitIn(repository, ["log", "--no-merges", "--format=%H %P"])
    .toString()
    .trim()
    .split("\n")
    .flatMap((row) => {
      const [head = "", base = ""] = row.split(" ")
      return base === "" ? [] : [{ repository, base, head }]
    })

/** Copies of large histories come without some of their files. */
const isWhole = ({ repository, base, head }: Commit): boolean =>
  runProgram("git", ["diff-tree", "-r", "-p", "-M50%", base, head], { cwd: repository, environment }).status === 0

/** Returns at most `most` real commits; `note` is the reason where there are fewer. */
export const realCommits = (
  most: number
): { readonly commits: ReadonlyArray<Commit>; readonly note: string | undefined } => {
  const own = resolve(import.meta.dirname, "../..")
  const named = (process.env["HISTORIES"] ?? "").split(":").filter((path) => path !== "")
  if (named.length === 0 && runProgram("git", ["rev-parse", "--git-dir"], { cwd: own, environment }).status !== 0) {
    return { commits: [], note: "this copy of the repository has no history" }
  }
  const all =
    named.length === 0
      ? commitsOf(own)
      : named.flatMap((path) => spread(commitsOf(path), Math.ceil((most * 1.3) / named.length)).filter(isWhole))
  const commits = spread(all, most)
  return { commits, note: commits.length < most ? `only ${commits.length} commits in the history at hand` : undefined }
}

const big = (changed: boolean): string =>
  Array.from({ length: 20_000 }, (_, n) => `row ${n}${changed && n % 997 === 5 ? " changed" : ""}\n`).join("")

const renames = 3
const renamed = (of: string): string => Array.from({ length: 40 }, (_, n) => `line ${n} of ${of}\n`).join("")

/** Commits with everything that a history may lack; the same ones on every run. */
export const generatedCommits = (count: number): ReadonlyArray<Commit> => {
  const { commit, git, path, write } = makeRepository()
  const replaceAll = (tree: Tree) => {
    for (const name of readdirSync(path)) if (name !== ".git") rmSync(join(path, name), { recursive: true })
    for (const [name, file] of tree) write(name, joinLines(file))
  }
  write("big.txt", big(false))
  write("image.bin", Buffer.from([0, 1, 2, 3, 255]))
  write("run.sh", "echo one\necho two\n")
  const commits: Array<Commit> = []
  const base = commit()
  write("big.txt", big(true))
  write("image.bin", Buffer.from([0, 9, 9, 9, 255]))
  git("update-index", "--chmod=+x", "run.sh")
  git("config", "core.fileMode", "false")
  commits.push({ repository: path, base, head: commit() })
  for (const n of Array(renames).keys()) {
    replaceAll(new Map())
    for (const name of ["a", "b"]) write(`${name}.txt`, renamed(`${name}${n}`))
    const from = commit()
    for (const name of ["a", "b"]) {
      rmSync(join(path, `${name}.txt`))
      write(`moved ${name}.txt`, renamed(`${name}${n}`).replace("line 20 ", "changed "))
    }
    commits.push({ repository: path, base: from, head: commit() })
  }
  for (const { before, after } of fc.sample(treeChange, { numRuns: count - commits.length, seed: 7 })) {
    replaceAll(before)
    const from = commit()
    replaceAll(after)
    commits.push({ repository: path, base: from, head: commit() })
  }
  return commits
}

/** One file of a commit as git lists it. */
export interface Changed {
  readonly status: string
  readonly oldPath: string
  readonly path: string
  readonly oldBlob: string
  readonly newBlob: string
}

/** Id of a side that is not there. */
const none = /^0+$/

export const changedFiles = ({ repository, base, head }: Commit): ReadonlyArray<Changed> => {
  const fields = gitIn(repository, ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-M50%", "-l1000", base, head])
    .toString()
    .split("\0")
  const files: Array<Changed> = []
  while (fields.length > 1) {
    const [oldMode = "", newMode = "", oldBlob = "", newBlob = "", status = ""] = (fields.shift() ?? "")
      .slice(1)
      .split(" ")
    const oldPath = fields.shift() ?? ""
    const path = /^[RC]/.test(status) ? (fields.shift() ?? "") : oldPath
    if (oldMode !== "160000" && newMode !== "160000") files.push({ status, oldPath, path, oldBlob, newBlob })
  }
  return files
}

export interface Lines {
  readonly first: number
  readonly count: number
}

interface Hunk {
  readonly old: Lines
  readonly new: Lines
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

const diffOfBlobs = (repository: string, context: number, { oldBlob, newBlob }: Changed): ReadonlyArray<string> => {
  const marks = ["--output-indicator-new=N", "--output-indicator-old=O", "--output-indicator-context=C"]
  const args = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    `-U${context}`,
    "--inter-hunk-context=0",
    ...marks
  ]
  return gitIn(repository, [...args, oldBlob, newBlob])
    .toString()
    .split("\n")
}

const hunksIn = (rows: ReadonlyArray<string>): ReadonlyArray<Hunk> =>
  rows.flatMap((row) => {
    const [, oldFirst, oldCount = "1", newFirst, newCount = "1"] = hunkHeader.exec(row) ?? []
    return oldFirst === undefined
      ? []
      : [
          {
            old: { first: Number(oldFirst), count: Number(oldCount) },
            new: { first: Number(newFirst), count: Number(newCount) }
          }
        ]
  })

export interface Truth {
  readonly old: ReadonlyArray<string>
  readonly new: ReadonlyArray<string>
  /** Hunks that a host shows, each with three lines of context. */
  readonly shown: ReadonlyArray<Hunk>
  /** Lines of the new side that are shown and stand on the old side too, with their numbers there. */
  readonly context: ReadonlyMap<number, number>
  readonly added: ReadonlyArray<number>
  /** Runs of removed lines. */
  readonly removed: ReadonlyArray<ReadonlyArray<number>>
  /**
   * Number on the old side by the headers of a diff without context, undefined for an added line. Git trims what files end with
   * alike before it makes such a diff (and a blame), so of lines that repeat it may call another one added than hosts do.
   */
  readonly oldNumber: (line: number) => number | undefined
}

const linesOf = (bytes: Buffer): ReadonlyArray<string> => {
  const lines = bytes.toString().split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

const numbered = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)

/** Undefined for a binary file. */
export const readTruth = ({ repository }: Commit, file: Changed): Truth | undefined => {
  const read = (blob: string) => (none.test(blob) ? Buffer.alloc(0) : gitIn(repository, ["cat-file", "blob", blob]))
  const [before, after] = [read(file.oldBlob), read(file.newBlob)]
  if (before.includes(0) || after.includes(0)) return undefined
  const sides = { old: linesOf(before), new: linesOf(after) }
  if (none.test(file.oldBlob) || none.test(file.newBlob)) {
    const whole = { old: { first: 1, count: sides.old.length }, new: { first: 1, count: sides.new.length } }
    const removed = sides.old.length === 0 ? [] : [numbered(sides.old.length)]
    return {
      ...sides,
      shown: [whole],
      context: new Map(),
      added: numbered(sides.new.length),
      removed,
      oldNumber: () => undefined
    }
  }
  const context = new Map<number, number>()
  const added: Array<number> = []
  const removed: Array<Array<number>> = []
  let [oldLine, newLine, last] = [0, 0, ""]
  const rows = diffOfBlobs(repository, 3, file)
  for (const row of rows) {
    const [hunk] = hunksIn([row])
    const mark = hunk === undefined ? (row[0] ?? "") : "@"
    if (hunk !== undefined) [oldLine, newLine] = [hunk.old.first, hunk.new.first]
    else if (last === "") continue
    else if (mark === "N") added.push(newLine++)
    else if (mark === "C") context.set(newLine++, oldLine++)
    else if (mark === "O" && last === "O") removed.at(-1)?.push(oldLine++)
    else if (mark === "O") removed.push([oldLine++])
    last = mark
  }
  const changed = hunksIn(diffOfBlobs(repository, 0, file))
  const oldNumber = (line: number): number | undefined => {
    let shift = 0
    for (const hunk of changed) {
      // A hunk without lines on the new side names the line before it.
      const start = hunk.new.count === 0 ? hunk.new.first + 1 : hunk.new.first
      if (line < start) break
      if (line < start + hunk.new.count) return undefined
      shift += hunk.old.count - hunk.new.count
    }
    return line + shift
  }
  return { ...sides, shown: hunksIn(rows), context, added, removed, oldNumber }
}

/** Returns the origin of a line of the head by `git blame`: undefined when the commit wrote it, else its number in the base. */
export const blamed = ({ repository, base, head }: Commit, path: string, line: number): number | undefined => {
  const [first = ""] = gitIn(repository, ["blame", "-p", "-L", `${line},${line}`, `${base}..${head}`, "--", path])
    .toString()
    .split("\n")
  const [commit, original] = first.split(" ")
  return commit === head ? undefined : Number(original)
}
