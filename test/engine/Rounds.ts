/** Rounds of one change: a real repository, a model that reports chosen lines, and what one review passes on to the next. */
import { Effect } from "effect"
import type { Brief } from "../../src/agent/Agent.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Severity } from "../../src/domain/Kinds.ts"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { emptyReport, runEngine } from "./Fixture.ts"
import type { EngineOptions, EngineRun } from "./Fixture.ts"

export interface Reported {
  /** Part of the lines that are reported. */
  readonly text: string
  readonly severity?: Severity
  readonly category?: string
  /** True if only added lines are reported. */
  readonly isAdded?: boolean
}

/** Returns a model that reports each shown line that has one of the texts. */
export const reporting =
  (reported: ReadonlyArray<Reported>, models = emptyReport.models) =>
  ({ prompt }: Brief) => {
    const problems: Array<ReportedProblem> = []
    let file = ""
    for (const line of prompt.split("\n")) {
      file = /^=== (\S+) /.exec(line)?.[1] ?? file
      const [, number, mark = "", quote] = /^(\d+)([+-]?): (.*)$/.exec(line) ?? []
      if (number === undefined || quote === undefined) continue
      for (const { category = "correctness", isAdded, severity = "medium", text } of reported) {
        if (!quote.includes(text) || (isAdded === true && mark !== "+")) continue
        const side = mark === "-" ? "old" : "new"
        const title = `${text} is wrong`
        problems.push({ file, line: Number(number), side, severity, category, title, message: title, quote })
      }
    }
    return Effect.succeed({ ...emptyReport, models, problems, summary: "Read." })
  }

type Files = Readonly<Record<string, ReadonlyArray<string>>>

interface RoundOptions extends Partial<
  Pick<EngineOptions, "acceptance" | "agent" | "document" | "gateway" | "lessons" | "review">
> {
  /** Models that the reports come from. */
  readonly models?: ReadonlyArray<string>
  readonly report?: ReadonlyArray<Reported>
  readonly isLifted?: boolean
  readonly rereads?: boolean
}

export const lines = (name: string, count = 12): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => `const ${name}${at} = compute("${name}", ${at})`)

/** Starts a change of these files; those of the base are the first argument. */
export const startRounds = (base: Files) => {
  const repository = makeRepository()
  const write = (files: Files) => {
    for (const [path, text] of Object.entries(files)) repository.write(path, `${text.join("\n")}\n`)
  }
  write(base)
  let from = repository.commit("base")
  repository.git("switch", "-q", "-c", "feature")
  let previous: Analysis | undefined
  const review = async (
    head: string,
    { isLifted = false, models, report = [], rereads = false, ...more }: RoundOptions
  ): Promise<EngineRun> => {
    const { number = 0, reported = [] } = previous?.round ?? {}
    const run = await runEngine({
      repository,
      base: from,
      head,
      agent: reporting(report, models),
      previous,
      round: { number, reported, isLifted, rereads: isLifted || rereads },
      ...more
    })
    previous = run.analysis
    return run
  }
  return {
    repository,
    /** Reviews the change with these files, committed on top. */
    push: (files: Files, options: RoundOptions = {}) => {
      write(files)
      return review(repository.commit("push"), options)
    },
    /** Reviews the newest commit again. */
    again: (options: RoundOptions = {}) => review(repository.git("rev-parse", "HEAD"), options),
    /** Commits these files to the base branch, and returns to the change. */
    moveBase: (files: Files) => {
      repository.git("switch", "-q", "main")
      write(files)
      from = repository.commit("base moves")
      repository.git("switch", "-q", "feature")
    }
  }
}

/** Findings as `kind text`, published ones and late ones. */
export const listKinds = ({ findings, late = [] }: Pick<Analysis, "findings" | "late">) => {
  const show = (all: Analysis["findings"]) =>
    all
      .map(
        ({ problem, round }) =>
          `${round?.kind} ${problem.title?.split(" ")[0]}${round?.missed === undefined ? "" : ` ${round.missed}`}`
      )
      .toSorted()
  return { published: show(findings), late: show(late) }
}
