/** Builds the prompts of a change, pass by pass. */
import { Effect } from "effect"
import type { Agent, AgentError, Brief, PassProgress } from "../../agent/Agent.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Acceptance } from "../../domain/Acceptance.ts"
import type { Lesson } from "../../domain/Lesson.ts"
import type { ReportedProblem } from "../../domain/Problem.ts"
import type { EarlierRounds } from "../../domain/Round.ts"
import type { RuleHealth } from "../../domain/RuleHealth.ts"
import type { Catalog } from "../../llm/Catalog.ts"
import type { LinkedIssue } from "../../review/LinkedIssues.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { selectHints, reflectionMode } from "../../review/Reflection.ts"
import { hasNothingToReview } from "../../review/NothingToReview.ts"
import { verdictsTool } from "../../review/VerifyPrompt.ts"
import { advicePrompt } from "../../review/Prompt.ts"
import { roundPrompt } from "../../review/RoundPrompt.ts"
import { computeCapacity, passSize } from "../../review/PassSize.ts"
import { passBudget } from "../../review/TokenBudget.ts"
import type { PassBudget } from "../../review/TokenBudget.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { noContext } from "../read/ContextMounts.ts"
import type { ContextMounts } from "../read/ContextMounts.ts"
import { deriveFence } from "./Fence.ts"
import { readBasePrompt } from "./BasePromptFile.ts"
import { fitChange } from "./FitChange.ts"
import type { FittedChange } from "./FitChange.ts"
import { readInstructions } from "./Instructions.ts"
import { readContextWindow, reviewModelNames } from "./ModelWindow.ts"
import type { PatchTooLarge } from "../read/PatchTooLarge.ts"
import type { ReadChange } from "../read/ReadChange.ts"
import type { CarriedFiles } from "../read/ReadCoverage.ts"
import { readPassContext } from "./PassContext.ts"
import type { PassContext } from "./PassContext.ts"
import type { OutsideEvidence } from "../read/ReadEvidence.ts"
import { readSkills } from "./ReadSkills.ts"
import type { Skills } from "./ReadSkills.ts"
import { readCommits } from "../read/ReadCommits.ts"
import { systemText } from "./SystemText.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import { scrubbedCheckout } from "../read/ScrubbedCheckout.ts"
import type { KeptReferences, NamedDefinition } from "../references/References.ts"
import { makeCodeSearch } from "../references/SearchCode.ts"
import { readWholeFiles } from "./WholeFiles.ts"
import { blindCheckout, blindWanted, selectBlind } from "../read/ReadBlind.ts"
import type { BlindFiles } from "../read/ReadBlind.ts"
import { findGrammar } from "../syntax/Grammars.ts"
import type { Coverage } from "../../domain/Coverage.ts"
import type { ShownPart } from "../work/PassWork.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface PlannedPass {
  /** Parts of files that the pass shows, by the names it uses. */
  readonly parts: ReadonlyArray<ShownPart>
  /** Whether it shows nothing of what the author writes about the change. */
  readonly isBlind: boolean
  /** Renders the prompt on demand, so that a large change is never held twice. */
  readonly brief: Effect.Effect<Brief, AnalysisError>
}

export interface PassPlan {
  readonly passes: ReadonlyArray<PlannedPass>
  /** Brief of queries about the whole change, without a part of it. */
  readonly brief: Brief
  readonly fence: string
  /** Brief, checkout and fence of blind queries; undefined where nothing is read blind. */
  readonly blindly: BlindQueries | undefined
  /** The part of the coverage about blind reading. */
  readonly blind: Pick<Coverage, "blind" | "framed">
  readonly fitted: FittedChange
  /** Parts of the change that no pass shows. */
  readonly left: ReadonlyArray<ShownPart>
  /** Paths of files with lines that are longer than is read of a line. */
  readonly unread: ReadonlySet<string>
  /** Text in the change that addresses the reviewer. Searched on demand, so that the first pass does not wait. */
  readonly injections: Effect.Effect<ReadonlyArray<ReportedProblem>, AnalysisError>
  /** Public names that the change alters or removes. */
  readonly names: ReadonlyArray<NamedDefinition>
  /** Instructions of the repository in the prompts. */
  readonly instructions: Pick<Skills, "muted" | "project" | "sources">
  readonly notices: ReadonlyArray<Reason>
}

interface BlindQueries {
  readonly brief: Brief
  readonly checkout: Checkout
  readonly fence: string
}

