/** What the model is told about a change, pass by pass. */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import type { AgentError, Brief } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Lesson } from "../domain/Lesson.ts"
import type { ReportedProblem } from "../domain/Problem.ts"
import type { Catalog } from "../llm/catalog/Catalog.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { planBatches } from "../review/Batches.ts"
import type { Batch } from "../review/Batches.ts"
import type { Carried } from "../review/Carry.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { languagesOf } from "../review/Languages.ts"
import { injections } from "../review/Injection.ts"
import { scrubText } from "../review/ScrubText.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import type { Steps } from "../review/Steps.ts"
import { changePrompt } from "../review/Prompt.ts"
import { hintsOf, reflectionMode } from "../review/Reflection.ts"
import { countCutLines } from "../review/RenderDiff.ts"
import { passTokens } from "../review/TokenBudget.ts"
import { countTokens, prepareTokens } from "../review/Tokens.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { noContext } from "./ContextMounts.ts"
import type { ContextMounts } from "./ContextMounts.ts"
import { readBasePrompt } from "./BasePromptFile.ts"
import { fitChange } from "./FitChange.ts"
import type { FittedChange } from "./FitChange.ts"
import { readInstructions } from "./Instructions.ts"
import { reviewModel } from "./ModelWindow.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import type { ReadChange } from "./ReadChange.ts"
import { readSkills } from "./ReadSkills.ts"
import { readCommits } from "./ReadCommits.ts"
import { systemText } from "./SystemText.ts"
import { runInTurns } from "./Turns.ts"
import { scrubbedCheckout } from "./ScrubbedCheckout.ts"
import { readWholeFiles } from "./WholeFiles.ts"

export interface PlannedPass {
  /** Files that the pass shows, as it names them. */
  readonly paths: ReadonlyArray<string>
  /** Rendered when its turn comes, so that a large change is never held twice. */
  readonly brief: Effect.Effect<Brief>
}

export interface PassPlan {
  readonly passes: ReadonlyArray<PlannedPass>
  readonly fitted: FittedChange
  /** Text in the change that speaks to the reviewer. */
  readonly injections: ReadonlyArray<ReportedProblem>
  readonly notices: ReadonlyArray<string>
}

export interface PlanInput {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly checkout: Checkout
  readonly title: string | undefined
  readonly description: string | undefined
  /** What earlier reviews of the repository taught. */
  readonly lessons?: ReadonlyArray<Lesson> | undefined
  /** Further repositories; taken when a model is about to be asked. */
  readonly context?: Effect.Effect<ContextMounts> | undefined
}

export const planPasses = Effect.fn("planPasses")(function* (
  input: PlanInput,
  all: ReadChange,
  { files }: Carried
): Effect.fn.Return<PassPlan, AgentError | CheckoutError | PatchTooLarge, Catalog | Gateway> {
  const { checkout, snapshot, workspace } = input
  yield* runInTurns(prepareTokens())
  const project = yield* readInstructions(checkout)
  const skills = yield* readSkills(
    checkout,
    workspace,
    files.map(({ path }) => path)
  )
  const instructions = {
    rules: [...project.rules, ...skills.rules],
    notices: [...project.notices, ...skills.notices]
  }
  const context = yield* input.context ?? Effect.succeed(noContext)
  const aliases = context.mounted.map(({ alias }) => alias)
  const base = yield* readBasePrompt(snapshot, workspace)
  const system = scrubSecrets(systemText(snapshot, workspace, base, instructions, aliases))
  const model = yield* reviewModel(snapshot, workspace)
  const room = passTokens({
    compression: snapshot.document.compression,
    modelNames: model.names,
    contextWindow: model.contextWindow,
    systemTokens: countTokens(system)
  })
  const commits = yield* readCommits(checkout, workspace, files)
  const fitted = yield* fitChange(input, commits.files ?? files, room)
  const summaries = fitted.summaries.lines.join("\n")
  const paths = files.map(({ path }) => path)
  const hints = hintsOf(input.lessons ?? [], paths, reflectionMode(workspace.review.reflection)).map(scrubSecrets)
  const beside = countTokens(summaries) + countTokens(hints.join("\n"))
  const change = { ...all, files }
  const whole = workspace.review.incremental ? undefined : yield* readWholeFiles(checkout, change, workspace.review)
  const batches = yield* runInTurns(
    planBatches(fitted.readable, room - beside, whole && (yield* runInTurns(scrubTexts(whole.texts))))
  )
  const fence = randomBytes(12).toString("hex")
  const languages = workspace.review.languages_auto_detect ? languagesOf(files) : []
  // One for all passes: they share its allowance of extra context.
  const readable = scrubbedCheckout(checkout)
  const briefOf = (batch: Batch, index: number) =>
    Effect.map(
      Effect.suspend(() =>
        runInTurns(
          changePrompt({
            title: input.title && scrubSecrets(input.title),
            description: input.description && scrubSecrets(input.description),
            languages,
            batch,
            pass: { index: index + 1, of: batches.length },
            elsewhere: elsewhere(all.files, batch),
            summaries,
            hints,
            fence
          })
        )
      ),
      (prompt): Brief => ({ snapshot, workspace, checkout: readable, context: context.mounted, system, prompt })
    )
  const longLines = yield* runInTurns(countCutLines(fitted.files))
  return {
    fitted,
    injections: yield* runInTurns(
      injections({ files: fitted.files, title: input.title, description: input.description })
    ),
    passes: batches.map((batch, index) => ({
      paths: batch.files.map(({ file }) => file.path),
      brief: briefOf(batch, index)
    })),
    notices: [
      ...instructions.notices,
      ...context.notices,
      ...commits.notices,
      ...compressionNotice(fitted),
      ...fitted.summaries.notices,
      ...(whole?.notices ?? []),
      ...(longLines > 0 ? [`${longLines} very long lines were shown to the model in part.`] : [])
    ]
  }
})

function* scrubTexts(texts: ReadonlyMap<string, string>): Steps<ReadonlyMap<string, string>> {
  const scrubbed = new Map<string, string>()
  for (const [path, text] of texts) {
    scrubbed.set(path, yield* scrubText(text))
    yield
  }
  return scrubbed
}

const compressionNotice = ({ cut }: FittedChange): ReadonlyArray<string> => {
  if (cut.length === 0) return []
  const hunks = cut.reduce((sum, file) => sum + file.hunks.length, 0)
  const paths = new Set(cut.map(({ path }) => path))
  return [
    `The change is over compression.trigger_tokens: its riskiest hunks were read, ${hunks} hunks in ${paths.size} files were not.`
  ]
}

const elsewhere = (files: ReadonlyArray<FileDiff>, batch: Batch): ReadonlyArray<string> => {
  const here = new Set(batch.files.map(({ file }) => file.path))
  return files.flatMap(({ path }) => (here.has(path) ? [] : [path]))
}
