/**
 * Decides about the findings of generated histories whose files are in real repositories of git, or in depots of Perforce: reviewed after a submit,
 * or in a shelf, whose files are gone once it is submitted.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import * as ChangeThreads from "../../src/engine/ChangeThreads.ts"
import { settleChange } from "../../src/engine/SettleChange.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { CheckoutRequest } from "../../src/vcs/Checkout.ts"
import { layerVcs } from "../../src/vcs/VcsLayer.ts"
import { makeFakeDepot } from "../harness/perforce/PerforceDepot.ts"
import { depotServer } from "../vcs/perforce/Depots.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { makeHistory } from "./GeneratedHistories.ts"
import type { SettledHistory } from "./GeneratedHistories.ts"

type Files = SettledHistory["base"]

type Kind = "git" | "perforce" | "shelf"

interface Placed {
  readonly seed: number
  readonly history: SettledHistory
  readonly request: CheckoutRequest
}

/** A source of all commits for `git fast-import`, which is much faster than a commit at a time. */
class FastImport {
  readonly #parts: Array<string> = []
  #marks = 0

  commit(files: Files, parents: ReadonlyArray<number>): number {
    const mark = ++this.#marks
    const [first, ...merged] = parents
    const lines = [
      "commit refs/heads/all",
      `mark :${mark}`,
      `committer Ada <ada@example.com> ${1_700_000_000 + mark} +0000`,
      "data 0",
      ...(first === undefined ? [] : [`from :${first}`]),
      ...merged.map((parent) => `merge :${parent}`),
      "deleteall"
    ]
    for (const [path, text] of Object.entries(files))
      lines.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(text)}`, text)
    // A commit without a parent begins a branch of its own.
    this.#parts.push(...(first === undefined ? ["reset refs/heads/all\n"] : []), `${lines.join("\n")}\n`)
    return mark
  }

  run(directory: string): ReadonlyMap<number, string> {
    const marks = join(directory, "marks")
    const { status, stderr } = spawnSync("git", ["fast-import", "--quiet", `--export-marks=${marks}`], {
      cwd: directory,
      input: this.#parts.join("\n"),
      maxBuffer: 1 << 28
    })
    if (status !== 0) throw new Error(String(stderr))
    return readMarks(marks)
  }
}

const readMarks = (path: string): ReadonlyMap<number, string> => {
  const { stdout } = spawnSync("cat", [path], { encoding: "utf8" })
  return new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => {
        const [mark = "", id = ""] = line.split(" ")
        return [Number(mark.slice(1)), id]
      })
  )
}

/** Puts histories into one repository; each ends in one of the ways in which hosts merge. */
const placeInGit = (histories: ReadonlyArray<{ readonly seed: number; readonly history: SettledHistory }>) => {
  const repository = makeRepository()
  const input = new FastImport()
  const placed = histories.map(({ history, seed }) => {
    const base = input.commit(history.base, [])
    const reviewed = input.commit(history.reviewed, [base])
    const last = input.commit(history.end, [reviewed])
    if (!history.isMerged) return { seed, history, head: last, reviewed }
    const tip = input.commit({ ...history.base, "merged-before.txt": "by others" }, [base])
    const end = { ...history.end, "merged-before.txt": "by others" }
    const ways = [
      () => input.commit(end, [tip, last]),
      () => input.commit(end, [tip]),
      () => input.commit(end, [input.commit({ ...history.reviewed, "merged-before.txt": "by others" }, [tip])])
    ]
    return { seed, history, head: (ways[seed % ways.length] ?? (() => last))(), reviewed }
  })
  const ids = input.run(repository.path)
  return placed.map(({ head, history, reviewed, seed }): Placed => ({
    seed,
    history,
    request: {
      url: repository.path,
      mirror: "histories",
      authorization: undefined,
      head: ids.get(head) ?? "",
      base: ids.get(reviewed) ?? "",
      headRef: undefined,
      baseRef: undefined,
      compare: "endpoints",
      rules: undefined
    }
  }))
}

/** Submits the reviewed files, or those before a shelf, and those of the end of each history, in a folder of its own. */
const placeInPerforce = (
  histories: ReadonlyArray<{ readonly seed: number; readonly history: SettledHistory }>,
  depot: ReturnType<typeof makeFakeDepot>,
  kind: Kind
) =>
  histories.map(({ history, seed }): Placed => {
    const branch = `//depot/h${seed}`
    const at = (files: Files) =>
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`${branch}/${path}`, text]))
    const before = kind === "shelf" ? history.base : history.reviewed
    const base = depot.submit("Before", { files: at(before) })
    const deleted = Object.keys(before).filter((path) => history.end[path] === undefined)
    const changed = Object.entries(history.end).filter(([path, text]) => before[path] !== text)
    const head = depot.submit("End", {
      files: {
        ...at(Object.fromEntries(changed)),
        ...Object.fromEntries(deleted.map((path) => [`${branch}/${path}`, null]))
      }
    })
    return { seed, history, request: { vcs: "perforce", server: depotServer(depot), branch, head, base } }
  })

interface DecidedHistories {
  readonly settled: ReadonlyArray<{
    readonly seed: number
    readonly event: string
    readonly state: string
    readonly truth: string
  }>
  /** Time of each history. */
  readonly seconds: ReadonlyArray<number>
}

const settlePlaced = (placed: ReadonlyArray<Placed>, root: string, kind: Kind): Promise<DecidedHistories> =>
  Effect.gen(function* () {
    const settled: Array<DecidedHistories["settled"][number]> = []
    const seconds: Array<number> = []
    const vcs = yield* Vcs
    for (const { history, request, seed } of placed) {
      const start = performance.now()
      const states = yield* Effect.scoped(
        Effect.flatMap(vcs.checkout(request), (checkout) =>
          settleChange(checkout, history.findings, kind === "shelf" ? "before" : "reviewed")
        )
      )
      seconds.push((performance.now() - start) / 1000)
      for (const [at, { event, state }] of history.truth.entries())
        settled.push({ seed, event, state: states[at] ?? "missing", truth: state })
    }
    return { settled, seconds }
  }).pipe(
    Effect.provide(layerVcs({ root, limits: () => localLimits, allowLocal: true })),
    Effect.provide(ChangeThreads.layer),
    Effect.runPromise
  )

/** Depots are files that every submit writes as a whole. */
const perDepot = 25

/** Decides about `count` histories from this seed on. */
export const settleHistories = async (kind: Kind, first: number, count: number): Promise<DecidedHistories> => {
  const root = mkdtempSync(join(tmpdir(), "aicr-histories-"))
  const histories = Array.from({ length: count }, (_, at) => ({ seed: first + at, history: makeHistory(first + at) }))
  try {
    if (kind === "git") return await settlePlaced(placeInGit(histories), root, kind)
    const parts: Array<DecidedHistories> = []
    for (let at = 0; at < histories.length; at += perDepot) {
      await using depot = makeFakeDepot()
      parts.push(await settlePlaced(placeInPerforce(histories.slice(at, at + perDepot), depot, kind), root, kind))
    }
    return { settled: parts.flatMap(({ settled }) => settled), seconds: parts.flatMap(({ seconds }) => seconds) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