/** Inputs of a plan in addition to the change and the configuration. */
interface PlanFacts {
  /** Text of the operator's base prompt file, without secrets. */
  readonly basePrompt?: string | undefined
  /** Context window of the review model, in tokens. */
  readonly contextWindow?: number | undefined
}

export interface PlanInput extends OutsideEvidence, KeptReferences {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly checkout: Checkout
  readonly title: string | undefined
  readonly description: string | undefined
  /** Issues that the change closes. */
  readonly issues?: ReadonlyArray<LinkedIssue> | undefined
  /** Topic that the person who requested the review gave priority to. */
  readonly focus?: string | undefined
  /** Lessons from earlier reviews of the repository; review.reflection controls their use. */
  readonly lessons?: ReadonlyArray<Lesson> | undefined
  /** Reads the health of the repository's rules. Runs only if a rule with a floor applies. Absent: no rule is muted. */
  readonly ruleHealth?: Effect.Effect<ReadonlyArray<RuleHealth>> | undefined
  /** Kinds of findings that people of the repository rarely accept, and accepted ones; absent without `review.acceptance_floor`. */
  readonly acceptance?: Acceptance | undefined
  /** Present where the reviews of the target are rounds. */
  readonly round?: EarlierRounds | undefined
  /** Receives the progress of agent CLIs by the number of the pass, from 1. */
  readonly onProgress?: ((pass: number, progress: PassProgress) => Effect.Effect<void>) | undefined
  /** Facts of a recorded review, which take the place of those of today. */
  readonly recordedFacts?: PlanFacts | undefined
  readonly keepFacts?: ((facts: PlanFacts) => void) | undefined
  /** Runs before a model is first used: from then on the review mostly waits. May run more than once. */
  readonly beforeModels?: Effect.Effect<void> | undefined
  /** Mounts further repositories. Runs just before the first model call. */
  readonly context?: Effect.Effect<ContextMounts> | undefined
}

export const planPasses = Effect.fn("planPasses")(function* (
  change: ChangeThread,
  input: PlanInput,
  all: ReadChange,
  { files }: CarriedFiles
): Effect.fn.Return<PassPlan, AgentError | CheckoutError | PatchTooLarge | AnalysisError, Agent | Catalog | ModelRun> {
  const { beforeModels, checkout, snapshot, workspace } = input
  const instructions = yield* readRules(change, input)
  const context = yield* input.context ?? Effect.succeed(noContext)
  const { contextWindow, system } = yield* readSystem(input, instructions, context)
  const commitNotices = yield* readCommits(change, checkout, workspace)
  const fence = yield* deriveFence([checkout.from, checkout.head, input.title, input.description])
  const common = yield* commonOf(input, fence)
  // One checkout for all passes: they share its allowance of extra context.
  const readable = scrubbedCheckout(change, checkout)
  const budget = yield* budgetOf(change, input, contextWindow, system)
  const advice = adviceFor(input, files, budget, fence)
  const [adviceTokens = 0] = yield* change.run("countTokens", [advice ?? ""])
  const maxTokens = Math.max(minimumRoom, budget.tokens)
  const paths = files.map(({ path }) => path)
  const passContext = yield* readContext(change, readable, files, input, computeCapacity(maxTokens, budget.passes))
  const room = Math.max(
    minimumRoom,
    maxTokens - adviceTokens - passContext.tokens - (yield* change.run("commonTokens", common))
  )
  const brief = {
    snapshot,
    workspace,
    checkout: readable,
    code: makeCodeSearch(change),
    context: context.mounted,
    system,
    prompt: "",
    tools: queryTools,
    citesRules: instructions.project.length > 0
  }
  const fit = { beforeModels, fence, room, maxPasses: budget.passes }
  const fitted = yield* fitChange(change, { ...brief, checkout }, fit)
  const isSmall = fitted.cut.size > 0 ? Effect.succeed(false) : isOnePass(change, room, budget.passes)
  const { blind, fence: blindFence } = yield* planBlind(change, input, paths, isSmall)
  const summaries = fitted.summaries.lines.join("\n")
  const [summaryTokens = 0] = yield* change.run("countTokens", [summaries])
  const wholeNotices = workspace.review.incremental
    ? []
    : yield* readWholeFiles(change, checkout, { files, bytes: all.bytes }, workspace.review)
  const planned = yield* change.run("planPasses", {
    ...common,
    room: Math.max(minimumRoom, room - summaryTokens),
    maxPasses: budget.passes,
    summaries,
    blind: { paths: [...blind.paths], fence: blindFence }
  })
  const whole = { ...brief, common: planned.common }
  const hidden = blindCheckout(change, checkout)
  const blindBrief = { ...brief, checkout: hidden, common: planned.blindCommon }
  return {
    brief: whole,
    fence,
    blindly: workspace.review.blind === "off" ? undefined : { brief: blindBrief, checkout: hidden, fence: blindFence },
    blind: blindCoverage(blind),
    fitted,
    left: planned.left,
    unread: new Set(planned.unread),
    injections: change.run("findInjections", common),
    passes: planned.passes.map(({ isBlind, parts }, index) =>
      plannedPass(change, passContext, isBlind ? { ...blindBrief, fence: blindFence } : { ...whole, advice, fence }, {
        isBlind,
        parts,
        index,
        settings: passSettings(input, files, parts, index)
      })
    ),
    names: passContext.names,
    instructions,
    notices: [
      ...[instructions, passContext, context, fitted.summaries].flatMap(({ notices }) => notices),
      ...[commitNotices, compressionNotice(fitted, budget), wholeNotices].flat()
    ]
  }
})

