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
import { blindCommonPrompt, commonPrompt, passPrompt } from "../../review/Prompt.ts"
import { scrubText } from "../../review/ScrubText.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { activeSkills } from "../../review/Skills.ts"
import type { Skill } from "../../review/Skills.ts"
import { estimateTokens } from "../../review/Tokens.ts"
import type { FitState, PassBatch } from "./FitState.ts"
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
  /** Paths of the files that are read blind, and the fence of their passes. */
  readonly blind: { readonly paths: ReadonlyArray<string>; readonly fence: string }
}

/** Part of a file in a pass, by the name that the pass uses. */
export interface ShownPart {
  readonly path: string
  /** Changed lines. */
  readonly lines: number
}

interface PlannedParts {
  readonly parts: ReadonlyArray<ShownPart>
  readonly isBlind: boolean
}

interface PlannedPasses {
  readonly passes: ReadonlyArray<PlannedParts>
  /** Parts of the change that no pass shows. */
  readonly left: ReadonlyArray<ShownPart>
  /** Paths of files with lines that are longer than is read of a line. */
  readonly unread: ReadonlyArray<string>
  /** The part of the prompt that all passes have in common, and that of blind ones. */
  readonly common: string
  readonly blindCommon: string
}

/** Files that are read in passes of their own. */
interface PassGroup {
  readonly files: ReadonlyArray<FileDiff>
  readonly wholes: ReadonlyMap<string, string>
  readonly isBlind: boolean
  readonly fence: string
}

export const makePassWork = (read: ReadState, fit: FitState) => {
  /** Files at the head that are shown in addition to their diffs, by path. */
  const wholes = new Map<string, string>()

  /** Blind passes are the first ones. */
  const groupsOf = ({ blind, fence }: PassInput): ReadonlyArray<PassGroup> => {
    const paths = new Set(blind.paths)
    const hidden = blind.paths.flatMap((path) => fit.blind.get(path) ?? [])
    const texts = hidden.flatMap(({ shown, whole }) => (whole === undefined ? [] : [[shown.path, whole] as const]))
    const framed = fit.readable.filter(({ path }) => !paths.has(path))
    return [
      { files: hidden.map(({ shown }) => shown), wholes: new Map(texts), isBlind: true, fence: blind.fence },
      { files: framed, wholes, isBlind: false, fence }
    ].filter(({ files }) => files.length > 0)
  }

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
    addWhole: (path: string, text: string): void => void wholes.set(path, scrubText(text)),
    /** Tokens of the common part without summaries, with the names of all files. */
    commonTokens: (input: CommonInput): number => estimateTokens(renderCommon(read, fit, input, "", 2)),
    planPasses: (input: PassInput): PlannedPasses => {
      const groups = groupsOf(input).map((group) => {
        const long = showLongLines(group.files)
        return { ...group, ...long, tokens: tokensOf({ ...group, files: long.files }) }
      })
      const tokens = groups.reduce((sum, group) => sum + group.tokens, 0)
      const size = passSize(tokens, input.room, input.maxPasses)
      const planned = groups.flatMap(
        ({ fence, files, isBlind, tokens: own, wholes: texts }): ReadonlyArray<PassBatch> => {
          const share = groups.length === 1 ? size.passes : Math.max(1, Math.round((size.passes * own) / tokens))
          return planBatches(files, size.maxTokens, texts, share).map((batch) => ({ ...batch, isBlind, fence }))
        }
      )
      // What is read blind and what is not cannot be in one pass.
      const count = Math.max(input.maxPasses, groups.length)
      const batches = planned.slice(0, count)
      fit.batches = batches
      const left = planned.slice(count).flatMap(partsOf)
      return {
        passes: batches.map((batch) => ({ parts: partsOf(batch), isBlind: batch.isBlind })),
        left: [...left, ...(fit.compressed?.cut ?? []).map(toPart)],
        unread: groups.flatMap(({ unread }) => [...unread]),
        common: renderCommon(read, fit, input, input.summaries, batches.filter(({ isBlind }) => !isBlind).length),
        blindCommon: blindCommonPrompt(input.blind.fence, batches.filter(({ isBlind }) => isBlind).length)
      }
    },
    /** Returns text in the change that addresses the reviewer. */
    findInjections: ({ title, description, background }: CommonInput): ReadonlyArray<ReportedProblem> =>
      injections({ files: fit.shown, title, description, ...background }),
    renderPass: (index: number): string => {
      const batch = fit.batches[index]
      if (batch === undefined) return ""
      // Its number is independent of passes of the other kind.
      const own = fit.batches.filter(({ isBlind }) => isBlind === batch.isBlind)
      return passPrompt({ batch, pass: { index: own.indexOf(batch) + 1, of: own.length }, fence: batch.fence })
    }
  }
}

const tokensOf = ({ files, wholes }: Pick<PassGroup, "files" | "wholes">): number =>
  [...wholes.values()].reduce(
    (sum, text) => sum + estimateTokens(text),
    tokensWithin(files, Number.POSITIVE_INFINITY) ?? 0
  )

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
