/**
 * Comments land on the quoted line. From eight commits lines are quoted as models quote them: changed, context and removed
 * ones, and ranges; the review of the service places them and the clients publish them. The expected positions come from git
 * (contents, hunk headers without context, blame). AICR_TEST_COMMITS sets the number of commits, HISTORIES names other
 * repositories to take them from.
 */
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect, ManagedRuntime, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { setRef } from "../../demo/DemoForgeGit.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import type { InlineComment } from "../../src/domain/Publication.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { field, isList, isNumber, isObject, isText } from "../harness/Fields.ts"
import { blamed, changedFiles, generatedCommits, gitIn, realCommits, readTruth } from "../harness/History.ts"
import type { Changed, Commit, Truth } from "../harness/History.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { wholeDiff } from "../vcs/WholeDiff.ts"
import { alone, run } from "./Clients.ts"
import { newTraffic } from "../harness/Owners.ts"

const wanted = Number(process.env["AICR_TEST_COMMITS"] ?? 8)
const filesPerCommit = 2

/** Lines of one side of a file, a problem that a model reports on them, and git's view of the last one. */
interface Quoted {
  readonly path: string
  readonly side: "new" | "old"
  readonly first: number
  readonly last: number
  readonly text: string
  /** Number on the old side of a line that the commit did not touch. */
  readonly oldLine: number | undefined
  /** Whether the diff that `git blame` uses agrees about this line. */
  readonly asBlamed: boolean
  readonly problem: ReportedProblem
}

interface Reviewed {
  readonly commit: Commit
  readonly quoted: ReadonlyArray<Quoted>
  readonly comments: ReadonlyArray<InlineComment>
}

/** The same choices on every run. */
const choices = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
const pick = choices(42)
const oneOf = <A>(items: ReadonlyArray<A>): A | undefined => items[pick(items.length)]

const numbers = ({ first, count }: { readonly first: number; readonly count: number }) =>
  Array.from({ length: count }, (_, index) => first + index)

const squeezed = (text: string): string => text.replace(/\s+/g, "")

const quoteOf = (
  truth: Truth,
  file: Changed,
  side: "new" | "old",
  lines: ReadonlyArray<number>
): ReadonlyArray<Quoted> => {
  const first = lines[0] ?? 0
  const last = lines.at(-1) ?? 0
  const all = truth[side]
  const texts = lines.map((line) => (all[line - 1] ?? "").replace(/\r$/, ""))
  if (squeezed(texts[0] ?? "") === "" || squeezed(texts.at(-1) ?? "") === "") return []
  const shown = truth.shown.flatMap((hunk) => numbers(hunk[side])).map((line) => squeezed(all[line - 1] ?? ""))
  const unique = lines.length === 1 && shown.filter((text) => text === squeezed(texts[0] ?? "")).length === 1
  const saying = /[\p{L}\p{N}]{6,}/u.test(texts[0] ?? "")
  // Where the text determines the position, models may report a wrong line or none.
  const claims =
    unique && saying ? [{ line: first }, { line: Math.max(1, first + pick(19) - 9) }, {}] : [{ line: first }]
  const mark = side === "new" ? "+" : "-"
  const styles = [
    { quote: texts.join("\n"), side },
    { quote: texts.map((text) => `${mark}${text}`).join("\n"), side }
  ]
  const problem: ReportedProblem = {
    file: file.path,
    severity: "low",
    category: "bug",
    message: "m",
    ...oneOf(claims),
    ...oneOf(styles)
  }
  const oldLine = side === "new" ? truth.context.get(last) : undefined
  const asBlamed = side === "new" && truth.oldNumber(last) === oldLine
  return [{ path: file.path, side, first, last, text: texts.at(-1) ?? "", oldLine, asBlamed, problem }]
}

/**
 * An added or changed line, a context line, a removed one, a range on the new side, a range of removed lines: those that the file
 * has.
 */