/** Renders accepted findings, the lessons for the files that are read, and the memory of earlier rounds. */
const adviceFor = (
  { acceptance, lessons, round, workspace }: PlanInput,
  files: CarriedFiles["files"],
  { systemTokens, tokens }: PromptBudget,
  fence: string
): string | undefined => {
  const paths = files.map(({ path }) => path)
  const changeTokens = files.reduce((sum, { bytes }) => sum + bytes, 0) / bytesPerToken
  const hints = [
    ...(acceptance?.examples ?? []),
    ...selectHints(lessons ?? [], paths, reflectionMode(workspace.review.reflection))
  ].map(scrubSecrets)
  const memory = roundPrompt(round, paths, systemTokens + Math.min(changeTokens, tokens), fence)
  const parts = [advicePrompt(hints, fence), memory && scrubSecrets(memory)].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join("\n\n")
}

/** Returns the paths of files that are shown as a whole and not commit by commit, because they may be read blind. */
const comparedFiles = ({ review }: Workspace, files: CarriedFiles["files"]): ReadonlyArray<string> =>
  blindWanted(
    review.blind,
    files.map(({ path }) => path)
  ).filter((path) => findGrammar(path) !== undefined)

/** The thread counts the change, with `compared` files as a whole, of at most `capacity` tokens, or ranks it while git and the parser work on its context. */
const readContext = (
  change: ChangeThread,
  readable: Checkout,
  files: CarriedFiles["files"],
  input: PlanInput,
  capacity: number
) =>
  Effect.map(
    Effect.all(
      [
        readPassContext(change, input.checkout, readable, files, input.workspace, input),
        change.run("prepareFit", capacity, comparedFiles(input.workspace, files))
      ],
      { concurrency: 2 }
    ),
    ([passContext]) => passContext
  )

interface PromptBudget extends PassBudget {
  readonly systemTokens: number
}

/** Estimate, which no prompt of a diff is below. */
const bytesPerToken = 4

/** Returns the size of a pass without the system text, and the number of passes. */
const budgetOf = Effect.fnUntraced(function* (
  change: ChangeThread,
  { snapshot, workspace }: PlanInput,
  contextWindow: number | undefined,
  prompt: string
) {
  const [systemTokens = 0] = yield* change.run("countTokens", [prompt])
  const budget: PromptBudget = {
    ...passBudget({
      compression: snapshot.document.compression,
      modelNames: reviewModelNames(snapshot, workspace),
      contextWindow,
      systemTokens,
      maxPasses: workspace.review.max_passes
    }),
    systemTokens
  }
  return budget
})

/** Tokens of the change that a pass holds at least, however long the rest of the prompt is. */
const minimumRoom = 1_024

const passSettings = (
  { onProgress }: PlanInput,
  files: CarriedFiles["files"],
  parts: ReadonlyArray<ShownPart>,
  index: number
) => ({
  maySkip: hasNothingToReview(
    parts.map(({ path }) => path),
    files
  ),
  onProgress: (progress: PassProgress) => onProgress?.(index + 1, progress) ?? Effect.void
})

/** Returns what all passes show that are not blind. */
const commonOf = Effect.fnUntraced(function* (input: PlanInput, fence: string) {
  const { checkout, description, focus, issues = [], title, workspace } = input
  return {
    title,
    description,
    focus,
    background: { messages: yield* checkout.messages ?? Effect.succeed([]), issues },
    namesLanguages: workspace.review.languages_auto_detect,
    fence
  }
})

