/** Makes the analysis of a reply: what the model wrote about the comment, checked against the code at the head, or a reply without a model. */
import { Effect } from "effect"
import { AgentError } from "../../src/agent/Agent.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { addUsage, noUsage } from "../../src/domain/Analysis.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { CommentReply, ReplyOutcome } from "../../src/domain/CommentReply.ts"
import { writeReply } from "../../src/engine/WriteReply.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { labelsFor } from "../../src/outputs/Labels.ts"
import { findOpenLine, findQuotedLine, linesNear } from "../../src/review/ReplyEvidence.ts"
import type { HeadFile } from "../../src/review/ReplyEvidence.ts"
import { scrubSecrets } from "../../src/review/Secrets.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { Run } from "../../src/store/Runs.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { ReviewWork } from "../review/ReviewWork.ts"
import { ruleObjection } from "./Dispute.ts"
import type { ReplyDecision } from "./ReplyDecision.ts"
import type { ReplySource, ReplySubject } from "./ReplySource.ts"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import { noHost, readHeadPushers, resolveCheckout, resolveOnServer } from "../review/AnalyseChange.ts"
import { findOutsider } from "../review/Outsider.ts"

type Conversing = Pick<ReplySource, "conversation" | "isOfPeople">

/** Returns the people of a conversation; undefined if it has others. */
const listPeople = ({ conversation, isOfPeople }: Conversing): ReadonlyArray<string> | undefined => {
  const authors = conversation.texts.flatMap(({ author, isOurs }) => (isOurs ? [] : [author]))
  return isOfPeople && authors.every((author) => author !== undefined) ? authors : undefined
}

const nameless = "the author of a comment, who is a program or not named by the host,"

/**
 * Checks out the code that a model may read for a reply, with the rights of the least trusted person: of those who wrote in the conversation, and
 * those who control the content of the change (Outsider.ts). Nothing is read before a model requests it.
 */
const openHead = Effect.fnUntraced(function* (conversing: Conversing, { base, change, head, work }: ReplySubject) {
  const { profile, workspace } = work
  const code = { base, change, head }
  const { baseUrl } = profile
  if (!isForgeKind(profile.kind)) {
    const checkout = yield* (yield* Vcs).checkout(yield* resolveOnServer(code, work))
    return { checkout, outsider: nameless }
  }
  if (baseUrl === undefined) return yield* noHost(profile)
  const forges = yield* Forges
  const client = forges.client(profile)
  const readers = listPeople(conversing)
  const outsider =
    readers === undefined ? nameless : yield* findOutsider(change, workspace, client, readHeadPushers(code), readers)
  const url = cloneUrl(baseUrl, change.repo)
  const authorization = yield* client.gitAuthorization(change.repo)
  const request = resolveCheckout(code, work, forges.of(profile.kind), { url, authorization, rules: undefined })
  return { checkout: yield* (yield* Vcs).checkout(request), outsider }
})

/** A longer file is not read. */
const maxFile = 1_000_000
const maxCode = 12_000
const maxQuestion = 4000

interface Subject {
  readonly source: ReplySource
  /** Author of the words that get the reply. */
  readonly person: string
  readonly subject: ReplySubject
  /** That of the source, unless a limit is reached. */
  readonly decision: ReplyDecision
}

const conclusions = {
  none: { _tag: "NoReplyNeeded" },
  replied: { _tag: "Replied" },
  withdrawn: { _tag: "FindingWithdrawn" },
  kept: { _tag: "FindingKept" },
  needs_person: { _tag: "LeftToPeople" },
  unavailable: { _tag: "NoModelForReplies" }
} as const satisfies Record<Exclude<ReplyOutcome, "limited">, Reason>

const toAnalysis = (reply: CommentReply, conclusion: Reason, spent?: Pick<Analysis, "models" | "usage">): Analysis => ({
  findings: [],
  summary: "",
  conclusion,
  coverage: { reviewed: [], skipped: [], lines: 0 },
  models: spent?.models ?? [],
  usage: spent?.usage ?? noUsage,
  notices: [],
  reply
})

/** Reads the newest review of the change, and the finding of the thread, which an earlier one may have. */
const readFindings = Effect.fnUntraced(function* ({ fingerprint, listReviews }: ReplySource) {
  const runs = yield* listReviews
  const review = runs.find(({ analysis }) => analysis !== undefined)
  if (fingerprint === undefined) return { review, findings: review?.analysis?.findings ?? [], finding: undefined }
  const found = runs.flatMap(({ analysis }) => analysis?.findings ?? [])
  const finding = found.find((one) => one.fingerprint === fingerprint)
  return { review, findings: finding === undefined ? [] : [finding], finding }
})

/** Reasons for which a host or a server has no text of a file at a head, however often it is read. */
const unreadable: ReadonlySet<string> = new Set([
  "not_found",
  "invalid",
  "forbidden",
  "absent",
  "missing",
  "failed",
  "limit"
])

