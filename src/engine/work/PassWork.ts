/** Work on the passes of a change: which file is shown in which, and their prompts, one at a time so that a large change is never held twice. */
import { tokensWithin } from "../../review/Compress.ts"
import type { FileDiff } from "../../review/FileDiff.ts"
import { planBatches } from "../../review/Batches.ts"
import type { FileBatch } from "../../review/Batches.ts"
import type { ReportedProblem } from "../../domain/Problem.ts"
import { issuesText, messagesText } from "../../review/Background.ts"
import type { Background } from "../../review/Background.ts"
import { countChanged } from "../../review/HunkText.ts"
import { injections } from "../../review/Injection.ts"
import { listLanguages } from "../../review/Languages.ts"
import { showLongLines } from "../../review/LongLines.ts"
import { passSize } from "../../review/PassSize.ts"
import { commonPrompt, passPrompt } from "../../review/Prompt.ts"
import { scrubText } from "../../review/ScrubText.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { activeSkills } from "../../review/Skills.ts"
import type { Skill } from "../../review/Skills.ts"
import { estimateTokens } from "../../review/Tokens.ts"
import type { FitState } from "./FitState.ts"
import type { ReadState } from "./ReadState.ts"

/** Parts of the prompt that all passes of a review have in common. */
interface CommonInput {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly background: Background
  readonly focus?: string | undefined
  readonly namesLanguages: boolean
  readonly fence: string
}

interface PassInput extends CommonInput {
  /** Tokens of the change in one pass. */
  readonly room: number
  readonly maxPasses: number
  readonly summaries: string
}

/** Part of a file in a pass, by the name that the pass uses. */
export interface ShownPart {
  readonly path: string
  /** Changed lines. */
  readonly lines: number
}

interface PlannedPasses {
  readonly passes: ReadonlyArray<ReadonlyArray<ShownPart>>
  /** Parts of the change that no pass shows. */
  readonly left: ReadonlyArray<ShownPart>
  /** Paths of files with lines that are longer than is read of a line. */
  readonly unread: ReadonlyArray<string>
  /** The part of the prompt that all passes have in common. */
  readonly common: string
}

interface PassState {
  /** Files at the head that are shown in addition to their diffs, by path. */
  readonly wholes: Map<string, string>
  fence: string
}

export const makePassWork = (read: ReadState, fit: FitState) => {
  const state: PassState = { wholes: new Map(), fence: "" }

  return {
    /** Names of the skills that are active for the files to be read, and of those with too many patterns. */
    activeSkills: (
      skills: ReadonlyArray<Pick<Skill, "name" | "appliesTo">>,
      forced: ReadonlyArray<string>
    ): { readonly active: ReadonlyArray<string>; readonly refused: ReadonlyArray<string> } => {
      const paths = read.carried.files.map(({ path }) => path)
      const { active, refused } = activeSkills(skills, paths, forced)
      return { active: active.map(({ name }) => name), refused: refused.map(({ name }) => name) }
    },
    /** A file at the head that is shown in addition to its diff. */
    addWhole: (path: string, text: string): void => void state.wholes.set(path, scrubText(text)),
    /** Tokens of the common part without summaries, with the names of all files. */
    commonTokens: (input: CommonInput): number => estimateTokens(renderCommon(read, fit, input, "", 2)),
    planPasses: (input: PassInput): PlannedPasses => {
      const long = showLongLines(fit.readable)
      const wholeTokens = [...state.wholes.values()].reduce((sum, text) => sum + estimateTokens(text), 0)
      const tokens = tokensWithin(long.files, Number.POSITIVE_INFINITY) ?? 0
      const size = passSize(tokens + wholeTokens, input.room, input.maxPasses)
      const planned = planBatches(long.files, size.maxTokens, state.wholes, size.passes)
      const batches = planned.slice(0, input.maxPasses)
      fit.batches = batches
      state.fence = input.fence
      const left = planned.slice(input.maxPasses).flatMap(partsOf)
      return {
        passes: batches.map(partsOf),
        left: [...left, ...(fit.compressed?.cut ?? []).map(toPart)],
        unread: [...long.unread],
        common: renderCommon(read, fit, input, input.summaries, batches.length)
      }
    },
    /** Returns text in the change that addresses the reviewer. */
    findInjections: ({ title, description, background }: CommonInput): ReadonlyArray<ReportedProblem> =>
      injections({ files: fit.shown, title, description, ...background }),
    renderPass: (index: number): string => {
      const { batches } = fit
      const batch = batches[index]
      return batch === undefined
        ? ""
        : passPrompt({ batch, pass: { index: index + 1, of: batches.length }, fence: state.fence })
    }
  }
}

const toPart = (file: FileDiff): ShownPart => ({
  path: file.path,
  lines: file.hunks.reduce((sum, hunk) => sum + countChanged(hunk), 0)
})

const partsOf = ({ files }: FileBatch): ReadonlyArray<ShownPart> => files.map(({ file }) => toPart(file))

const renderCommon = (
  { carried, selected }: ReadState,
  { shown }: FitState,
  input: CommonInput,
  summaries: string,
  passes: number
): string => {
  const names = selected.files.map(({ path }) => path)
  const here = new Set(shown.map(({ path }) => path))
  return commonPrompt({
    title: input.title && scrubSecrets(input.title),
    description: input.description && scrubSecrets(input.description),
    messages: scrubSecrets(messagesText(input.background, input.title, input.description)),
    issues: scrubSecrets(issuesText(input.background)),
    focus: input.focus && scrubSecrets(input.focus),
    languages: input.namesLanguages ? listLanguages(carried.files) : [],
    passes,
    files: passes === 1 && names.every((path) => here.has(path)) ? [] : names,
    summaries,
    byCommit: shown.some(({ commit }) => commit !== undefined),
    fence: input.fence
  })
}
