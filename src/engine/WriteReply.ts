/**
 * Writes the reply to a comment about a review by a model of the group that reviews of the workspace use. Returns a decision only: what follows
 * from it at the host is decided by the caller. Cost, permits and evidence are accounted to the `ModelRun` that the caller sets.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { toAgentError } from "../agent/Agent.ts"
import type { AgentError } from "../agent/Agent.ts"
import { isReading, readingTools, readNothing, readOn, repositoryReader } from "../agent/ReadingTools.ts"
import type { Workspace } from "../config/Snapshot.ts"
import type { Analysis, Usage } from "../domain/Analysis.ts"
import { summaryText } from "../domain/SummaryText.ts"
import type { Gateway, GatewayResponse, Message } from "../llm/Gateway.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import { readReply, replyPrompt, replySystem, replyTool } from "../review/ReplyPrompt.ts"
import type { ModelReply, ReplyMaterial } from "../review/ReplyPrompt.ts"
import { withoutRepetition } from "../review/Repetition.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import type { Objects } from "../store/Objects.ts"
import { inEnglish } from "../text/en.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import type { ContextRepositories } from "../vcs/ContextRepositories.ts"
import { ChangeThreads } from "./ChangeThreads.ts"
import { deriveFence } from "./plan/Fence.ts"
import { queryStrictly } from "./questions/StrictQuery.ts"
import { mountContext } from "./read/ContextMounts.ts"
import { scrubbedCheckout } from "./read/ScrubbedCheckout.ts"
import { readDiffAround } from "./DiffOfRun.ts"
import { makeCodeSearch } from "./references/SearchCode.ts"

interface WrittenReply {
  readonly result: ModelReply | AgentError
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

/** Heap of the thread that searches in the code. */
const threadMb = 768
/** Duration of one call, because a person waits for the result. Waiting for permits does not count. */
const maxMillis = 120_000

const scrub = (material: ReplyMaterial): ReplyMaterial => ({
  ...material,
  title: scrubSecrets(material.title),
  summary: scrubSecrets(material.summary),
  diff: scrubSecrets(material.diff),
  code: scrubSecrets(material.code),
  comments: material.comments.map((comment) => ({ ...comment, text: scrubSecrets(comment.text) }))
})

/** Responses of a model that read before it writes the reply. */
const maxReads = 4

/** Code that a model may read for a reply. `outsider`: see `mountContext`. */
interface OpenedHead {
  readonly checkout: Checkout
  readonly outsider: string | undefined
}

interface ReplyTask {
  readonly workspace: Workspace
  /** Name of a group in llm.model_chain. */
  readonly group: string
  /** Review whose diff is shown, and outside of a thread its summary. */
  readonly review: { readonly id: string; readonly analysis?: Analysis | undefined } | undefined
  readonly material: Omit<ReplyMaterial, "diff" | "summary">
  /** Checks the head out, on the first read of a model; undefined if it may read no more code. */
  readonly openHead: Effect.Effect<OpenedHead, { readonly message: string }, Scope.Scope> | undefined
}

const openReader = Effect.fnUntraced(function* (workspace: Workspace, openHead: NonNullable<ReplyTask["openHead"]>) {
  const { checkout, outsider } = yield* openHead
  const thread = yield* (yield* ChangeThreads).open(threadMb)
  const { mounted } = yield* mountContext(workspace.snapshot(), workspace, outsider)
  const scrubbed = scrubbedCheckout(thread, checkout)
  return repositoryReader(scrubbed, makeCodeSearch(thread), workspace.review.fetch_extra, mounted)
})

/** The repository is opened once, and only if the model reads. One that cannot be opened fails no reply. */
const readRepository = Effect.fnUntraced(function* ({ openHead, workspace }: ReplyTask) {
  if (openHead === undefined) return undefined
  const services = yield* Effect.context<ChangeThreads | ContextRepositories | Scope.Scope>()
  const opened = yield* openReader(workspace, openHead).pipe(
    Effect.tapError(({ message }) => Effect.logWarning("code not read for a reply", { error: message })),
    Effect.option,
    Effect.provideContext(services),
    Effect.cached
  )
  return {
    tools: readingTools,
    maxReads,
    isReading,
    read: (messages: ReadonlyArray<Message>, response: GatewayResponse) =>
      Effect.flatMap(opened, (reader) =>
        reader._tag === "None"
          ? Effect.succeed(readNothing(messages, response))
          : readOn(messages, response, reader.value)
      )
  }
})

export const writeReply = Effect.fn("writeReply")(function* (
  task: ReplyTask
): Effect.fn.Return<
  WrittenReply,
  never,
  ChangeThreads | ContextRepositories | Gateway | ModelRun | Objects | Scope.Scope
> {
  const { group, material: given, review, workspace } = task
  const summary = given.isThread || review?.analysis === undefined ? "" : summaryText(review.analysis, inEnglish)
  const places = given.findings.flatMap(({ anchor }) => anchor ?? [])
  const diff = review === undefined ? "" : yield* readDiffAround(review.id, places)
  const material = scrub({ ...given, summary, diff })
  const reading = yield* readRepository(task)
  const fence = yield* deriveFence([material.head, ...material.comments.map(({ text }) => text)])
  const { outcome, models, usage } = yield* queryStrictly({
    snapshot: workspace.snapshot(),
    group,
    role: "any",
    system: replySystem(workspace.review.output_language, reading?.maxReads ?? 0),
    prompt: replyPrompt(material, fence),
    tool: replyTool,
    read: readReply,
    reading,
    deadlineMillis: maxMillis,
    maxThrottledMillis: maxMillis
  })
  if (outcome._tag === "Failed") return { result: toAgentError(outcome.error), models, usage }
  const { text, ...rest } = outcome.value
  return { result: { ...rest, text: withoutRepetition(scrubSecrets(text)) }, models, usage }
})