const quotesOf = (truth: Truth, file: Changed): ReadonlyArray<Quoted> => {
  const range = (lines: ReadonlyArray<number>) => {
    const start = pick(lines.length)
    return lines.slice(start, start + 2 + pick(5))
  }
  const one = (lines: ReadonlyArray<number>) => {
    const line = oneOf(lines)
    return line === undefined ? [] : [line]
  }
  const shown = oneOf(truth.shown)
  const gone = oneOf(truth.removed)
  return [
    ...quoteOf(truth, file, "new", one(truth.added)),
    ...quoteOf(truth, file, "new", one([...truth.context.keys()])),
    ...quoteOf(truth, file, "new", range(shown === undefined ? [] : numbers(shown.new))),
    ...quoteOf(truth, file, "old", one(truth.removed.flat())),
    ...quoteOf(truth, file, "old", range(gone ?? []))
  ]
}

const runtime = ManagedRuntime.make(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }))

const diffOf = ({ repository, base, head }: Commit): Promise<string> =>
  runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const checkout = yield* (yield* Vcs).checkout({
          url: repository,
          mirror: repository,
          authorization: undefined,
          head,
          base,
          headRef: undefined,
          baseRef: undefined,
          rules: undefined,
          compare: "endpoints"
        })
        return Buffer.concat(yield* Stream.runCollect(wholeDiff(checkout))).toString("utf8")
      })
    )
  )

const reviewed: Array<Reviewed> = []
const kinds = { added: 0, context: 0, removed: 0, ranges: 0, renamed: 0 }

/** Reads the first text files of a commit, in this order. */
const readTexts = (commit: Commit, files: ReadonlyArray<Changed>) => {
  const texts: Array<{ readonly file: Changed; readonly truth: Truth }> = []
  for (const file of files) {
    const truth = readTruth(commit, file)
    if (truth !== undefined) texts.push({ file, truth })
    if (texts.length === filesPerCommit) break
  }
  return texts
}

beforeAll(async () => {
  const { commits, note } = realCommits(wanted)
  if (note !== undefined) process.emitWarning(`${note}; generated commits make up the rest`)
  // Some histories lack what the generated ones have, so a few of those are always among them.
  const generated = generatedCommits(Math.max(30, wanted - commits.length))
  for (const commit of [...commits, ...generated]) {
    const files = parseDiff(await diffOf(commit))
    const anchor = makeAnchorer(files)
    const changed = changedFiles(commit)
    const start = pick(Math.max(1, changed.length))
    const quoted: Array<Quoted> = []
    const comments: Array<InlineComment> = []
    for (const { file, truth } of readTexts(commit, [...changed.slice(start), ...changed.slice(0, start)])) {
      for (const quote of quotesOf(truth, file)) {
        const place = anchor(quote.problem)
        if (place === undefined) {
          throw new Error(`${JSON.stringify(quote)} of ${commit.head} in ${commit.repository} has no place`)
        }
        quoted.push(quote)
        comments.push({ ...place.anchor, body: `<!-- aicr: --> ${comments.length}` })
        if (quote.first < quote.last) kinds.ranges++
        else if (quote.side === "old") kinds.removed++
        else if (quote.oldLine === undefined) kinds.added++
        else kinds.context++
        if (file.status.startsWith("R")) kinds.renamed++
      }
    }
    reviewed.push({ commit, quoted, comments })
  }
}, 600_000)

afterAll(() => runtime.dispose())

/** Makes the commits of all repositories those of one at the host, without copying them. */
const openAll = async (forge: FakeForge) => {
  const repository = await forge.createRepository("team/history")
  mkdirSync(join(repository.directory, "objects/info"), { recursive: true })
  for (const path of new Set(reviewed.map(({ commit }) => commit.repository))) {
    const objects = gitIn(path, ["rev-parse", "--path-format=absolute", "--git-path", "objects"]).toString()
    appendFileSync(join(repository.directory, "objects/info/alternates"), objects)
  }
  for (const [index, { commit }] of reviewed.entries()) {
    await setRef(repository.directory, `refs/heads/base-${index}`, commit.base)
    await setRef(repository.directory, `refs/heads/head-${index}`, commit.head)
  }
}

interface Place {
  readonly path: string
  readonly side: "new" | "old"
  readonly first: number
  readonly last: number
  /** GitLab: a line is named on every side that contains it. */
  readonly oldLine?: number | undefined
}