/** Renders the prompt of a pass on demand. */
const plannedPass = (
  change: ChangeThread,
  { addTo }: PassContext,
  { fence, ...own }: Brief & { readonly fence: string },
  pass: Pick<PlannedPass, "isBlind" | "parts"> & { readonly index: number; readonly settings: Partial<Brief> }
): PlannedPass => {
  const { index, isBlind, parts, settings } = pass
  const shown = [...new Set(parts.map(({ path }) => path))]
  return {
    parts,
    isBlind,
    brief: change.run("renderPass", index).pipe(
      Effect.flatMap(addTo(fence, shown, isBlind)),
      Effect.map((prompt): Brief => ({ ...own, ...settings, prompt }))
    )
  }
}

/** Selects what is read blind, with the fence of these passes: a hash of what they show, because nothing else of the change may be in them. */
const planBlind = Effect.fnUntraced(function* (
  change: ChangeThread,
  { checkout, workspace: { review } }: PlanInput,
  paths: ReadonlyArray<string>,
  isSmall: Effect.Effect<boolean, AnalysisError>
) {
  const isOneOnly = blindWanted(review.blind, paths).length > 0 && (yield* isSmall)
  const files = { paths, isOnePass: isOneOnly, isWhole: !review.incremental }
  const blind = yield* selectBlind(change, checkout, review.blind, files)
  const digest = blind.paths.size === 0 ? "" : yield* change.run("blindDigest", [...blind.paths])
  return { blind, fence: yield* deriveFence([checkout.from, "blind", digest]) }
})

/** Whether one pass shows the change. */
const isOnePass = (change: ChangeThread, room: number, maxPasses: number) =>
  Effect.map(
    change.run("tokensWithin", room),
    (tokens) => tokens !== undefined && passSize(tokens, room, maxPasses).passes === 1
  )

const blindCoverage = ({ framed, paths }: BlindFiles): PassPlan["blind"] => ({
  ...(paths.size === 0 ? {} : { blind: paths.size }),
  ...(framed.length === 0 ? {} : { framed })
})

/** Tools of queries, in every call of a review. */
const queryTools = [verdictsTool]

/** The project's own instructions, and the skills and rules that apply to the change. */
const readRules = Effect.fnUntraced(function* (change: ChangeThread, { checkout, ruleHealth, workspace }: PlanInput) {
  const project = yield* readInstructions(checkout)
  const skills = yield* readSkills(change, checkout, workspace, ruleHealth)
  return {
    rules: [...project.rules, ...skills.rules],
    project: skills.project,
    muted: skills.muted,
    sources: [...project.sources, ...skills.sources],
    notices: [...project.notices, ...skills.notices]
  } satisfies Skills
})

const readFacts = Effect.fnUntraced(function* ({
  snapshot,
  workspace
}: PlanInput): Effect.fn.Return<PlanFacts, AgentError, Catalog> {
  const basePrompt = yield* readBasePrompt(snapshot, workspace)
  const contextWindow = yield* readContextWindow(snapshot, workspace)
  return {
    ...(basePrompt === undefined ? {} : { basePrompt: scrubSecrets(basePrompt) }),
    ...(contextWindow === undefined ? {} : { contextWindow })
  }
})

/** Returns the system text, and the context window of the model that reads it. */
const readSystem = Effect.fnUntraced(function* (
  input: PlanInput,
  instructions: Skills,
  context: ContextMounts
): Effect.fn.Return<{ readonly contextWindow: number | undefined; readonly system: string }, AgentError, Catalog> {
  const { keepFacts, recordedFacts, snapshot, workspace } = input
  const facts = recordedFacts ?? (yield* readFacts(input))
  keepFacts?.(facts)
  const aliases = context.mounted.map(({ alias }) => alias)
  const system = scrubSecrets(systemText(snapshot, workspace, facts.basePrompt, instructions, aliases))
  return { contextWindow: facts.contextWindow, system }
})

const compressionNotice = (
  { cut, cutHunks }: FittedChange,
  { isThreshold, passes }: PassBudget
): ReadonlyArray<Reason> => {
  if (cut.size === 0) return []
  const parts = { hunks: cutHunks, files: cut.size }
  return [isThreshold ? { _tag: "TokensExceeded", ...parts } : { _tag: "PassesExceeded", count: passes, ...parts }]
}