/** Reads the file of a finding at the head; undefined if the head does not have it, or it is too long. */
const readFile = Effect.fnUntraced(function* (
  { readFile: read }: ReplySource,
  { head }: Run,
  path: string | undefined
) {
  if (path === undefined || head === "" || read === undefined) return undefined
  const text = yield* Effect.catchIf(
    read(head, path),
    ({ reason }) => unreadable.has(reason),
    () => Effect.succeed(undefined)
  )
  return text === undefined || text.length > maxFile ? undefined : ({ path, text } satisfies HeadFile)
})

/** Returns whether the head has the code that the source claims. Otherwise no model is called. */
const isProven = Effect.fnUntraced(function* (source: ReplySource, run: Run, file: HeadFile | undefined) {
  if (source.claim === undefined) return true
  const { path, quote } = source.claim
  const quoted = path === file?.path ? file : yield* readFile(source, run, path)
  return quoted !== undefined && findQuotedLine(quoted, quote) !== undefined
})

const codeNear = (file: HeadFile | undefined, finding: Finding | undefined, line: number | undefined): string => {
  if (file === undefined) return ""
  const at = (finding && findOpenLine(file, finding)) ?? line ?? finding?.anchor?.line ?? 1
  return linesNear(file, at, maxCode)
}

/** Fails if the model does. */
export const writeAnalysis = Effect.fnUntraced(function* (
  run: Run,
  work: Pick<ReviewWork, "workspace">,
  { decision, person, source, subject }: Subject
) {
  const { workspace } = work
  const { conversation, fingerprint } = source
  const { comment: place } = run.change.target
  const { comment } = conversation
  if (place === undefined || comment === undefined) return yield* Effect.die("a reply without a comment")
  const question = scrubSecrets(comment.body).slice(0, maxQuestion)
  const base = { comment: place, question, text: "", ...(fingerprint === undefined ? {} : { fingerprint }) }
  if (decision._tag === "Limited") {
    const { count, limit } = decision
    return toAnalysis({ ...base, outcome: "limited" }, { _tag: "ReplyLimitReached", limit, count })
  }
  if (decision._tag === "Unlisted") {
    const text = labelsFor(workspace.review.output_language).noFinding(decision.number)
    return toAnalysis({ ...base, outcome: "replied", text }, conclusions.replied)
  }
  if (decision._tag === "React") return toAnalysis({ ...base, outcome: "none" }, conclusions.none)

  const { finding, findings, review } = yield* readFindings(source)
  const path = finding?.anchor?.path ?? finding?.problem.file ?? conversation.path
  const file = yield* readFile(source, run, path)
  if (decision._tag === "CompareCode") {
    const line = file && finding && findOpenLine(file, finding)
    if (file === undefined || line === undefined) return toAnalysis({ ...base, outcome: "none" }, conclusions.none)
    const evidence = { path: file.path, line, quote: finding?.problem.quote ?? "" }
    return toAnalysis({ ...base, outcome: "kept", evidence }, conclusions.kept)
  }

  if (!(yield* isProven(source, run, file)))
    return toAnalysis({ ...base, outcome: "kept", ruling: "unproven" }, conclusions.kept)
  const group = workspace.modelChain
  if (group === undefined) return toAnalysis({ ...base, outcome: "unavailable" }, conclusions.unavailable)
  const services = yield* Effect.context<Forges | Receipts | Vcs>()
  const { result, ...spent } = yield* writeReply({
    workspace,
    group,
    review,
    openHead: source.readFile && Effect.provideContext(openHead(source, subject), services),
    material: {
      title: `${run.change.repo.fullName} ${run.change.title ?? ""}`,
      head: run.head,
      findings,
      state: source.state,
      isThread: conversation.fingerprint !== undefined,
      code: codeNear(file, finding, conversation.line),
      comments: conversation.texts.map(({ author, body, isOurs }) => ({
        by: isOurs ? "reviewer" : "person",
        name: author ?? "",
        text: body
      }))
    }
  })
  if (result instanceof AgentError) return yield* result
  const { outcome, text } = result
  if (outcome !== "withdrawn") return toAnalysis({ ...base, outcome, text }, conclusions[outcome], spent)
  if (finding === undefined || !subject.hasStates)
    return toAnalysis({ ...base, outcome: "needs_person", text }, conclusions.needs_person, spent)
  const quoted =
    result.path === undefined || result.path === file?.path ? file : yield* readFile(source, run, result.path)
  const objection = {
    file: quoted,
    finding,
    group,
    own: file,
    person: source.isOfPeople ? person : undefined,
    pull: subject.change,
    quote: result.quote ?? ""
  }
  const { ruled, spent: more } = yield* ruleObjection(run, work, objection)
  const total = { models: [...new Set([...spent.models, ...more.models])], usage: addUsage(spent.usage, more.usage) }
  return toAnalysis({ ...base, text, ...ruled }, conclusions[ruled.outcome], total)
})