/** Reads positions from the fields of each host's API, in the requests that were sent. */
const read: Record<ForgeKind, (comment: unknown) => Place> = {
  gitea: (comment) => {
    const old = field(comment, "old_position", isNumber) ?? 0
    const line = old > 0 ? old : (field(comment, "new_position", isNumber) ?? 0)
    return { path: field(comment, "path", isText) ?? "", side: old > 0 ? "old" : "new", first: line, last: line }
  },
  forgejo: (comment) => {
    const place = read.gitea(comment)
    return { ...place, last: place.first + (field(comment, "extra_lines_count", isNumber) ?? 0) }
  },
  github: (comment) => {
    const last = field(comment, "line", isNumber) ?? 0
    const side = field(comment, "side", isText) === "LEFT" ? "old" : "new"
    return {
      path: field(comment, "path", isText) ?? "",
      side,
      first: field(comment, "start_line", isNumber) ?? last,
      last
    }
  },
  gitlab: (comment) => {
    const position = field(comment, "position", isObject)
    const old = field(position, "old_line", isNumber)
    const line = field(position, "new_line", isNumber)
    const last = line ?? old ?? 0
    const start = field(field(position, "line_range", isObject), "start", isObject)
    return {
      path: field(position, "new_path", isText) ?? "",
      side: line === undefined ? "old" : "new",
      first: field(start, line === undefined ? "old_line" : "new_line", isNumber) ?? last,
      last,
      oldLine: line === undefined ? undefined : old
    }
  }
}
const spans = { gitea: false, forgejo: true, github: true, gitlab: true } as const

const sentTo = (forge: FakeForge): ReadonlyArray<Place> =>
  forge
    .writes()
    .flatMap(({ path, body }) =>
      path.endsWith("/reviews")
        ? (field(body, "comments", isList) ?? [])
        : path.endsWith("/draft_notes") && field(body, "position", isObject) !== undefined
          ? [body]
          : []
    )
    .map(read[forge.kind])

describe("lines of the history", () => {
  it("hold every kind of line", () => {
    expect(reviewed.length).toBeGreaterThanOrEqual(wanted)
    expect(Object.entries(kinds).filter(([, count]) => count <= 10)).toEqual([])
    process.stdout.write(`${reviewed.length} commits: ${JSON.stringify(kinds)}\n`)
  })

  it("come from the commit that git blame names", () => {
    let seen = 0
    for (const { commit, quoted } of reviewed) {
      const context = quoted.find(({ asBlamed, oldLine }) => asBlamed && oldLine !== undefined)
      for (const quote of [context, quoted.find(({ asBlamed }) => asBlamed)]) {
        if (quote === undefined) continue
        expect([quote, blamed(commit, quote.path, quote.last)]).toEqual([quote, quote.oldLine])
        seen++
      }
    }
    expect(seen).toBeGreaterThan(wanted)
    const other = reviewed.flatMap(({ quoted }) => quoted).filter(({ asBlamed, side }) => side === "new" && !asBlamed)
    expect(other.length).toBeLessThan(wanted / 20)
  }, 300_000)

  it.each(ForgeKind.literals)(
    "get their comments on %s",
    async (kind) => {
      const forge = await startFakeForge(kind)
      try {
        await openAll(forge)
        const client = forgeTable[kind].client(forge.profile(), newTraffic())
        for (const [index, { comments, commit, quoted }] of reviewed.entries()) {
          if (comments.length === 0) continue
          const pull = await forge.createPull("team/history", {
            title: "t",
            headBranch: `head-${index}`,
            baseBranch: `base-${index}`
          })
          const before = sentTo(forge).length
          const { refused } = await run(
            client.createReview({ fullName: "team/history" }, pull.number, {
              head: commit.head,
              event: "COMMENT",
              body: "b",
              comments,
              pending: alone
            })
          )
          expect(refused).toEqual([])
          const expected = quoted.map(({ path, side, first, last, oldLine }): Place => ({
            path,
            side,
            first: spans[kind] ? first : last,
            last,
            ...(kind === "gitlab" ? { oldLine } : {})
          }))
          expect(sentTo(forge).slice(before)).toEqual(expected)
          // The line that the host shows next to each comment.
          const shown = pull.reviews.flatMap((review) => review.comments.map(({ hunk }) => hunk.replace(/\r$/, "")))
          expect(shown).toEqual(quoted.map(({ text }) => text))
        }
        forge.expectContract()
      } finally {
        await forge.stop()
      }
    },
    300_000
  )
})
